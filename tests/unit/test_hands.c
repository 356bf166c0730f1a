/* unit/test_hands.c - hands that do the parts of a piece of work at the same time. */
#include <errno.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>
#include <time.h>

#include <cmocka.h>

#include "base/raw/ticks.h"
#include "collect/hands.h"

enum { TIDE_PARTS = 64, TIDE_ROUNDS = 4000 };

static _Atomic uint32_t times[TIDE_PARTS];
static _Atomic uint32_t inside;
static char anything;
static struct tide_packer *const OWN = (struct tide_packer *)(void *)&anything;

/* In place of the system's: a machine with so many; 0: more than a set can tell. */
static int cores;
// NOLINTNEXTLINE(readability-inconsistent-declaration-parameter-name): no reserved names
int sched_getaffinity(pid_t pid, size_t bytes, cpu_set_t *set)
{
    (void)pid;
    errno = EINVAL;
    CPU_ZERO_S(bytes, set);
    for (int i = 0; i < cores; i++)
        CPU_SET_S((size_t)i, bytes, set);
    return cores ? 0 : -1;
}

static void a_small_machine_has_none_to_spare(void **state)
{
    (void)state;
    static const struct {
        int cores;
        uint32_t hands;
    } cases[] = {{1, 0}, {3, 0}, {4, 1}, {8, 2}, {12, 3}, {512, 3}, {0, 3}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        cores = cases[i].cores;
        assert_int_equal(tide_hands_to_spare(), cases[i].hands);
    }
}

static void where_addresses_are_few_there_are_none(void **state)
{
    (void)state;
    struct rlimit before, tight;
    assert_int_equal(getrlimit(RLIMIT_AS, &before), 0);
    tight = before;
    tight.rlim_cur = 512u << 20;
    cores = 16;
    assert_int_equal(setrlimit(RLIMIT_AS, &tight), 0);
    const uint32_t spare = tide_hands_to_spare();
    assert_int_equal(setrlimit(RLIMIT_AS, &before), 0);
    assert_int_equal(spare, 0);
}

static void count(void *context, uint32_t i, struct tide_packer *packer)
{
    (void)context;
    (void)packer;
    (void)atomic_fetch_add(&times[i], 1);
}

static void every_part_is_done_once(void **state)
{
    (void)state;
    for (uint32_t hands = 0; hands <= TIDE_HANDS_MOST; hands++) {
        struct tide_hands *const all = tide_hands_new(hands);
        assert_non_null(all);
        for (uint32_t round = 0; round < TIDE_ROUNDS; round++) {
            const uint32_t parts = round % (TIDE_PARTS + 1);
            tide_hands_do(all, parts, count, NULL, OWN);
            for (uint32_t i = 0; i < TIDE_PARTS; i++)
                assert_int_equal(atomic_exchange(&times[i], 0), i < parts);
        }
        tide_hands_free(all);
    }
}

/* Returns when as many are inside as CONTEXT says, or after a minute. */
static void meet(void *context, uint32_t i, struct tide_packer *packer)
{
    (void)i;
    const uint32_t wanted = *(const uint32_t *)context;
    const uint64_t until = tide_ticks_monotonic() + 60ull * 1000 * 1000 * 1000;
    (void)atomic_fetch_add(&inside, 1);
    if (packer == OWN)
        (void)atomic_fetch_add(&times[0], 1);
    while (atomic_load(&inside) < wanted && tide_ticks_monotonic() < until)
        (void)nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
}

static void parts_are_done_at_the_same_time(void **state)
{
    (void)state;
    uint32_t all_of_them = TIDE_HANDS_MOST + 1;
    struct tide_hands *const all = tide_hands_new(TIDE_HANDS_MOST);
    const uint64_t begin = tide_ticks_monotonic();
    tide_hands_do(all, all_of_them, meet, &all_of_them, OWN);
    assert_true(tide_ticks_monotonic() - begin < 60ull * 1000 * 1000 * 1000);
    assert_int_equal(atomic_load(&inside), all_of_them);
    /* The caller does its part, with what it has brought. */
    assert_int_equal(atomic_load(&times[0]), 1);
    tide_hands_free(all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_small_machine_has_none_to_spare),
        cmocka_unit_test(where_addresses_are_few_there_are_none),
        cmocka_unit_test(every_part_is_done_once),
        cmocka_unit_test(parts_are_done_at_the_same_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
