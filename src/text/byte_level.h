/* GPT-2's alphabet: each of the 256 bytes is written as one printable character, so that a vocabulary of
 * bytes can be kept as text. Printable Latin-1 characters stand for themselves; the other 68 bytes, in order,
 * are U+0100 on. Relies on: text/utf8. */
#ifndef SS_TEXT_BYTE_LEVEL_H
#define SS_TEXT_BYTE_LEVEL_H

#include <stddef.h>
#include <stdint.h>

#define SS_BYTE_CHARACTER 2 /* the most UTF-8 bytes that one character of the alphabet takes */

/* Write a byte as its character into out[SS_BYTE_CHARACTER]; returns the length. */
size_t ss_byte_level_write(uint8_t byte, char *out);

/* Read a piece written in the alphabet back into bytes: out[length] gets them, the result is how many. A
 * piece with any other character in it stands for itself and is copied. */
size_t ss_byte_level_read(const char *piece, size_t length, char *out);

#endif
