/* A list of names for a message: as many as fit, then how many more there are. Relies on: nothing. */
#ifndef SS_FORMATS_NAMES_H
#define SS_FORMATS_NAMES_H

#include <stddef.h>

typedef struct ss_names {
    char text[340]; /* "a, b, c" or "a, b and 7 more" */
    size_t used, count, left_out;
} ss_names;

/* Add a name to a list that began as {0}. */
void ss_names_add(ss_names *names, const char *name);

#endif
