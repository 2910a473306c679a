/* Configurations: config.json, or GGUF metadata where the input starts like a GGUF file. What is accepted
 * obeys what the pass relies on. */
#include "fuzz.h"

#include "model/config_gguf.h"
#include "model/config_hf.h"

#include <math.h>
#include <string.h>

static void check_config(const ss_config *c) {
    REQUIRE(c->layers && c->width && c->heads && c->kv_heads && c->head_width && c->ffn_width &&
            c->vocabulary);
    REQUIRE(c->context && c->heads % c->kv_heads == 0);
    REQUIRE(isfinite(c->norm_epsilon) && c->norm_epsilon > 0 && isfinite(c->soft_cap) && c->soft_cap >= 0);
    if (c->positions == SS_POSITION_ROTARY)
        REQUIRE(c->rotary.width % 2 == 0 && c->rotary.width <= c->head_width && c->rotary.base > 1);
    for (ss_role role = 0; role < SS_ROLE_COUNT; role++) {
        const ss_role_facts *facts = ss_role_describe(role);
        size_t product;
        REQUIRE(ss_mul_size(ss_dim_size(facts->rows, c), ss_dim_size(facts->columns, c), &product));
    }
}

static ss_status read_gguf(const uint8_t *data, size_t size, ss_warnings *warnings, ss_config_draft *draft,
                           ss_error *error) {
    ss_gguf *gguf = NULL;
    SS_TRY(ss_gguf_parse("input", data, size, NULL, &gguf, error));
    ss_status status = ss_config_from_gguf(gguf, warnings, draft, error);
    ss_gguf_free(gguf);
    return status;
}

static ss_status read_json(const uint8_t *data, size_t size, ss_warnings *warnings, ss_config_draft *draft,
                           ss_error *error) {
    json_t *json = NULL;
    SS_TRY(ss_json_parse("input", data, size, 1 << 20, &json, error));
    ss_status status = ss_config_from_hf(json, "input", warnings, draft, error);
    json_decref(json);
    return status;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    ss_arena arena = ss_arena_make(NULL);
    ss_warnings warnings = {.arena = &arena};
    ss_config_draft draft;
    ss_error error = {0};
    const bool gguf = size >= 4 && memcmp(data, "GGUF", 4) == 0;
    if ((gguf ? read_gguf : read_json)(data, size, &warnings, &draft, &error) == SS_OK)
        check_config(&draft.config);
    else
        REQUIRE(error.message[0]);
    REQUIRE(warnings.count <= SS_MAX_WARNINGS);
    ss_arena_free(&arena);
    return 0;
}
