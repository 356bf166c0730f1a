/* unit/test_registry.c - listeners come and go beside a reader that never leaves.
 *
 * Time is the test's: each look at the clock takes a second.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/mman.h>
#include <time.h>

#include <cmocka.h>

#include "capture/process.h"
#include "capture/registry.h"

enum { TIDE_TEST_KIND = 3 };

static time_t now;
static long blocks;         /* of memory that are held */
static int locks_until;     /* somebody else comes first at this lock */
static tide_handle of_else; /* and takes this away */

_Thread_local struct tide_self tide_self;

/* NOLINTNEXTLINE(readability-inconsistent-declaration-parameter-name): libc's are reserved */
int clock_gettime(clockid_t id, struct timespec *out)
{
    (void)id;
    *out = (struct timespec){.tv_sec = now++};
    return 0;
}

static bool take_away(tide_handle handle);

void tide_lock(_Atomic uint32_t *lock)
{
    if (locks_until && --locks_until == 0)
        assert_false(take_away(of_else));
    assert_int_equal(atomic_exchange(lock, 1), 0);
}

void tide_unlock(_Atomic uint32_t *lock)
{
    atomic_store(lock, 0);
}

/* Not from malloc: some of it is kept for good. */
void *tide_lasting_memory(uint64_t bytes)
{
    void *const memory =
        mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(memory, MAP_FAILED);
    blocks++;
    return memory;
}

void tide_lasting_release(void *memory, uint64_t bytes)
{
    blocks--;
    assert_int_equal(munmap(memory, bytes), 0);
}

static tide_handle add(void)
{
    const struct tide_listener listener = {.kind = TIDE_TEST_KIND};
    tide_handle handle;
    assert_int_equal(tide_registry_add(&listener, &handle), TIDE_DONE);
    return handle;
}

/* Whether it is certain that nobody is told any more. */
static bool take_away(tide_handle handle)
{
    bool wait = true;
    assert_int_equal(tide_registry_remove(handle, TIDE_TEST_KIND, &wait, NULL),
                     TIDE_DONE);
    return wait;
}

static void a_reader_who_stays_is_waited_for_once(void **state)
{
    (void)state;
    const tide_handle seen = add(), seen_too = add();
    const struct tide_reader stays = tide_registry_enter(0);
    const time_t before = now;
    assert_false(take_away(seen));
    assert_true(now - before > TIDE_GRACE_SECONDS);

    const time_t after = now;
    const long held = blocks;
    for (int i = 0; i < 10; i++) {
        const tide_handle handle = add();
        const struct tide_reader passes = tide_registry_enter(0);
        assert_int_equal(passes.list->count, 2);
        tide_registry_leave(&passes);
        assert_true(take_away(handle));
    }
    assert_true(now - after <= 2 * 10); /* it looks at the clock when it begins */
    assert_true(blocks <= held + 1);

    /* What it may look at is not given back, and not said to be free. */
    assert_int_equal(stays.list->count, 2);
    assert_int_equal(stays.list->list[1]->handle, seen_too);
    assert_false(take_away(seen_too));
    assert_int_equal(stays.list->list[1]->handle, seen_too);
    tide_registry_leave(&stays);
}

static void one_who_comes_later_is_waited_for_again(void **state)
{
    (void)state;
    const tide_handle handle = add();
    const struct tide_reader stays = tide_registry_enter(5);
    const time_t before = now;
    assert_false(take_away(handle));
    assert_true(now - before > TIDE_GRACE_SECONDS);
    assert_int_equal(stays.list->list[0]->handle, handle);
    assert_true(take_away(add()));
}

/* Between the removal and the wait for readers somebody else gives up on one who looks at
 * both. */
static void who_waits_in_a_new_hall_is_not_certain(void **state)
{
    (void)state;
    const tide_handle handle = add();
    of_else = add();
    const struct tide_reader stays = tide_registry_enter(2);
    locks_until = 2; /* that of grace periods */
    assert_false(take_away(handle));
    assert_int_equal(locks_until, 0);
    assert_int_equal(stays.list->list[0]->handle, handle);
    assert_true(take_away(add()));
}

static void a_child_begins_without_readers(void **state)
{
    (void)state;
    const tide_handle handle = add();
    const struct tide_reader of_parent = tide_registry_enter(1);
    tide_registry_after_fork();
    assert_true(take_away(handle));
    tide_registry_leave(&of_parent);
    assert_true(take_away(add()));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_reader_who_stays_is_waited_for_once),
        cmocka_unit_test(one_who_comes_later_is_waited_for_again),
        cmocka_unit_test(who_waits_in_a_new_hall_is_not_certain),
        cmocka_unit_test(a_child_begins_without_readers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
