/* Command-line options as data: one table a command drives parsing, --help, the man page and completion.
 *
 *     static const option options[] = {
 *         {"layers", "LIST", OPTION_TEXT, offsetof(inspect_options, layers), "only these layers, as 0-5,8"},
 *     };
 */
#ifndef CLI_OPTIONS_H
#define CLI_OPTIONS_H

#include "softscope.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* What an option's value becomes in the command's own struct. */
typedef enum option_kind {
    OPTION_FLAG,  /* bool */
    OPTION_TEXT,  /* const char * */
    OPTION_COUNT, /* size_t, 1 or more: 0 is left for "not given" */
    OPTION_NUMBER /* double */
} option_kind;

typedef struct option {
    const char *name;  /* without the dashes */
    const char *value; /* how help names the value; NULL for a flag */
    option_kind kind;
    size_t offset; /* of the field in the command's struct */
    const char *help;
} option;

typedef struct arguments {
    const char **items;
    size_t count;
} arguments;

typedef struct command {
    const char *name;
    const char *summary;  /* one line */
    const char *usage;    /* the arguments, as "MODEL --text FILE [options]" */
    const char *text;     /* what it does and how to read the answer, for --help */
    const char *examples; /* lines to try */
    size_t least, most;   /* how many plain arguments */
    const option *options;
    size_t option_count;
    int (*run)(int argc, char **argv); /* argv[0] is the command's name */
} command;

/* Read argv[1..] into `values` (the command's struct, already holding defaults) and the plain arguments,
 * which reuse argv's memory. SS_E_USAGE names the option and, where it can, the one that was meant. */
ss_status options_parse(const command *c, int argc, char **argv, void *values, arguments *plain,
                        ss_error *error);

/* Is -h or --help among the arguments? */
bool options_want_help(int argc, char **argv);

void options_print_help(const command *c, FILE *out);

/* The name of `names` closest to `typed`, or NULL when none is close. */
const char *closest_name(const char *typed, const char *const *names, size_t count);

#endif
