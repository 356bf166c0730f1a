/* tests/unit/test_names.c - names made safe and made to fit. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "dice.h"
#include "view/names.h"
#include "view/utf8.h"

static const struct tide_style UTF8 = {.width = 80, .utf8 = true};
static const struct tide_style ASCII = {.width = 80};

typedef void fitter(struct tide_text *, const char *, int, const struct tide_style *);

static void assert_fitted(fitter *fit, const char *name, int columns, const char *words)
{
    struct tide_text text = {0};
    fit(&text, name, columns, &UTF8);
    assert_string_equal(text.bytes ? text.bytes : "", words);
    tide_text_release(&text);
}

static void assert_safe(const char *name, const struct tide_style *style,
                        const char *words)
{
    struct tide_text text = {0};
    tide_name_safe(&text, name, style);
    assert_string_equal(text.bytes ? text.bytes : "", words);
    tide_text_release(&text);
}

static void assert_brief(const char *name, const char *words)
{
    struct tide_text text = {0};
    tide_name_brief(&text, name, &UTF8);
    assert_string_equal(text.bytes ? text.bytes : "", words);
    tide_text_release(&text);
}

static void shows_control_bytes_as_numbers(void **state)
{
    (void)state;
    assert_safe("\033]0;owned\007", &UTF8, "\\x1b]0;owned\\x07");
    assert_safe("a\nb\tc\rd\x7f", &UTF8, "a\\x0ab\\x09c\\x0dd\\x7f");
    assert_safe("\xc2\x9b"
                "31m",
                &UTF8, "\\xc2\\x9b31m"); /* CSI as one character */
    assert_safe(NULL, &UTF8, "");
}

static void shows_what_turns_text_around_as_numbers(void **state)
{
    (void)state;
    assert_safe("a\xe2\x80\xae"
                "b",
                &UTF8, "a\\xe2\\x80\\xaeb");                 /* U+202E */
    assert_safe("\xef\xbb\xbfx", &UTF8, "\\xef\\xbb\\xbfx"); /* U+FEFF */
}

static void shows_bad_utf8_as_numbers(void **state)
{
    (void)state;
    assert_safe("\xff\xfe", &UTF8, "\\xff\\xfe");
    assert_safe("caf\xe9", &UTF8, "caf\\xe9");             /* Latin-1 */
    assert_safe("\xc0\xaf", &UTF8, "\\xc0\\xaf");          /* overlong '/' */
    assert_safe("\xe0\x80\xaf", &UTF8, "\\xe0\\x80\\xaf"); /* overlong */
    assert_safe("\xed\xa0\x80", &UTF8, "\\xed\\xa0\\x80"); /* surrogate */
    assert_safe("\xf4\x90\x80\x80", &UTF8, "\\xf4\\x90\\x80\\x80");
    assert_safe("\xe2\x82", &UTF8, "\\xe2\\x82"); /* cut */
}

static void keeps_good_utf8_where_the_terminal_can_show_it(void **state)
{
    (void)state;
    assert_safe("größe→尺寸", &UTF8, "größe→尺寸");
    assert_safe("ö", &ASCII, "\\xc3\\xb6");
}

static void counts_columns_not_bytes(void **state)
{
    (void)state;
    assert_int_equal(tide_columns("abc"), 3);
    assert_int_equal(tide_columns("größe"), 5);
    assert_int_equal(tide_columns("尺寸"), 4);
    assert_int_equal(tide_columns("e\xcc\x81"), 1); /* e and a combining accent */
    assert_int_equal(tide_columns(""), 0);
    assert_int_equal(tide_columns_prefix("尺寸", 3), 3); /* bytes of one character */
    assert_int_equal(tide_columns_suffix("a尺寸", 3), 4);
}

static void leaves_names_alone_that_fit(void **state)
{
    (void)state;
    const char *const name = "std::vector<int, std::allocator<int> >::push_back(int&&)";
    assert_fitted(tide_name_function, name, (int)strlen(name), name);
}

static void drops_parameters_first_then_template_arguments(void **state)
{
    (void)state;
    const char *const name =
        "std::vector<int, std::allocator<int> >::insert(int const*, int)";
    assert_fitted(tide_name_function, name, 62,
                  "std::vector<int, std::allocator<int> >::insert(…)");
    assert_fitted(tide_name_function, name, 48,
                  "std::vector<int, std::allocator<int> >::insert");
    assert_fitted(tide_name_function, name, 45, "std::vector<…>::insert");
    assert_fitted(tide_name_function, name, 22, "std::vector<…>::insert");
    assert_fitted(tide_name_function, name, 21, "…::vector<…>::insert");
    assert_fitted(tide_name_function, name, 9, "…::insert");
}

/* Methods of one name are told apart by their class, which goes after all else. */
static void keeps_the_class_of_a_method(void **state)
{
    (void)state;
    const char *const name =
        "octave::tree_multi_assignment::evaluate_n(octave::tree_evaluator&, int)";
    assert_fitted(tide_name_function, name, 43,
                  "octave::tree_multi_assignment::evaluate_n");
    assert_fitted(tide_name_function, name, 36, "…::tree_multi_assignment::evaluate_n");
    assert_fitted(tide_name_function, name, 35, "…tree_multi_assignment::evaluate_n");
    assert_fitted(tide_name_function, name, 26, "…ti_assignment::evaluate_n");
    assert_fitted(tide_name_function, name, 19, "…gnment::evaluate_n");
    assert_fitted(tide_name_function, name, 18, "…::evaluate_n");
    assert_fitted(tide_name_function,
                  "octave::fcn_info::fcn_info_rep::load_class_method", 34,
                  "…::fcn_info_rep::load_class_method");
}

/* The offset is all that tells one function without a name from the next. */
static void keeps_the_offset_of_what_has_no_name(void **state)
{
    (void)state;
    const char *const name = "libclang-cpp.so.14+0x920ce0";
    assert_fitted(tide_name_function, name, 27, name);
    assert_fitted(tide_name_function, name, 20, "libclang-c…+0x920ce0");
    assert_fitted(tide_name_function, name, 13, "lib…+0x920ce0");
    assert_fitted(tide_name_function, name, 12, "…+0x920ce0");
    assert_fitted(tide_name_function, name, 10, "…+0x920ce0");
    assert_fitted(tide_name_function, name, 9, "libc…0ce0");
}

static void knows_how_little_of_a_name_says_too_little(void **state)
{
    (void)state;
    assert_int_equal(tide_name_least("main", &UTF8), 4);
    assert_int_equal(tide_name_least("a_very_long_function_name", &UTF8), 12);
    assert_int_equal(tide_name_least("ns::Class<int>::method(int)", &UTF8), 9);
    assert_int_equal(tide_name_least("libfoo.so+0x1f2e", &UTF8), 8);
}

/* What two functions of one name differ by is mostly the class. */
static void keeps_the_inner_classes_there_is_room_for(void **state)
{
    (void)state;
    const char *const name = "v8::internal::ScavengerCollector::JobTask::Run";
    assert_fitted(tide_name_function, name, 45, "v8::internal::…::JobTask::Run");
    assert_fitted(tide_name_function, name, 20, "v8::…::JobTask::Run");
    assert_fitted(tide_name_function, name, 18, "…::JobTask::Run");
    assert_fitted(tide_name_function, "v8::a::Scavenger<int>::Task::Run", 27,
                  "v8::a::…::Task::Run");
    assert_fitted(tide_name_function, "v8::platform::deep::Worker::Run", 30,
                  "v8::…::deep::Worker::Run");
}

static void cuts_the_middle_at_last(void **state)
{
    (void)state;
    assert_fitted(tide_name_function, "a_very_long_function_name", 11, "a_ver…_name");
    assert_fitted(tide_name_function, "ns::a_very_long_function_name", 11,
                  "ns::a…_name");
    assert_fitted(tide_name_fit, "/usr/lib/libfoo.so.1.2.3", 12, "/usr/….1.2.3");
    assert_fitted(tide_name_fit, "abc", 1, "…");
    assert_fitted(tide_name_fit, "abc", 0, "");
}

static void knows_operators_from_brackets(void **state)
{
    (void)state;
    assert_brief("operator<(A<int> const&, B const&)", "operator<");
    assert_brief("std::ostream& operator<< <char>(std::ostream&)", "operator<< <…>");
    assert_brief("ns::F<int>::operator()(int) const", "ns::F<…>::operator()");
    assert_brief("P::operator->() const", "P::operator->");
    assert_brief("operator new(unsigned long)", "operator new");
}

static void keeps_what_distinguishes_lambdas_and_namespaces(void **state)
{
    (void)state;
    assert_brief("(anonymous namespace)::run(int)", "(anonymous namespace)::run");
    assert_brief("go(int)::{lambda(int)#1}::operator()(int) const",
                 "go(…)::{lambda(…)#1}::operator()");
    assert_brief("<alloc::vec::Vec<u8> as core::ops::Drop>::drop",
                 "<alloc::vec::Vec<…> as core::ops::Drop>::drop");
    assert_brief("frob [clone .isra.0]", "frob [clone .isra.0]");
    assert_brief("main", "main");
    assert_brief("libc.so.6+0x1f2e", "libc.so.6+0x1f2e");
}

static void leaves_out_what_a_template_returns(void **state)
{
    (void)state;
    assert_brief("void std::swap<int>(int&, int&)", "std::swap<…>");
    assert_brief("std::pair<int, int>* ns::make<int>(int) const", "ns::make<…>");
    assert_brief("unsigned long long f<int>()", "f<…>");
    assert_brief("bool operator==<int>(A<int> const&)", "operator==<…>");
    assert_brief("(anonymous namespace)::f(int) [clone .cold]",
                 "(anonymous namespace)::f");
    assert_string_equal(tide_name_start("main"), "main");
    assert_string_equal(tide_name_start("a<b c"), "a<b c");
}

static void survives_brackets_that_do_not_match(void **state)
{
    (void)state;
    assert_brief("a<b", "a<b");
    assert_brief("a>b)", "a>b)");
    assert_brief("((((", "((((");
    assert_brief("x<)>", "x<…>>");
}

static void random_name(struct dice *dice, struct tide_text *name)
{
    static const char *const PARTS[] = {
        "std::",    "<",        ">",           "(", ")",        "int",
        "operator", "\033[31m", "尺",          "ö", "\xff",     "::",
        " const",   "{lambda",  "a_long_word", "}", "e\xcc\x81"};
    tide_text_clear(name);
    tide_text_add(name, "");
    for (int parts = dice_roll(dice, 20); parts > 0; parts--)
        tide_text_add(name, PARTS[dice_roll(dice, sizeof(PARTS) / sizeof(PARTS[0]))]);
}

/* Names of all lengths and bytes, in all widths: never wider, never unsafe. */
static void fits_any_name_into_any_width(void **state)
{
    (void)state;
    struct dice dice = {3};
    struct tide_text name = {0}, text = {0};
    for (int i = 0; i < 20000; i++) {
        const int columns = dice_roll(&dice, 60);
        const struct tide_style *const style = i % 2 ? &UTF8 : &ASCII;
        random_name(&dice, &name);
        tide_text_clear(&text);
        tide_text_add(&text, "");
        (i % 3 ? tide_name_function : tide_name_fit)(&text, name.bytes, columns, style);
        assert_true(tide_columns(text.bytes) <= columns);
        assert_null(strchr(text.bytes, '\033'));
        assert_null(strchr(text.bytes, '\xff'));
    }
    tide_text_release(&name);
    tide_text_release(&text);
}

static void takes_a_hostile_name_of_a_megabyte_in_its_stride(void **state)
{
    (void)state;
    const size_t length = 1u << 20;
    char *const name = malloc(length + 1);
    assert_non_null(name);
    memset(name, '<', length);
    name[length] = '\0';
    struct tide_text text = {0};
    tide_name_function(&text, name, 40, &UTF8);
    assert_int_equal(tide_columns(text.bytes), 40);
    tide_text_clear(&text);
    tide_name_brief(&text, name, &UTF8);
    assert_true(tide_columns(text.bytes) <= TIDE_WIDTH_MAX);
    tide_text_release(&text);
    free(name);
}

static void finds_the_last_part_of_a_path(void **state)
{
    (void)state;
    assert_string_equal(tide_name_base("/usr/lib/libc.so.6"), "libc.so.6");
    assert_string_equal(tide_name_base("main.c"), "main.c");
    assert_string_equal(tide_name_base("/"), "/");
    assert_string_equal(tide_name_base(""), "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shows_control_bytes_as_numbers),
        cmocka_unit_test(shows_what_turns_text_around_as_numbers),
        cmocka_unit_test(shows_bad_utf8_as_numbers),
        cmocka_unit_test(keeps_good_utf8_where_the_terminal_can_show_it),
        cmocka_unit_test(counts_columns_not_bytes),
        cmocka_unit_test(leaves_names_alone_that_fit),
        cmocka_unit_test(drops_parameters_first_then_template_arguments),
        cmocka_unit_test(keeps_the_class_of_a_method),
        cmocka_unit_test(keeps_the_offset_of_what_has_no_name),
        cmocka_unit_test(knows_how_little_of_a_name_says_too_little),
        cmocka_unit_test(keeps_the_inner_classes_there_is_room_for),
        cmocka_unit_test(cuts_the_middle_at_last),
        cmocka_unit_test(knows_operators_from_brackets),
        cmocka_unit_test(keeps_what_distinguishes_lambdas_and_namespaces),
        cmocka_unit_test(leaves_out_what_a_template_returns),
        cmocka_unit_test(survives_brackets_that_do_not_match),
        cmocka_unit_test(fits_any_name_into_any_width),
        cmocka_unit_test(takes_a_hostile_name_of_a_megabyte_in_its_stride),
        cmocka_unit_test(finds_the_last_part_of_a_path),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
