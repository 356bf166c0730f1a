/* unit/test_sources.c - lines of source files, and files that are none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "model/sources.h"
#include "view/source.h"

#define TIDE_FUTURE (4000000000ull * 1000000000ull) /* in the year 2096 */

static char folder[] = "/tmp/test_sources.XXXXXX";
static struct tide_sources *sources;

static void write_file(const char *name, const char *text)
{
    const int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    assert_int_equal(close(fd), 0);
}

static int enter(void **state)
{
    (void)state;
    sources = tide_sources_new(TIDE_FUTURE);
    if (!sources || !mkdtemp(folder) || chdir(folder) ||
        tide_sources_allow(sources, ".", false))
        return -1;
    write_file("seven", "one\ntwo\r\nthree\nfour\nfive\nsix\nseven");
    write_file("empty", "");
    write_file("odd", "\ttab\ta\n\033[2Jclear \xff\n");
    return mkfifo("pipe", 0600) || mkdir("dir", 0700) || symlink("seven", "link");
}

static int leave(void **state)
{
    (void)state;
    static const char *const NAMES[] = {"seven", "empty", "odd",   "pipe",
                                        "link",  "large", "secret"};
    tide_sources_free(sources);
    for (size_t i = 0; i < sizeof(NAMES) / sizeof(NAMES[0]); i++)
        (void)unlink(NAMES[i]);
    return rmdir("dir") || chdir("/") || rmdir(folder);
}

static void expect(const char *file, uint32_t line, const char *text)
{
    struct tide_snippet snippet;
    struct tide_text joined = {0};
    tide_sources_find(sources, file, line, &snippet);
    assert_null(snippet.problem);
    for (uint32_t i = 0; i < snippet.count; i++) {
        tide_text_addf(&joined, "%u ", snippet.first + i);
        tide_text_add_bytes(&joined, snippet.lines[i].start, snippet.lines[i].length);
        tide_text_add(&joined, "|");
    }
    assert_string_equal(joined.bytes, text);
    tide_text_release(&joined);
}

static void refuse(const char *file, uint32_t line, const char *problem)
{
    struct tide_snippet snippet;
    tide_sources_find(sources, file, line, &snippet);
    assert_non_null(snippet.problem);
    assert_string_equal(snippet.problem, problem);
    assert_int_equal(snippet.count, 0);
}

static void lines_around_a_line(void **state)
{
    (void)state;
    expect("seven", 4, "2 two|3 three|4 four|5 five|6 six|");
    expect("seven", 1, "1 one|2 two|3 three|");
    expect("seven", 7, "5 five|6 six|7 seven|");
    expect("link", 2, "1 one|2 two|3 three|4 four|");
}

static void what_is_no_source_is_not_read(void **state)
{
    (void)state;
    refuse("seven", 8, "has no such line");
    refuse("seven", 0, "has no known line");
    refuse("seven", UINT32_MAX, "has no known line");
    refuse("empty", 1, "has no such line");
    refuse("nowhere", 1, "is not here");
    refuse("seven/below", 1, "is not here");
    refuse("pipe", 1, "is not a plain file"); /* and nobody waits for it */
    refuse("dir", 1, "is not a plain file");
    refuse("/dev/zero", 1, "is below no --source-root");
    write_file("large", "first\n");
    assert_int_equal(truncate("large", (16 << 20) + 1), 0);
    refuse("large", 1, "is too large");
}

static void a_file_that_is_younger_is_said_to_be(void **state)
{
    (void)state;
    struct tide_snippet snippet;
    tide_sources_find(sources, "seven", 1, &snippet);
    assert_false(snippet.changed);
    struct tide_sources *const old = tide_sources_new(1000000000ull * 1000000000ull);
    assert_non_null(old);
    assert_int_equal(tide_sources_allow(old, folder, false), TIDE_OK);
    tide_sources_find(old, "seven", 1, &snippet);
    assert_true(snippet.changed);
    assert_int_equal(snippet.count, 3);
    tide_sources_free(old);
}

/* A trace can call any file a source. */
static void only_files_in_folders_that_are_allowed_are_read(void **state)
{
    (void)state;
    static const char OUTSIDE[] = "is below no --source-root";
    char named[64];
    struct tide_sources *const all = sources;
    assert_int_equal(mkdir("top", 0700) || mkdir("top/.hidden", 0700) ||
                         mkdir("topping", 0700) || symlink("../seven", "top/out") ||
                         symlink("..", "top/up") || symlink("top", "into"),
                     0);
    write_file("top/in", "in\n");
    write_file("top/.hidden/key", "key\n");
    write_file("topping/near", "near\n");
    sources = tide_sources_new(TIDE_FUTURE);
    refuse("top/in", 1, OUTSIDE); /* none is */
    tide_sources_free(sources);
    sources = tide_sources_new(TIDE_FUTURE);
    assert_int_equal(tide_sources_allow(sources, "top/in", false), TIDE_ENOENT);
    assert_int_equal(tide_sources_allow(sources, "none", false), TIDE_ENOENT);
    assert_int_equal(tide_sources_allow(sources, "into", false), TIDE_OK);
    (void)snprintf(named, sizeof(named), "%s/top/in", folder);
    expect("top/in", 1, "1 in|");
    expect(named, 1, "1 in|");
    expect("into/../top/./in", 1, "1 in|");
    refuse("seven", 1, OUTSIDE);
    refuse("top/../seven", 1, OUTSIDE);
    refuse("top/out", 1, OUTSIDE);
    refuse("top/up/seven", 1, OUTSIDE);
    refuse("topping/near", 1, OUTSIDE);
    refuse("/etc/passwd", 1, OUTSIDE);
    refuse("top/.hidden/key", 1, OUTSIDE);
    assert_int_equal(tide_sources_allow(sources, "top/.hidden", true), TIDE_OK);
    tide_sources_free(sources);
    sources = tide_sources_new(TIDE_FUTURE);
    assert_int_equal(tide_sources_allow(sources, "top", true), TIDE_OK);
    expect("top/.hidden/key", 1, "1 key|");
    tide_sources_free(sources);
    sources = all;
    assert_int_equal(unlink("top/in") || unlink("top/.hidden/key") ||
                         unlink("top/out") || unlink("topping/near") ||
                         unlink("top/up") || unlink("into") || rmdir("top/.hidden") ||
                         rmdir("top") || rmdir("topping"),
                     0);
}

static void files_make_room_for_others(void **state)
{
    (void)state;
    char name[] = "many0";
    for (int i = 'a'; i <= 'z'; i++) {
        const char letter = (char)i;
        const char text[] = {letter, '\n', '\0'};
        const char expected[] = {'1', ' ', letter, '|', '\0'};
        name[4] = letter;
        write_file(name, text);
        expect(name, 1, expected);
        assert_int_equal(unlink(name), 0);
        expect(name, 1, expected); /* it is remembered */
    }
    expect("seven", 1, "1 one|2 two|3 three|");
}

static void lines_are_made_safe_and_fit(void **state)
{
    (void)state;
    struct tide_text text = {0};
    const struct tide_style style = {.width = 60, .utf8 = true};
    struct tide_page page = {.out = &text, .style = &style, .sources = sources};
    tide_page_source(&page, "odd", 2);
    assert_string_equal(text.bytes, "             1          tab     a\n"
                                    "        >    2  \\x1b[2Jclear \\xff\n");
    tide_text_clear(&text);
    tide_page_source(&page, "/nowhere/\033[1m", 2);
    assert_string_equal(text.bytes, "        (/nowhere/\\x1b[1m is not here)\n");
    tide_text_clear(&text);
    tide_page_source(&page, NULL, 2);
    page.sources = NULL;
    tide_page_source(&page, "odd", 2);
    assert_string_equal(text.bytes, "");
    tide_text_release(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_around_a_line),
        cmocka_unit_test(what_is_no_source_is_not_read),
        cmocka_unit_test(a_file_that_is_younger_is_said_to_be),
        cmocka_unit_test(only_files_in_folders_that_are_allowed_are_read),
        cmocka_unit_test(files_make_room_for_others),
        cmocka_unit_test(lines_are_made_safe_and_fit),
    };
    return cmocka_run_group_tests(tests, enter, leave);
}
