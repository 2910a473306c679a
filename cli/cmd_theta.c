/* softscope theta: exact theta and the whole diagnosis of rows from a file; and the paper's check. */
#include "commands.h"

#include "base/status.h"
#include "compute_options.h"
#include "study/dump.h"
#include "study/verify.h"

#include <math.h>

typedef struct theta_options {
    const char *array, *mask, *rows, *fail_on;
    size_t row_length, theta_nodes;
    double tau, sink, sink_threshold;
    bool logits, causal, raw_is_bf16, verify;
    compute_options compute;
    output_options output;
} theta_options;

#define FIELD(member) offsetof(theta_options, member)

static const option options[] = {
    {"logits", NULL, OPTION_FLAG, FIELD(logits), "the numbers are logits: weights = softmax(logits / tau)"},
    {"tau", "X", OPTION_NUMBER, FIELD(tau), "temperature; Jacobian norms are divided by it (default 1)"},
    {"sink", "X", OPTION_NUMBER, FIELD(sink), "a learned sink logit, one more atom of every row"},
    {"causal", NULL, OPTION_FLAG, FIELD(causal), "query i of T sees keys up to i + n - T"},
    {"mask", "FILE", OPTION_TEXT, FIELD(mask),
     "NPY of bool or integers, not 0 where a key is in the row;\nmissing axes and axes of 1 are repeated"},
    {"array", "NAME", OPTION_TEXT, FIELD(array), "which array of an NPZ file"},
    {"row-length", "N", OPTION_COUNT, FIELD(row_length), "FILE is raw float32, N numbers a row"},
    {"bf16", NULL, OPTION_FLAG, FIELD(raw_is_bf16), "two-byte items without a type ('<V2') are bfloat16"},
    {"rows", "FILE", OPTION_TEXT, FIELD(rows), "write every row's numbers to FILE.npy or FILE.csv"},
    {"sink-threshold", "X", OPTION_NUMBER, FIELD(sink_threshold),
     "mean weight on the first key that makes a sink (default 0.3)"},
    {"theta-budget", "N", OPTION_COUNT, FIELD(theta_nodes),
     "search nodes a row before theta stays a bracket"},
    {"fail-on", "LIST", OPTION_TEXT, FIELD(fail_on),
     "exit with 1 when a condition holds, as theta.min<0.01,p_max>0.9\n(nan is always one)"},
    {"json", "FILE", OPTION_TEXT, FIELD(output.json), "write the result document; - is standard output"},
    {"html", "FILE", OPTION_TEXT, FIELD(output.html), "write the report page"},
    {"groups", NULL, OPTION_FLAG, FIELD(output.heads), "show a line for each group of rows, however many"},
    {"quiet", NULL, OPTION_FLAG, FIELD(output.quiet), "print nothing but errors"},
    {"verify", NULL, OPTION_FLAG, FIELD(verify),
     "no FILE: check Theorem 3.2 and its corollaries by enumeration"},
    THREADS_OPTION(theta_options, compute),
    ISA_OPTION(theta_options, compute),
};

/* ---- --verify ---------------------------------------------------------------------------------- */

static bool print_checks(const ss_verify_check *checks, size_t count) {
    bool passed = true;
    const char *group = NULL;
    for (size_t i = 0; i < count; i++) {
        const ss_verify_check *c = &checks[i];
        const bool good = c->error <= c->limit;
        if (c->group != group)
            printf("%s%-56s %6s  %13s  %9s\n", group ? "\n" : "", c->group, "rows", "largest error",
                   "allowed");
        group = c->group;
        printf("  %-54s %6zu  %13.1e  %9.0e  %s\n", c->claim, c->rows, c->error, c->limit,
               good ? "holds" : "FAILS");
        passed = passed && good;
    }
    printf("\nLogits are normal with deviations 0.5, 1, 2 and 5 in turn. Errors are relative, those of the "
           "corollaries\nwithout p_max >= 1/2 absolute. The paper (D.2) tries 500 vectors at n = 8 and 16 "
           "and finds them below 1e-13.\n");
    return passed;
}

static int verify(void) {
    ss_verify_check checks[SS_VERIFY_MOST];
    size_t count;
    ss_error error = {0};
    if (ss_verify(checks, &count, &error) != SS_OK) return fail(&error);
    return print_checks(checks, count) ? 0 : 1;
}

/* ---- the command ------------------------------------------------------------------------------- */

static ss_status read_options(const theta_options *o, ss_dump_options *study, ss_error *error) {
    *study = ss_dump_options_default();
    SS_TRY(compute_options_read(&o->compute, &study->compute, error));
    if (!(o->sink_threshold > 0 && o->sink_threshold < 1))
        return ss_fail(error, SS_E_USAGE, "--sink-threshold", "a share between 0 and 1");
    study->probe.sink_threshold = o->sink_threshold;
    if (o->theta_nodes) study->probe.theta_nodes = o->theta_nodes;
    study->array = o->array;
    study->row_length = o->row_length;
    study->raw_is_bf16 = o->raw_is_bf16;
    study->logits = o->logits;
    study->tau = o->tau;
    study->has_sink = !isnan(o->sink);
    study->sink = o->sink;
    study->causal = o->causal;
    study->mask = o->mask;
    study->rows_path = o->rows;
    study->fail_on = o->fail_on;
    study->progress = progress_show;
    return SS_OK;
}

static ss_status measure(const theta_options *o, const char *path, bool *failed, ss_error *error) {
    ss_dump_options study;
    ss_result *result = NULL;
    SS_TRY(read_options(o, &study, error));
    const char *const inputs[] = {path, o->mask};
    SS_TRY(check_outputs(&o->output, o->rows, inputs, sizeof inputs / sizeof *inputs, error));
    progress_start("measuring", o->output.quiet);
    ss_status status = ss_dump_study(path, &study, &result, failed, error);
    progress_end();
    if (status == SS_OK) status = write_result(result, &o->output, error);
    ss_result_free(result);
    return status;
}

static int run(int argc, char **argv) {
    theta_options values = {
        .tau = 1, .sink = (double)NAN, .sink_threshold = ss_probe_options_default().sink_threshold};
    arguments plain;
    ss_error error = {0};
    bool failed = false;
    ss_status status = options_parse(&theta_command, argc, argv, &values, &plain, &error);
    if (status != SS_OK) return fail(&error);
    if (values.verify && plain.count == 0) return verify();
    if (values.verify || plain.count == 0)
        status = ss_fail(&error, SS_E_USAGE, NULL, "give a FILE, or --verify without one: softscope theta %s",
                         theta_command.usage);
    else
        status = measure(&values, plain.items[0], &failed, &error);
    return status != SS_OK ? fail(&error) : failed ? 1 : 0;
}

const command theta_command = {
    .name = "theta",
    .summary = "exact theta and the whole diagnosis of attention rows from a file",
    .usage = "FILE [options] | --verify",
    .text =
        "FILE is NPY, NPZ or text (a row a line) with attention weights, or with --logits what entered the "
        "softmax,\n"
        "from any framework; - is raw float32 from standard input. The last axis is the row, the one before "
        "it the\n"
        "query, further ones are groups, as [layers][heads][queries][keys]. Rows that are no distribution "
        "(dropout\n"
        "left on, logits taken for weights, a lost mask) are found, said and counted; they get no theta.\n"
        "--rows writes row, support, theta, lower, upper, exact, theta_cert, entropy, p_max, jac_2, jac_inf, "
        "jac_frob.",
    .examples = "  softscope theta attention.npy --causal\n"
                "  softscope theta dump.npz --array layer3 --rows rows.csv --json result.json\n"
                "  softscope theta scores.npy --logits --tau 0.5 --html page.html\n"
                "  producer | softscope theta - --row-length 1024\n"
                "  softscope theta --verify",
    .least = 0,
    .most = 1,
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .run = run,
};
