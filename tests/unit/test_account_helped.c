/* unit/test_account_helped.c - the books are the same, whether threads help or not.
 *
 * Many births side by side, every fifth of which dies: memory comes in several chunks, and
 * what was never freed is summed up in two halves.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "make_event.h"
#include "model/account.h"
#include "model/account_evidence.h"

enum {
    TIDE_BORN = 1600000,
    TIDE_BORN_STACKS = 300,
    TIDE_BORN_AT_ONCE = 500,
    TIDE_DEAD_EVERY = 5,
};

/* What was never freed, by stack. */
struct truth {
    uint64_t blocks[TIDE_BORN_STACKS], bytes[TIDE_BORN_STACKS];
};

static struct tide_event birth(uint64_t i)
{
    struct tide_event event =
        alloc_event(0, 0x100000 + i * 48, i % 40, (uint32_t)(i * i % TIDE_BORN_STACKS));
    event.ticks = i;
    return event;
}

/* Events from birth *NEXT on, and what of their blocks stays: how many there are. */
static size_t make_events(uint64_t *next, struct tide_event *events,
                          struct truth *truth)
{
    size_t count = 0;
    for (const uint64_t end = *next + TIDE_BORN_AT_ONCE; *next < end; ++*next) {
        const struct tide_event born = birth(*next);
        events[count++] = born;
        if (*next % TIDE_DEAD_EVERY == 0) {
            events[count] = free_event(0, born.address);
            events[count++].ticks = born.ticks;
        } else {
            truth->blocks[born.stack]++;
            truth->bytes[born.stack] += born.size;
        }
    }
    return count;
}

static void enter(struct tide_account *account, bool helped, struct truth *truth)
{
    const struct tide_process process = {0};
    const struct tide_account_setup setup = {
        .processes = &process, .process_count = 1, .evidence = true, .helped = helped};
    struct tide_event events[2 * TIDE_BORN_AT_ONCE];
    struct tide_summary summary[TIDE_SPACES];
    assert_int_equal(tide_account_init(account, &setup), TIDE_OK);
    for (uint64_t next = 0; next < TIDE_BORN;) {
        const size_t count = make_events(&next, events, truth);
        assert_int_equal(tide_account_run(account, events, count), TIDE_OK);
        assert_int_equal(tide_account_evidence_pass(account, next, 0), TIDE_OK);
    }
    assert_int_equal(tide_account_finish(account, summary), TIDE_OK);
}

static void compare(const struct tide_account *account, const struct truth *truth)
{
    const struct tide_survivors *const survivors = &account->evidence->survivors;
    for (size_t i = 0; i < account->keys.count; i++) {
        const uint32_t stack = account->keys.list[i].stack;
        assert_int_equal(survivors->list[i].blocks, truth->blocks[stack]);
        assert_int_equal(survivors->list[i].bytes, truth->bytes[stack]);
    }
}

/* In which order blocks are summed up differs from account to account, and with it how
 * exactly it is known when they were born. */
static void assert_same(const struct tide_survival *one,
                        const struct tide_survival *other)
{
    assert_int_equal(one->first_ticks, other->first_ticks);
    assert_int_equal(one->last_ticks, other->last_ticks);
    for (int axis = 0; axis < TIDE_LIFE_AXES; axis++) {
        const double apart = one->weight[axis] - other->weight[axis];
        const double little = 1e-6 * (double)one->bytes;
        assert_int_equal(one->slices[axis], other->slices[axis]);
        assert_true(apart <= little && apart >= -little);
    }
}

static void is_the_same_with_help_and_without(void **state)
{
    (void)state;
    struct tide_account *const one = malloc(sizeof(*one));
    struct tide_account *const other = malloc(sizeof(*other));
    struct truth truth = {0}, again = {0};
    enter(one, true, &truth);
    enter(other, false, &again);
    assert_true(one->store.chunk_count > 5);
    assert_true(one->store.helping && !other->store.helping);
    assert_int_equal(one->keys.count, other->keys.count);
    compare(one, &truth);
    compare(other, &truth);
    for (size_t i = 0; i < one->keys.count; i++)
        assert_same(&one->evidence->survivors.list[i],
                    &other->evidence->survivors.list[i]);
    tide_account_release(one);
    tide_account_release(other);
    free(one);
    free(other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(is_the_same_with_help_and_without),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
