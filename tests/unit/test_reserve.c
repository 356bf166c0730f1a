/* unit/test_reserve.c - the recorder's own memory lies apart, and never over another's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "capture/reserve.h"

enum { TIDE_TEST_PAGE = 4096 };

#define GIB (1ull << 30)

static uint64_t distance(const void *a, const void *b)
{
    const uintptr_t x = (uintptr_t)a, y = (uintptr_t)b;
    return x < y ? y - x : x - y;
}

static char *map_elsewhere(void *at, uint64_t bytes, int flags)
{
    void *const got = mmap(at, bytes, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | flags, -1, 0);
    assert_ptr_not_equal(got, MAP_FAILED);
    return got;
}

static void test_it_is_far_from_where_programs_map(void **state)
{
    (void)state;
    char *const own = tide_reserve_memory(100);
    char *const programs = map_elsewhere(NULL, TIDE_TEST_PAGE, 0);
    assert_non_null(own);
    assert_true(distance(own, sbrk(0)) > 32 * GIB);
    assert_true(distance(own, programs) > 32 * GIB);
    memset(own, 1, TIDE_TEST_PAGE);
    munmap(programs, TIDE_TEST_PAGE);
}

static void test_one_lies_behind_the_other(void **state)
{
    (void)state;
    char *const first = tide_reserve_memory(TIDE_TEST_PAGE + 1);
    char *const second = tide_reserve_memory(TIDE_TEST_PAGE);
    assert_ptr_equal(second, first + (ptrdiff_t)2 * TIDE_TEST_PAGE);
}

static void test_who_is_there_stays(void **state)
{
    (void)state;
    char *const first = tide_reserve_memory(TIDE_TEST_PAGE);
    char *const other =
        map_elsewhere(first + TIDE_TEST_PAGE, TIDE_TEST_PAGE, MAP_FIXED);
    *other = 5;
    char *const second = tide_reserve_memory((uint64_t)2 * TIDE_TEST_PAGE);
    assert_non_null(second);
    *second = 6;
    assert_int_equal(*other, 5);
    assert_true(distance(second, first) >= TIDE_TEST_PAGE && second != other);
    munmap(other, TIDE_TEST_PAGE);
}

static void test_a_second_mapping_shares(void **state)
{
    (void)state;
    const int file = memfd_create("test_reserve", 0);
    assert_int_equal(ftruncate(file, TIDE_TEST_PAGE), 0);
    char *const first =
        tide_reserve_map(TIDE_TEST_PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    char *const second = tide_reserve_again(first, (uint64_t)4 * TIDE_TEST_PAGE);
    assert_non_null(second);
    assert_int_equal(ftruncate(file, (off_t)4 * TIDE_TEST_PAGE), 0);
    close(file);
    *first = 7;
    assert_int_equal(*second, 7);
    assert_int_equal(second[3 * TIDE_TEST_PAGE], 0);
    assert_true(tide_reserve_cover(first, TIDE_TEST_PAGE));
    assert_int_equal(*first, 0);
    assert_int_equal(*second, 7);
}

static void test_a_forked_child_goes_on_behind(void **state)
{
    (void)state;
    char *const before = tide_reserve_memory(TIDE_TEST_PAGE);
    int status = -1;
    const pid_t child = fork();
    if (child == 0)
        _exit(tide_reserve_memory(TIDE_TEST_PAGE) == before + TIDE_TEST_PAGE ? 0 : 1);
    waitpid(child, &status, 0);
    assert_int_equal(status, 0);
}

/* All of the place is somebody's: what the kernel gives is held, and nothing is mapped beyond
 * it later. */
static int without_a_place(void)
{
    char *const own = tide_reserve_memory(TIDE_TEST_PAGE);
    map_elsewhere(own - (uintptr_t)own % (8 * GIB) - 8 * GIB, 64 * GIB, MAP_FIXED);
    tide_reserve_begin();
    char *const first = tide_reserve_memory(TIDE_TEST_PAGE);
    char *const second = tide_reserve_memory(TIDE_TEST_PAGE);
    if (!first || second != first + TIDE_TEST_PAGE)
        return 1;
    *first = *second = 1;
    tide_reserve_release(first, TIDE_TEST_PAGE);
    if (mmap(first, TIDE_TEST_PAGE, PROT_READ,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) != MAP_FAILED)
        return 2;
    uint64_t more = 0;
    for (char *at; (at = tide_reserve_memory(1 << 20)); more++)
        *at = 1;
    return more >= 32 && more < 64 ? 0 : 3;
}

static void test_without_a_place_a_range_is_held(void **state)
{
    (void)state;
    int status = -1;
    const pid_t child = fork();
    if (child == 0)
        _exit(without_a_place());
    waitpid(child, &status, 0);
    assert_int_equal(status, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_it_is_far_from_where_programs_map),
        cmocka_unit_test(test_one_lies_behind_the_other),
        cmocka_unit_test(test_who_is_there_stays),
        cmocka_unit_test(test_a_second_mapping_shares),
        cmocka_unit_test(test_a_forked_child_goes_on_behind),
        cmocka_unit_test(test_without_a_place_a_range_is_held),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
