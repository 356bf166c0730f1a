/* unit/test_name_limit.c - whoever waits for names does not wait for ever. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "symbol/name_child.h"

static uint64_t in_ms(uint64_t ms)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec + ms * 1000000;
}

static bool at_once(void *context)
{
    ++*(int *)context;
    return true;
}

/* Ask a child with LIMIT for an address of this program, twice. */
static enum tide_status ask(const struct tide_name_limit *limit)
{
    struct tide_name_child *child;
    struct tide_child_module module;
    struct tide_name_pool pool = {0};
    struct tide_child_answer answers[1];
    const uint64_t addresses[] = {0x1000};
    char path[4096] = "";
    assert_true(readlink("/proc/self/exe", path, sizeof(path) - 1) > 0);
    assert_int_equal(tide_name_child_new(NULL, &child), TIDE_OK);
    tide_name_child_limit(child, limit);
    const struct tide_child_file file = {path, "", "", {0}};
    assert_int_equal(tide_child_module_open(&module, child, &file), TIDE_OK);
    const enum tide_status first =
        tide_child_module_ask(&module, addresses, 1, &pool, answers);
    assert_int_equal(tide_child_module_ask(&module, addresses, 1, &pool, answers),
                     first);
    tide_child_module_close(&module);
    tide_name_child_free(child);
    tide_name_pool_release(&pool);
    return first;
}

static void answers_in_time(void **state)
{
    (void)state;
    const struct tide_name_limit limit = {.until_ns = in_ms(60000),
                                          .memory = 1ull << 30};
    assert_int_equal(ask(&limit), TIDE_OK);
}

static void is_stopped_when_time_is_over(void **state)
{
    (void)state;
    const struct tide_name_limit limit = {.until_ns = in_ms(0)};
    assert_int_equal(ask(&limit), TIDE_ELIMIT);
}

static void is_stopped_when_somebody_says_so(void **state)
{
    (void)state;
    int asked = 0;
    const struct tide_name_limit limit = {.cancelled = at_once, .context = &asked};
    assert_int_equal(ask(&limit), TIDE_ELIMIT);
    assert_true(asked > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_in_time),
        cmocka_unit_test(is_stopped_when_time_is_over),
        cmocka_unit_test(is_stopped_when_somebody_says_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
