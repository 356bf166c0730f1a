/* tests/unit/test_demangle.c - names that compilers made, and names made to do harm. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "base/text.h"
#include "symbol/name_weight.h"
#include "symbol/symbolizer.h"

static void assert_demangled(const char *name, const char *expected)
{
    char *const demangled = tide_demangle(name);
    assert_non_null(demangled);
    assert_string_equal(demangled, expected);
    free(demangled);
}

static void assert_left_alone(const char *name)
{
    assert_demangled(name, name);
}

static void adds(struct tide_text *text, const char *part, int times)
{
    for (int i = 0; i < times; i++)
        tide_text_add(text, part);
}

/* The expected names are those of the C++ ABI's own examples and of the Rust RFC
 * 2603. */
static void reads_cplusplus(void **state)
{
    (void)state;
    assert_demangled("_Z3foov", "foo()");
    assert_demangled("_ZN5boost3barEii", "boost::bar(int, int)");
    assert_demangled("_ZNSt6vectorIiSaIiEE9push_backEOi",
                     "std::vector<int, std::allocator<int> >::push_back(int&&)");
    assert_demangled("_Znwm", "operator new(unsigned long)");
    assert_demangled("_ZdlPvm", "operator delete(void*, unsigned long)");
    assert_demangled("_ZN12_GLOBAL__N_14growEv", "(anonymous namespace)::grow()");
    assert_demangled("_ZZ4mainENKUlvE_clEv", "main::{lambda()#1}::operator()() const");
    assert_demangled("_ZN3fooEv.constprop.0", "foo() [clone .constprop.0]");
}

static void reads_old_rust_without_the_hash(void **state)
{
    (void)state;
    assert_demangled("_ZN4core3ptr13drop_in_place17h0123456789abcdefE",
                     "core::ptr::drop_in_place");
    assert_demangled("_ZN4test1a2bc17h0123456789abcdefE", "test::a::bc");
    assert_demangled(
        "_ZN71_$LT$Test$u20$$u2b$$u20$$u27$static$u20$as$u20$foo..Bar$LT$Test"
        "$GT$$GT$3bar17h930b740aa94f1d3aE",
        "<Test + 'static as foo::Bar<Test>>::bar");
}

static void reads_new_rust(void **state)
{
    (void)state;
    assert_demangled("_RNvC7mycrate3foo", "mycrate::foo");
    assert_demangled("_RNvNtC7mycrate3mod3foo", "mycrate::mod::foo");
    assert_demangled("_RNCNvC7mycrate3foo0", "mycrate::foo::{closure#0}");
    assert_demangled("_RINvNtC3std3mem8align_ofdE", "std::mem::align_of::<f64>");
}

static void leaves_other_names_alone(void **state)
{
    (void)state;
    assert_left_alone("");
    assert_left_alone("_");
    assert_left_alone("malloc");
    assert_left_alone("_start");
    assert_left_alone("__libc_start_main");
    assert_left_alone("_Z");
    assert_left_alone("_R");
    assert_left_alone("_Zzz");
    assert_left_alone("_ZN3fooE\x01");
    assert_left_alone("_Rust");
    assert_left_alone("__m_MOD_solve");
}

/* libiberty alone gives up at 1024 bytes. */
static void reads_names_of_template_libraries(void **state)
{
    (void)state;
    enum { TIDE_ARGUMENTS = 400 };
    struct tide_text name = {0};
    struct tide_text expected = {0};
    tide_text_add(&name, "_Z3runI");
    tide_text_add(&expected, "void run<");
    for (int i = 0; i < TIDE_ARGUMENTS; i++) {
        tide_text_add(&name, "4item");
        tide_text_addf(&expected, i > 0 ? ", %s" : "%s", "item");
    }
    tide_text_add(&name, "Evv");
    tide_text_add(&expected, ">()");
    assert_true(name.length > 1024);
    assert_demangled(name.bytes, expected.bytes);
    tide_text_release(&name);
    tide_text_release(&expected);
}

/* BEFORE, then PART so often that the name has LENGTH bytes, then BEHIND. */
static void assert_survived(const char *before, const char *part, const char *behind,
                            size_t length)
{
    struct tide_text name = {0};
    tide_text_add(&name, before);
    while (name.length < length)
        tide_text_add(&name, part);
    tide_text_add(&name, behind);
    char *const demangled = tide_demangle(name.bytes);
    assert_non_null(demangled);
    assert_true(strlen(demangled) > 0);
    free(demangled);
    tide_text_release(&name);
}

/* Every construction that the grammar nests, at lengths around each of our limits. */
static void survives_deep_nesting(void **state)
{
    (void)state;
    static const char *const shapes[][3] = {
        {"_Z1f", "P", "i"},          {"_Z1f", "F", "v"},
        {"_Z1f", "M1a", "i"},        {"_Z1f", "KP", "i"},
        {"_Z1f", "A_", "i"},         {"_Z1f", "Dp", "i"},
        {"_Z1f", "U1aI", "i"},       {"_Z1f", "FP", "iE"},
        {"_Z1fI", "1aI", "i"},       {"_Z1fI", "J", "i"},
        {"_Z1fI", "L_Z1fI", "i"},    {"_Z1fIX", "ng", "1aEE"},
        {"_Z1fIX", "cl", "1aEE"},    {"_Z1fIX", "qu", "i"},
        {"_Z1fIX", "gsnw", "E"},     {"_Z1fIX", "on1aI", "E"},
        {"_Z", "Z", "1fv"},          {"_ZN", "1a", "Ev"},
        {"_ZN", "S", "_"},           {"_Z", "N", "1aEv"},
        {"_RNvC1a", "I", "C1b"},     {"_RNv", "Nv", "C1a1b"},
        {"_RINvC1a1b", "T", "E"},    {"_RINvC1a1b", "R", "uE"},
        {"_RINvC1a1b", "Fu", "EuE"}, {"_ZN", "2$C", "E"},
    };
    static const size_t lengths[] = {1000, 1030, 4000, 8190, 8200, 10000, 65000, 70000};
    for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
        for (size_t k = 0; k < sizeof(lengths) / sizeof(lengths[0]); k++)
            assert_survived(shapes[i][0], shapes[i][1], shapes[i][2], lengths[k]);
    }
}

static void survives_ten_thousand_levels(void **state)
{
    (void)state;
    struct tide_text name = {0};
    tide_text_add(&name, "_Z1f");
    adds(&name, "P", 10000);
    tide_text_add(&name, "i");
    assert_left_alone(name.bytes);
    tide_text_release(&name);
}

static void leaves_very_long_names_alone(void **state)
{
    (void)state;
    struct tide_text name = {0};
    tide_text_add(&name, "_Z100000");
    adds(&name, "a", 100000);
    tide_text_add(&name, "v");
    assert_left_alone(name.bytes);
    tide_text_release(&name);
}

/* LEVELS types, each a pair of the one before: `a<int, int>` is S1_, what comes next
 * S2_ and so on. */
static void add_pairs(struct tide_text *name, unsigned levels)
{
    static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    for (unsigned i = 1; i <= levels; i++) {
        char id[4] = {digits[i % 36], 0};
        if (i >= 36)
            (void)snprintf(id, sizeof(id), "%c%c", digits[i / 36], digits[i % 36]);
        tide_text_addf(name, "S0_IS%s_S%s_E", id, id);
    }
}

static void assert_left_alone_at_once(const char *name)
{
    const clock_t begin = clock();
    assert_left_alone(name);
    assert_true(clock() - begin < 2 * CLOCKS_PER_SEC);
}

/* 2 to the 60th characters when spelled out. */
static void gives_up_on_names_that_explode(void **state)
{
    (void)state;
    struct tide_text name = {0};
    tide_text_add(&name, "_Z1f1b1aIiiE");
    add_pairs(&name, 60);
    assert_left_alone_at_once(name.bytes);
    tide_text_release(&name);
}

/* sizeof...(types): only their number is printed, but a pack is searched for in all. */
static void gives_up_on_searches_that_explode(void **state)
{
    (void)state;
    struct tide_text name = {0};
    tide_text_add(&name, "_Z1fIXsP1aIiiE");
    add_pairs(&name, 3);
    tide_text_add(&name, "DpS4_EEEvv");
    assert_demangled(name.bytes, "void f<4>()");

    tide_text_clear(&name);
    tide_text_add(&name, "_Z1fIXsP1aIiiE");
    add_pairs(&name, 34);
    tide_text_add(&name, "DpSZ_EEEvv");
    assert_left_alone_at_once(name.bytes);
    tide_text_release(&name);
}

static void weighs_what_is_abbreviated(void **state)
{
    (void)state;
    const char *const once = "_Z1f1aIiE";
    const char *const twice = "_Z1f1aIiES0_"; /* the second a<int> is abbreviated */
    const uint32_t light = tide_name_weight(once, strlen(once));
    const uint32_t heavy = tide_name_weight(twice, strlen(twice));
    assert_in_range(light, 5, 20);
    /* a<int> has 4 parts: template, name, list, int; one more list to hold it. */
    assert_int_equal(heavy - light, 4 + 1);
    assert_int_equal(tide_name_weight("main", 4), 0);
}

/* 2 to the 17th pairs: more than the limit; 2 to the 8th: less. */
static void stops_at_a_mebibyte(void **state)
{
    (void)state;
    static const unsigned levels[] = {8, 17};
    for (size_t k = 0; k < 2; k++) {
        struct tide_text name = {0};
        tide_text_add(&name, "_Z1f1b1aIiiE");
        add_pairs(&name, levels[k]);
        char *const demangled = tide_demangle(name.bytes);
        assert_int_equal(strcmp(demangled, name.bytes) == 0, levels[k] == 17);
        assert_true(strlen(demangled) < 1024 * 1024);
        free(demangled);
        tide_text_release(&name);
    }
}

/* Printing keeps arrays on the stack that grow with references times templates. */
static void survives_many_references_and_templates(void **state)
{
    (void)state;
    for (int size = 100; size <= 8000; size += 395) {
        struct tide_text name = {0};
        tide_text_add(&name, "_Z1fIiEv");
        adds(&name, "RT_", size / 6);
        adds(&name, "1aIiE", size / 10);
        char *const demangled = tide_demangle(name.bytes);
        assert_non_null(demangled);
        free(demangled);
        tide_text_release(&name);
    }
}

static uint64_t next_random(uint64_t *random)
{
    *random = *random * 6364136223846793005u + 1442695040888963407u;
    return *random >> 33;
}

/* Letters of the grammars, put together at random. */
static void survives_nonsense(void **state)
{
    (void)state;
    static const char *const parts[] = {
        "N",
        "E",
        "I",
        "S_",
        "S0_",
        "T_",
        "1a",
        "2bc",
        "P",
        "R",
        "K",
        "i",
        "v",
        "F",
        "X",
        "L",
        "Z",
        "Dp",
        "J",
        "M",
        "A_",
        "cl",
        "ng",
        "sr",
        "C1",
        "D2",
        "St",
        "Ul",
        "UlvE_",
        "cv",
        "17h0123456789abcdef",
        "C",
        "B_",
        "Nv",
        "T",
        "u",
        "_",
        "0",
        "s_",
    };
    enum { TIDE_NAMES = 20000, TIDE_PARTS = sizeof(parts) / sizeof(parts[0]) };
    uint64_t random = 7;
    struct tide_text name = {0};
    for (int i = 0; i < TIDE_NAMES; i++) {
        tide_text_clear(&name);
        tide_text_add(&name, next_random(&random) % 4 == 0 ? "_R" : "_Z");
        const unsigned length = (unsigned)(next_random(&random) % 60);
        for (unsigned k = 0; k < length; k++)
            tide_text_add(&name, parts[next_random(&random) % TIDE_PARTS]);
        char *const demangled = tide_demangle(name.bytes);
        assert_non_null(demangled);
        free(demangled);
    }
    tide_text_release(&name);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_cplusplus),
        cmocka_unit_test(reads_old_rust_without_the_hash),
        cmocka_unit_test(reads_new_rust),
        cmocka_unit_test(leaves_other_names_alone),
        cmocka_unit_test(reads_names_of_template_libraries),
        cmocka_unit_test(survives_deep_nesting),
        cmocka_unit_test(survives_ten_thousand_levels),
        cmocka_unit_test(leaves_very_long_names_alone),
        cmocka_unit_test(gives_up_on_names_that_explode),
        cmocka_unit_test(gives_up_on_searches_that_explode),
        cmocka_unit_test(weighs_what_is_abbreviated),
        cmocka_unit_test(stops_at_a_mebibyte),
        cmocka_unit_test(survives_many_references_and_templates),
        cmocka_unit_test(survives_nonsense),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
