/* tests/unit/test_stack_text.c - a stack in one line. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/text.h"
#include "view/stack_text.h"

static void assert_line(struct tide_stack_call *calls, size_t count, int columns,
                        const char *line)
{
    const struct tide_style style = {.width = columns, .utf8 = true};
    struct tide_text text = {0};
    struct tide_page page = {.out = &text, .style = &style, .brief = true};
    tide_page_stack(&page, calls, count, 0, true);
    assert_string_equal(text.bytes, line);
    tide_text_release(&text);
}

static void names_the_callers_that_fit(void **state)
{
    (void)state;
    struct tide_stack_call calls[] = {
        {.name = "grow", .function = 1},
        {.name = "insert", .function = 2},
        {.name = "handle_request", .function = 3},
        {.name = "main", .function = 4},
    };
    assert_line(calls, 4, 40, "grow ← insert ← handle_request ← main\n");
    assert_line(calls, 4, 30, "grow ← insert ← …\n");
}

static void names_the_caller_that_tells_it_from_others(void **state)
{
    (void)state;
    struct tide_stack_call calls[] = {
        {.name = "grow", .function = 1},
        {.name = "insert", .function = 2},
        {.name = "insert_all", .function = 3},
        {.name = "update", .function = 4},
        {.name = "save", .function = 5, .tells = true},
        {.name = "main", .function = 6},
    };
    assert_line(calls, 6, 30, "grow ← insert ← … ← save ← …\n");
    assert_line(calls, 6, 26, "grow ← insert ← … ← save\n");
    assert_line(calls, 6, 17, "grow ← … ← save\n");
}

static void says_the_line_where_only_that_tells_it_from_others(void **state)
{
    (void)state;
    struct tide_stack_call calls[] = {
        {.name = "grow", .function = 1},
        {.name = "insert", .function = 2, .line = 12, .file = "a.c"},
        {.name = "insert",
         .function = 2,
         .line = 14,
         .file = "a.c",
         .tells = true,
         .tells_line = true},
        {.name = "main", .function = 6},
    };
    assert_line(calls, 4, 60, "grow ← insert ← insert :14 ← main\n");
}

/* Functions without a name are one step, but for the one that tells. */
static void names_the_offset_that_tells_it_from_others(void **state)
{
    (void)state;
    struct tide_stack_call calls[] = {
        {.name = "m+0x1", .function = 1, .unnamed_in = "m"},
        {.name = "m+0x2", .function = 2, .unnamed_in = "m"},
        {.name = "m+0x3", .function = 3, .unnamed_in = "m"},
        {.name = "m+0x4", .function = 4, .unnamed_in = "m", .tells = true},
        {.name = "m+0x5", .function = 5, .unnamed_in = "m"},
        {.name = "m+0x6", .function = 6, .unnamed_in = "m"},
    };
    const char *const module = calls[0].unnamed_in;
    for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
        calls[i].unnamed_in = module;
    assert_line(calls, 6, 60, "m+0x1 ← m (2 unnamed) ← m+0x4 ← m (2 unnamed)\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_the_callers_that_fit),
        cmocka_unit_test(names_the_caller_that_tells_it_from_others),
        cmocka_unit_test(says_the_line_where_only_that_tells_it_from_others),
        cmocka_unit_test(names_the_offset_that_tells_it_from_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
