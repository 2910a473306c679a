/* The alphabet as three ranges of bytes that need another character. Relies on: text/utf8. */
#include "text/byte_level.h"

#include "text/utf8.h"

#include <string.h>

/* Bytes that are not printable in Latin-1, and the character that stands for the first of each run. */
static const struct run {
    uint8_t first, last;
    uint16_t character;
} runs[] = {{0x00, 0x20, 0x100}, {0x7F, 0xA0, 0x121}, {0xAD, 0xAD, 0x143}};

size_t ss_byte_level_write(uint8_t byte, char *out) {
    uint32_t character = byte;
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
        if (byte >= runs[i].first && byte <= runs[i].last)
            character = runs[i].character + (uint32_t)(byte - runs[i].first);
    }
    return ss_utf8_write(character, out);
}

/* The byte a character stands for, or -1. */
static int read_character(uint32_t character) {
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
        uint32_t size = (uint32_t)(runs[i].last - runs[i].first);
        if (character >= runs[i].character && character - runs[i].character <= size)
            return (int)(runs[i].first + character - runs[i].character);
        if (character >= runs[i].first && character <= runs[i].last) return -1;
    }
    return character < 0x100 ? (int)character : -1;
}

size_t ss_byte_level_read(const char *piece, size_t length, char *out) {
    size_t count = 0;
    for (size_t i = 0; i < length;) {
        uint32_t character;
        bool valid;
        i += ss_utf8_read(piece + i, length - i, &character, &valid);
        int byte = valid ? read_character(character) : -1;
        if (byte < 0) {
            memcpy(out, piece, length);
            return length;
        }
        out[count++] = (char)byte;
    }
    return count;
}
