/* What commands share: errors, results, progress, Ctrl-C. Relies on: POSIX terminals and signals. */
#include "commands.h"

#include "base/clock.h"
#include "report/terminal.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
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

ss_status write_result(const ss_result *result, const output_options *options, ss_error *error) {
    const bool json_to_stdout = options->json && strcmp(options->json, "-") == 0;
    if (options->json) SS_TRY(ss_result_save(result, options->json, error));
    if (options->html) SS_TRY(ss_result_save_page(&result, 1, options->html, error));
    if (options->quiet || json_to_stdout) return SS_OK;
    const ss_terminal_style style = style_of_stdout(options->heads);
    ss_terminal_print(result, &style, stdout);
    if (fflush(stdout) != 0) return ss_fail(error, SS_E_IO, "standard output", "cannot write");
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
