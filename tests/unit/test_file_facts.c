/* unit/test_file_facts.c - files are looked at by a thread that may be left behind. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "collect/file_facts.h"

static const char SLOW[] = "/nobody/answers";

/* The code under test sees a file system that does not answer, for a while. */
// NOLINTNEXTLINE(readability-inconsistent-declaration-parameter-name)
int stat(const char *path, struct stat *about)
{
    const struct timespec second = {.tv_sec = 1};
    if (strcmp(path, SLOW) == 0)
        (void)nanosleep(&second, NULL);
    return lstat(path, about);
}

static uint64_t in_ms(uint64_t ms)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec + ms * 1000000;
}

static bool at_once(void *context)
{
    (void)context;
    return true;
}

static void all_are_known_where_files_answer(void **state)
{
    (void)state;
    const struct tide_file_wait patient = {0};
    struct tide_file_fact facts[] = {{.path = "/proc/self/exe"},
                                     {.path = NULL},
                                     {.path = "/"},
                                     {.path = "/etc/passwd"}};
    struct stat about;
    tide_file_facts_find(facts, 4, &patient);
    assert_int_equal(facts[1].look, TIDE_FILE_NONE);
    assert_int_equal(facts[2].look, TIDE_FILE_NONE);
    assert_int_equal(facts[3].look, TIDE_FILE_THERE);
    assert_string_equal(facts[3].path, "/etc/passwd");
    assert_int_equal(lstat("/etc/passwd", &about), 0);
    assert_int_equal(facts[3].bytes, about.st_size);
    assert_int_equal(facts[3].mtime_ns, (uint64_t)about.st_mtim.tv_sec * 1000000000 +
                                            (uint64_t)about.st_mtim.tv_nsec);
    tide_file_facts_find(facts, 0, &patient);
}

/* What was known by then is kept, and nobody waits for the rest. */
static void one_that_does_not_answer_is_left(void **state)
{
    (void)state;
    const struct tide_file_wait waits[] = {{.until_ns = in_ms(100)},
                                           {.cancelled = at_once}};
    for (size_t i = 0; i < 2; i++) {
        struct tide_file_fact facts[] = {
            {.path = "/etc/passwd"}, {.path = SLOW}, {.path = "/etc/group"}};
        const uint64_t patience = in_ms(800);
        tide_file_facts_find(facts, 3, &waits[i]);
        assert_true(in_ms(0) < patience);
        if (i == 0)
            assert_int_equal(facts[0].look, TIDE_FILE_THERE);
        assert_int_equal(facts[1].look, TIDE_FILE_UNKNOWN);
        assert_int_equal(facts[2].look, TIDE_FILE_UNKNOWN);
    }
    const struct timespec rest = {.tv_sec = 2};
    (void)nanosleep(&rest,
                    NULL); /* threads that were left end, and free what they had */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_are_known_where_files_answer),
        cmocka_unit_test(one_that_does_not_answer_is_left),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
