/* Bytes as base64 text (RFC 4648, section 4). Relies on: nothing. Pure, safe from any thread. */
#ifndef SS_FORMATS_BASE64_H
#define SS_FORMATS_BASE64_H

#include <stddef.h>

/* Characters that `size` bytes take. */
#define SS_BASE64_SIZE(size) (((size) + 2) / 3 * 4)

/* Three bytes make four characters; the last group is padded with '='. No NUL is written. */
void ss_base64(const unsigned char *bytes /* [size] */, size_t size, char *out /* [SS_BASE64_SIZE(size)] */);

#endif
