/* unit/test_zeroed.c - large tables of zeros. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

#include "base/zeroed.h"

enum { TIDE_HUGE = 1 << 21, TIDE_SMALL = 4096 };

/* How many bytes of [FROM, FROM + BYTES) the kernel has marked for huge pages, "hg". */
static size_t marked(const void *from, size_t bytes)
{
    const uintptr_t low = (uintptr_t)from, high = low + bytes;
    char line[1024];
    uintptr_t first = 0, last = 0;
    size_t sum = 0;
    FILE *const file = fopen("/proc/self/smaps", "r");
    assert_non_null(file);
    while (fgets(line, sizeof(line), file)) {
        char *end;
        const uintptr_t number = (uintptr_t)strtoull(line, &end, 16);
        if (*end == '-') {
            first = number;
            last = (uintptr_t)strtoull(end + 1, NULL, 16);
        }
        if (strncmp(line, "VmFlags:", 8) != 0 || !strstr(line, " hg"))
            continue;
        const uintptr_t from_here = first > low ? first : low;
        const uintptr_t to_here = last < high ? last : high;
        sum += to_here > from_here ? to_here - from_here : 0;
    }
    assert_int_equal(fclose(file), 0);
    return sum;
}

/* BYTES of fresh memory, at the start of a huge page. */
static char *fresh(size_t bytes)
{
    char *const map = mmap(NULL, bytes + TIDE_HUGE, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    assert_ptr_not_equal(map, MAP_FAILED);
    const size_t behind = (uintptr_t)map % TIDE_HUGE;
    return behind ? map + TIDE_HUGE - behind : map;
}

/* Does the kernel have huge pages, and show where they are wanted? */
static bool shows_marks(void)
{
    char *const page = fresh(TIDE_HUGE);
    return madvise(page, TIDE_HUGE, MADV_HUGEPAGE) == 0 &&
           marked(page, TIDE_HUGE) == TIDE_HUGE;
}

static void gives_zeros_that_can_be_written(void **state)
{
    (void)state;
    const size_t counts[] = {1, 1000, TIDE_HUGE, 3 * TIDE_HUGE + 5};
    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
        unsigned char *const table = tide_zeroed(counts[i], 3);
        assert_non_null(table);
        for (size_t at = 0; at < counts[i] * 3; at++)
            assert_int_equal(table[at], 0);
        memset(table, 0xff, counts[i] * 3);
        free(table);
    }
}

static void refuses_what_no_memory_has(void **state)
{
    (void)state;
    if (TIDE_SANITIZED)
        skip(); /* they end a program that asks for too much */
    assert_null(tide_zeroed(SIZE_MAX / 2, 3));
    free(tide_zeroed(0, 8));
}

static void wants_whole_huge_pages_and_nothing_beside_them(void **state)
{
    (void)state;
    if (!shows_marks())
        skip();
    const struct {
        size_t from, bytes, first, whole;
    } cases[] = {
        {0, TIDE_HUGE, 0, TIDE_HUGE},
        {0, 3 * TIDE_HUGE - 1, 0, 2 * TIDE_HUGE},
        {TIDE_SMALL, 3 * TIDE_HUGE, TIDE_HUGE, 2 * TIDE_HUGE},
        {TIDE_HUGE - 16, TIDE_HUGE + 16, TIDE_HUGE, TIDE_HUGE},
        {TIDE_HUGE - 16, TIDE_HUGE + 15, 0, 0},
        {TIDE_SMALL, TIDE_HUGE, 0, 0},
        {0, TIDE_HUGE - 1, 0, 0},
        {8, 0, 0, 0},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const size_t all = 4 * TIDE_HUGE;
        char *const at = fresh(all);
        tide_wants_huge(at + cases[i].from, cases[i].bytes);
        assert_int_equal(marked(at, all), cases[i].whole);
        assert_int_equal(marked(at + cases[i].first, cases[i].whole), cases[i].whole);
    }
}

static void large_tables_come_in_huge_pages(void **state)
{
    (void)state;
    if (!shows_marks())
        skip();
    const size_t bytes = (size_t)16 * TIDE_HUGE;
    void *const table = tide_zeroed(bytes / 8, 8);
    assert_non_null(table);
    assert_in_range(marked(table, bytes), bytes - 2 * TIDE_HUGE + 1, bytes);
    free(table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gives_zeros_that_can_be_written),
        cmocka_unit_test(refuses_what_no_memory_has),
        cmocka_unit_test(wants_whole_huge_pages_and_nothing_beside_them),
        cmocka_unit_test(large_tables_come_in_huge_pages),
    };
    return cmocka_run_group_tests_name("base/zeroed", tests, NULL, NULL);
}
