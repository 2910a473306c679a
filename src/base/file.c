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

const char *ss_base_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* Standard output, a device or a FIFO is written where it is: renaming a file over it would destroy it. */
static bool is_direct(const ss_save *save) {
    return save->temporary[0] == '\0';
}

/* A pipe nobody reads must not hang us, so it is opened without waiting and written with waiting. */
static int open_direct(const char *path) {
    int descriptor = open(path, O_WRONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (descriptor >= 0) fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) & ~O_NONBLOCK);
    return descriptor;
}

/* A fresh file beside `path`. Unlike mkstemp's it gets the mode that fopen would give, without a look at the
 * process's umask, which cannot be read without changing it under other threads. Returns its descriptor, or
 * -1 with errno. */
static int open_temporary(const char *path, char *temporary, size_t capacity) {
    enum { TRIES = 1000 };
    int descriptor = -1;
    for (unsigned i = 0; descriptor < 0 && i < TRIES; i++) {
        const int length = snprintf(temporary, capacity, "%s.%ld-%u", path, (long)getpid(), i);
        if (length < 0 || (size_t)length >= capacity) {
            errno = ENAMETOOLONG;
            return -1;
        }
        descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (descriptor < 0 && errno != EEXIST) return -1;
    }
    return descriptor;
}

/* Open what the bytes go to; save->path becomes the file that is replaced: a link stays a link. */
static int open_target(const char *path, ss_save *save) {
    struct stat facts;
    const bool exists = stat(path, &facts) == 0, direct = exists && !S_ISREG(facts.st_mode);
    char *target = exists && !direct ? realpath(path, NULL) : NULL;
    const int length = snprintf(save->path, sizeof save->path, "%s", target ? target : path);
    free(target);
    save->temporary[0] = '\0';
    if (length < 0 || (size_t)length >= sizeof save->path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    return direct ? open_direct(save->path)
                  : open_temporary(save->path, save->temporary, sizeof save->temporary);
}

ss_status ss_save_begin(const char *path, ss_save *save, ss_error *error) {
    if (strcmp(path, "-") == 0) {
        save->temporary[0] = '\0';
        snprintf(save->path, sizeof save->path, "standard output");
        save->stream = stdout;
        return SS_OK;
    }
    int descriptor = open_target(path, save);
    if (descriptor < 0) return ss_fail(error, SS_E_WRITE, path, "cannot write: %s", strerror(errno));
    save->stream = fdopen(descriptor, "wb");
    if (!save->stream) {
        int reason = errno;
        close(descriptor);
        if (!is_direct(save)) unlink(save->temporary);
        return ss_fail(error, SS_E_WRITE, path, "cannot write: %s", strerror(reason));
    }
    return SS_OK;
}

ss_status ss_save_commit(ss_save *save, ss_error *error) {
    /* after an earlier write that failed errno is still its reason, unless somebody has cleared it */
    int reason = !ferror(save->stream) ? 0 : errno ? errno : EIO;
    if (fflush(save->stream) != 0) reason = errno;
    if (save->stream != stdout && fclose(save->stream) != 0) reason = errno;
    if (!is_direct(save)) {
        if (!reason && rename(save->temporary, save->path) != 0) reason = errno;
        if (reason) unlink(save->temporary);
    }
    save->stream = NULL;
    if (reason) return ss_fail(error, SS_E_WRITE, save->path, "cannot write: %s", strerror(reason));
    return SS_OK;
}

void ss_save_abort(ss_save *save) {
    if (save->stream && save->stream != stdout) fclose(save->stream);
    if (save->stream && !is_direct(save)) unlink(save->temporary);
    save->stream = NULL;
}
