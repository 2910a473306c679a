/* Little-endian bytes put together piece by piece: files for tests. Relies on: memcpy, a fixed room. */
#ifndef SS_TESTS_BYTES_H
#define SS_TESTS_BYTES_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef struct bytes {
    unsigned char data[1 << 17];
    size_t size;
} bytes;

static inline void put(bytes *to, const void *from, size_t size) {
    if (size > sizeof to->data - to->size) abort();
    if (size) memcpy(to->data + to->size, from, size);
    to->size += size;
}
static inline void put_u8(bytes *to, uint8_t value) {
    put(to, &value, sizeof value);
}
static inline void put_u32(bytes *to, uint32_t value) {
    put(to, &value, sizeof value);
}
static inline void put_u64(bytes *to, uint64_t value) {
    put(to, &value, sizeof value);
}
static inline void put_f32(bytes *to, float value) {
    put(to, &value, sizeof value);
}
static inline void put_text(bytes *to, const char *text) {
    put(to, text, strlen(text));
}
static inline void put_zeros(bytes *to, size_t count) {
    while (count-- > 0) put_u8(to, 0);
}

#endif
