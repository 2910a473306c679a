/* Folders for tests. Relies on: mkdtemp. */
#include "support/temp_folder.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

temp_path temp_folder_make(void) {
    const char *base = getenv("TMPDIR");
    temp_path folder;
    snprintf(folder.text, sizeof folder.text, "%s/softscope-test-XXXXXX", base && *base ? base : "/tmp");
    if (!mkdtemp(folder.text)) abort();
    return folder;
}

temp_path temp_path_in(const temp_path *folder, const char *name) {
    temp_path path;
    int length = snprintf(path.text, sizeof path.text, "%s/%s", folder->text, name);
    if (length < 0 || (size_t)length >= sizeof path.text) abort();
    return path;
}

temp_path temp_file_write(const temp_path *folder, const char *name, const void *bytes, size_t size) {
    temp_path path = temp_path_in(folder, name);
    FILE *file = fopen(path.text, "wb");
    if (!file || (size && fwrite(bytes, 1, size, file) != size) || fclose(file) != 0) abort();
    return path;
}

void temp_folder_remove(const temp_path *folder) {
    DIR *entries = opendir(folder->text);
    if (!entries) abort();
    for (struct dirent *entry = readdir(entries); entry; entry = readdir(entries))
        if (entry->d_name[0] != '.') unlink(temp_path_in(folder, entry->d_name).text);
    closedir(entries);
    rmdir(folder->text);
}
