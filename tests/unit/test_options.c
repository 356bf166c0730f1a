/* tests/unit/test_options.c - cli/options.c: every way to write an option, and to err.
 *
 * What a mistake prints is read back from a file that stands in for stderr.
 */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "cli/options.h"

enum { TIDE_WORDS_MAX = 16 };

static const struct tide_option NO_OPTIONS[] = {{.name = NULL}};
static const char *const ENGINES[] = {"cfi", "fp", "libunwind", NULL};

/* What the options set, what is left, and what was said. */
struct outcome {
    bool json, verbose;
    const char *output;
    uint64_t rows, least;
    double until;
    int engine;
    double between[2], age[2];
    uint64_t size[2];
    struct tide_arguments rest;
    char words[TIDE_WORDS_MAX][64];
    char *argv[TIDE_WORDS_MAX + 1];
    char said[1024];
};

/* Split LINE at blanks into argv, as a shell would. */
static int split(struct outcome *o, const char *line)
{
    int argc = 0;
    while (*line && argc < TIDE_WORDS_MAX) {
        const size_t length = strcspn(line, " ");
        assert_true(length < sizeof(o->words[0]));
        memcpy(o->words[argc], line, length);
        o->words[argc][length] = '\0';
        o->argv[argc] = o->words[argc];
        argc++;
        line += length + (line[length] == ' ');
    }
    o->argv[argc] = NULL;
    return argc;
}

/* Parse LINE with stdout and stderr going to a file; return what the parser does. */
static int parse(const char *line, bool anywhere, struct outcome *o)
{
    memset(o, 0, sizeof(*o));
    const struct tide_option table[] = {
        {.name = "json", .letter = 'j', .flag = &o->json, .help = "h"},
        {.name = "verbose", .letter = 'v', .flag = &o->verbose, .help = "h"},
        {.name = "output", .letter = 'o', .text = &o->output, .help = "h"},
        {.name = "rows", .letter = 'n', .count = &o->rows, .help = "h"},
        {.name = "min-size", .bytes = &o->least, .help = "h"},
        {.name = "until", .seconds = &o->until, .help = "h"},
        {.name = "between", .seconds_pair = o->between, .help = "h"},
        {.name = "age", .seconds_range = o->age, .help = "h"},
        {.name = "size", .bytes_range = o->size, .help = "h"},
        {.name = "unwind", .choice = &o->engine, .words = ENGINES, .help = "h"},
        {.name = NULL},
    };
    const struct tide_command command = {.name = "probe",
                                         .summary = "s",
                                         .usage = "[options] X",
                                         .help = "help text\n",
                                         .options = table,
                                         .more_options = NO_OPTIONS};
    const int argc = split(o, line);
    FILE *const file = tmpfile();
    assert_non_null(file);
    (void)fflush(stdout);
    const int old_out = dup(1), old_err = dup(2);
    dup2(fileno(file), 1);
    dup2(fileno(file), 2);
    const int result =
        anywhere ? tide_options_parse(&command, argc, o->argv, &o->rest)
                 : tide_options_parse_first(&command, argc, o->argv, &o->rest);
    (void)fflush(stdout);
    dup2(old_out, 1);
    dup2(old_err, 2);
    close(old_out);
    close(old_err);
    rewind(file);
    o->said[fread(o->said, 1, sizeof(o->said) - 1, file)] = '\0';
    (void)fclose(file);
    return result;
}

static void reads_every_kind_of_value(void **state)
{
    (void)state;
    struct outcome o;
    assert_int_equal(parse("probe --json --output x.tide --rows 12 --min-size 64K "
                           "--until 1.5 --unwind fp",
                           true, &o),
                     -1);
    assert_true(o.json);
    assert_false(o.verbose);
    assert_string_equal(o.output, "x.tide");
    assert_int_equal(o.rows, 12);
    assert_int_equal(o.least, 65536);
    assert_true(o.until > 1.4999 && o.until < 1.5001);
    assert_int_equal(o.engine, 1);
    assert_int_equal(o.rest.count, 0);
    assert_string_equal(o.said, "");
}

static void reads_values_after_an_equals_sign_and_letters(void **state)
{
    (void)state;
    struct outcome o;
    assert_int_equal(parse("probe --output=a=b -n7 -jv --min-size=3MiB", true, &o), -1);
    assert_string_equal(o.output, "a=b");
    assert_int_equal(o.rows, 7);
    assert_true(o.json && o.verbose);
    assert_int_equal(o.least, 3 << 20);
    assert_int_equal(parse("probe -jo name -n 8 --output=", true, &o), -1);
    assert_true(o.json);
    assert_int_equal(o.rows, 8);
    assert_string_equal(o.output, "");
}

static void leaves_other_words_in_their_order(void **state)
{
    (void)state;
    struct outcome o;
    assert_int_equal(parse("probe a --json b -n 3 - c -- --rows d", true, &o), -1);
    static const char *const expected[] = {"a", "b", "-", "c", "--rows", "d"};
    assert_int_equal(o.rest.count, 6);
    for (int i = 0; i < 6; i++)
        assert_string_equal(o.rest.list[i], expected[i]);
    assert_null(o.rest.list[6]);
    assert_int_equal(o.rows, 3);
}

static void stops_at_the_first_word_of_a_command_line(void **state)
{
    (void)state;
    struct outcome o;
    assert_int_equal(parse("probe -o t prog --json -n", false, &o), -1);
    assert_string_equal(o.output, "t");
    assert_false(o.json);
    assert_int_equal(o.rest.count, 3);
    assert_string_equal(o.rest.list[0], "prog");
    assert_string_equal(o.rest.list[1], "--json");
    assert_null(o.rest.list[3]);
    assert_int_equal(parse("probe -- -prog --", false, &o), -1);
    assert_int_equal(o.rest.count, 2);
    assert_string_equal(o.rest.list[0], "-prog");
    assert_string_equal(o.rest.list[1], "--");
}

static void prints_help_when_asked(void **state)
{
    (void)state;
    struct outcome o;
    assert_int_equal(parse("probe --help --nonsense", true, &o), 0);
    assert_non_null(strstr(o.said, "usage: tidemark probe [options] X"));
    assert_non_null(strstr(o.said, "help text"));
    assert_int_equal(parse("probe -h", false, &o), 0);
}

/* The line is refused with 2, and what is said holds WORDS. */
static void refuse(const char *line, const char *words)
{
    struct outcome o;
    assert_int_equal(parse(line, true, &o), 2);
    assert_true(strncmp(o.said, "tidemark: ", 10) == 0);
    if (!strstr(o.said, words))
        fail_msg("'%s' said: %s", line, o.said);
    assert_non_null(strstr(o.said, "usage: tidemark probe [options] X"));
}

static void names_the_option_that_is_wrong(void **state)
{
    (void)state;
    refuse("probe --jsno", "unknown option --jsno (did you mean --json?)");
    refuse("probe --out x", "unknown option --out (did you mean --output?)");
    refuse("probe --xyzzy=3", "unknown option --xyzzy\n");
    refuse("probe -jx", "unknown option -x");
    refuse("probe --json=yes", "--json takes no value");
    refuse("probe --rows", "--rows needs a value");
    refuse("probe -n", "--rows needs a value");
    refuse("probe --unwind dwarf",
           "--unwind: 'dwarf' is not one of cfi, fp, libunwind");
}

static void refuses_values_that_are_not_what_they_should_be(void **state)
{
    (void)state;
    refuse("probe -n x", "--rows: 'x' is not a whole number");
    refuse("probe -n -5", "--rows: '-5' is not a whole number");
    refuse("probe -n 5x", "--rows: '5x'");
    refuse("probe -n 18446744073709551616", "is not a whole number");
    refuse("probe --rows=", "--rows: '' is not a whole number");
    refuse("probe --min-size 5X", "--min-size: '5X' is not a size");
    refuse("probe --min-size 5Kb", "--min-size: '5Kb' is not a size");
    refuse("probe --min-size 1.5", "--min-size: '1.5' is not a size");
    refuse("probe --min-size .5B", "--min-size: '.5B' is not a size");
    refuse("probe --min-size 16777216T", "is not a size"); /* 2^64 */
    refuse("probe --until soon", "--until: 'soon' is not a time (like 12.5 or 150ms)");
    refuse("probe --until -1", "--until: '-1' is not a time");
    refuse("probe --until nan", "--until: 'nan' is not a time");
    refuse("probe --until 3m", "--until: '3m' is not a time");
}

static void a_unit_that_stands_apart_is_named(void **state)
{
    (void)state;
    refuse("probe --min-size 2 GiB f",
           "--min-size: '2' was taken as its value, without 'GiB'; write 2GiB");
    refuse("probe --until 1.5 ms",
           "--until: '1.5' was taken as its value, without 'ms'; write 1.5ms");
    struct outcome o;
    assert_int_equal(parse("probe --min-size 2 64 f", true, &o), -1);
    assert_int_equal(parse("probe --min-size 2 GiBs", true, &o), -1);
    assert_int_equal(parse("probe --min-size=2 f -n 3 GiB", true, &o), -1);
}

static void reads_units_and_fractions(void **state)
{
    static const struct {
        const char *line;
        uint64_t least;
        double until;
    } CASES[] = {
        {"probe --min-size 1.5MiB --until 150ms", 3 << 19, 0.15},
        {"probe --min-size 5KB --until 20us", 5000, 20e-6},
        {"probe --min-size 1.5kB --until 7ns", 1500, 7e-9},
        {"probe --min-size .5G --until 1.5min", 1 << 29, 90},
        {"probe --min-size 7B --until .5h", 7, 1800},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
        struct outcome o;
        assert_int_equal(parse(CASES[i].line, true, &o), -1);
        assert_int_equal(o.least, CASES[i].least);
        assert_true(o.until > CASES[i].until * 0.999 &&
                    o.until < CASES[i].until * 1.001);
    }
}

static void reads_the_largest_numbers(void **state)
{
    (void)state;
    struct outcome o;
    assert_int_equal(
        parse("probe -n 18446744073709551615 --min-size 16777215T", true, &o), -1);
    assert_true(o.rows == UINT64_MAX);
    assert_true(o.least == 16777215ull << 40);
}

static void shows_control_bytes_instead_of_obeying_them(void **state)
{
    (void)state;
    struct outcome o;
    assert_int_equal(parse("probe --rows \033]0;x", true, &o), 2);
    assert_null(strchr(o.said, '\033'));
    assert_non_null(strstr(o.said, "\\x1b]0;x"));
    /* C1: a terminal takes it for ESC [, and bytes that are no UTF-8 for anything. */
    assert_int_equal(parse("probe --rows \xc2\x9b"
                           "31m\x9bz",
                           true, &o),
                     2);
    assert_non_null(strstr(o.said, "\\xc2\\x9b31m\\x9bz"));
    assert_int_equal(parse("probe --rows \xc3\xa9", true, &o), 2);
    assert_non_null(strstr(o.said, "\xc3\xa9"));
}

static void reads_pairs_and_ranges(void **state)
{
    (void)state;
    struct outcome o;
    assert_int_equal(parse("x --between 1 2.5s left", true, &o), -1);
    assert_true(o.between[0] == 1 && o.between[1] == 2.5);
    assert_int_equal(o.rest.count, 1);
    assert_string_equal(o.rest.list[0], "left");
    assert_int_equal(parse("x --between=1,2", true, &o), -1);
    assert_true(o.between[0] == 1 && o.between[1] == 2);
    assert_int_equal(parse("x --age 1..2 --size 1K..", true, &o), -1);
    assert_true(o.age[0] == 1 && o.age[1] == 2);
    assert_true(o.size[0] == 1024 && o.size[1] == 0);
    assert_int_equal(parse("x --age ..3 --size 7", true, &o), -1);
    assert_true(o.age[0] == 0 && o.age[1] == 3);
    assert_true(o.size[0] == 7 && o.size[1] == 0);
    assert_int_equal(parse("x --size 5..5 --size ..3 --age 4.. --age ..2", true, &o),
                     -1);
    assert_true(o.size[0] == 0 && o.size[1] == 4 && o.age[0] == 0 && o.age[1] == 2);
    assert_int_equal(parse("x --size 0..0", true, &o), -1);
    assert_true(o.size[0] == 0 && o.size[1] == 1);
    static const char *const BAD[] = {
        "x --between 1", "x --between 1 b",  "x --between=1", "x --age ..",
        "x --age 1..b",  "x --size 1..2..3", "x --size=",     "x --age -1..2",
        "x --age 2..1",  "x --size 64K..1K", "x --age 0..0"};
    for (size_t i = 0; i < sizeof(BAD) / sizeof(BAD[0]); i++)
        assert_int_equal(parse(BAD[i], true, &o), 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_pairs_and_ranges),
        cmocka_unit_test(reads_every_kind_of_value),
        cmocka_unit_test(reads_values_after_an_equals_sign_and_letters),
        cmocka_unit_test(leaves_other_words_in_their_order),
        cmocka_unit_test(stops_at_the_first_word_of_a_command_line),
        cmocka_unit_test(prints_help_when_asked),
        cmocka_unit_test(names_the_option_that_is_wrong),
        cmocka_unit_test(refuses_values_that_are_not_what_they_should_be),
        cmocka_unit_test(a_unit_that_stands_apart_is_named),
        cmocka_unit_test(reads_units_and_fractions),
        cmocka_unit_test(reads_the_largest_numbers),
        cmocka_unit_test(shows_control_bytes_instead_of_obeying_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
