/* What commands share: errors, results, progress, Ctrl-C. Relies on: POSIX terminals and signals. */
#include "commands.h"

#include "base/clock.h"
#include "base/file.h"
#include "report/terminal.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

int fail(const ss_error *error) {
    if (progress_interrupted()) {
        fputs("softscope: stopped; nothing was written\n", stderr);
        signal(SIGINT, SIG_DFL);
        raise(SIGINT); /* so that a shell loop around us stops as well */
    }
    const char *message = error->message[0] ? error->message : ss_status_name(error->code);
    if (error->where[0])
        fprintf(stderr, "softscope: %s: %s\n", error->where, message);
    else
        fprintf(stderr, "softscope: %s\n", message);
    return ss_status_exit(error->code);
}

/* ---- results ---------------------------------------------------------------------------------- */

static ss_terminal_style style_of_stdout(bool heads) {
    enum { PLAIN_WIDTH = 100, WIDEST = 120 };
    const char *no_color = getenv("NO_COLOR"), *terminal = getenv("TERM");
    struct winsize window = {0};
    const bool is_terminal = isatty(STDOUT_FILENO);
    ss_terminal_style style = {.width = PLAIN_WIDTH, .heads = heads};
    style.color = is_terminal && !(no_color && no_color[0]) && !(terminal && strcmp(terminal, "dumb") == 0);
    if (is_terminal && ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) == 0 && window.ws_col >= 40)
        style.width = window.ws_col < WIDEST ? window.ws_col : WIDEST;
    return style;
}

static bool is_same_file(const char *a, const char *b) {
    struct stat first, second;
    if (strcmp(a, b) == 0) return true;
    return stat(a, &first) == 0 && stat(b, &second) == 0 && first.st_dev == second.st_dev &&
           first.st_ino == second.st_ino;
}

/* Files of a model folder go by these endings; one that is there was not written by us. */
static bool is_part_of_a_model(const char *path) {
    static const char *const endings[] = {
        ".gguf",      ".safetensors", ".index.json", "config.json",  "tokenizer.json",         "vocab.json",
        "merges.txt", "vocab.txt",    "vocab.bpe",   "encoder.json", "special_tokens_map.json"};
    const size_t length = strlen(path);
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        const size_t part = strlen(endings[i]);
        if (length >= part && strcmp(path + length - part, endings[i]) == 0) return access(path, F_OK) == 0;
    }
    return false;
}

/* Try to begin: a folder that is absent or not ours to write in is told now, not after the work. */
static ss_status check_output(const char *path, const char *const *inputs, size_t count, ss_error *error) {
    struct stat facts;
    if (strcmp(path, "-") == 0) return SS_OK;
    const bool exists = stat(path, &facts) == 0;
    if (exists && !S_ISREG(facts.st_mode) && !S_ISDIR(facts.st_mode))
        return SS_OK; /* opening may block or end it */
    for (size_t i = 0; i < count; i++)
        if (inputs[i] && is_same_file(path, inputs[i]))
            return ss_fail(error, SS_E_USAGE, path, "is also read: give the output another name");
    if (is_part_of_a_model(path))
        return ss_fail(error, SS_E_USAGE, path,
                       "is a model's file and would be lost: give the output another name");
    ss_save save;
    SS_TRY(ss_save_begin(path, &save, error));
    ss_save_abort(&save);
    return SS_OK;
}

ss_status check_outputs(const output_options *options, const char *more, const char *const *inputs,
                        size_t count, ss_error *error) {
    const char *const outputs[] = {options->json, options->html, more};
    enum { OUTPUTS = sizeof outputs / sizeof *outputs };
    for (size_t i = 0; i < OUTPUTS; i++) {
        if (!outputs[i]) continue;
        for (size_t j = 0; j < i; j++)
            if (outputs[j] && strcmp(outputs[i], outputs[j]) == 0)
                return ss_fail(error, SS_E_USAGE, outputs[i], "two outputs cannot go to one place");
        SS_TRY(check_output(outputs[i], inputs, count, error));
    }
    return SS_OK;
}

ss_status write_result(const ss_result *result, const output_options *options, ss_error *error) {
    const bool json_to_stdout = options->json && strcmp(options->json, "-") == 0;
    if (options->json) SS_TRY(ss_result_save(result, options->json, error));
    if (options->html) SS_TRY(ss_result_save_page(&result, 1, options->html, error));
    if (options->quiet || json_to_stdout) return SS_OK;
    const ss_terminal_style style = style_of_stdout(options->heads);
    ss_terminal_print(result, &style, stdout);
    if (fflush(stdout) != 0) return ss_fail(error, SS_E_WRITE, "standard output", "cannot write");
    return SS_OK;
}

/* ---- progress --------------------------------------------------------------------------------- */

/* The program's only mutable state outside main: a signal handler can reach nothing else. */
static volatile sig_atomic_t interrupted;
static struct {
    const char *what;
    double started, shown;
    bool visible;
} progress;

static void on_interrupt(int signal_number) {
    (void)signal_number;
    interrupted = 1;
}

void progress_start(const char *what, bool quiet) {
    /* a second Ctrl-C kills at once */
    struct sigaction action = {.sa_handler = on_interrupt, .sa_flags = (int)SA_RESETHAND};
    sigaction(SIGINT, &action, NULL);
    progress.what = what;
    progress.started = ss_seconds();
    progress.shown = 0;
    progress.visible = !quiet && isatty(STDERR_FILENO);
}

bool progress_show(void *unused, double done) {
    (void)unused;
    const double now = ss_seconds(), passed = now - progress.started;
    if (progress.visible && passed > 0.3 && now - progress.shown > 0.1) {
        progress.shown = now;
        fprintf(stderr, "\r%s %3.0f%%", progress.what, 100 * done);
        if (passed > 2 && done > 0.02) fprintf(stderr, ", %.0f s left ", passed * (1 - done) / done + 0.5);
        fflush(stderr);
    }
    return !interrupted;
}

void progress_end(void) {
    if (progress.visible && progress.shown > 0) fputs("\r\x1b[K", stderr);
    progress.visible = false;
}

bool progress_interrupted(void) {
    return interrupted != 0;
}
