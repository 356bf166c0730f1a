/* unit/test_findings.c - what the report points out, and what it must not. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "hand_model.h"
#include "model/model_state.h"
#include "trace/format.h"

static struct hand_model hand;
static struct tide_findings findings;

static int leave(void **state)
{
    (void)state;
    tide_findings_release(&findings);
    hand_model_release(&hand);
    return 0;
}

static const struct hand_symbol symbols[] = {
    {TIDE_HAND_APP, 0x100, "main", "app.c", 10},
    {TIDE_HAND_APP, 0x200, "parse", "parse.c", 5},
    {TIDE_HAND_APP, 0x300, "void std::vector<int>::grow()", "vector.h", 7},
    {TIDE_HAND_STDCXX, 0x1, "std::string::_M_create(unsigned long)", NULL, 0},
    {TIDE_HAND_STDCXX, 0x2, "pool", NULL, 0},
    {TIDE_HAND_LOADER, 0x1, "_dl_init", NULL, 0},
    {0, 0, NULL, NULL, 0},
};

#define STACK(...)                                                \
    hand_stack(&hand, (const struct hand_frame[]){__VA_ARGS__},   \
               sizeof((const struct hand_frame[]){__VA_ARGS__}) / \
                   sizeof(struct hand_frame))
#define MAIN  STACK({TIDE_HAND_APP, 0x100})
#define PARSE STACK({TIDE_HAND_APP, 0x100}, {TIDE_HAND_APP, 0x200})

static void build(void)
{
    assert_int_equal(tide_model_symbolize_from(hand.model, &hand_source), TIDE_OK);
    assert_int_equal(tide_findings_build(hand.model, &findings), TIDE_OK);
}

static size_t count_kind(const char *kind)
{
    size_t count = 0;
    for (size_t i = 0; i < findings.count; i++)
        count += strcmp(findings.list[i].kind, kind) == 0;
    return count;
}

static void names_who_owns_the_peak(void **state)
{
    (void)state;
    hand_model_init(&hand, symbols);
    hand_site(&hand, (struct tide_site){
                         .stack = PARSE, .peak_bytes = 3 << 20, .peak_blocks = 7});
    hand_site(&hand, (struct tide_site){
                         .stack = MAIN, .peak_bytes = 300 << 10, .peak_blocks = 1});
    build();
    assert_int_equal(findings.count, 1);
    assert_string_equal(findings.list[0].kind, "peak_owner");
    assert_string_equal(findings.list[0].text,
                        "parse holds 3.0 MiB in 7 blocks when the heap stands highest: "
                        "91 % of the peak.");
    assert_int_equal(findings.list[0].bytes, 3 << 20);
    assert_int_equal(findings.list[0].calls, 7);
    assert_int_equal(findings.list[0].stack, PARSE);
}

static void draws_the_line_at_a_tenth_of_the_peak(void **state)
{
    (void)state;
    hand_model_init(&hand, symbols);
    hand_site(&hand, (struct tide_site){.stack = PARSE, .peak_bytes = 100});
    hand_site(&hand, (struct tide_site){.stack = MAIN, .peak_bytes = 901});
    build();
    assert_int_equal(findings.count, 1);
    leave(NULL);
    hand_model_init(&hand, symbols);
    hand_site(&hand, (struct tide_site){.stack = PARSE, .peak_bytes = 100});
    hand_site(&hand, (struct tide_site){.stack = MAIN, .peak_bytes = 900});
    build();
    assert_int_equal(findings.count, 2);
}

static void speaks_of_mapped_memory_by_its_name(void **state)
{
    (void)state;
    hand_model_init(&hand, symbols);
    hand_site(&hand, (struct tide_site){.stack = PARSE,
                                        .space = TIDE_IN_MMAP,
                                        .peak_bytes = 4096,
                                        .peak_blocks = 1});
    build();
    assert_string_equal(findings.list[0].text,
                        "parse holds 4.0 KiB in 1 block when mapped memory stands "
                        "highest: 100 % of the peak.");
}

static struct tide_site leaky(uint32_t stack, int64_t bytes)
{
    return (struct tide_site){.stack = stack, .live_bytes = bytes, .live_blocks = 2};
}

static void names_what_was_never_freed(void **state)
{
    (void)state;
    hand_model_init(&hand, symbols);
    hand_site(&hand, leaky(PARSE, 1536));
    hand_site(&hand, leaky(MAIN, 1023)); /* too small */
    build();
    assert_int_equal(findings.count, 1);
    assert_string_equal(
        findings.list[0].text,
        "1.5 KiB in 2 blocks from parse were never freed: 60 % of what is live at the end.");
}

static void calls_nothing_leaked_when_the_end_was_not_seen(void **state)
{
    (void)state;
    hand_model_init(&hand, symbols);
    hand_site(&hand, leaky(PARSE, 5000));
    hand.model->honesty.complete = false;
    build();
    assert_int_equal(count_kind("leak"), 0);
    tide_findings_release(&findings);

    hand.model->honesty.complete = true;
    hand.model->stopped = true;
    build();
    assert_int_equal(count_kind("leak"), 0);
    tide_findings_release(&findings);

    hand.model->stopped = false;
    hand.process.status_known = true;
    hand.process.status = SIGKILL;
    build();
    assert_int_equal(count_kind("leak"), 0);
    tide_findings_release(&findings);

    hand.process.status = 0;
    build();
    assert_int_equal(count_kind("leak"), 1);
}

static void calls_nothing_leaked_that_was_made_before_main(void **state)
{
    (void)state;
    hand_model_init(&hand, symbols);
    hand_site(&hand,
              leaky(STACK({TIDE_HAND_LOADER, 0x1}, {TIDE_HAND_STDCXX, 0x2}), 72704));
    build();
    assert_int_equal(count_kind("leak"), 0);
}

static void says_it_once_of_a_function(void **state)
{
    (void)state;
    hand_model_init(&hand, symbols);
    hand_site(&hand, (struct tide_site){.stack = PARSE,
                                        .live_bytes = 4096,
                                        .live_blocks = 1,
                                        .peak_bytes = 4096,
                                        .peak_blocks = 1});
    hand_site(&hand, (struct tide_site){.stack = STACK({TIDE_HAND_APP, 0x200}),
                                        .live_bytes = 2048,
                                        .live_blocks = 1500,
                                        .peak_bytes = 2048,
                                        .peak_blocks = 1500});
    build();
    assert_int_equal(findings.count, 2);
    assert_string_equal(findings.list[0].text,
                        "parse holds 6.0 KiB in 1,501 blocks on 2 paths when the heap "
                        "stands highest: 100 % of the peak.");
    assert_string_equal(findings.list[1].text,
                        "6.0 KiB in 1,501 blocks from parse on 2 paths were never "
                        "freed: 100 % of what is live at the end.");
    assert_int_equal(findings.list[1].bytes, 6144);
    assert_int_equal(findings.list[1].stack, PARSE);
}

static void points_at_churn(void **state)
{
    (void)state;
    hand_model_init(&hand, symbols);
    hand_site(&hand, (struct tide_site){.stack = PARSE,
                                        .calls = 2000,
                                        .temporary_calls = 1000,
                                        .temporary_bytes = 64000});
    hand_site(&hand, (struct tide_site){.stack = MAIN,
                                        .calls = 8000,
                                        .temporary_calls = 999,
                                        .temporary_bytes = 99});
    build();
    assert_int_equal(findings.count, 1);
    assert_string_equal(
        findings.list[0].text,
        "parse makes 1,000 temporary blocks, 62.5 KiB in all: 10 % of all "
        "allocation calls.");
}

static void blames_who_called_the_runtime(void **state)
{
    (void)state;
    hand_model_init(&hand, symbols);
    const uint32_t stack = STACK({TIDE_HAND_APP, 0x100}, {TIDE_HAND_APP, 0x200},
                                 {TIDE_HAND_APP, 0x300}, {TIDE_HAND_STDCXX, 0x1});
    hand_site(&hand, (struct tide_site){.stack = stack, .peak_bytes = 10});
    build();
    assert_memory_equal(findings.list[0].text, "parse holds ", 12);
}

static void gives_ten_at_most_largest_first(void **state)
{
    (void)state;
    hand_model_init(&hand, symbols);
    for (uint64_t i = 0; i < 30; i++)
        hand_site(&hand, leaky(STACK({TIDE_HAND_APP, 0x1000 + i}), 2048 + (int64_t)i));
    build();
    assert_int_equal(findings.count, 10);
    for (size_t i = 0; i < 10; i++)
        assert_int_equal(findings.list[i].bytes, 2048 + 29 - i);
}

static void finds_nothing_in_nothing(void **state)
{
    (void)state;
    hand_model_init(&hand, symbols);
    build();
    assert_int_equal(findings.count, 0);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_teardown(name, leave)
    const struct CMUnitTest tests[] = {
        CASE(names_who_owns_the_peak),
        CASE(draws_the_line_at_a_tenth_of_the_peak),
        CASE(speaks_of_mapped_memory_by_its_name),
        CASE(names_what_was_never_freed),
        CASE(calls_nothing_leaked_when_the_end_was_not_seen),
        CASE(calls_nothing_leaked_that_was_made_before_main),
        CASE(says_it_once_of_a_function),
        CASE(points_at_churn),
        CASE(blames_who_called_the_runtime),
        CASE(gives_ten_at_most_largest_first),
        CASE(finds_nothing_in_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
