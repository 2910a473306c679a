/* Each step maps a list of code points to another. Relies on: text/unicode, text/utf8, utf8proc. */
#include "text/normalize.h"

#include "base/mem.h"
#include "text/unicode.h"
#include "text/utf8.h"

#include <string.h>
#include <utf8proc.h>

typedef struct points {
    int32_t *items; /* [count] */
    size_t count, capacity;
    const ss_allocator *memory;
} points;

static ss_status add_point(points *list, uint32_t code_point, ss_error *error) {
    if (!ss_grow(list->memory, &list->items, &list->capacity, list->count + 1, sizeof *list->items))
        return ss_fail_memory(error, "normalising the text");
    list->items[list->count++] = (int32_t)code_point;
    return SS_OK;
}

/* ---- steps that look at one character ---------------------------------------------------------- */

static ss_status clean(uint32_t c, points *out, ss_error *error) {
    if (c == 0 || c == SS_REPLACEMENT || ss_in_class(ss_class_control, c)) return SS_OK;
    return add_point(out, ss_in_class(ss_class_space, c) ? ' ' : c, error);
}

static ss_status space_ideograph(uint32_t c, points *out, ss_error *error) {
    bool spaced = ss_in_class(ss_class_ideograph, c);
    if (spaced) SS_TRY(add_point(out, ' ', error));
    SS_TRY(add_point(out, c, error));
    return spaced ? add_point(out, ' ', error) : SS_OK;
}

static ss_status drop_mark(uint32_t c, points *out, ss_error *error) {
    return ss_in_class(ss_class_mark, c) ? SS_OK : add_point(out, c, error);
}

static ss_status lower(uint32_t c, points *out, ss_error *error) {
    uint32_t small[2];
    size_t count = ss_lower(c, small);
    for (size_t i = 0; i < count; i++) SS_TRY(add_point(out, small[i], error));
    return SS_OK;
}

/* Characters younger than the library's normal forms: it leaves alone what utf8proc 2.8 (Unicode 15) takes
 * apart. */
static const ss_code_range young[] = {{0x32FF, 0x32FF},   {0xA7F2, 0xA7F4},   {0xAB69, 0xAB69},
                                      {0x10781, 0x107BA}, {0x11938, 0x11938}, {0x1E030, 0x1E06D},
                                      {0x1F16C, 0x1F16C}, {0x1FBF0, 0x1FBF9}};
static const ss_code_class never_decomposed = {young, sizeof young / sizeof *young};

static ss_status decompose_by(uint32_t c, utf8proc_option_t form, points *out, ss_error *error) {
    int32_t parts[32]; /* the longest decomposition, of U+FDFA, has 18 */
    int unused = 0;
    if (c < 0x80 || ss_in_class(never_decomposed, c)) return add_point(out, c, error);
    utf8proc_ssize_t count = utf8proc_decompose_char((int32_t)c, parts, 32, form, &unused);
    if (count < 0 || count > 32) return add_point(out, c, error);
    for (utf8proc_ssize_t i = 0; i < count; i++) SS_TRY(add_point(out, (uint32_t)parts[i], error));
    return SS_OK;
}

static ss_status decompose(uint32_t c, points *out, ss_error *error) {
    return decompose_by(c, UTF8PROC_DECOMPOSE, out, error);
}

static ss_status decompose_compatible(uint32_t c, points *out, ss_error *error) {
    return decompose_by(c, UTF8PROC_DECOMPOSE | UTF8PROC_COMPAT, out, error);
}

typedef ss_status character_step(uint32_t c, points *out, ss_error *error);

static ss_status each(character_step *step, points *list, points *spare, ss_error *error) {
    spare->count = 0;
    for (size_t i = 0; i < list->count; i++) SS_TRY(step((uint32_t)list->items[i], spare, error));
    points swapped = *list;
    *list = *spare;
    *spare = swapped;
    return SS_OK;
}

/* ---- canonical order --------------------------------------------------------------------------- */

static int combining_class(int32_t code_point) {
    return utf8proc_get_property(code_point)->combining_class;
}

/* Stable order of one run of marks by their class: a pass for each class there is (at most 55), so that a
 * long run costs no more than linear time. `copy` has room for the run. */
static void order_run(int32_t *run, size_t count, int32_t *copy) {
    memcpy(copy, run, count * sizeof *run);
    size_t placed = 0;
    for (int class = 0; placed < count;) {
        int next = 256;
        for (size_t i = 0; i < count; i++) {
            int found = combining_class(copy[i]);
            if (found == class && class) run[placed++] = copy[i];
            if (found > class && found < next) next = found;
        }
        class = next;
    }
}

static ss_status order_marks(points *list, points *spare, ss_error *error) {
    if (!ss_grow(spare->memory, &spare->items, &spare->capacity, list->count, sizeof *spare->items))
        return ss_fail_memory(error, "normalising the text");
    for (size_t begin = 0; begin < list->count;) {
        size_t end = begin;
        bool sorted = true;
        int last = 0;
        for (; end < list->count; end++) {
            int class = combining_class(list->items[end]);
            if (!class) break;
            sorted = sorted && class >= last;
            last = class;
        }
        if (!sorted) order_run(list->items + begin, end - begin, spare->items);
        begin = end + 1;
    }
    return SS_OK;
}

static void compose(points *list) {
    utf8proc_option_t options = UTF8PROC_STABLE | UTF8PROC_COMPOSE;
    utf8proc_ssize_t count = utf8proc_normalize_utf32(list->items, (utf8proc_ssize_t)list->count, options);
    if (count >= 0) list->count = (size_t)count;
}

/* ---- the steps as a table ---------------------------------------------------------------------- */

static const struct step {
    character_step *first; /* of each character */
    bool ordered;          /* then marks in canonical order */
    bool composed;         /* then composed again */
    character_step *last;  /* of each character, or NULL */
} steps[] = {
    [SS_NORMAL_CLEAN] = {clean, false, false, NULL},
    [SS_NORMAL_IDEOGRAPHS] = {space_ideograph, false, false, NULL},
    [SS_NORMAL_STRIP_ACCENTS] = {decompose, true, false, drop_mark},
    [SS_NORMAL_LOWER] = {lower, false, false, NULL},
    [SS_NORMAL_NFC] = {decompose, true, true, NULL},
    [SS_NORMAL_NFD] = {decompose, true, false, NULL},
    [SS_NORMAL_NFKC] = {decompose_compatible, true, true, NULL},
    [SS_NORMAL_NFKD] = {decompose_compatible, true, false, NULL},
};

static ss_status run_step(const struct step *step, points *list, points *spare, ss_error *error) {
    SS_TRY(each(step->first, list, spare, error));
    if (step->ordered) SS_TRY(order_marks(list, spare, error));
    if (step->composed && list->count) compose(list);
    return step->last ? each(step->last, list, spare, error) : SS_OK;
}

static ss_status read_points(const char *text, size_t length, points *list, ss_error *error) {
    for (size_t i = 0; i < length;) {
        uint32_t code_point;
        bool valid;
        i += ss_utf8_read(text + i, length - i, &code_point, &valid);
        SS_TRY(add_point(list, code_point, error));
    }
    return SS_OK;
}

static ss_status write_points(const points *list, ss_bytes *out, ss_error *error) {
    for (size_t i = 0; i < list->count; i++) {
        char character[4];
        size_t size = ss_utf8_write((uint32_t)list->items[i], character);
        SS_TRY(ss_bytes_add(out, character, size, error));
    }
    return SS_OK;
}

ss_status ss_normalize(const ss_normalizer *normalizer, const char *text, size_t length, ss_bytes *out,
                       ss_error *error) {
    if (!normalizer->count) return ss_bytes_add(out, text, length, error);
    points list = {.memory = out->memory}, spare = {.memory = out->memory};
    ss_status status = read_points(text, length, &list, error);
    for (size_t i = 0; i < normalizer->count && !status; i++)
        status = run_step(&steps[normalizer->steps[i]], &list, &spare, error);
    if (!status) status = write_points(&list, out, error);
    ss_free(list.memory, list.items);
    ss_free(spare.memory, spare.items);
    return status;
}
