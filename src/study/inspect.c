/* Inspect, step by step: tokens, envelope, pass, a second look where something was not finite, findings.
 * Relies on: model, probe, result, study/findings, study/fail_on. */
#include "base/locale.h"
#include "model/model.h"
#include "probe/health_probe.h"
#include "probe/probes.h"
#include "result/result.h"
#include "study/fail_on.h"
#include "study/findings.h"

#include <string.h>

enum { TOKEN_TEXT = 256 }; /* bytes of a token kept for display */

typedef struct inspection {
    const ss_model *model;
    const ss_inspect_input *input;
    const ss_inspect_options *options;
    ss_result *result;
    ss_encoding encoding; /* of a text */
    const uint32_t *ids;  /* [tokens] */
    size_t tokens;        /* measured */
    bool cut;             /* there were more, and --max-tokens asked for no more */
    ss_error *error;
} inspection;

/* The first `most` tokens of the text, of which no more is read. */
static ss_status tokenize(inspection *n, size_t most) {
    const ss_inspect_input *in = n->input;
    const char *why = NULL;
    const ss_tokenizer *tokenizer = ss_model_tokenizer(n->model, &why);
    if (!tokenizer)
        return ss_fail(n->error, SS_E_UNSUPPORTED, ss_model_describe(n->model).file,
                       "no tokenizer for --text: %s%s", why ? why : "none found",
                       why && strstr(why, "--tokens") ? "" : "; give token ids with --tokens FILE");
    unsigned flags =
        (in->parse_special ? SS_ENCODE_PARSE_SPECIAL : 0u) | (in->plain ? 0u : SS_ENCODE_ADD_SPECIAL);
    SS_TRY(ss_tokenizer_encode(tokenizer, in->text, in->length, flags, most, &n->encoding, n->error));
    n->ids = n->encoding.ids;
    n->tokens = n->encoding.count;
    return SS_OK;
}

static ss_status read_tokens(inspection *n) {
    const ss_inspect_input *in = n->input;
    const size_t context = ss_model_config(n->model)->context;
    const bool may_cut = in->max_tokens && in->max_tokens <= context;
    const size_t most = may_cut ? in->max_tokens : context;
    bool more;
    if (in->text) {
        SS_TRY(tokenize(n, most));
        more = n->encoding.more;
    } else {
        more = in->id_count > most;
        n->ids = in->ids;
        n->tokens = may_cut && more ? most : in->id_count;
    }
    n->cut = may_cut && more;
    return ss_model_check_tokens(n->model, n->ids, n->tokens, in->text && more && !may_cut, n->error);
}

/* ---- the envelope ----------------------------------------------------------------------------- */

static void describe_model(inspection *n) {
    const ss_model_facts facts = ss_model_describe(n->model);
    ss_result *r = n->result;
    json_t *model = ss_result_object(r, r->root, "model");
    ss_result_text(r, model, "name", facts.name);
    ss_result_text(r, model, "file", facts.file);
    ss_result_text(r, model, "architecture", facts.architecture);
    const struct {
        const char *key;
        size_t value;
    } sizes[] = {
        {"layers", facts.layers},
        {"heads", facts.heads},
        {"kv_heads", facts.kv_heads},
        {"width", facts.width},
        {"head_width", facts.head_width},
        {"ffn_width", facts.ffn_width},
        {"vocabulary", facts.vocabulary},
        {"context", facts.context},
        {"parameters", (size_t)facts.parameters},
    };
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        ss_result_count(r, model, sizes[i].key, sizes[i].value);
    ss_result_bool(r, model, "causal", facts.causal);
    ss_result_text(r, model, "weights", facts.weights);
}

static void describe_tokens(inspection *n, json_t *input) {
    const ss_tokenizer *tokenizer = ss_model_tokenizer(n->model, NULL);
    ss_result *r = n->result;
    json_t *ids = ss_result_array(r, input, "ids");
    for (size_t t = 0; t < n->tokens; t++) ss_result_append_count(r, ids, n->ids[t]);
    if (!tokenizer) {
        ss_result_absent(r, input, "text", "the model came without a tokenizer");
        return;
    }
    json_t *text = ss_result_array(r, input, "text");
    for (size_t t = 0; t < n->tokens; t++) {
        char piece[TOKEN_TEXT];
        size_t length = ss_tokenizer_display(tokenizer, n->ids[t], piece, sizeof piece);
        ss_result_append_text(r, text, piece, length < sizeof piece ? length : strlen(piece));
    }
}

static void describe_input(inspection *n) {
    ss_result *r = n->result;
    json_t *input = ss_result_object(r, r->root, "input");
    ss_result_text(r, input, "name", n->input->name);
    ss_result_count(r, input, "tokens", n->tokens);
    if (n->cut) ss_result_bool(r, input, "cut", true);
    describe_tokens(n, input);
}

static void describe_settings(inspection *n) {
    const ss_compute *compute = &n->options->compute;
    ss_result *r = n->result;
    json_t *settings = ss_result_object(r, r->root, "settings");
    ss_result_text(r, settings, "dtype", ss_dtype_name(compute->dtype));
    ss_result_count(r, settings, "threads", (size_t)compute->workers);
    ss_result_text(r, settings, "isa", ss_isa_name(compute->isa));
}

/* What loading and tokenizing noticed, as findings of their own. */
static void add_warnings(inspection *n) {
    size_t count;
    const char *const *warnings = ss_model_warnings(n->model, &count);
    for (size_t i = 0; i < count; i++)
        ss_result_note(n->result, "model-file", SS_SEVERITY_WARNING, warnings[i]);
    if (n->encoding.double_bos)
        ss_result_note(
            n->result, "double-bos", SS_SEVERITY_WARNING,
            "The text starts with a begin-of-text token and the tokenizer added one too: remove the "
            "typed one, or give --no-special.");
    if (n->encoding.dropped > 0)
        ss_result_note(n->result, "dropped-text", SS_SEVERITY_WARNING,
                       "Parts of the text have no token in this vocabulary and were left out.");
    if (n->cut)
        ss_result_note(n->result, "cut", SS_SEVERITY_INFO,
                       "Only the first tokens were read, as --max-tokens asked; there were more.");
}

/* ---- the pass --------------------------------------------------------------------------------- */

static ss_status run_probes(inspection *n, const ss_probe_setup *setup, uint32_t probes, ss_probe_set **set) {
    SS_TRY(ss_probe_set_create(setup, probes, set, n->error));
    const ss_forward_options forward = {.compute = n->options->compute,
                                        .progress = n->options->progress,
                                        .progress_context = n->options->progress_context,
                                        .heads = n->options->probe.heads};
    return ss_model_forward(n->model, n->ids, n->tokens, &forward, ss_probe_set_list(*set),
                            ss_probe_set_count(*set), n->error);
}

/* Something was not finite: run again looking at every site, and name the operator and the weight. */
static ss_status find_bad_value(inspection *n, const ss_probe_setup *setup) {
    ss_probe_setup fine = *setup;
    fine.options.all_sites = true;
    uint32_t health = 0;
    SS_TRY(ss_probes_parse("health", &health, n->error));
    ss_probe_set *set = NULL;
    ss_status status = run_probes(n, &fine, health, &set);
    if (status == SS_OK) status = ss_probe_set_report(set, n->result, n->error);
    ss_bad_value first;
    if (status == SS_OK && ss_health_probe_first(ss_probe_set_find(set, "health"), &first)) {
        const ss_report report = {n->result, ss_model_config(n->model), n->options->probe.heads};
        ss_health_blame(&report, &first, ss_health_culprit(ss_model_tensors(n->model), &first));
    }
    ss_probe_set_free(set);
    return status;
}

static ss_status measure(inspection *n) {
    const ss_probe_setup setup = {.memory = ss_model_memory(n->model),
                                  .config = ss_model_config(n->model),
                                  .ids = n->ids,
                                  .tokens = n->tokens,
                                  .compute = n->options->compute,
                                  .options = n->options->probe};
    uint32_t probes = SS_PROBES_DEFAULT;
    if (n->options->probes) SS_TRY(ss_probes_parse(n->options->probes, &probes, n->error));
    ss_probe_set *set = NULL;
    ss_status status = run_probes(n, &setup, probes, &set);
    ss_bad_value first;
    ss_health_probe *health = status == SS_OK ? ss_probe_set_find(set, "health") : NULL;
    const bool bad = health && ss_health_probe_first(health, &first);
    if (status == SS_OK) status = ss_probe_set_report(set, n->result, n->error);
    ss_probe_set_free(set);
    if (status == SS_OK && bad) status = find_bad_value(n, &setup);
    return status;
}

static ss_status inspect(inspection *n, bool *failed) {
    SS_TRY(ss_compute_check(&n->options->compute, n->error));
    SS_TRY(ss_fail_on_check(n->options->fail_on, n->error));
    SS_TRY(read_tokens(n));
    SS_TRY(ss_result_create(&n->result, "inspect", n->error));
    describe_model(n);
    describe_input(n);
    describe_settings(n);
    ss_result_metrics(n->result);
    SS_TRY(measure(n));
    add_warnings(n);
    ss_findings_add(n->result);
    SS_TRY(ss_fail_on_apply(n->options->fail_on, n->result, failed, n->error));
    return ss_result_check(n->result, n->error);
}

ss_inspect_options ss_inspect_options_default(void) {
    return (ss_inspect_options){.compute = ss_compute_default(), .probe = ss_probe_options_default()};
}

ss_status ss_inspect(const ss_model *model, const ss_inspect_input *input, const ss_inspect_options *options,
                     ss_result **result, bool *failed, ss_error *error) {
    inspection n = {.model = model, .input = input, .options = options, .error = error};
    bool found = false;
    ss_c_locale scope;
    if (!ss_c_locale_enter(&scope)) return ss_fail_memory(error, "inspect");
    ss_status status = inspect(&n, &found);
    ss_c_locale_leave(&scope);
    ss_encoding_free(&n.encoding);
    if (status != SS_OK) {
        ss_result_free(n.result);
        return status;
    }
    *result = n.result;
    if (failed) *failed = found;
    return SS_OK;
}
