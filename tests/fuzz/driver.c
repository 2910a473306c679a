/* main() for fuzz targets where there is no libFuzzer: replays a folder of seeds, then mutates them for a
 * bounded time with a fixed-seed generator.
 *
 *     fuzz_NAME SEEDS_FOLDER [SECONDS]
 *     fuzz_NAME FILE                     replay one input
 *
 * Fails when an input crashes (it is then written to ./crash-input), takes over a second, or when the process
 * grows beyond a gibibyte. Relies on: POSIX, the sanitizers' hooks where they are built in. */
#include "fuzz.h"

#include "base/clock.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_SEEDS = 512, LARGEST_INPUT = 1 << 16, MOST_MUTATIONS = 6, MOST_RESIDENT_KIB = 1 << 20 };

typedef struct input {
    uint8_t *data;
    size_t size;
} input;

static input seeds[MOST_SEEDS];
static size_t seed_count;
static input current; /* what the parser is reading, for the crash handler */

/* ---- crashes --------------------------------------------------------------------------------- */

static void keep_input(int signal_number) {
    int file = open("crash-input", O_WRONLY | O_CREAT | O_TRUNC, 0644);
    if (file >= 0 && write(file, current.data, current.size) == (ssize_t)current.size) close(file);
    signal(signal_number, SIG_DFL);
    raise(signal_number);
}

/* The sanitizers ask these for their settings: end in SIGABRT, so that the input is kept. */
const char *__asan_default_options(void);
const char *__asan_default_options(void) {
    return "abort_on_error=1";
}
const char *__ubsan_default_options(void);
const char *__ubsan_default_options(void) {
    return "abort_on_error=1:print_stacktrace=1";
}

static void catch_crashes(void) {
    signal(SIGABRT, keep_input);
#if !defined(__SANITIZE_ADDRESS__) /* which reports the others better, then aborts */
    signal(SIGSEGV, keep_input);
    signal(SIGBUS, keep_input);
    signal(SIGFPE, keep_input);
#endif
}

/* ---- one input ------------------------------------------------------------------------------- */

/* Processor time, so that a busy machine fails no test. */
static double seconds_used(void) {
    return (double)clock() / CLOCKS_PER_SEC;
}

static void run(const uint8_t *data, size_t size) {
    double begin = seconds_used();
    current = (input){malloc(size ? size : 1), size}; /* exactly as large: reads past the end show */
    REQUIRE(current.data);
    if (size) memcpy(current.data, data, size);
    LLVMFuzzerTestOneInput(current.data, size);
    if (seconds_used() - begin > 1) {
        fprintf(stderr, "an input of %zu bytes took %.1f s\n", size, seconds_used() - begin);
        abort();
    }
    free(current.data);
}

static input load(const char *path) {
    input loaded = {0};
    struct stat facts;
    FILE *file = fopen(path, "rb");
    if (!file || fstat(fileno(file), &facts) != 0) {
        fprintf(stderr, "cannot read %s\n", path);
        exit(2);
    }
    loaded.data = malloc((size_t)facts.st_size + 1);
    REQUIRE(loaded.data);
    loaded.size = fread(loaded.data, 1, (size_t)facts.st_size, file);
    fclose(file);
    return loaded;
}

static int by_name(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* In the order of names, whatever the file system gives: runs repeat. */
static void load_seeds(const char *folder) {
    char *paths[MOST_SEEDS];
    DIR *entries = opendir(folder);
    if (!entries) {
        fprintf(stderr, "cannot read the folder %s\n", folder);
        exit(2);
    }
    for (struct dirent *entry = readdir(entries); entry; entry = readdir(entries)) {
        if (entry->d_name[0] == '.' || seed_count == MOST_SEEDS) continue;
        size_t size = strlen(folder) + strlen(entry->d_name) + 2;
        paths[seed_count] = malloc(size);
        REQUIRE(paths[seed_count]);
        snprintf(paths[seed_count++], size, "%s/%s", folder, entry->d_name);
    }
    closedir(entries);
    qsort(paths, seed_count, sizeof *paths, by_name);
    for (size_t i = 0; i < seed_count; i++) {
        seeds[i] = load(paths[i]);
        free(paths[i]);
    }
}

/* ---- mutation -------------------------------------------------------------------------------- */

static uint64_t random_state = 0x9E3779B97F4A7C15;

/* xorshift64*, below `bound` */
static size_t random_below(size_t bound) {
    random_state ^= random_state >> 12;
    random_state ^= random_state << 25;
    random_state ^= random_state >> 27;
    return (size_t)((random_state * 0x2545F4914F6CDD1D >> 32) % bound);
}

/* Numbers at which parsers go wrong. */
static const uint64_t edges[] = {0,
                                 1,
                                 2,
                                 3,
                                 31,
                                 32,
                                 0x7F,
                                 0x80,
                                 0xFF,
                                 0x100,
                                 0x7FFF,
                                 0x8000,
                                 0xFFFF,
                                 0x10000,
                                 0x7FFFFFFF,
                                 0x80000000,
                                 0xFFFFFFFF,
                                 (uint64_t)1 << 32,
                                 (uint64_t)1 << 60,
                                 (uint64_t)1 << 62,
                                 INT64_MAX,
                                 (uint64_t)1 << 63,
                                 UINT64_MAX - 7,
                                 UINT64_MAX};

static void overwrite_number(input *in) {
    static const size_t widths[] = {1, 2, 4, 8};
    size_t width = widths[random_below(4)];
    uint64_t value = edges[random_below(sizeof edges / sizeof *edges)];
    if (in->size >= width) memcpy(in->data + random_below(in->size - width + 1), &value, width);
}

static void flip_bit(input *in) {
    if (in->size) in->data[random_below(in->size)] ^= (uint8_t)(1u << random_below(8));
}

static void overwrite_character(input *in) {
    static const char characters[] = "0123456789-+.,:;'\"\\[]{}() \n\teE<>|=LVOTF\x80\xC3\xF0";
    if (in->size) in->data[random_below(in->size)] = (uint8_t)characters[random_below(sizeof characters)];
}

static void remove_piece(input *in) {
    if (in->size == 0) return;
    size_t begin = random_below(in->size), length = 1 + random_below(in->size - begin);
    if (length > 16 && random_below(4)) length = 16;
    memmove(in->data + begin, in->data + begin + length, in->size - begin - length);
    in->size -= length;
}

/* Insert a piece of any seed at any place. */
static void insert_piece(input *in) {
    const input *from = &seeds[random_below(seed_count)];
    if (from->size == 0) return;
    size_t begin = random_below(from->size), length = 1 + random_below(from->size - begin);
    if (length > 64 && random_below(4)) length = 64;
    if (length > LARGEST_INPUT - in->size) return;
    size_t at = random_below(in->size + 1);
    memmove(in->data + at + length, in->data + at, in->size - at);
    memcpy(in->data + at, from->data + begin, length);
    in->size += length;
}

static void (*const mutations[])(input *) = {overwrite_number, flip_bit, overwrite_character, remove_piece,
                                             insert_piece};

static void mutate_for(double seconds) {
    static uint8_t room[LARGEST_INPUT];
    double end = ss_seconds() + seconds;
    size_t inputs = 0;
    for (; ss_seconds() < end; inputs++) {
        const input *seed = &seeds[random_below(seed_count)];
        input in = {room, seed->size < LARGEST_INPUT ? seed->size : LARGEST_INPUT};
        memcpy(room, seed->data, in.size);
        for (size_t n = 1 + random_below(MOST_MUTATIONS); n > 0; n--)
            mutations[random_below(sizeof mutations / sizeof *mutations)](&in);
        run(in.data, in.size);
    }
    printf("%zu seeds and %zu mutations of them\n", seed_count, inputs);
}

static int check_memory(void) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    if (usage.ru_maxrss < MOST_RESIDENT_KIB) return 0;
    fprintf(stderr, "the process grew to %ld KiB\n", usage.ru_maxrss);
    return 1;
}

int main(int argc, char **argv) {
    struct stat facts;
    if (argc < 2 || stat(argv[1], &facts) != 0) {
        fprintf(stderr, "usage: %s SEEDS_FOLDER [SECONDS] | FILE\n", argv[0]);
        return 2;
    }
    catch_crashes();
    if (S_ISDIR(facts.st_mode))
        load_seeds(argv[1]);
    else
        seeds[seed_count++] = load(argv[1]);
    if (seed_count == 0) {
        fprintf(stderr, "%s holds no seeds\n", argv[1]);
        return 2;
    }
    for (size_t i = 0; i < seed_count; i++) run(seeds[i].data, seeds[i].size);
    if (argc > 2) mutate_for(strtod(argv[2], NULL));
    for (size_t i = 0; i < seed_count; i++) free(seeds[i].data);
    return check_memory();
}
