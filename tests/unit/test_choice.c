/* unit/test_choice.c - which programs of a run are recorded. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "collect/choice.h"
#include "trace/ring.h"

static char exe[] = "/usr/bin/python3.11";
static char words[] = "/usr/bin/python3\0-u\0/home/me/a-script-with-a-long-name\0-x";
static const struct tide_image SCRIPT = {
    .exe = exe, .words = words, .words_bytes = sizeof(words)};

static bool matches(const char *list)
{
    return tide_choice_matches(list, &SCRIPT, "a-script-with-a");
}

static void a_program_goes_by_several_names(void **state)
{
    (void)state;
    assert_true(matches("python3.11"));
    assert_true(matches("python3"));
    assert_true(matches("a-script-with-a"));
    assert_true(matches("a-script-with-a-long-name"));
    assert_false(matches("python"));
    assert_false(matches("-u"));
    assert_false(matches("/usr/bin/python3"));
    assert_false(matches("a-script-with"));
}

static void names_may_be_patterns_in_a_list(void **state)
{
    (void)state;
    assert_true(matches("x,python*"));
    assert_true(matches(",,*-long-name,"));
    assert_true(matches("python3.1[0-2]"));
    assert_false(matches(""));
    assert_false(matches(","));
    assert_false(matches("x,y,pytho?"));
}

static void a_name_that_is_too_long_matches_nothing(void **state)
{
    (void)state;
    char longest[1000];
    memset(longest, '*', sizeof(longest) - 1);
    longest[sizeof(longest) - 1] = '\0';
    assert_false(matches(longest));
}

static void a_file_that_was_removed_keeps_its_name(void **state)
{
    (void)state;
    char gone[] = "/tmp/prog (deleted)", strange[] = "/tmp/ (deleted)";
    const struct tide_image image = {.exe = gone}, other = {.exe = strange};
    assert_true(tide_choice_matches("prog", &image, ""));
    assert_false(tide_choice_matches("prog (deleted)", &image, ""));
    assert_true(tide_choice_matches(" (deleted)", &other, ""));
}

static void nothing_known_matches_nothing(void **state)
{
    (void)state;
    const struct tide_image image = {0};
    assert_false(tide_choice_matches("x", &image, ""));
}

static void following_is_a_matter_of_the_first_process(void **state)
{
    (void)state;
    const struct tide_image image = {.exe = exe};
    struct tide_choice all = {.main_pid = 10};
    struct tide_choice exec = {.main_pid = 10, .follow = TIDE_FOLLOW_EXEC};
    struct tide_choice none = {.main_pid = 10, .follow = TIDE_FOLLOW_NONE};
    for (int i = 0; i < 3; i++) {
        assert_true(tide_choice_wants(&all, 10, &image));
        assert_true(tide_choice_wants(&all, 11, &image));
        assert_true(tide_choice_wants(&exec, 10, &image));
        assert_false(tide_choice_wants(&exec, 11, &image));
        assert_false(tide_choice_wants(&none, 11, &image));
        assert_int_equal(tide_choice_wants(&none, 10, &image), i == 0);
    }
    assert_int_equal(all.main_images, 3);
}

static void tells_what_was_there_instead(void **state)
{
    (void)state;
    const struct tide_image image = {.exe = exe};
    struct tide_choice choice = {.targets = "x*,y"};
    struct tide_text line = {0};
    tide_choice_explain(&choice, &line);
    assert_string_equal(line.bytes, "no program named x*,y was started");
    tide_text_clear(&line);
    for (int i = 0; i < 3; i++) /* our own pid: the kernel knows us as test_choice */
        assert_false(tide_choice_wants(&choice, (uint32_t)getpid(), &image));
    tide_choice_explain(&choice, &line);
    assert_string_equal(
        line.bytes, "no program named x*,y was started; programs seen: test_choice");
    for (int i = 0; i < TIDE_SEEN_MOST; i++)
        (void)snprintf(choice.seen[i], sizeof(choice.seen[i]), "p%d", i);
    assert_false(tide_choice_wants(&choice, (uint32_t)getpid(), &image));
    tide_text_clear(&line);
    tide_choice_explain(&choice, &line);
    assert_non_null(strstr(line.bytes, ": p0, p1, p2, p3, p4, p5, p6, p7, ..."));
    tide_text_release(&line);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_program_goes_by_several_names),
        cmocka_unit_test(names_may_be_patterns_in_a_list),
        cmocka_unit_test(a_name_that_is_too_long_matches_nothing),
        cmocka_unit_test(a_file_that_was_removed_keeps_its_name),
        cmocka_unit_test(nothing_known_matches_nothing),
        cmocka_unit_test(following_is_a_matter_of_the_first_process),
        cmocka_unit_test(tells_what_was_there_instead),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
