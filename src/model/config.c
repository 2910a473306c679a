/* From a draft to a checked configuration. Relies on: model/config_keys. */
#include "model/config.h"

#include "model/config_keys.h"

#include <math.h>

ss_config_draft ss_config_begin(const ss_architecture *architecture) {
    ss_config_draft draft = {.config = architecture->options, .rotary_share = 1, .scaled = true};
    draft.config.architecture = architecture->name;
    draft.causal = draft.config.causal;
    return draft;
}

static ss_status derive(ss_config_draft *draft, const char *file, ss_error *error) {
    ss_config *c = &draft->config;
    if (c->kv_heads == 0) c->kv_heads = c->heads;
    if (c->head_width == 0) {
        if (c->heads == 0 || c->width % c->heads != 0)
            return ss_fail(error, SS_E_CONFIG, file, "%zu heads do not divide the width %zu evenly", c->heads,
                           c->width);
        c->head_width = c->width / c->heads;
    }
    if (c->ffn_width == 0) c->ffn_width = 4 * c->width;
    if (!(draft->rotary_share > 0 && draft->rotary_share <= 1))
        return ss_fail(error, SS_E_CONFIG, file, "partial_rotary_factor is %g; it must be above 0, at most 1",
                       draft->rotary_share);
    if (c->rotary.width == 0) c->rotary.width = (size_t)((double)c->head_width * draft->rotary_share);
    c->score_scale = draft->scaled ? 1 / sqrt((double)c->head_width) : 1;
    return SS_OK;
}

static ss_status check_sizes(const ss_config *c, const char *file, ss_error *error) {
    const struct {
        const char *name;
        size_t value, largest;
    } sizes[] = {
        {"layer count", c->layers, 1 << 16},    {"width", c->width, 1 << 24},
        {"head count", c->heads, 1 << 16},      {"key/value head count", c->kv_heads, 1 << 16},
        {"head width", c->head_width, 1 << 20}, {"feed-forward width", c->ffn_width, 1 << 26},
        {"vocabulary", c->vocabulary, 1 << 30}, {"context", c->context, 1 << 30},
    };
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        if (sizes[i].value < 1 || sizes[i].value > sizes[i].largest)
            return ss_fail(error, SS_E_CONFIG, file, "the %s is %zu; it must lie between 1 and %zu",
                           sizes[i].name, sizes[i].value, sizes[i].largest);
    if (c->heads % c->kv_heads != 0)
        return ss_fail(error, SS_E_CONFIG, file,
                       "%zu key/value heads do not divide the %zu query heads evenly", c->kv_heads, c->heads);
    if (!(c->norm_epsilon > 0))
        return ss_fail(error, SS_E_CONFIG, file, "the epsilon of the norms is %g; it must be above 0",
                       c->norm_epsilon);
    return SS_OK;
}

static ss_status check_rotary(const ss_config_draft *draft, const char *file, ss_error *error) {
    const ss_rotary *r = &draft->config.rotary;
    if (draft->config.positions != SS_POSITION_ROTARY) return SS_OK;
    if (r->width < 2 || r->width % 2 != 0 || r->width > draft->config.head_width)
        return ss_fail(error, SS_E_CONFIG, file,
                       "rotary positions turn %zu dimensions of a head; it must be an even number from 2 to "
                       "the head width %zu",
                       r->width, draft->config.head_width);
    if (!(r->base > 1))
        return ss_fail(error, SS_E_CONFIG, file, "the rotary base is %g; it must be above 1", r->base);
    if (r->scaling != SS_ROTARY_PLAIN && !(r->factor > 0))
        return ss_fail(error, SS_E_CONFIG, file, "rotary scaling needs a factor above 0");
    if (r->scaling == SS_ROTARY_LLAMA3 &&
        !(r->low_freq_factor > 0 && r->high_freq_factor > r->low_freq_factor && r->original_context > 0))
        return ss_fail(error, SS_E_CONFIG, file,
                       "llama3 rotary scaling needs 0 < low_freq_factor < high_freq_factor and "
                       "original_max_position_embeddings above 0");
    return SS_OK;
}

ss_status ss_config_finish(ss_config_draft *draft, const char *file, ss_error *error) {
    SS_TRY(derive(draft, file, error));
    SS_TRY(check_sizes(&draft->config, file, error));
    return check_rotary(draft, file, error);
}
