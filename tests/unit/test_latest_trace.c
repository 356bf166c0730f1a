/* tests/unit/test_latest_trace.c - cli/latest_trace.c: the newest, and only traces. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "cli/latest_trace.h"

static char folder[] = "/tmp/tide-latest-XXXXXX";

/* Make NAME in the folder, last changed SECONDS after some moment. */
static void make_file(const char *name, int seconds)
{
    char path[256];
    (void)snprintf(path, sizeof(path), "%s/%s", folder, name);
    const int fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    const struct timespec times[2] = {{.tv_sec = 1000000 + seconds},
                                      {.tv_sec = 1000000 + seconds}};
    assert_int_equal(futimens(fd, times), 0);
    close(fd);
}

static void expect(const char *name)
{
    char expected[256];
    (void)snprintf(expected, sizeof(expected), "%s/%s", folder, name);
    char *found;
    assert_int_equal(tide_latest_trace(folder, &found), TIDE_OK);
    assert_string_equal(found, expected);
    free(found);
}

static void says_when_there_is_none(void **state)
{
    (void)state;
    char *found;
    make_file("notes.txt", 900);
    make_file(".tide", 900); /* no name in front */
    assert_int_equal(tide_latest_trace(folder, &found), TIDE_ENOENT);
    assert_null(found);
    assert_int_equal(tide_latest_trace("/nowhere/at/all", &found), TIDE_ENOENT);
    assert_null(found);
}

static void finds_the_newest_whatever_its_name(void **state)
{
    (void)state;
    make_file("b.tide", 10);
    expect("b.tide");
    make_file("a.tide", 20);
    expect("a.tide");
    make_file("c.tide", 15);
    make_file("a.tide.idx", 30); /* an index is no trace */
    expect("a.tide");
    make_file("b.tide", 40);
    expect("b.tide");
}

static void passes_over_folders(void **state)
{
    (void)state;
    char path[256];
    (void)snprintf(path, sizeof(path), "%s/new.tide", folder);
    assert_int_equal(mkdir(path, 0700), 0); /* changed now: newer than all files */
    expect("b.tide");
    assert_int_equal(rmdir(path), 0);
}

static void names_no_folder_when_it_is_the_current_one(void **state)
{
    (void)state;
    char *found;
    assert_int_equal(chdir(folder), 0);
    assert_int_equal(tide_latest_trace(".", &found), TIDE_OK);
    assert_string_equal(found, "b.tide");
    free(found);
}

static int make_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
    (void)state;
    static const char *const names[] = {"notes.txt", ".tide",  "a.tide",
                                        "b.tide",    "c.tide", "a.tide.idx"};
    if (chdir(folder))
        return -1;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        (void)unlink(names[i]);
    return rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(says_when_there_is_none),
        cmocka_unit_test(finds_the_newest_whatever_its_name),
        cmocka_unit_test(passes_over_folders),
        cmocka_unit_test(names_no_folder_when_it_is_the_current_one),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
