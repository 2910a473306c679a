/* A folder of its own for a test's files, removed with all in it. Failures of the system abort the test.
 * Relies on: POSIX. */
#ifndef SS_TESTS_TEMP_FOLDER_H
#define SS_TESTS_TEMP_FOLDER_H

#include <stddef.h>

typedef struct temp_path {
    char text[512];
} temp_path;

temp_path temp_folder_make(void);

/* folder/name, whether it exists or not */
temp_path temp_path_in(const temp_path *folder, const char *name);

/* Write folder/name and return its path. */
temp_path temp_file_write(const temp_path *folder, const char *name, const void *bytes, size_t size);

/* Remove the folder and the plain files in it. */
void temp_folder_remove(const temp_path *folder);

#endif
