/* UTF-8 reading and repair over one table of lead bytes. Relies on: nothing. */
#include "text/utf8.h"

#include <string.h>

/* What may follow a lead byte (Unicode standard, table 3-7): sequence length and the range of the second
 * byte; every later byte is 80..BF. Lead bytes not listed start nothing. */
static const struct lead {
    uint8_t first, last, length, second_low, second_high;
} leads[] = {
    {0xC2, 0xDF, 2, 0x80, 0xBF}, {0xE0, 0xE0, 3, 0xA0, 0xBF}, {0xE1, 0xEC, 3, 0x80, 0xBF},
    {0xED, 0xED, 3, 0x80, 0x9F}, {0xEE, 0xEF, 3, 0x80, 0xBF}, {0xF0, 0xF0, 4, 0x90, 0xBF},
    {0xF1, 0xF3, 4, 0x80, 0xBF}, {0xF4, 0xF4, 4, 0x80, 0x8F},
};

static const struct lead *find_lead(uint8_t byte) {
    for (size_t i = 0; i < sizeof leads / sizeof *leads; i++) {
        if (byte >= leads[i].first && byte <= leads[i].last) return &leads[i];
    }
    return NULL;
}

static size_t read_broken(size_t taken, uint32_t *code_point, bool *valid) {
    *code_point = SS_REPLACEMENT;
    *valid = false;
    return taken;
}

size_t ss_utf8_read(const char *bytes, size_t length, uint32_t *code_point, bool *valid) {
    const uint8_t *at = (const uint8_t *)bytes;
    if (at[0] < 0x80) {
        *code_point = at[0];
        *valid = true;
        return 1;
    }
    const struct lead *lead = find_lead(at[0]);
    if (!lead) return read_broken(1, code_point, valid);
    uint32_t value = at[0] & (0x7Fu >> lead->length);
    for (size_t i = 1; i < lead->length; i++) {
        uint8_t low = i == 1 ? lead->second_low : 0x80, high = i == 1 ? lead->second_high : 0xBF;
        if (i >= length || at[i] < low || at[i] > high) return read_broken(i, code_point, valid);
        value = value << 6 | (at[i] & 0x3Fu);
    }
    *code_point = value;
    *valid = true;
    return lead->length;
}

size_t ss_utf8_write(uint32_t code_point, char *out) {
    if (code_point < 0x80) {
        out[0] = (char)code_point;
        return 1;
    }
    size_t length = code_point < 0x800 ? 2 : code_point < 0x10000 ? 3 : 4;
    for (size_t i = length - 1; i > 0; i--, code_point >>= 6) out[i] = (char)(0x80 | (code_point & 0x3F));
    out[0] = (char)((0xF00u >> length & 0xFFu) | code_point);
    return length;
}

bool ss_utf8_is_valid(const char *bytes, size_t length) {
    uint32_t code_point;
    bool valid = true;
    for (size_t i = 0; i < length && valid;) i += ss_utf8_read(bytes + i, length - i, &code_point, &valid);
    return valid;
}

size_t ss_utf8_repair(const char *bytes, size_t length, char *out, size_t capacity) {
    size_t total = 0, written = 0;
    for (size_t i = 0; i < length;) {
        uint32_t code_point;
        bool valid;
        char character[4];
        i += ss_utf8_read(bytes + i, length - i, &code_point, &valid);
        size_t size = ss_utf8_write(code_point, character);
        if (written == total && total + size < capacity) {
            memcpy(out + total, character, size);
            written += size;
        }
        total += size;
    }
    if (capacity) out[written] = '\0';
    return total;
}
