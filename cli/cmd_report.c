/* softscope report: the page of one result, or of two side by side. */
#include "commands.h"

typedef struct report_options {
    const char *output;
} report_options;

static const option options[] = {
    {"output", "FILE", OPTION_TEXT, offsetof(report_options, output),
     "where the page goes (-o FILE is the same)"},
};

enum { MOST_RESULTS = 2 };

static int run(int argc, char **argv) {
    report_options values = {.output = "report.html"};
    arguments plain;
    ss_error error = {0};
    if (options_parse(&report_command, argc, argv, &values, &plain, &error) != SS_OK) return fail(&error);
    ss_result *results[MOST_RESULTS] = {0};
    const output_options output = {.html = values.output};
    ss_status status = check_outputs(&output, NULL, (const char *const *)plain.items, plain.count, &error);
    for (size_t i = 0; status == SS_OK && i < plain.count; i++)
        status = ss_result_load(plain.items[i], &results[i], &error);
    if (status == SS_OK)
        status = ss_result_save_page((const ss_result *const *)results, plain.count, values.output, &error);
    for (size_t i = 0; i < MOST_RESULTS; i++) ss_result_free(results[i]);
    return status == SS_OK ? 0 : fail(&error);
}

const command report_command = {
    .name = "report",
    .summary = "one self-contained page from a result, or from two side by side",
    .usage = "RESULT.json [RESULT.json] [-o PAGE.html]",
    .text = "The page opens from disk in any browser and needs no network. Two results of a kind (two models "
            "on one\n"
            "text, one model on two texts, two number types) are shown with their differences.",
    .examples = "  softscope report result.json -o page.html\n"
                "  softscope report f32.json bf16.json -o difference.html",
    .least = 1,
    .most = MOST_RESULTS,
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .run = run,
};
