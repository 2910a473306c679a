/* Architectures as data: what each calls its tensors and which options it fixes. A new architecture is a row
 * here, its configuration keys in config_hf.c, and nothing else.
 * Relies on: model/config, model/tensors. Everything is constant. */
#ifndef SS_MODEL_ARCHITECTURE_H
#define SS_MODEL_ARCHITECTURE_H

#include "model/tensors.h"

/* The two families of names. */
typedef enum ss_naming { SS_NAMING_HF, SS_NAMING_GGUF, SS_NAMING_COUNT } ss_naming;

/* When a model of the architecture has a tensor. */
typedef enum ss_presence {
    SS_ALWAYS,
    SS_MAYBE, /* used when it is there */
    SS_NEVER,
    SS_IF_BIASED, /* attention biases: as the configuration says, or when they are there */
    SS_IF_FFN_BIASED,
    SS_IF_UNTIED, /* the head */
} ss_presence;

/* One tensor. Several rows of one role are other names for it: the first that a file has is taken. */
typedef struct ss_tensor_name {
    ss_role role;
    ss_presence presence;
    const char *pattern[SS_NAMING_COUNT]; /* "#" is the layer; NULL: these files have none */
    bool conv1d;                          /* Hugging Face stores the weight as [in][out] */
    bool fused; /* holds all roles that lie together with `role`, one after the other along its outputs */
    bool root;  /* its name takes no prefix */
} ss_tensor_name;

typedef struct ss_architecture {
    const char *name;  /* "model_type" of config.json and "general.architecture" of GGUF */
    ss_config options; /* what the architecture fixes, and transformers' defaults for what files leave out */
    ss_rotary_layout gguf_rotary_layout;
    const char *const *prefixes; /* before Hugging Face's names, ending with NULL; the first that fits */
    const char *const *ignored;  /* patterns of tensors that the pass has no use for, without prefix */
    const ss_tensor_name *names;
    size_t name_count;
} ss_architecture;

/* The architecture of that name, or NULL. */
const ss_architecture *ss_architecture_find(const char *name, size_t length);

/* "gpt2, llama, bert", for messages. */
char *ss_architecture_list(char *text, size_t size);

#endif
