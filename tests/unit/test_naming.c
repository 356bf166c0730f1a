/* unit/test_naming.c - what a new trace is called. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "collect/naming.h"

static const struct tide_writer_start START = {.ticks_per_second = 1000000000u};
static char folder[] = "/tmp/tide-naming-XXXXXX";

static int enter_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) && chdir(folder) == 0 ? 0 : -1;
}

static int leave_folder(void **state)
{
    (void)state;
    return chdir("/") == 0 ? rmdir(folder) : -1;
}

static void expect(const char *pattern, unsigned number, const char *expected)
{
    const struct tide_name_facts facts = {pattern, "/usr/bin/prog", 4711};
    char *const name = tide_name_expand(&facts, number);
    assert_non_null(name);
    assert_string_equal(name, expected);
    free(name);
}

static void names_a_trace_after_program_and_process(void **state)
{
    (void)state;
    expect(NULL, 1, "prog.4711.tide");
    expect(NULL, 3, "prog.4711.3.tide");
}

static void adds_the_ending_when_it_is_missing(void **state)
{
    (void)state;
    expect("a", 1, "a.tide");
    expect("a.tide", 1, "a.tide");
    expect("a.tide", 2, "a.2.tide");
    expect("dir/a.b", 2, "dir/a.b.2.tide");
    expect("dir/.tide", 1, "dir/.tide.tide"); /* a hidden name is no ending */
}

static void fills_in_what_a_pattern_asks_for(void **state)
{
    (void)state;
    char host[256] = "", expected[300];
    (void)gethostname(host, sizeof(host) - 1);
    (void)snprintf(expected, sizeof(expected), "%s-4711.tide", host);
    expect("%h-%p", 1, expected);
    expect("%e_%n", 1, "prog_1.tide");
    expect("%e_%n", 7, "prog_7.tide");
    expect("100%%", 1, "100%.tide");
}

static void refuses_patterns_that_mean_nothing(void **state)
{
    (void)state;
    static const char *const good[] = {"a", "%p%h%e%r%n", "100%%", "dir/%e.%p", "a%%x"};
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
        assert_string_equal(tide_name_check(good[i]).text, "");
    assert_string_equal(tide_name_check("").text, "a trace needs a name");
    static const char *const folders[] = {"dir/", ".", "..", "dir/.", "dir/.."};
    for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++)
        assert_non_null(strstr(tide_name_check(folders[i]).text, "folder"));
    assert_string_equal(tide_name_check("...").text, "");
    assert_non_null(strstr(tide_name_check("/dev/null").text, "not a device"));
    assert_string_equal(tide_name_check("/dev").text, "");
    assert_string_equal(tide_name_check("/proc/self/exe").text, "");
    assert_non_null(strstr(tide_name_check("a%x").text, "unknown %x; there are %p, "));
    assert_non_null(
        strstr(tide_name_check("%%%").text, "letter is missing after the last %"));
    assert_non_null(strstr(tide_name_check("%p%%%q").text, "unknown %q; there are"));
}

// NOLINTBEGIN(concurrency-mt-unsafe): one thread
static void finds_the_rank_of_a_parallel_program(void **state)
{
    (void)state;
    static const char *const variables[] = {
        "PMI_RANK",     "PMIX_RANK",           "OMPI_COMM_WORLD_RANK",
        "SLURM_PROCID", "MV2_COMM_WORLD_RANK", "FLUX_TASK_RANK"};
    for (size_t i = 0; i < 6; i++)
        (void)unsetenv(variables[i]);
    expect("r%r", 1, "r0.tide");
    for (size_t i = 0; i < 6; i++) {
        (void)setenv(variables[i], "17", 1);
        expect("r%r", 1, "r17.tide");
        (void)setenv(variables[i], "../../etc/x", 1); /* not a rank */
        expect("r%r", 1, "r0.tide");
        (void)unsetenv(variables[i]);
    }
}
// NOLINTEND(concurrency-mt-unsafe)

static void takes_the_next_number_when_a_name_is_taken(void **state)
{
    (void)state;
    const struct tide_name_facts facts = {"t", "prog", 1};
    static const char *const expected[] = {"t.tide", "t.2.tide", "t.4.tide"};
    assert_int_equal(symlink("/tmp/nowhere-at-all", "t.3.tide"), 0);
    for (int i = 0; i < 3; i++) {
        struct tide_writer *writer;
        char *name;
        assert_int_equal(tide_name_create(&facts, &START, &name, &writer), TIDE_OK);
        assert_string_equal(name, expected[i]);
        tide_writer_close(writer);
        free(name);
    }
    assert_int_equal(access("/tmp/nowhere-at-all", F_OK), -1);
    assert_int_equal(unlink("t.tide") | unlink("t.2.tide") | unlink("t.3.tide") |
                         unlink("t.4.tide"),
                     0);
}

static void says_which_name_was_refused(void **state)
{
    (void)state;
    const struct tide_name_facts facts = {"missing/t", "prog", 1};
    struct tide_writer *writer;
    char *name;
    assert_int_equal(tide_name_create(&facts, &START, &name, &writer), TIDE_ENOENT);
    assert_null(writer);
    assert_string_equal(name, "missing/t.tide");
    free(name);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_a_trace_after_program_and_process),
        cmocka_unit_test(adds_the_ending_when_it_is_missing),
        cmocka_unit_test(fills_in_what_a_pattern_asks_for),
        cmocka_unit_test(refuses_patterns_that_mean_nothing),
        cmocka_unit_test(finds_the_rank_of_a_parallel_program),
        cmocka_unit_test(takes_the_next_number_when_a_name_is_taken),
        cmocka_unit_test(says_which_name_was_refused),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
