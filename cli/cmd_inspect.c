/* softscope inspect: run a model once over a text and report on its attention. */
#include "commands.h"

#include "base/file.h"
#include "compute_options.h"
#include "input.h"
#include "model/model.h"
#include "probe/probes.h"
#include "study/fail_on.h"

#include <stdlib.h>
#include <string.h>

typedef struct inspect_options {
    const char *text, *tokens, *layers, *heads, *probes, *fine_maps, *fail_on;
    size_t max_tokens, theta_nodes;
    double sink_threshold;
    bool parse_special, plain;
    compute_options compute;
    output_options output;
} inspect_options;

#define FIELD(member) offsetof(inspect_options, member)

static const option options[] = {
    {"text", "FILE", OPTION_TEXT, FIELD(text), "the text to run the model on; - reads standard input"},
    {"tokens", "FILE", OPTION_TEXT, FIELD(tokens),
     "token ids instead of a text: numbers in a text file, or NPY"},
    {"max-tokens", "N", OPTION_COUNT, FIELD(max_tokens), "read only the first N tokens (default: all)"},
    {"parse-special", NULL, OPTION_FLAG, FIELD(parse_special),
     "special tokens typed in the text are those tokens"},
    {"no-special", NULL, OPTION_FLAG, FIELD(plain), "add no begin-of-text token, no [CLS] and [SEP]"},
    {"layers", "LIST", OPTION_TEXT, FIELD(layers), "measure only the heads of these layers, as 0-5,8"},
    {"only-heads", "LIST", OPTION_TEXT, FIELD(heads), "measure only these heads of each layer, as 0,3-4"},
    {"fine-maps", "LIST", OPTION_TEXT, FIELD(fine_maps),
     "attention maps of 256 x 256 cells for these heads, as LAYER.HEAD,LAYER.HEAD"},
    {"probe", "LIST", OPTION_TEXT, FIELD(probes),
     "which probes to run; 'softscope inspect --probe help' lists them"},
    {"sink-threshold", "X", OPTION_NUMBER, FIELD(sink_threshold),
     "mean weight on the first key that makes a sink (default 0.3)"},
    {"theta-budget", "N", OPTION_COUNT, FIELD(theta_nodes),
     "search nodes a row before theta stays a bracket"},
    {"fail-on", "LIST", OPTION_TEXT, FIELD(fail_on),
     "exit with 1 when a condition holds, as max_logit>100,theta.min<0.01\n(nan is always one)"},
    {"json", "FILE", OPTION_TEXT, FIELD(output.json), "write the result document; - is standard output"},
    {"html", "FILE", OPTION_TEXT, FIELD(output.html), "write the report page"},
    {"heads", NULL, OPTION_FLAG, FIELD(output.heads), "show a line for each head"},
    {"quiet", NULL, OPTION_FLAG, FIELD(output.quiet), "print nothing but errors"},
    THREADS_OPTION(inspect_options, compute),
    DTYPE_OPTION(inspect_options, compute),
    ISA_OPTION(inspect_options, compute),
};

/* ---- reading options into what the study wants ------------------------------------------------- */

/* Mark in chosen[count] the numbers of a list such as "0-5,8". */
static ss_status read_list(const char *name, const char *list, bool *chosen, size_t count, ss_error *error) {
    const char *at = list;
    do {
        char *end;
        unsigned long first = strtoul(at, &end, 10), last = first;
        bool good = end != at && *at != '-';
        if (good && *end == '-') {
            at = end + 1;
            last = strtoul(at, &end, 10);
            good = end != at && last >= first;
        }
        if (!good || (*end != ',' && *end != '\0'))
            return ss_fail(error, SS_E_USAGE, name, "'%s' is not a list such as 0-5,8", list);
        if (last >= count)
            return ss_fail(error, SS_E_USAGE, name, "%lu is too large: the last one is %zu", last, count - 1);
        for (size_t i = first; i <= last; i++) chosen[i] = true;
        at = end + 1;
        if (*end == '\0') return SS_OK;
    } while (true);
}

/* --layers and --only-heads as [layers * H] flags; NULL when everything is measured. */
static ss_status choose_heads(const inspect_options *o, const ss_config *c, uint8_t **shown,
                              ss_error *error) {
    *shown = NULL;
    if (!o->layers && !o->heads) return SS_OK;
    bool *layers = calloc(c->layers, sizeof *layers), *heads = calloc(c->heads, sizeof *heads);
    uint8_t *flags = calloc(c->layers * c->heads, 1);
    ss_status status = layers && heads && flags ? SS_OK : ss_fail_memory(error, "--layers");
    if (status == SS_OK && o->layers) status = read_list("--layers", o->layers, layers, c->layers, error);
    if (status == SS_OK && o->heads) status = read_list("--only-heads", o->heads, heads, c->heads, error);
    for (size_t i = 0; status == SS_OK && i < c->layers * c->heads; i++)
        flags[i] = (!o->layers || layers[i / c->heads]) && (!o->heads || heads[i % c->heads]);
    free(layers);
    free(heads);
    if (status == SS_OK)
        *shown = flags;
    else
        free(flags);
    return status;
}

/* --fine-maps "18.8,0.2" as [layers * H] flags; NULL when none is asked for. */
static ss_status choose_fine_maps(const inspect_options *o, const ss_config *c, uint8_t **fine,
                                  ss_error *error) {
    if (!o->fine_maps) return SS_OK;
    *fine = calloc(c->layers * c->heads, 1);
    if (!*fine) return ss_fail_memory(error, "--fine-maps");
    for (const char *at = o->fine_maps;;) {
        char *dot, *end;
        unsigned long layer = strtoul(at, &dot, 10), head = *dot == '.' ? strtoul(dot + 1, &end, 10) : 0;
        if (dot == at || *dot != '.' || end == dot + 1 || (*end != ',' && *end != '\0'))
            return ss_fail(error, SS_E_USAGE, "--fine-maps", "'%s' is not a list such as 18.8,0.2",
                           o->fine_maps);
        if (layer >= c->layers || head >= c->heads)
            return ss_fail(error, SS_E_USAGE, "--fine-maps",
                           "there is no head %lu.%lu: the last one is %zu.%zu", layer, head, c->layers - 1,
                           c->heads - 1);
        (*fine)[layer * c->heads + head] = 1;
        if (*end == '\0') return SS_OK;
        at = end + 1;
    }
}

static void list_probes(void) {
    size_t count;
    const ss_probe_kind *kinds = ss_probe_kinds(&count);
    for (size_t i = 0; i < count; i++)
        printf("%-10s %s%s\n", kinds[i].name, kinds[i].description,
               kinds[i].on_by_default ? "" : " (not by default)");
}

/* ---- the command ------------------------------------------------------------------------------ */

typedef struct session {
    const inspect_options *options;
    ss_inspect_options study;
    ss_inspect_input input;
    file_input file;
    uint8_t *shown, *fine_maps;
    ss_model *model;
    ss_result *result;
    bool failed;
} session;

static ss_status check_options(session *s, ss_error *error) {
    const inspect_options *o = s->options;
    if (!o->text == !o->tokens)
        return ss_fail(error, SS_E_USAGE, NULL, "give the input with --text FILE or --tokens FILE%s",
                       o->text ? ", not both" : "");
    s->study = ss_inspect_options_default();
    SS_TRY(compute_options_read(&o->compute, &s->study.compute, error));
    if (o->theta_nodes) s->study.probe.theta_nodes = o->theta_nodes;
    if (!(o->sink_threshold > 0 && o->sink_threshold < 1))
        return ss_fail(error, SS_E_USAGE, "--sink-threshold", "a share between 0 and 1");
    s->study.probe.sink_threshold = o->sink_threshold;
    uint32_t bits;
    if (o->probes) SS_TRY(ss_probes_parse(o->probes, &bits, error));
    s->study.probes = o->probes;
    s->study.fail_on = o->fail_on;
    s->study.progress = progress_show;
    return ss_fail_on_check(o->fail_on, error);
}

static ss_status inspect(session *s, const char *path, ss_error *error) {
    const inspect_options *o = s->options;
    SS_TRY(check_options(s, error));
    const char *const inputs[] = {path, o->text, o->tokens};
    SS_TRY(check_outputs(&o->output, NULL, inputs, sizeof inputs / sizeof *inputs, error));
    SS_TRY(file_input_open(&s->file, o->text, o->tokens, error));
    s->input = (ss_inspect_input){.name = s->file.name,
                                  .text = s->file.text,
                                  .length = s->file.length,
                                  .ids = s->file.ids,
                                  .id_count = s->file.id_count,
                                  .parse_special = o->parse_special,
                                  .plain = o->plain,
                                  .max_tokens = o->max_tokens};
    progress_start("reading the model", o->output.quiet);
    SS_TRY(ss_model_open(path, NULL, &s->study.compute, &s->model, error));
    SS_TRY(choose_heads(o, ss_model_config(s->model), &s->shown, error));
    SS_TRY(choose_fine_maps(o, ss_model_config(s->model), &s->fine_maps, error));
    s->study.probe.heads = s->shown;
    s->study.probe.fine_maps = s->fine_maps;
    progress_start("measuring", o->output.quiet);
    SS_TRY(ss_inspect(s->model, &s->input, &s->study, &s->result, &s->failed, error));
    progress_end();
    return write_result(s->result, &o->output, error);
}

static int run(int argc, char **argv) {
    inspect_options values = {.sink_threshold = ss_probe_options_default().sink_threshold};
    arguments plain;
    ss_error error = {0};
    for (int i = 1; i + 1 < argc; i++) {
        if (strcmp(argv[i], "--probe") == 0 && strcmp(argv[i + 1], "help") == 0) {
            list_probes();
            return 0;
        }
    }
    if (options_parse(&inspect_command, argc, argv, &values, &plain, &error) != SS_OK) return fail(&error);
    session s = {.options = &values};
    ss_status status = inspect(&s, plain.items[0], &error);
    progress_end();
    ss_result_free(s.result);
    ss_model_free(s.model);
    file_input_close(&s.file);
    free(s.shown);
    free(s.fine_maps);
    return status != SS_OK ? fail(&error) : s.failed ? 1 : 0;
}

const command inspect_command = {
    .name = "inspect",
    .summary = "how sensitive, concentrated and healthy a model's attention is on a text",
    .usage = "MODEL --text FILE [options]",
    .text =
        "MODEL is a GGUF file, a safetensors file with its config.json, or a folder as Hugging Face lays it "
        "out.\n"
        "The model runs once over the text. For every layer and head you get theta (how far attention can "
        "move:\n"
        "if no logit moves by more than eps, a row moves by at most eps/2 x theta in total variation), "
        "entropy,\n"
        "largest weights, logits, sinks and the size of hidden states. Findings come first, in plain words.",
    .examples = "  softscope inspect model.gguf --text book.txt\n"
                "  softscope inspect minilm/ --text note.txt --heads --layers 0-2\n"
                "  softscope inspect model.gguf --text book.txt --json result.json --html page.html\n"
                "  softscope inspect model.gguf --text book.txt --quiet --fail-on 'max_logit>100'",
    .least = 1,
    .most = 1,
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .run = run,
};
