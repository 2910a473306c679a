/* The same configuration from GGUF metadata, as llama.cpp's converter writes it.
 * Relies on: formats/gguf, model/config_keys. */
#ifndef SS_MODEL_CONFIG_GGUF_H
#define SS_MODEL_CONFIG_GGUF_H

#include "formats/gguf.h"
#include "model/config_keys.h"
#include "model/warnings.h"

/* Fill *draft. Errors and warnings as ss_config_from_hf; only keys of the architecture itself ("llama.*")
 * are looked at, as others do not reach the computation. */
ss_status ss_config_from_gguf(const ss_gguf *gguf, ss_warnings *warnings, ss_config_draft *draft,
                              ss_error *error);

#endif
