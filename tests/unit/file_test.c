/* Files: what may be mapped and what is refused, and saving that leaves the old file or the whole new one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/file.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[64];

static int make_folder(void **state) {
    (void)state;
    strcpy(folder, "/tmp/softscope-file-XXXXXX");
    return mkdtemp(folder) && chdir(folder) == 0 ? 0 : -1;
}

static int remove_folder(void **state) {
    (void)state;
    unlink("file");
    unlink("fifo");
    unlink("link");
    rmdir("target");
    return chdir("/") == 0 && rmdir(folder) == 0 ? 0 : -1; /* fails where a test left anything behind */
}

static void write_file(const char *path, const char *text) {
    FILE *stream = fopen(path, "wb");
    assert_non_null(stream);
    fputs(text, stream);
    assert_int_equal(fclose(stream), 0);
}

static void assert_holds(const char *path, const char *text) {
    ss_map map;
    assert_int_equal(ss_map_open(path, &map, NULL), SS_OK);
    assert_int_equal(map.size, strlen(text));
    if (map.size) assert_memory_equal(map.data, text, map.size);
    ss_map_close(&map);
}

static size_t files_here(void) {
    DIR *here = opendir(".");
    assert_non_null(here);
    size_t count = 0;
    for (struct dirent *entry; (entry = readdir(here));) count += entry->d_name[0] != '.';
    closedir(here);
    return count;
}

static void a_file_is_mapped_whole(void **state) {
    (void)state;
    write_file("file", "hello");
    assert_holds("file", "hello");
    ss_map map;
    assert_int_equal(ss_map_open("file", &map, NULL), SS_OK);
    ss_map_close(&map);
    assert_null(map.data);
    assert_int_equal(map.size, 0);
    ss_map_close(&map); /* closing twice is harmless */
}

static void an_empty_file_maps_to_nothing(void **state) {
    (void)state;
    write_file("file", "");
    ss_map map = {.size = 1};
    assert_int_equal(ss_map_open("file", &map, NULL), SS_OK);
    assert_null(map.data);
    assert_int_equal(map.size, 0);
    ss_map_close(&map);
}

static void assert_refused(const char *path, const char *part_of_message) {
    ss_map map = {.size = 123};
    ss_error error;
    assert_int_equal(ss_map_open(path, &map, &error), SS_E_IO);
    assert_int_equal(error.code, SS_E_IO);
    assert_string_equal(error.where, path);
    assert_non_null(strstr(error.message, part_of_message));
    assert_int_equal(map.size, 123); /* as it was */
}

static void what_is_no_regular_file_is_refused_at_once(void **state) {
    (void)state;
    alarm(5); /* a FIFO with no writer would hold open() for ever */
    assert_int_equal(mkfifo("fifo", 0600), 0);
    assert_refused("fifo", "not a regular file");
    assert_refused(".", "not a regular file");
    assert_refused("/dev/zero", "not a regular file");
    assert_refused("absent", "No such file");
    assert_int_equal(symlink("nowhere", "link"), 0);
    assert_refused("link", "No such file");
    alarm(0);
}

static void folders_and_files_are_told_apart(void **state) {
    (void)state;
    write_file("file", "");
    assert_int_equal(mkfifo("fifo", 0600), 0);
    assert_true(ss_is_file("file"));
    assert_false(ss_is_file("."));
    assert_false(ss_is_file("fifo"));
    assert_false(ss_is_file("absent"));
    assert_true(ss_is_folder("."));
    assert_false(ss_is_folder("file"));
    assert_false(ss_is_folder("absent"));
}

static void a_commit_puts_the_new_file_in_place_of_the_old(void **state) {
    (void)state;
    write_file("file", "old");
    ss_save save;
    assert_int_equal(ss_save_begin("file", &save, NULL), SS_OK);
    fputs("new", save.stream);
    assert_holds("file", "old"); /* until the commit */
    assert_int_equal(ss_save_commit(&save, NULL), SS_OK);
    assert_holds("file", "new");
    assert_int_equal(files_here(), 1);
}

static void a_saved_file_has_the_permissions_that_any_new_file_gets(void **state) {
    (void)state;
    mode_t mask = umask(027);
    ss_save save;
    assert_int_equal(ss_save_begin("file", &save, NULL), SS_OK);
    assert_int_equal(ss_save_commit(&save, NULL), SS_OK);
    umask(mask);
    struct stat facts;
    assert_int_equal(stat("file", &facts), 0);
    assert_int_equal(facts.st_mode & 0777, 0640);
}

static void an_aborted_save_leaves_the_old_file_and_nothing_else(void **state) {
    (void)state;
    write_file("file", "old");
    ss_save save;
    assert_int_equal(ss_save_begin("file", &save, NULL), SS_OK);
    fputs("new", save.stream);
    ss_save_abort(&save);
    ss_save_abort(&save); /* aborting twice is harmless */
    assert_holds("file", "old");
    assert_int_equal(files_here(), 1);
}

static void what_is_no_regular_file_is_written_and_never_replaced(void **state) {
    (void)state;
    write_file("file", "old");
    assert_int_equal(symlink("file", "link"), 0);
    ss_save save;
    assert_int_equal(ss_save_begin("link", &save, NULL), SS_OK);
    fputs("new", save.stream);
    assert_int_equal(ss_save_commit(&save, NULL), SS_OK);
    struct stat facts;
    assert_int_equal(lstat("link", &facts), 0);
    assert_true(S_ISLNK(facts.st_mode));
    assert_holds("file", "new");

    /* a link to a device, so that a fault here would cost the link and not the machine's own device */
    assert_int_equal(unlink("link"), 0);
    assert_int_equal(symlink("/dev/full", "link"), 0);
    assert_int_equal(ss_save_begin("link", &save, NULL), SS_OK);
    fputs("new", save.stream);
    ss_error error;
    assert_int_equal(ss_save_commit(&save, &error), SS_E_WRITE);
    assert_non_null(strstr(error.message, "No space left on device"));

    assert_int_equal(mkfifo("fifo", 0600), 0);
    int reader = open("fifo", O_RDONLY | O_NONBLOCK);
    assert_int_equal(ss_save_begin("fifo", &save, NULL), SS_OK);
    fputs("new", save.stream);
    assert_int_equal(ss_save_commit(&save, NULL), SS_OK);
    char seen[8] = "";
    assert_int_equal(read(reader, seen, sizeof seen), 3);
    assert_string_equal(seen, "new");
    close(reader);
    assert_int_equal(files_here(), 3);
}

static void a_folder_is_no_file_to_write(void **state) {
    (void)state;
    ss_save save;
    ss_error error;
    assert_int_equal(mkdir("target", 0700), 0);
    assert_int_equal(ss_save_begin("target", &save, &error), SS_E_WRITE);
    assert_non_null(strstr(error.message, "cannot write: Is a directory"));
}

static void a_rename_that_fails_is_told_and_cleans_up(void **state) {
    (void)state;
    ss_save save;
    assert_int_equal(ss_save_begin("target", &save, NULL), SS_OK);
    fputs("new", save.stream);
    assert_int_equal(mkdir("target", 0700), 0); /* a file cannot be renamed onto a folder */
    ss_error error;
    assert_int_equal(ss_save_commit(&save, &error), SS_E_WRITE);
    assert_string_equal(error.where, "target");
    assert_non_null(strstr(error.message, "cannot write: Is a directory"));
    assert_int_equal(files_here(), 1); /* the folder; no temporary file */
}

static void a_full_disk_is_told_and_leaves_the_old_file(void **state) {
    (void)state;
    write_file("file", "old");
    ss_save save;
    assert_int_equal(ss_save_begin("file", &save, NULL), SS_OK);
    assert_non_null(freopen("/dev/full", "wb", save.stream)); /* stands in for a disk without room */
    fputs("new", save.stream);
    ss_error error;
    assert_int_equal(ss_save_commit(&save, &error), SS_E_WRITE);
    assert_non_null(strstr(error.message, "No space left on device"));
    assert_holds("file", "old");
    assert_int_equal(files_here(), 1);
}

static void a_folder_that_is_not_there_is_told_before_anything_is_written(void **state) {
    (void)state;
    ss_save save;
    ss_error error;
    assert_int_equal(ss_save_begin("absent/file", &save, &error), SS_E_WRITE);
    assert_string_equal(error.where, "absent/file");
    assert_non_null(strstr(error.message, "No such file"));
}

static void a_path_of_any_length_is_refused_and_not_cut(void **state) {
    (void)state;
    static char path[5000];
    memset(path, 'x', sizeof path - 1);
    ss_save save;
    ss_error error;
    assert_int_equal(ss_save_begin(path, &save, &error), SS_E_WRITE);
    assert_non_null(strstr(error.message, "too long"));
}

static void a_dash_is_standard_output(void **state) {
    (void)state;
    ss_save save;
    assert_int_equal(ss_save_begin("-", &save, NULL), SS_OK);
    assert_ptr_equal(save.stream, stdout);
    assert_int_equal(ss_save_commit(&save, NULL), SS_OK);
    assert_true(printf("standard output is still open\n") > 0);
    assert_int_equal(files_here(), 0);
}

#define IN_A_FOLDER(test) cmocka_unit_test_setup_teardown(test, make_folder, remove_folder)

int main(void) {
    const struct CMUnitTest tests[] = {
        IN_A_FOLDER(a_file_is_mapped_whole),
        IN_A_FOLDER(an_empty_file_maps_to_nothing),
        IN_A_FOLDER(what_is_no_regular_file_is_refused_at_once),
        IN_A_FOLDER(folders_and_files_are_told_apart),
        IN_A_FOLDER(a_commit_puts_the_new_file_in_place_of_the_old),
        IN_A_FOLDER(a_saved_file_has_the_permissions_that_any_new_file_gets),
        IN_A_FOLDER(an_aborted_save_leaves_the_old_file_and_nothing_else),
        IN_A_FOLDER(what_is_no_regular_file_is_written_and_never_replaced),
        IN_A_FOLDER(a_folder_is_no_file_to_write),
        IN_A_FOLDER(a_rename_that_fails_is_told_and_cleans_up),
        IN_A_FOLDER(a_full_disk_is_told_and_leaves_the_old_file),
        IN_A_FOLDER(a_folder_that_is_not_there_is_told_before_anything_is_written),
        IN_A_FOLDER(a_path_of_any_length_is_refused_and_not_cut),
        IN_A_FOLDER(a_dash_is_standard_output),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
