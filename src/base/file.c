/* File mapping and atomic saving. Relies on: POSIX. */
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

ss_status ss_map_open(const char *path, ss_map *map, ss_error *error) {
    int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a FIFO must not hang us */
    if (descriptor < 0) return ss_fail(error, SS_E_IO, path, "cannot open: %s", strerror(errno));
    struct stat facts;
    if (fstat(descriptor, &facts) != 0 || !S_ISREG(facts.st_mode)) {
        close(descriptor);
        return ss_fail(error, SS_E_IO, path, "not a regular file");
    }
    ss_map opened = {.size = (size_t)facts.st_size};
    if (opened.size > 0) {
        void *data = mmap(NULL, opened.size, PROT_READ, MAP_PRIVATE, descriptor, 0);
        if (data == MAP_FAILED) {
            close(descriptor);
            return ss_fail(error, SS_E_IO, path, "cannot map: %s", strerror(errno));
        }
        opened.data = data;
    }
    close(descriptor);
    *map = opened;
    return SS_OK;
}

void ss_map_close(ss_map *map) {
    if (map->data) munmap((void *)(uintptr_t)map->data, map->size);
    *map = (ss_map){0};
}

bool ss_is_folder(const char *path) {
    struct stat facts;
    return stat(path, &facts) == 0 && S_ISDIR(facts.st_mode);
}

bool ss_is_file(const char *path) {
    struct stat facts;
    return stat(path, &facts) == 0 && S_ISREG(facts.st_mode);
}

static bool is_standard_output(const ss_save *save) {
    return save->stream == stdout;
}

/* A device, a FIFO or a link such as /dev/stdout: renaming a file over it would destroy it. */
static bool must_be_written_in_place(const char *path) {
    struct stat facts;
    return lstat(path, &facts) == 0 && !S_ISREG(facts.st_mode);
}

static ss_status begin_in_place(const char *path, ss_save *save, ss_error *error) {
    FILE *stream = fopen(path, "wb");
    if (!stream) return ss_fail(error, SS_E_IO, path, "cannot write: %s", strerror(errno));
    save->temporary[0] = '\0';
    save->stream = stream;
    return SS_OK;
}

ss_status ss_save_begin(const char *path, ss_save *save, ss_error *error) {
    if (strcmp(path, "-") == 0) {
        save->temporary[0] = '\0';
        snprintf(save->path, sizeof save->path, "standard output");
        save->stream = stdout;
        return SS_OK;
    }
    int length = snprintf(save->path, sizeof save->path, "%s", path);
    int temporary = snprintf(save->temporary, sizeof save->temporary, "%s.XXXXXX", path);
    if (length < 0 || temporary < 0 || (size_t)temporary >= sizeof save->temporary)
        return ss_fail(error, SS_E_IO, path, "the path is too long");
    if (must_be_written_in_place(path)) return begin_in_place(path, save, error);
    int descriptor = mkstemp(save->temporary);
    if (descriptor < 0) return ss_fail(error, SS_E_IO, path, "cannot write: %s", strerror(errno));
    mode_t mask = umask(0);
    umask(mask);
    fchmod(descriptor, 0666 & ~mask); /* mkstemp's 0600 would surprise: give what fopen would */
    save->stream = fdopen(descriptor, "wb");
    if (!save->stream) {
        int reason = errno;
        close(descriptor);
        unlink(save->temporary);
        return ss_fail(error, SS_E_IO, path, "cannot write: %s", strerror(reason));
    }
    return SS_OK;
}

ss_status ss_save_commit(ss_save *save, ss_error *error) {
    bool failed = fflush(save->stream) != 0 || ferror(save->stream);
    int reason = errno;
    if (!is_standard_output(save)) failed = (fclose(save->stream) != 0) || failed;
    if (save->temporary[0]) {
        if (!failed && rename(save->temporary, save->path) != 0) {
            failed = true;
            reason = errno;
        }
        if (failed) unlink(save->temporary);
    }
    save->stream = NULL;
    if (failed) return ss_fail(error, SS_E_IO, save->path, "cannot write: %s", strerror(reason));
    return SS_OK;
}

void ss_save_abort(ss_save *save) {
    if (save->stream && !is_standard_output(save)) {
        fclose(save->stream);
        if (save->temporary[0]) unlink(save->temporary);
    }
    save->stream = NULL;
}
