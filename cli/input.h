/* Input files of a command: a text, or token ids as text or NPY. */
#ifndef CLI_INPUT_H
#define CLI_INPUT_H

#include "base/file.h"

typedef struct file_input {
    const char *name; /* the file's own name, without folders */
    const char *text; /* [length]; NULL when ids were given */
    size_t length;
    const uint32_t *ids; /* [id_count] */
    size_t id_count;
    ss_map map;  /* what `text` or the ids' file points into */
    void *owned; /* memory of ids, or of standard input */
} file_input;

/* Open one of the two (the other NULL); "-" is standard input. Errors name the file and the line. */
ss_status file_input_open(file_input *input, const char *text, const char *tokens, ss_error *error);
void file_input_close(file_input *input);

#endif
