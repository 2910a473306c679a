/* Files: read-only mapping for input, all-or-nothing writing for output.
 * Relies on: POSIX mmap, rename. */
#ifndef SS_BASE_FILE_H
#define SS_BASE_FILE_H

#include "base/status.h"

#include <stdio.h>

/* A whole file mapped read-only. `data` is NULL when the file is empty. */
typedef struct ss_map {
    const unsigned char *data;
    size_t size;
} ss_map;

/* Map `path`. SS_E_IO names the path and the system's reason; a folder or a device is refused. */
ss_status ss_map_open(const char *path, ss_map *map, ss_error *error);
void ss_map_close(ss_map *map);

/* Is there a folder, or a regular file, at `path`? */
bool ss_is_folder(const char *path);
bool ss_is_file(const char *path);

/* The part of `path` after its last slash. */
const char *ss_base_name(const char *path);

/* Write a file so that a reader sees the old one or the whole new one: bytes go to a temporary file in
 * the same folder, ss_save_commit renames it. `path` "-" writes to standard output. What is there and is no
 * regular file (a device, a FIFO, a link) is never replaced: it is written as it stands. */
typedef struct ss_save {
    FILE *stream; /* write here */
    char path[4096], temporary[4096];
} ss_save;

/* SS_E_WRITE names the path and the system's reason. */
ss_status ss_save_begin(const char *path, ss_save *save, ss_error *error);
ss_status ss_save_commit(ss_save *save, ss_error *error); /* closes on success and on failure */
void ss_save_abort(ss_save *save);                        /* removes the temporary file */

#endif
