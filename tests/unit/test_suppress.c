/* unit/test_suppress.c - files of suppressions, good and bad, and what they suppress. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "hand_model.h"
#include "model/model_state.h"
#include "model/suppress.h"

static struct tide_suppressions list;
static struct hand_model hand;

static int leave(void **state)
{
    (void)state;
    tide_suppressions_release(&list);
    if (hand.model)
        hand_model_release(&hand);
    return 0;
}

/* --- Patterns ------------------------------------------------------------------------ */

static void looks_for_a_pattern_anywhere_in_a_name(void **state)
{
    (void)state;
    static const struct {
        const char *pattern, *name;
        bool means;
    } cases[] = {
        {"parse", "parse", true},
        {"parse", "xparser", true},
        {"parse", "pars", false},
        {"parse", "", false},
        {"^parse", "parser", true},
        {"^parse", "xparse", false},
        {"parse$", "xparse", true},
        {"parse$", "parser", false},
        {"^parse$", "parse", true},
        {"^parse$", "parsed", false},
        /* The first place at which it fits is not the only one. */
        {"ab$", "abab", true},
        {"a*c", "xabcx", true},
        {"a*c", "ca", false},
        {"^a*c$", "abcbc", true},
        {"^a*c$", "abcb", false},
        {"^*c$", "abc", true},
        {"a**c", "ac", true},
        {"*", "x", true},
        {"^$", "x", false},
        {"^", "x", true},
        {"$", "x", true},
        {"a*$", "xay", true},
        {"lib*.so", "/usr/lib/libssl.so.3", true},
        {"std::map<*>::insert", "std::map<int, int>::insert(int)", true},
        {"Parse", "parse", false},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        if (tide_suppression_means(cases[i].pattern, cases[i].name) != cases[i].means)
            fail_msg("'%s' and '%s'", cases[i].pattern, cases[i].name);
}

static void does_not_take_forever(void **state)
{
    (void)state;
    char name[2001];
    memset(name, 'a', sizeof(name) - 1);
    name[sizeof(name) - 1] = '\0';
    assert_false(tide_suppression_means("^a*a*a*a*a*a*a*a*b$", name));
}

/* --- Files --------------------------------------------------------------------------- */

static enum tide_status read_text(const char *text, size_t *line)
{
    return tide_suppressions_read(&list, text, strlen(text), line);
}

static void reads_a_file(void **state)
{
    (void)state;
    size_t line;
    assert_int_equal(read_text("# known\n"
                               "leak:parse\n"
                               "\n"
                               "  \t leak:^main$ \r\n"
                               "   # not this\n"
                               "leak:a b#c",
                               &line),
                     TIDE_OK);
    assert_int_equal(list.count, 3);
    assert_string_equal(list.list[0].pattern, "parse");
    assert_string_equal(list.list[1].pattern, "^main$");
    assert_string_equal(list.list[2].pattern, "a b#c");
}

static void says_which_line_is_wrong(void **state)
{
    (void)state;
    static const char *const wrong[] = {
        "# x\nleak:a\nleak:\n",   "# x\nleak:a\nrace:b\n", "# x\nleak:a\nparse",
        "# x\nleak:a\nleak :b\n", "# x\nleak:a\nLEAK:b\n", "# x\nleak:a\n:b\n",
    };
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        size_t line = 0;
        assert_int_equal(read_text(wrong[i], &line), TIDE_ECORRUPT);
        assert_int_equal(line, 3);
        assert_int_equal(list.count, 1);
        tide_suppressions_release(&list);
    }
}

static void refuses_zero_bytes(void **state)
{
    (void)state;
    static const char text[] = "leak:a\nleak:b\0c\n";
    size_t line;
    assert_int_equal(tide_suppressions_read(&list, text, sizeof(text) - 1, &line),
                     TIDE_ECORRUPT);
    assert_int_equal(line, 2);
}

static void reads_nothing_from_nothing(void **state)
{
    (void)state;
    size_t line;
    assert_int_equal(read_text("", &line), TIDE_OK);
    assert_int_equal(read_text("\n\n", &line), TIDE_OK);
    assert_int_equal(list.count, 0);
}

/* --- Stacks -------------------------------------------------------------------------- */

static const struct hand_symbol symbols[] = {
    {TIDE_HAND_APP, 0x100, "main", "app.c", 10},
    {TIDE_HAND_APP, 0x200, "parse", "/home/me/parse.c", 5},
    {TIDE_HAND_STDCXX, 0x2, "pool", NULL, 0},
    {TIDE_HAND_LOADER, 0x1, "_dl_init", NULL, 0},
    {TIDE_HAND_LOADER, 0x2, "_dl_allocate_tls", NULL, 0},
    {0, 0, NULL, NULL, 0},
};

static void add_leak(uint32_t stack, int64_t bytes)
{
    hand_site(&hand, (struct tide_site){
                         .stack = stack, .live_bytes = bytes, .live_blocks = 1});
}

/* Sites: 0 parse, 1 main, 2 the C++ library before main, 3 the loader. */
static void begin(void)
{
    hand_model_init(&hand, symbols);
    add_leak(STACK({TIDE_HAND_APP, 0x100}, {TIDE_HAND_APP, 0x200}), 100);
    add_leak(STACK({TIDE_HAND_APP, 0x100}), 10);
    add_leak(STACK({TIDE_HAND_LOADER, 0x1}, {TIDE_HAND_STDCXX, 0x2}), 72704);
    add_leak(STACK({TIDE_HAND_APP, 0x100}, {TIDE_HAND_LOADER, 0x2}), 288);
    assert_int_equal(tide_model_symbolize_from(hand.model, &hand_source), TIDE_OK);
}

static void apply(const char *text)
{
    size_t line;
    if (hand.model)
        hand_model_release(&hand);
    tide_suppressions_release(&list);
    begin();
    assert_int_equal(read_text(text, &line), TIDE_OK);
}

static void applies(const char *text, bool without_built_in, const char *sites)
{
    apply(text);
    list.without_built_in = without_built_in;
    assert_int_equal(tide_suppressions_apply(&list, hand.model, TIDE_IN_HEAP), TIDE_OK);
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(list.sites[i], sites[i] == 'x');
}

static void suppresses_by_function_file_and_module(void **state)
{
    (void)state;
    applies("leak:parse$", true, "x---");
    assert_int_equal(list.bytes, 100);
    assert_int_equal(list.list[0].blocks, 1);
    applies("leak:/me/parse.c", true, "x---");
    applies("leak:libstdc++", true, "--x-");
    applies("leak:main", true, "xx-x");
    applies("leak:nobody", true, "----");
    assert_int_equal(list.blocks, 0);
}

static void counts_a_site_for_one_pattern_only(void **state)
{
    (void)state;
    applies("leak:parse\nleak:main", true, "xx-x");
    assert_int_equal(list.list[0].bytes, 100);
    assert_int_equal(list.list[1].bytes, 298);
    assert_int_equal(list.bytes, 398);
}

static void knows_what_libraries_keep(void **state)
{
    (void)state;
    applies("", false, "--xx");
    assert_int_equal(list.bytes, 72704 + 288);
    assert_int_equal(list.blocks, 2);
    assert_int_equal(list.count, 2);
    assert_true(list.list[0].built_in);
    applies("", true, "----");
}

static void lets_libraries_keep_nothing_that_grows(void **state)
{
    (void)state;
    apply("");
    hand.model->survivals = calloc(4, sizeof(*hand.model->survivals));
    assert_non_null(hand.model->survivals);
    hand.model->survivals[3] =
        (struct tide_survival){.blocks = 100,
                               .bytes = 288,
                               .slices = {UINT32_MAX, UINT32_MAX},
                               .threads = 1,
                               .processes = 1,
                               .weight = {144, 144}};
    assert_int_equal(tide_suppressions_apply(&list, hand.model, TIDE_IN_HEAP), TIDE_OK);
    assert_true(list.sites[2]);
    assert_false(list.sites[3]);
}

static void suppresses_nothing_before_the_end(void **state)
{
    (void)state;
    apply("leak:parse");
    hand.model->stopped = true;
    assert_int_equal(tide_suppressions_apply(&list, hand.model, TIDE_IN_HEAP), TIDE_OK);
    assert_null(list.sites);
    assert_int_equal(list.bytes, 0);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_teardown(name, leave)
    const struct CMUnitTest tests[] = {
        CASE(looks_for_a_pattern_anywhere_in_a_name),
        CASE(does_not_take_forever),
        CASE(reads_a_file),
        CASE(says_which_line_is_wrong),
        CASE(refuses_zero_bytes),
        CASE(reads_nothing_from_nothing),
        CASE(suppresses_by_function_file_and_module),
        CASE(counts_a_site_for_one_pattern_only),
        CASE(knows_what_libraries_keep),
        CASE(lets_libraries_keep_nothing_that_grows),
        CASE(suppresses_nothing_before_the_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
