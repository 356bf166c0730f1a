/* unit/account_bench.h - one account, the events entered into it, and what came of them.
 *
 * For: test_account.c, test_account_moves.c.
 */
#ifndef TIDE_UNIT_ACCOUNT_BENCH_H
#define TIDE_UNIT_ACCOUNT_BENCH_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "make_event.h"
#include "model/account.h"

static struct tide_account account;
static struct tide_summary summary[TIDE_SPACES];

/* Enter COUNT events into a new account and settle it. */
static inline void enter_with(const struct tide_account_setup *setup,
                              const struct tide_event *events, size_t count)
{
    assert_int_equal(tide_account_init(&account, setup), TIDE_OK);
    assert_int_equal(tide_account_events(&account, events, count), TIDE_OK);
    assert_int_equal(tide_account_finish(&account, summary), TIDE_OK);
}

#define ENTER(...)                                        \
    do {                                                  \
        const struct tide_event made[] = {__VA_ARGS__};   \
        enter_with(&(struct tide_account_setup){0}, made, \
                   sizeof(made) / sizeof(made[0]));       \
    } while (0)

static inline int leave(void **state)
{
    (void)state;
    tide_account_release(&account);
    return 0;
}

static inline const struct tide_summary *heap(void)
{
    return &summary[TIDE_IN_HEAP];
}

static inline const struct tide_site *site_of(uint32_t stack)
{
    for (size_t i = 0; i < account.sites.count; i++) {
        if (account.sites.list[i].stack == stack &&
            account.sites.list[i].space == TIDE_IN_HEAP)
            return &account.sites.list[i];
    }
    fail_msg("no site for stack %u", stack);
    abort(); /* not reached, which compilers do not know */
}

#define CASE(name) cmocka_unit_test_teardown(name, leave)

#endif
