/* unit/test_wrappers.c - functions that only hand on what they are asked for. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "hand_model.h"
#include "model/wrappers.h"

enum { TIDE_ASKS = 6 };

static struct hand_model hand;

static int leave(void **state)
{
    (void)state;
    hand_model_release(&hand);
    return 0;
}

/* At 0x1000 * N the function that is named so; two places in each that allocates. */
static const struct hand_symbol symbols[] = {
    {TIDE_HAND_APP, 0x100, "main", "app.c", 10},
    {TIDE_HAND_APP, 0x1001, "ask_one", "app.c", 21},
    {TIDE_HAND_APP, 0x1002, "ask_two", "app.c", 22},
    {TIDE_HAND_APP, 0x1003, "ask_three", "app.c", 23},
    {TIDE_HAND_APP, 0x1004, "ask_four", "app.c", 24},
    {TIDE_HAND_APP, 0x1005, "ask_five", "app.c", 25},
    {TIDE_HAND_APP, 0x1006, "ask_six", "app.c", 26},
    {TIDE_HAND_APP, 0x2000, "grab", "grab.c", 5},
    {TIDE_HAND_APP, 0x2001, "grab", "grab.c", 6},
    {TIDE_HAND_APP, 0x2002, "grab", "grab.c", 7},
    {TIDE_HAND_APP, 0x3000, "grab_clean", "grab.c", 15},
    {TIDE_HAND_APP, 0x4000, "pool_alloc", "pool.c", 5},
    {TIDE_HAND_APP, 0x5000, "xmalloc", "x.c", 5},
    {TIDE_HAND_APP, 0x5001, "xmalloc", "x.c", 6},
    {TIDE_HAND_APP, 0x5002, "xmalloc", "x.c", 7},
    {TIDE_HAND_APP, 0x5003, "xmalloc", "x.c", 8},
    /* seize, inlined into whoever calls it */
    {TIDE_HAND_APP, 0x6001, "seize", "seize.c", 9},
    {TIDE_HAND_APP, 0x6001, "ask_one", "app.c", 31},
    {TIDE_HAND_APP, 0x6002, "seize", "seize.c", 9},
    {TIDE_HAND_APP, 0x6002, "ask_two", "app.c", 32},
    {TIDE_HAND_APP, 0x6003, "seize", "seize.c", 9},
    {TIDE_HAND_APP, 0x6003, "ask_three", "app.c", 33},
    {TIDE_HAND_APP, 0x6004, "seize", "seize.c", 9},
    {TIDE_HAND_APP, 0x6004, "ask_four", "app.c", 34},
    {TIDE_HAND_STDCXX, 0x1, "operator new(unsigned long)", NULL, 0},
    {0, 0, NULL, NULL, 0},
};

static uint64_t of_their_own(uint64_t asks)
{
    return 24 + 40 * asks;
}
static uint64_t all_alike(uint64_t asks)
{
    (void)asks;
    return 48;
}

/* Of the data, whoever asks: the means differ by chance. */
static uint64_t by_chance(uint64_t asks)
{
    return 400 + 7 * (asks * 13 % 11);
}

static void add(uint32_t stack, uint64_t calls, uint64_t size, uint64_t moved)
{
    hand_site(&hand, (struct tide_site){.stack = stack,
                                        .calls = calls,
                                        .bytes = calls * size,
                                        .more = {.moved_calls = moved}});
}

/* The first COUNT of main's functions ask the one at VALUE for blocks of SIZE. */
static void ask(uint64_t value, size_t count, uint64_t (*size)(uint64_t))
{
    for (uint64_t i = 1; i <= count; i++)
        add(STACK({TIDE_HAND_APP, 0x100}, {TIDE_HAND_APP, 0x1000 + i},
                  {TIDE_HAND_APP, value}),
            10, size(i), 0);
}

static bool wraps(const char *name)
{
    return tide_wrappers_have(hand.model, name, "/bin/app");
}

static void begin(void)
{
    hand_model_init(&hand, symbols);
}

static void find(void)
{
    assert_int_equal(tide_model_symbolize_from(hand.model, &hand_source), TIDE_OK);
}

static void finds_one_by_its_shape(void **state)
{
    (void)state;
    begin();
    ask(0x2000, TIDE_ASKS, of_their_own);
    find();
    assert_true(wraps("grab"));
    assert_false(wraps("ask_one"));
    assert_false(wraps("main"));
    assert_true(tide_wrappers_have_name(hand.model, "grab"));
    assert_false(tide_wrappers_have(hand.model, "grab", "/lib/libgrab.so"));
}

static void wants_sizes_that_vary_with_the_caller(void **state)
{
    (void)state;
    begin();
    ask(0x2000, TIDE_ASKS, all_alike);
    find();
    assert_false(wraps("grab"));
    hand_model_release(&hand);
    begin();
    ask(0x2000, TIDE_ASKS, by_chance);
    find();
    assert_false(wraps("grab"));
}

static void wants_many_callers(void **state)
{
    (void)state;
    begin();
    ask(0x2000, 3, of_their_own);
    find();
    assert_false(wraps("grab"));
}

/* Six places of one function that loads six files. */
static void wants_several_functions_that_call(void **state)
{
    (void)state;
    begin();
    for (uint64_t i = 1; i <= TIDE_ASKS; i++)
        add(STACK({TIDE_HAND_APP, 0x1001}, {TIDE_HAND_APP, 0x7000 + i},
                  {TIDE_HAND_APP, 0x2000}),
            10, of_their_own(i), 0);
    find();
    assert_true(wraps("grab")); /* without names each place is taken for a function */
    hand_model_release(&hand);
    begin();
    for (uint64_t i = 0; i < TIDE_ASKS; i++)
        add(STACK({TIDE_HAND_APP, 0x5000 + i % 4}, {TIDE_HAND_APP, 0x2000}), 10,
            of_their_own(i), 0);
    find();
    assert_false(wraps("grab"));
}

static void wants_one_or_two_places_that_allocate(void **state)
{
    (void)state;
    begin();
    ask(0x2000, TIDE_ASKS, of_their_own);
    ask(0x2001, TIDE_ASKS, of_their_own);
    find();
    assert_true(wraps("grab"));
    hand_model_release(&hand);
    begin();
    ask(0x2000, TIDE_ASKS, of_their_own);
    ask(0x2001, TIDE_ASKS, of_their_own);
    ask(0x2002, TIDE_ASKS, of_their_own);
    find();
    assert_false(wraps("grab"));
}

/* What calls others that allocate does more than to hand on. */
static void wants_little_else_below(void **state)
{
    (void)state;
    begin();
    ask(0x2000, TIDE_ASKS, of_their_own);
    add(STACK({TIDE_HAND_APP, 0x100}, {TIDE_HAND_APP, 0x2001}, {TIDE_HAND_APP, 0x1001}),
        30, 8, 0);
    find();
    assert_false(wraps("grab"));
}

static void leaves_alone_what_makes_blocks_longer(void **state)
{
    (void)state;
    begin();
    for (uint64_t i = 1; i <= TIDE_ASKS; i++)
        add(STACK({TIDE_HAND_APP, 0x100}, {TIDE_HAND_APP, 0x1000 + i},
                  {TIDE_HAND_APP, 0x2000}),
            10, of_their_own(i), 8);
    find();
    assert_false(wraps("grab"));
}

static void finds_who_wraps_a_wrapper(void **state)
{
    (void)state;
    begin();
    for (uint64_t i = 1; i <= TIDE_ASKS; i++)
        add(STACK({TIDE_HAND_APP, 0x100}, {TIDE_HAND_APP, 0x1000 + i},
                  {TIDE_HAND_APP, 0x3000}, {TIDE_HAND_APP, 0x2000},
                  {TIDE_HAND_STDCXX, 0x1}),
            10, of_their_own(i), 0);
    ask(0x2000, TIDE_ASKS, of_their_own);
    find();
    assert_true(wraps("grab"));
    assert_true(wraps("grab_clean"));
}

static void finds_one_that_is_inlined(void **state)
{
    (void)state;
    begin();
    for (uint64_t i = 1; i <= 4; i++)
        add(STACK({TIDE_HAND_APP, 0x100}, {TIDE_HAND_APP, 0x6000 + i}), 10,
            of_their_own(i), 0);
    find();
    assert_true(wraps("seize"));
    assert_false(wraps("ask_one"));
}

static void finds_one_without_a_name(void **state)
{
    (void)state;
    begin();
    ask(0x8000, TIDE_ASKS, of_their_own);
    find();
    assert_true(wraps("app+0x8000"));
}

static void believes_names(void **state)
{
    (void)state;
    begin();
    ask(0x5000, 1, all_alike);
    ask(0x4000, 2, all_alike);
    find();
    assert_true(wraps("xmalloc"));
    assert_true(wraps("pool_alloc"));
    hand_model_release(&hand);
    begin();
    ask(0x4000, 1, all_alike); /* nobody else would gain by it */
    for (uint64_t i = 0; i < 4; i++)
        ask(0x5000 + i, 1, all_alike); /* whatever it is called, it does a lot */
    find();
    assert_false(wraps("pool_alloc"));
    assert_false(wraps("xmalloc"));
}

static void knows_names(void **state)
{
    (void)state;
    static const char *const wrap[] = {
        "xmalloc",
        "zmalloc",
        "ztrymalloc_usable_internal",
        "xcalloc",
        "g_malloc0_n",
        "gegl_try_malloc",
        "os::malloc(unsigned long, MEMFLAGS, NativeCallStack const&)",
        "sqlite3MemMalloc",
        "sqlite3Malloc",
        "zcalloc_num",
        "sqlite3DbMallocRawNN",
        "PyMem_RawMalloc",
        "_PyObject_Malloc",
        "PyObject_Realloc",
        "xrealloc.part.0",
        "av_mallocz",
        "CRYPTO_zalloc",
        "luaM_realloc_",
        "x2nrealloc",
        "ruby_xmalloc2",
        "Node::operator new(unsigned long)",
        "void* Heap::calloc<int>(int)",
        "xreallocarray",
    };
    static const char *const may[] = {
        "pool_alloc",          "ggc_internal_cleared_alloc",
        "Mesh::allocate(int)", "QArrayData::allocate(QArrayData**, long long)",
        "MemoryContextAlloc",
    };
    static const char *const other[] = {
        "main",
        "make_node",
        "list_dealloc",
        "deallocate",
        "preallocate",
        "malloc_stats",
        "allocate_rows",
        "test_mallocs",
        "alloc_tracker",
        "zipper",
        "n",
        "",
    };
    for (size_t i = 0; i < sizeof(wrap) / sizeof(wrap[0]); i++)
        if (tide_wrapper_name(wrap[i]) != TIDE_NAME_WRAPS)
            fail_msg("%s", wrap[i]);
    for (size_t i = 0; i < sizeof(may) / sizeof(may[0]); i++)
        if (tide_wrapper_name(may[i]) != TIDE_NAME_MAY_WRAP)
            fail_msg("%s", may[i]);
    for (size_t i = 0; i < sizeof(other) / sizeof(other[0]); i++)
        if (tide_wrapper_name(other[i]) != TIDE_NAME_OTHER)
            fail_msg("%s", other[i]);
}

static void knows_who_copies(void **state)
{
    (void)state;
    static const char *const copy[] = {"strdup",        "__strdup",
                                       "xstrndup",      "g_memdup2",
                                       "xmlStrdup",     "__vasprintf_internal",
                                       "__asprintf_chk"};
    for (size_t i = 0; i < sizeof(copy) / sizeof(copy[0]); i++)
        if (tide_wrapper_name(copy[i]) != TIDE_NAME_COPIES)
            fail_msg("%s", copy[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(finds_one_by_its_shape, leave),
        cmocka_unit_test_teardown(wants_sizes_that_vary_with_the_caller, leave),
        cmocka_unit_test_teardown(wants_many_callers, leave),
        cmocka_unit_test_teardown(wants_several_functions_that_call, leave),
        cmocka_unit_test_teardown(wants_one_or_two_places_that_allocate, leave),
        cmocka_unit_test_teardown(wants_little_else_below, leave),
        cmocka_unit_test_teardown(leaves_alone_what_makes_blocks_longer, leave),
        cmocka_unit_test_teardown(finds_who_wraps_a_wrapper, leave),
        cmocka_unit_test_teardown(finds_one_that_is_inlined, leave),
        cmocka_unit_test_teardown(finds_one_without_a_name, leave),
        cmocka_unit_test_teardown(believes_names, leave),
        cmocka_unit_test(knows_names),
        cmocka_unit_test(knows_who_copies),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
