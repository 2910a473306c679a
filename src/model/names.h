/* Names of tensors and keys as patterns: data, never a format for printf.
 * "#" in a tensor's name stands for the layer's number; "*" in a pattern stands for any run of characters.
 * Relies on: nothing. */
#ifndef SS_MODEL_NAMES_H
#define SS_MODEL_NAMES_H

#include <stdbool.h>
#include <stddef.h>

enum { SS_NAME_SIZE = 256 };

/* prefix + pattern with every "#" replaced by `layer`, cut to fit; returns `name`. */
char *ss_name_fill(const char *prefix, const char *pattern, size_t layer, char name[SS_NAME_SIZE]);

/* Does `pattern` with its "*" match the whole of `name`? */
bool ss_name_matches(const char *pattern, const char *name);

/* Does one of `patterns`, ending with NULL? A NULL list has none. */
bool ss_name_matches_any(const char *const *patterns, const char *name);

#endif
