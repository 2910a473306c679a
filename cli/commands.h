/* The commands of the program, and what they share. Each cmd_*.c parses options, calls the library, prints.
 */
#ifndef CLI_COMMANDS_H
#define CLI_COMMANDS_H

#include "options.h"

extern const command inspect_command, theta_command, report_command;

/* One line for each library the program stands on, with its version. */
void print_libraries(FILE *out);

/* Print an error as "softscope: where: message" and give the program's exit status for it. */
int fail(const ss_error *error);

/* Where results go besides the terminal; every command that makes a result has these options. */
typedef struct output_options {
    const char *json, *html;
    bool heads, quiet;
} output_options;

/* Before any work: can the outputs be written (`more` is a third one or NULL), and would they spare the files
 * that are read and each other? `inputs` [count] may hold NULL and "-". SS_E_USAGE, SS_E_WRITE. */
ss_status check_outputs(const output_options *options, const char *more, const char *const *inputs,
                        size_t count, ss_error *error);

/* Write --json and --html, then the terminal view unless --quiet or JSON took standard output. */
ss_status write_result(const ss_result *result, const output_options *options, ss_error *error);

/* Progress on standard error when that is a terminal: call progress_start, pass progress_show to the library,
 * then progress_end. Ctrl-C stops the work; progress_interrupted says so afterwards. */
void progress_start(const char *what, bool quiet);
bool progress_show(void *unused, double done);
void progress_end(void);
bool progress_interrupted(void);

#endif
