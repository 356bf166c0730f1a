/* tests/unit/test_style.c - what may be used, lines and bars, the progress bar. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "view/line.h"
#include "view/progress.h"
#include "view/style.h"

static void width_follows_columns_then_terminal_then_the_pipes(void **state)
{
    (void)state;
    assert_int_equal(tide_style_width("132", 80), 132);
    assert_int_equal(tide_style_width(NULL, 120), 120);
    assert_int_equal(tide_style_width(NULL, 0), TIDE_WIDTH_PIPED);
    assert_int_equal(tide_style_width("", 90), 90);
    assert_int_equal(tide_style_width("wide", 90), 90);
    assert_int_equal(tide_style_width("-5", 90), 90);
    assert_int_equal(tide_style_width("10", 90), TIDE_WIDTH_MIN);
    assert_int_equal(tide_style_width("999999999999999999999", 90), TIDE_WIDTH_MAX);
}

static void utf8_is_what_the_first_set_variable_says(void **state)
{
    (void)state;
    assert_true(tide_style_locale_is_utf8(NULL, NULL, "en_US.UTF-8"));
    assert_true(tide_style_locale_is_utf8("C.utf8", "C", "C"));
    assert_false(tide_style_locale_is_utf8("C", NULL, "en_US.UTF-8"));
    assert_true(tide_style_locale_is_utf8("", "de_DE.UTF-8", "C"));
    assert_false(tide_style_locale_is_utf8(NULL, NULL, NULL));
    assert_false(tide_style_locale_is_utf8(NULL, NULL, "de_DE.ISO-8859-1"));
}

/* A terminal of 120 columns; *OTHER is the end that a person would sit at. */
static int open_terminal(int *other)
{
    *other = posix_openpt(O_RDWR | O_NOCTTY);
    assert_true(*other >= 0);
    assert_int_equal(grantpt(*other) | unlockpt(*other), 0);
    char name[64];
    assert_int_equal(ptsname_r(*other, name, sizeof(name)), 0);
    const int fd = open(name, O_RDWR | O_NOCTTY);
    assert_true(fd >= 0);
    const struct winsize size = {.ws_row = 24, .ws_col = 120};
    assert_int_equal(ioctl(fd, TIOCSWINSZ, &size), 0);
    return fd;
}

/* NULL: take the variable away. */
static void set(const char *variable, const char *value)
{
    /* No other thread is here. */
    if (value)
        setenv(variable, value, 1); // NOLINT(concurrency-mt-unsafe)
    else
        unsetenv(variable); // NOLINT(concurrency-mt-unsafe)
}

static void colours_are_for_terminals_that_want_them(void **state)
{
    (void)state;
    int other;
    const int fd = open_terminal(&other);
    set("NO_COLOR", NULL);
    set("COLUMNS", NULL);
    set("TERM", "xterm");
    struct tide_style style = tide_style_detect(fd, TIDE_COLOR_AUTO, TIDE_UNITS_IEC);
    assert_true(style.color);
    assert_true(style.bars);
    assert_int_equal(style.width, 120);
    set("NO_COLOR", "1");
    assert_false(tide_style_detect(fd, TIDE_COLOR_AUTO, TIDE_UNITS_IEC).color);
    assert_true(tide_style_detect(fd, TIDE_COLOR_ALWAYS, TIDE_UNITS_IEC).color);
    set("NO_COLOR", NULL);
    set("TERM", "dumb");
    assert_false(tide_style_detect(fd, TIDE_COLOR_AUTO, TIDE_UNITS_IEC).color);
    assert_false(tide_style_detect(fd, TIDE_COLOR_NEVER, TIDE_UNITS_IEC).color);

    int pipe_fds[2];
    assert_int_equal(pipe(pipe_fds), 0);
    style = tide_style_detect(pipe_fds[1], TIDE_COLOR_AUTO, TIDE_UNITS_SI);
    assert_false(style.color);
    assert_false(style.bars);
    assert_int_equal(style.width, TIDE_WIDTH_PIPED);
    assert_int_equal(style.units, TIDE_UNITS_SI);
    close(pipe_fds[0]);
    close(pipe_fds[1]);
    close(fd);
    close(other);
}

static void a_line_is_cut_at_the_width_and_loses_trailing_blanks(void **state)
{
    (void)state;
    const struct tide_style style = {.width = 6, .utf8 = true};
    struct tide_text text = {0};
    struct tide_page page = {.out = &text, .style = &style};
    tide_page_add(&page, TIDE_INK_BOLD, "abc");
    tide_page_tab(&page, 5);
    tide_page_add(&page, TIDE_INK_PLAIN, "尺寸");
    tide_page_end(&page);
    tide_page_add_right(&page, TIDE_INK_PLAIN, "7", 4);
    tide_page_end(&page);
    assert_string_equal(text.bytes, "abc\n   7\n"); /* a wide one does not fit in one */
    tide_text_release(&text);
}

static void words_wrap_at_blanks_but_not_inside_numbers(void **state)
{
    (void)state;
    const struct tide_style style = {.width = 16};
    struct tide_text text = {0};
    struct tide_page page = {.out = &text, .style = &style};
    tide_page_tab(&page, 2);
    tide_page_wrap(&page, TIDE_INK_PLAIN, "it held 12.5 MiB in 3 blocks then", 4);
    tide_page_wrap(&page, TIDE_INK_PLAIN, "abcdefghijklmnopqrstuvwxyz", 0);
    tide_page_wrap(&page, TIDE_INK_PLAIN, "", 0);
    assert_string_equal(text.bytes, "  it held\n"
                                    "    12.5 MiB in\n"
                                    "    3 blocks\n"
                                    "    then\n"
                                    "abcdefghijklmnop\n"
                                    "qrstuvwxyz\n"
                                    "\n");
    tide_text_release(&text);
}

static void no_number_is_parted_from_its_unit(void **state)
{
    (void)state;
    static const char *const units[] = {"ms", "us", "s", "bytes", "byte",  "KiB",
                                        "B",  "%",  "h", "min",   "MiB/s", "ms),"};
    const struct tide_style style = {.width = 12};
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
        struct tide_text text = {0}, words = {0}, expected = {0};
        struct tide_page page = {.out = &text, .style = &style};
        tide_text_addf(&words, "made from 1 %s on", units[i]);
        tide_text_addf(&expected, "made from\n1 %s on\n", units[i]);
        tide_page_wrap(&page, TIDE_INK_PLAIN, words.bytes, 0);
        assert_string_equal(text.bytes, expected.bytes);
        tide_text_release(&text);
        tide_text_release(&words);
        tide_text_release(&expected);
    }
    struct tide_text text = {0};
    struct tide_page page = {.out = &text, .style = &style};
    tide_page_wrap(&page, TIDE_INK_PLAIN, "made from 1 moment", 0);
    assert_string_equal(text.bytes, "made from 1\nmoment\n"); /* this is no unit */
    tide_text_release(&text);
}

static void bars_are_as_long_as_their_share(void **state)
{
    (void)state;
    const struct tide_style style = {.width = 40, .utf8 = true};
    struct tide_text text = {0};
    struct tide_page page = {.out = &text, .style = &style};
    tide_page_bar(&page, 1, 2, 4);
    tide_page_add(&page, TIDE_INK_PLAIN, "|");
    tide_page_bar(&page, 1, 16, 4);
    tide_page_add(&page, TIDE_INK_PLAIN, "|");
    tide_page_bar(&page, 9, 3, 4);
    tide_page_add(&page, TIDE_INK_PLAIN, "|");
    tide_page_bar(&page, 1, 0, 4);
    tide_page_add(&page, TIDE_INK_PLAIN, "|");
    assert_string_equal(text.bytes, "██  |▎   |████|    |");
    tide_text_release(&text);
}

/* What stands in the terminal; it hands out what two writes left in two reads, or in one. */
static void read_all(int fd, char *seen, size_t size)
{
    struct pollfd more = {.fd = fd, .events = POLLIN};
    size_t length = 0;
    while (length + 1 < size && poll(&more, 1, 200) == 1) {
        const ssize_t got = read(fd, seen + length, size - 1 - length);
        assert_true(got > 0);
        length += (size_t)got;
    }
    seen[length] = '\0';
}

static void progress_is_drawn_late_and_wiped_away(void **state)
{
    (void)state;
    int other;
    const int fd = open_terminal(&other);
    set("LC_ALL", "C");
    struct tide_progress_bar bar;
    tide_progress_bar_init(&bar, fd, "reading");
    tide_progress_bar_step(&bar, 1, 4);
    assert_false(bar.drawn); /* 300 ms have not passed */
    bar.start.tv_sec -= 1;
    bar.last.tv_sec -= 1;
    tide_progress_bar_step(&bar, 1, 4);
    assert_true(bar.drawn);
    tide_progress_bar_step(&bar, 2, 4); /* too soon after the last */
    tide_progress_bar_end(&bar);
    char seen[512] = "";
    read_all(other, seen, sizeof(seen));
    assert_string_equal(
        seen,
        "\rreading  ##########..............................  25 %\033[K\r\033[K");
    tide_progress_bar_end(&bar); /* nothing is left to wipe */
    close(fd);
    close(other);
}

static void progress_is_not_for_pipes(void **state)
{
    (void)state;
    int fds[2];
    assert_int_equal(pipe(fds), 0);
    struct tide_progress_bar bar;
    tide_progress_bar_init(&bar, fds[1], "reading");
    bar.start.tv_sec -= 10;
    bar.last.tv_sec -= 10;
    tide_progress_bar_step(&bar, 1, 4);
    tide_progress_bar_end(&bar);
    close(fds[1]);
    char byte;
    assert_int_equal(read(fds[0], &byte, 1), 0);
    close(fds[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(width_follows_columns_then_terminal_then_the_pipes),
        cmocka_unit_test(utf8_is_what_the_first_set_variable_says),
        cmocka_unit_test(colours_are_for_terminals_that_want_them),
        cmocka_unit_test(a_line_is_cut_at_the_width_and_loses_trailing_blanks),
        cmocka_unit_test(words_wrap_at_blanks_but_not_inside_numbers),
        cmocka_unit_test(no_number_is_parted_from_its_unit),
        cmocka_unit_test(bars_are_as_long_as_their_share),
        cmocka_unit_test(progress_is_drawn_late_and_wiped_away),
        cmocka_unit_test(progress_is_not_for_pipes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
