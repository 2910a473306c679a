/* Configuration keys as data. config.json and GGUF metadata differ in names and containers; both are read by
 * walking the file's keys, finding each in a table of ss_key and applying its value to a draft. What a table
 * does not know is a warning; what it knows to change the mathematics, and the pass cannot do, is an error.
 * Relies on: model/config, model/architecture. */
#ifndef SS_MODEL_CONFIG_KEYS_H
#define SS_MODEL_CONFIG_KEYS_H

#include "base/status.h"
#include "model/architecture.h"

/* What a file says about biases. */
typedef enum ss_bias { SS_BIAS_UNSAID, SS_BIAS_NO, SS_BIAS_YES } ss_bias;

/* A configuration on its way: ss_config plus what is said in other terms. Zero sizes are not yet known. */
typedef struct ss_config_draft {
    ss_config config;
    ss_bias attn_bias, ffn_bias;
    double rotary_share; /* of the head width; counts where config.rotary.width is 0 */
    bool scaled;         /* scores are divided by sqrt(E) */
    bool causal;         /* as the file says it; the architecture decides */
    size_t value_width;  /* of a head, where the file says it: must be the head width */
} ss_config_draft;

/* A value of either container. */
typedef struct ss_value {
    enum { SS_VALUE_NULL, SS_VALUE_BOOL, SS_VALUE_NUMBER, SS_VALUE_TEXT, SS_VALUE_OTHER } kind;
    double number; /* also 0 or 1 of a bool */
    const char *text;
    size_t length;
} ss_value;

typedef enum ss_key_kind {
    SS_KEY_HARMLESS, /* has no effect on the pass */
    SS_KEY_SIZE,     /* a whole number from 1 into a size_t */
    SS_KEY_NUMBER,   /* a finite number into a double */
    SS_KEY_BOOL,     /* into a bool */
    SS_KEY_BIAS,     /* a bool into an ss_bias */
    SS_KEY_WORD,     /* one of `words` into an enum */
    SS_KEY_SOFT_CAP, /* a number above 0 */
    SS_KEY_ONLY,     /* must be `only` (null, false or "absolute"); anything else is not supported */
    SS_KEY_OBJECT    /* an object with keys of its own: `inner` (config.json only) */
} ss_key_kind;

typedef struct ss_word {
    const char *text;
    int value;
} ss_word;

typedef struct ss_key {
    const char *name; /* a pattern of model/names for SS_KEY_HARMLESS */
    ss_key_kind kind;
    bool required;
    size_t field;               /* offset into ss_config_draft */
    const ss_word *words;       /* ends with text NULL */
    const char *only;           /* as JSON writes it, strings without quotes */
    const struct ss_key *inner; /* ends with name NULL */
} ss_key;

/* Rows of a table. */
#define SS_FIELD(member) offsetof(ss_config_draft, member)
#define SS_SIZE_KEY(k, m)                                                                                    \
    { .name = (k), .kind = SS_KEY_SIZE, .field = SS_FIELD(m) }
#define SS_REQUIRED_KEY(k, m)                                                                                \
    { .name = (k), .kind = SS_KEY_SIZE, .field = SS_FIELD(m), .required = true }
#define SS_NUMBER_KEY(k, m)                                                                                  \
    { .name = (k), .kind = SS_KEY_NUMBER, .field = SS_FIELD(m) }
#define SS_BOOL_KEY(k, m)                                                                                    \
    { .name = (k), .kind = SS_KEY_BOOL, .field = SS_FIELD(m) }
#define SS_BIAS_KEY(k, m)                                                                                    \
    { .name = (k), .kind = SS_KEY_BIAS, .field = SS_FIELD(m) }
#define SS_WORD_KEY(k, m, w)                                                                                 \
    { .name = (k), .kind = SS_KEY_WORD, .field = SS_FIELD(m), .words = (w) }
#define SS_ONLY_KEY(k, value)                                                                                \
    { .name = (k), .kind = SS_KEY_ONLY, .only = (value) }
#define SS_HARMLESS_KEY(k)                                                                                   \
    { .name = (k), .kind = SS_KEY_HARMLESS }
#define SS_SOFT_CAP_KEY(k)                                                                                   \
    { .name = (k), .kind = SS_KEY_SOFT_CAP }
#define SS_OBJECT_KEY(k, rows)                                                                               \
    { .name = (k), .kind = SS_KEY_OBJECT, .inner = (rows) }

/* The row of a key, or NULL. `keys` ends with name NULL. */
const ss_key *ss_key_find(const ss_key *keys, const char *name);

/* Put a value into the draft as its row says; a null leaves it as it is. `where` names file and key.
 * SS_E_CONFIG: wrong type or out of range. SS_E_UNSUPPORTED: a value that the pass cannot do. */
ss_status ss_key_apply(const ss_key *key, const ss_value *value, const char *where, ss_config_draft *draft,
                       ss_error *error);

/* An architecture's options as a draft, before any key is read. */
ss_config_draft ss_config_begin(const ss_architecture *architecture);

/* Fill in what follows from other fields and check the whole; `file` is named in errors (SS_E_CONFIG). */
ss_status ss_config_finish(ss_config_draft *draft, const char *file, ss_error *error);

#endif
