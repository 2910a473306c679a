/* config.json as Hugging Face transformers writes it, versions 4 (rope_theta, rope_scaling) and 5
 * (rope_parameters). Relies on: formats/json, model/config_keys. */
#ifndef SS_MODEL_CONFIG_HF_H
#define SS_MODEL_CONFIG_HF_H

#include "formats/json.h"
#include "model/config_keys.h"
#include "model/warnings.h"

/* Fill *draft from the parsed config.json called `file`. SS_E_UNSUPPORTED: another model_type, or a key with
 * a value that the pass cannot do; SS_E_CONFIG: a value that makes no model. Unknown keys become warnings. */
ss_status ss_config_from_hf(const json_t *json, const char *file, ss_warnings *warnings,
                            ss_config_draft *draft, ss_error *error);

#endif
