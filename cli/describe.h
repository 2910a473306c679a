/* The option tables as a manual page and as shell completion: `softscope --man`, `softscope --completion`.
 * The build installs what these print, so neither can fall behind the program. */
#ifndef CLI_DESCRIBE_H
#define CLI_DESCRIBE_H

#include "options.h"

typedef struct program {
    const char *summary; /* a sentence: what the program is for */
    const command *const *commands;
    size_t count;
} program;

/* softscope(1), in the man macros that man-db and mandoc read. */
void print_man(const program *p, FILE *out);

/* A completion for bash: commands, options, the values of an option that lists them, files elsewhere. */
void print_completion(const program *p, FILE *out);

#endif
