/* tests/unit/test_name_child.c - symbol/name_child.c: a child answers as this process would,
 * and may die.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/data_memory.h"
#include "symbol/name_child.h"
#include "symbol/symbolizer.h"
#include "symbol_fixture.h"
#include "tool_run.h"

static char *scratch; /* folder */
static char *program; /* knows what stands at its own addresses */
static char *other;
static struct tide_name_child *child;

static int begin(void **state)
{
    (void)state;
    scratch = tide_scratch_new();
    program = tide_path("%s/program", scratch);
    other = tide_path("%s/other", scratch);
    char *const compile = tide_path("gcc -O2 -g -o %s", program);
    tide_fixture_do(compile, TIDE_FIXTURE("inline_chain.c"));
    free(compile);
    char *const again = tide_path("gcc -O0 -g -o %s", other);
    tide_fixture_do(again, TIDE_FIXTURE("inline_chain.c"));
    free(again);
    return 0;
}

static int end(void **state)
{
    (void)state;
    tide_scratch_remove(scratch);
    free(program);
    free(other);
    return 0;
}

static int new_child(void **state)
{
    (void)state;
    return tide_name_child_new(NULL, &child) ? -1 : 0;
}

static int free_child(void **state)
{
    (void)state;
    tide_name_child_free(child);
    return waitpid(-1, NULL, WNOHANG) == -1 ? 0 : -1; /* nobody is left */
}

static struct tide_symbolizer *open_with(struct tide_name_child *by, const char *path)
{
    const struct tide_symbolizer_options options = {.debug_root = "/nonexistent",
                                                    .child = by};
    struct tide_symbolizer *symbolizer;
    assert_int_equal(tide_symbolizer_open(path, "", &options, &symbolizer), TIDE_OK);
    return symbolizer;
}

static bool same(const char *one, const char *two)
{
    return one && two ? strcmp(one, two) == 0 : one == two;
}

/* Both must say the same of ADDRESS; how many lines that were. */
static size_t compare(struct tide_symbolizer *here, struct tide_symbolizer *there,
                      uint64_t address)
{
    const struct tide_location *expected, *found;
    size_t count, found_count, lines = 0;
    assert_int_equal(tide_symbolizer_find(here, address, &expected, &count), TIDE_OK);
    assert_int_equal(tide_symbolizer_find(there, address, &found, &found_count),
                     TIDE_OK);
    assert_int_equal(count, found_count);
    for (size_t i = 0; i < count; i++) {
        assert_true(same(expected[i].function, found[i].function));
        assert_true(same(expected[i].file, found[i].file));
        assert_int_equal(expected[i].line, found[i].line);
        lines += expected[i].line > 0;
    }
    return lines;
}

/* The only child of this process. */
static pid_t child_pid(void)
{
    char path[64], line[64];
    (void)snprintf(path, sizeof(path), "/proc/self/task/%d/children", (int)getpid());
    FILE *const file = fopen(path, "re");
    assert_non_null(file);
    assert_non_null(fgets(line, sizeof(line), file));
    assert_int_equal(fclose(file), 0);
    return (pid_t)strtol(line, NULL, 10);
}

static void a_child_says_the_same(void **state)
{
    (void)state;
    struct tide_symbolizer *const here = open_with(NULL, program);
    struct tide_symbolizer *const there = open_with(child, program);
    const uint64_t first = tide_fixture_address(program, "_start");
    const uint64_t last = tide_fixture_address(program, "_fini");
    size_t lines = 0;
    for (uint64_t at = first; at < last; at++)
        lines += compare(here, there, at);
    assert_true(lines > 100); /* or it would prove nothing */
    assert_int_equal(tide_symbolizer_state(there), tide_symbolizer_state(here));
    tide_symbolizer_close(here);
    tide_symbolizer_close(there);
}

/* Names are sent once only while one module is asked. */
static void modules_may_take_turns(void **state)
{
    (void)state;
    struct tide_symbolizer *const here[] = {open_with(NULL, program),
                                            open_with(NULL, other)};
    struct tide_symbolizer *const there[] = {open_with(child, program),
                                             open_with(child, other)};
    const uint64_t first = tide_fixture_address(program, "_start");
    size_t lines = 0;
    for (uint64_t at = first; at < first + 400; at++)
        for (int i = 0; i < 2; i++)
            lines += compare(here[i], there[i], at);
    assert_true(lines > 100);
    for (int i = 0; i < 2; i++) {
        tide_symbolizer_close(here[i]);
        tide_symbolizer_close(there[i]);
    }
}

static void what_is_announced_is_known(void **state)
{
    (void)state;
    enum { TIDE_COUNT = 300 };
    uint64_t addresses[TIDE_COUNT];
    struct tide_symbolizer *const here = open_with(NULL, program);
    struct tide_symbolizer *const there = open_with(child, program);
    const uint64_t first = tide_fixture_address(program, "_start");
    for (size_t i = 0; i < TIDE_COUNT; i++)
        addresses[i] = first + i / 2; /* each twice */
    assert_int_equal(tide_symbolizer_expect(there, addresses, TIDE_COUNT), TIDE_OK);
    assert_int_equal(kill(child_pid(), SIGKILL), 0); /* nobody is asked any more */
    for (size_t i = 0; i < TIDE_COUNT; i++)
        (void)compare(here, there, addresses[i]);
    tide_symbolizer_close(here);
    tide_symbolizer_close(there);
}

/* Where debug information broke one child, another has the functions. */
static void a_dead_child_costs_lines(void **state)
{
    (void)state;
    struct tide_symbolizer *const there = open_with(child, program);
    const uint64_t main_at = tide_fixture_address(program, "main");
    const struct tide_location *found;
    size_t count;
    (void)tide_fixture_name(there, tide_fixture_address(program, "_start"));
    assert_int_equal(kill(child_pid(), SIGSEGV), 0);
    assert_int_equal(tide_symbolizer_find(there, main_at, &found, &count), TIDE_OK);
    assert_int_equal(count, 1);
    assert_string_equal(found[0].function, "main");
    assert_null(found[0].file);
    assert_int_equal(tide_symbolizer_state(there), TIDE_MODULE_BROKEN);
    assert_int_equal(kill(child_pid(), SIGSEGV), 0); /* nor can that be read */
    assert_int_equal(tide_symbolizer_find(there, main_at + 1, &found, &count), TIDE_OK);
    assert_int_equal(count, 0);
    tide_symbolizer_close(there);
}

static void one_module_does_not_harm_the_others(void **state)
{
    (void)state;
    struct tide_symbolizer *const broken = open_with(child, program);
    struct tide_symbolizer *const whole = open_with(child, other);
    struct tide_symbolizer *const here = open_with(NULL, other);
    const uint64_t at = tide_fixture_address(other, "main");
    (void)compare(here, whole, at);
    (void)tide_fixture_name(broken, 1);
    assert_int_equal(kill(child_pid(), SIGKILL), 0);
    (void)tide_fixture_name(broken, 2);
    assert_int_equal(tide_symbolizer_state(broken), TIDE_MODULE_BROKEN);
    assert_true(compare(here, whole, at + 4) > 0);
    assert_int_equal(tide_symbolizer_state(whole), TIDE_MODULE_READ);
    tide_symbolizer_close(broken);
    tide_symbolizer_close(whole);
    tide_symbolizer_close(here);
}

static void without_processes_this_one_reads(void **state)
{
    (void)state;
    struct rlimit before;
    assert_int_equal(getrlimit(RLIMIT_NPROC, &before), 0);
    const struct rlimit none = {0, before.rlim_max};
    struct tide_symbolizer *const here = open_with(NULL, program);
    struct tide_symbolizer *const there = open_with(child, program);
    const uint64_t main_at = tide_fixture_address(program, "main"); /* starts nm */
    /* Root may start processes all the same. */
    assert_int_equal(setrlimit(RLIMIT_NPROC, &none), 0);
    const size_t lines = compare(here, there, main_at);
    assert_int_equal(setrlimit(RLIMIT_NPROC, &before), 0);
    assert_true(lines > 0);
    tide_symbolizer_close(here);
    tide_symbolizer_close(there);
}

static void memory_that_is_lent_comes_back(void **state)
{
    (void)state;
    struct rlimit before;
    assert_int_equal(getrlimit(RLIMIT_DATA, &before), 0);
    tide_data_allow(64 << 20);
    struct tide_symbolizer *const there = open_with(child, program);
    (void)tide_fixture_name(there, 1);
    assert_in_range(tide_data_left(), 30 << 20, 34 << 20);
    tide_symbolizer_close(there);
    tide_name_child_free(child);
    assert_in_range(tide_data_left(), 60 << 20, 65 << 20);
    assert_int_equal(setrlimit(RLIMIT_DATA, &before), 0);
    assert_int_equal(tide_name_child_new(NULL, &child), TIDE_OK);
}

/* What a process does that starts a child, and never ends by itself: the number of the child
 * goes to FD.  The child is stopped, as if it had much to do. */
_Noreturn static void ask_and_wait(int fd)
{
    struct tide_symbolizer *const there = open_with(child, program);
    (void)tide_fixture_name(there, 1);
    const pid_t reader = child_pid();
    if (kill(reader, SIGSTOP) || write(fd, &reader, sizeof(reader)) < 0)
        _exit(1);
    for (;;)
        (void)pause();
}

static void a_child_ends_with_its_process(void **state)
{
    (void)state;
    enum { TIDE_TRIES = 500, TIDE_PAUSE_US = 10000 };
    int ends[2], tries = 0;
    pid_t reader = 0;
    assert_int_equal(pipe(ends), 0);
    const pid_t asker = fork();
    if (asker == 0)
        ask_and_wait(ends[1]);
    assert_int_equal(read(ends[0], &reader, sizeof(reader)), sizeof(reader));
    assert_int_equal(kill(asker, SIGKILL), 0);
    assert_int_equal(waitpid(asker, NULL, 0), asker);
    while (kill(reader, 0) == 0 && ++tries < TIDE_TRIES)
        (void)usleep(TIDE_PAUSE_US);
    (void)kill(reader, SIGKILL); /* or it would stay for ever */
    assert_true(tries < TIDE_TRIES);
    (void)close(ends[0]);
    (void)close(ends[1]);
}

int main(void)
{
#define TIDE_CASE(name) cmocka_unit_test_setup_teardown(name, new_child, free_child)
    const struct CMUnitTest tests[] = {
        TIDE_CASE(a_child_says_the_same),
        TIDE_CASE(modules_may_take_turns),
        TIDE_CASE(what_is_announced_is_known),
        TIDE_CASE(a_dead_child_costs_lines),
        TIDE_CASE(one_module_does_not_harm_the_others),
        TIDE_CASE(without_processes_this_one_reads),
        TIDE_CASE(memory_that_is_lent_comes_back),
        TIDE_CASE(a_child_ends_with_its_process),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
