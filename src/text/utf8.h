/* UTF-8: reading code points, finding broken bytes, and repairing them as Python does.
 * Relies on: nothing. The rule is the Unicode standard's "maximal subpart" (chapter 3, U+FFFD substitution).
 */
#ifndef SS_TEXT_UTF8_H
#define SS_TEXT_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SS_REPLACEMENT 0xFFFDu

/* Read one code point at bytes[0 .. length - 1], length > 0, and return how many bytes it took. A broken
 * sequence gives SS_REPLACEMENT, *valid = false and the length of its maximal subpart (1 to 3). */
size_t ss_utf8_read(const char *bytes, size_t length, uint32_t *code_point, bool *valid);

/* Write one code point (a scalar value) into out[4] and return its length. */
size_t ss_utf8_write(uint32_t code_point, char *out);

bool ss_utf8_is_valid(const char *bytes, size_t length);

/* Copy with every broken sequence replaced by U+FFFD. Writes whole characters while they and a closing NUL
 * fit in `capacity` (nothing when capacity is 0), and returns the length of the whole result without the NUL.
 */
size_t ss_utf8_repair(const char *bytes, size_t length, char *out, size_t capacity);

#endif
