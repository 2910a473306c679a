/* Bytes that somebody else owns. Relies on: nothing. */
#ifndef SS_BASE_VIEW_H
#define SS_BASE_VIEW_H

#include <stddef.h>

/* A string as it lies in a file or a buffer: no NUL at its end, any bytes. */
typedef struct ss_string_view {
    const char *bytes;
    size_t length;
} ss_string_view;

#endif
