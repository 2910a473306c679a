/* Base64: formats/base64.h. Relies on: nothing. */
#include "formats/base64.h"

#include <stdint.h>

void ss_base64(const unsigned char *bytes, size_t size, char *out) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < size; i += 3, out += 4) {
        size_t left = size - i;
        uint32_t group = (uint32_t)bytes[i] << 16;
        if (left > 1) group |= (uint32_t)bytes[i + 1] << 8;
        if (left > 2) group |= bytes[i + 2];
        out[0] = digits[group >> 18];
        out[1] = digits[group >> 12 & 63];
        out[2] = left > 1 ? digits[group >> 6 & 63] : '=';
        out[3] = left > 2 ? digits[group & 63] : '=';
    }
}
