/* tests/unit/test_cmd_report.c - the verbs report and info, from a file to their text.
 *
 * What they print is read back from files that stand in for stdout and stderr.
 */
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
#include <unistd.h>

#include "cli/command.h"
#include "json_check.h"
#include "trace_builder.h"
#include "trace_rich.h"

static char folder[] = "/tmp/test_cmd_report.XXXXXX";
static char out[1 << 20], err[4096];

/* --- Files ------------------------------------------------------------------------- */

static void write_file(const char *name, const void *bytes, size_t length)
{
    const int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, bytes, length), (ssize_t)length);
    assert_int_equal(close(fd), 0);
}

/* One process, one thread: 100 + 200 + 300 bytes born, 200 freed, then 50 born. */
static struct tide_builder *small_trace(void)
{
    static const uint64_t PATH[] = {0x401010, 0x401020};
    const struct tide_out_stack stack = {.words = PATH, .depth = 2};
    struct tide_builder *const builder = tide_builder_new();
    tide_builder_note(&builder->notes[0], TIDE_NOTE_PROCESS,
                      (const uint64_t[]){77, 1, 5, 0, 0}, 5, NULL);
    tide_builder_module(builder, 0,
                        (const uint64_t[]){1, 0, 0x400000, 0x500000, 0x400000},
                        "/nowhere/prog");
    struct tide_lane_out *const lane = tide_builder_lane(builder, 0, 0);
    tide_out_sync(lane, 10, 0);
    tide_out_alloc(lane, (struct tide_out_birth){.address = 0x1000, .size = 100},
                   stack);
    tide_out_alloc(lane, (struct tide_out_birth){.address = 0x2000, .size = 200},
                   stack);
    tide_out_alloc(lane, (struct tide_out_birth){.address = 0x3000, .size = 300},
                   stack);
    tide_out_free(lane, 0x2000);
    tide_out_alloc(lane, (struct tide_out_birth){.address = 0x4000, .size = 50}, stack);
    tide_builder_finish(builder);
    return builder;
}

/* A process that did nothing, or made one block of no size. */
static struct tide_builder *bare_trace(bool one)
{
    struct tide_builder *const builder = tide_builder_new();
    tide_builder_note(&builder->notes[0], TIDE_NOTE_PROCESS,
                      (const uint64_t[]){77, 1, 5, 0, 0}, 5, NULL);
    struct tide_lane_out *const lane = tide_builder_lane(builder, 0, 0);
    tide_out_sync(lane, 10, 0);
    if (one)
        tide_out_alloc(lane, (struct tide_out_birth){.address = 0x1000},
                       (struct tide_out_stack){0});
    tide_builder_finish(builder);
    return builder;
}

static int enter_folder(void **state)
{
    (void)state;
    if (!mkdtemp(folder) || chdir(folder))
        return -1;
    struct tide_builder *builder = small_trace();
    write_file("small.tide", builder->file.bytes, builder->file.length);
    write_file("cut.tide", builder->file.bytes, builder->file.length - 10);
    tide_builder_free(builder);
    for (int i = 0; i < 2; i++) {
        builder = bare_trace(i == 1);
        write_file(i ? "one.tide" : "bare.tide", builder->file.bytes,
                   builder->file.length);
        tide_builder_free(builder);
    }
    builder = tide_rich_trace(false);
    write_file("rich.tide", builder->file.bytes, builder->file.length);
    tide_builder_free(builder);
    return 0;
}

static int leave_folder(void **state)
{
    (void)state;
    static const char *const NAMES[] = {"small.tide", "cut.tide", "rich.tide", "prog",
                                        "empty.tide", "text",     "stdout",    "stderr",
                                        "bare.tide",  "one.tide"};
    for (size_t i = 0; i < sizeof(NAMES) / sizeof(NAMES[0]); i++)
        (void)unlink(NAMES[i]);
    return chdir("/") || rmdir(folder);
}

/* --- Running a verb ---------------------------------------------------------------- */

/* Let what is written to FD go to the file NAME; returns the old descriptor. */
static int divert(int fd, const char *name)
{
    const int kept = dup(fd);
    const int file = open(name, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    assert_true(kept >= 0 && file >= 0);
    assert_int_equal(dup2(file, fd), fd);
    close(file);
    return kept;
}

static void restore(int fd, int kept, const char *name, char *text, size_t size)
{
    assert_int_equal(dup2(kept, fd), fd);
    close(kept);
    FILE *const file = fopen(name, "re");
    assert_non_null(file);
    text[fread(text, 1, size - 1, file)] = '\0';
    (void)fclose(file);
}

/* Run COMMAND with the words of LINE; what it says is in out and err. */
static int run(const struct tide_command *command, const char *line)
{
    char words[256], *argv[16], *rest;
    int argc = 0;
    (void)snprintf(words, sizeof(words), "%s %s", command->name, line);
    for (char *word = strtok_r(words, " ", &rest); word;
         word = strtok_r(NULL, " ", &rest))
        argv[argc++] = word;
    argv[argc] = NULL;
    (void)fflush(stdout);
    (void)fflush(stderr);
    const int kept_out = divert(STDOUT_FILENO, "stdout");
    const int kept_err = divert(STDERR_FILENO, "stderr");
    const int status = command->run(argc, argv);
    (void)fflush(stdout);
    (void)fflush(stderr);
    restore(STDERR_FILENO, kept_err, "stderr", err, sizeof(err));
    restore(STDOUT_FILENO, kept_out, "stdout", out, sizeof(out));
    return status;
}

/* --- Cases ------------------------------------------------------------------------- */

static void reports_to_the_byte_what_the_file_holds(void **state)
{
    (void)state;
    assert_int_equal(run(&tide_cmd_report, "--json --leaks --stacks small.tide"), 0);
    assert_string_equal(err, "");
    assert_true(json_valid(out));
    assert_int_equal(json_uint_at(out, "summary.alloc_calls"), 4);
    assert_int_equal(json_uint_at(out, "summary.free_calls"), 1);
    assert_int_equal(json_uint_at(out, "summary.allocated_bytes"), 650);
    assert_int_equal(json_uint_at(out, "summary.peak_bytes"), 600);
    assert_int_equal(json_uint_at(out, "summary.live_bytes"), 450);
    assert_int_equal(json_uint_at(out, "summary.live_blocks"), 3);
    assert_int_equal(json_count_at(out, "rows"), 1);
    assert_int_equal(json_uint_at(out, "rows[0].bytes"), 450);
    assert_int_equal(json_uint_at(out, "rows[0].blocks"), 3);
    assert_int_equal(json_count_at(out, "rows[0].stack"), 2);
    assert_true(json_raw_at(out, "rows[0].function", "\"prog+0x1020\""));
    assert_true(json_raw_at(out, "rows[0].stack[1].function", "\"prog+0x1010\""));
    assert_true(json_raw_at(out, "view", "\"leaks\""));
    assert_true(json_raw_at(out, "honesty.complete", "true"));
    /* Nobody looked at it while it ran. */
    assert_true(json_raw_at(out, "summary.rss_peak_bytes", "null"));
    assert_true(json_raw_at(out, "honesty.rss_explained", "null"));
    assert_int_equal(run(&tide_cmd_info, "--json small.tide"), 0);
    assert_true(json_raw_at(out, "processes[0].rss_peak_bytes", "null"));
}

static void says_the_same_in_words(void **state)
{
    (void)state;
    assert_int_equal(run(&tide_cmd_report, "--bytes small.tide"), 0);
    assert_non_null(strstr(out, "peak           600 B  in 3 blocks"));
    assert_non_null(strstr(out, "at the end     450 B  in 3 blocks still held when "));
    assert_non_null(strstr(out, "At the peak  600 B in 3 blocks"));
    assert_non_null(strstr(out, "Live at the end  450 B in 3 blocks\n"));
    assert_non_null(strstr(out, "\nTrust  5 events, nothing dropped or unmatched"));
    assert_int_equal(run(&tide_cmd_report, "-v small.tide"), 0);
    assert_non_null(strstr(out, "How far to trust this\n"));
    assert_null(strchr(out, '\033'));
    assert_null(strchr(out, '!'));
}

static void shows_the_views_that_are_asked_for(void **state)
{
    (void)state;
    assert_int_equal(run(&tide_cmd_report, "--total --flat --leaks small.tide"), 0);
    assert_non_null(strstr(out, "Allocated  650 B by 4 calls\n"));
    assert_non_null(strstr(out, "Live at the end  450 B in 3 blocks\n"));
    assert_null(strstr(out, "At the peak"));
    assert_int_equal(run(&tide_cmd_report, "--flat small.tide"), 0);
    assert_non_null(strstr(out, "At the peak  600 B in 3 blocks"));
    assert_null(strstr(out, "Live at the end"));
    assert_int_equal(run(&tide_cmd_report, "--peak --space mmap small.tide"), 0);
    assert_non_null(
        strstr(out, "At the peak  the program mapped no private memory itself"));
}

static const char *const SHAPES[] = {
    "--tree",         "--flat",          "--stacks",      "--bottom-up",
    "--callers prog", "--threads",       "--regions",     "--labels",
    "--processes",    "--sandwich prog", "--modules",     "--lines",
    "--live-at 0",    "--no-fold",       "--size 1..100", "--between 0 0.000001",
    "--lifetime ..1", "--hide libc"};
enum { TIDE_SHAPES_TRIED = sizeof(SHAPES) / sizeof(SHAPES[0]) };

/* The same of what has an axis or a layout of its own. */
static const char *const ALONG[] = {"--gprof",
                                    "--gprof --no-fold -n 1",
                                    "--time events",
                                    "--time bytes",
                                    "--time events --live-at 0",
                                    "--time events --between 0 1",
                                    "--time bytes --between 0 1K",
                                    "--time bytes --between 0 1",
                                    "--time events --between 1 2",
                                    "--time seconds --live-at 0"};
enum { TIDE_ALONG_TRIED = sizeof(ALONG) / sizeof(ALONG[0]) };

static void every_view_and_shape_of_a_rich_trace_is_valid_json(void **state)
{
    (void)state;
    static const char *const VIEWS[] = {"--peak", "--leaks", "--total", "--churn"};
    for (size_t i = 0; i < TIDE_SHAPES_TRIED * 8; i++) {
        char line[128];
        const bool heap = i / 4 % 2 == 0;
        (void)snprintf(line, sizeof(line), "--json %s %s --space %s rich.tide",
                       VIEWS[i % 4], SHAPES[i / 8], heap ? "heap" : "mmap");
        assert_int_equal(run(&tide_cmd_report, line), 0);
        assert_true(json_valid(out));
        assert_true(json_raw_at(out, "space", heap ? "\"heap\"" : "\"mmap\""));
    }
    assert_int_equal(run(&tide_cmd_report, "--json --sizes rich.tide"), 0);
    assert_true(json_valid(out));
    assert_int_equal(run(&tide_cmd_report, "--json --lifetimes rich.tide"), 0);
    assert_true(json_valid(out));
    assert_int_equal(run(&tide_cmd_info, "--json rich.tide"), 0);
    assert_true(json_valid(out));
    assert_int_equal(json_count_at(out, "processes"), 3);
    assert_int_equal(json_uint_at(out, "events"), TIDE_RICH_EVENTS);
}

/* How many values each line of a CSV text has; they must be equal. */
static size_t csv_columns(const char *text)
{
    size_t columns = 0, now = 1;
    bool quoted = false;
    for (; *text; text++) {
        if (*text == '"')
            quoted = !quoted;
        now += !quoted && *text == ',';
        if (quoted || *text != '\n')
            continue;
        assert_true(columns == 0 || columns == now);
        columns = now;
        now = 1;
    }
    assert_false(quoted);
    assert_int_equal(now, 1); /* the last line ended */
    return columns;
}

static void every_shape_of_a_rich_trace_is_a_table(void **state)
{
    (void)state;
    for (size_t i = 0; i < TIDE_SHAPES_TRIED; i++) {
        char line[128];
        (void)snprintf(line, sizeof(line), "--csv --total %s rich.tide", SHAPES[i]);
        assert_int_equal(run(&tide_cmd_report, line), 0);
        assert_true(csv_columns(out) >= 4);
    }
    assert_int_equal(run(&tide_cmd_report, "--csv --sizes rich.tide"), 0);
    assert_int_equal(csv_columns(out), 7);
    assert_int_equal(run(&tide_cmd_report, "--csv --lifetimes rich.tide"), 0);
    assert_int_equal(csv_columns(out), 4);
}

/* No line is wider than the page, whatever is shown. */
static void every_shape_keeps_to_the_width(void **state)
{
    (void)state;
    (void)setenv("COLUMNS", "60", 1); /* NOLINT(concurrency-mt-unsafe): one thread */
    for (size_t i = 0; i < TIDE_SHAPES_TRIED; i++) {
        char line[128];
        (void)snprintf(line, sizeof(line), "--total %s rich.tide", SHAPES[i]);
        assert_int_equal(run(&tide_cmd_report, line), 0);
        for (const char *at = out; *at; at += strcspn(at, "\n") + 1) {
            size_t width = 0; /* of UTF-8: what follows a first byte is no column */
            for (const char *c = at; *c && *c != '\n'; c++)
                width += (*c & 0xc0) != 0x80;
            assert_true(width <= 60);
        }
    }
    (void)unsetenv("COLUMNS"); /* NOLINT(concurrency-mt-unsafe) */
}

static void says_nothing_foolish_of_next_to_nothing(void **state)
{
    (void)state;
    static const char *const HOW[] = {"", "--json", "--csv"};
    static const char *const WHAT[] = {"", "--sizes", "--lifetimes", "--leaks"};
    for (size_t i = 0; i < (TIDE_SHAPES_TRIED + 4) * 6; i++) {
        const size_t shape = i / 6;
        char line[128];
        (void)snprintf(line, sizeof(line), "%s %s %s.tide", HOW[i % 3],
                       shape < 4 ? WHAT[shape] : SHAPES[shape - 4],
                       i / 3 % 2 ? "one" : "bare");
        assert_int_equal(run(&tide_cmd_report, line), 0);
        const char *const end = strchr(err, '\n'); /* why a table is empty: a line */
        assert_true(!*err || (end && !end[1]));
        assert_null(strstr(out, "nan"));
        assert_null(strstr(out, "inf,"));
        assert_null(strstr(out, "100.0 %"));
        assert_true(i % 3 != 1 || json_valid(out));
        assert_true(i % 3 != 2 || csv_columns(out) >= 4);
    }
}

/* Every axis, layout and counter of every trace: nothing, one event, cut, or a bit of all. */
static void every_axis_and_layout_of_every_trace(void **state)
{
    (void)state;
    static const char *const TRACES[] = {"bare", "one", "small", "cut", "rich"};
    static const char *const HOW[] = {"", "--json", "--csv --total"};
    for (size_t i = 0; i < TIDE_ALONG_TRIED * 15; i++) {
        char line[128];
        (void)snprintf(line, sizeof(line), "%s %s %s.tide", HOW[i % 3], ALONG[i / 15],
                       TRACES[i / 3 % 5]);
        assert_int_equal(run(&tide_cmd_report, line), 0);
        assert_string_equal(err, "");
        assert_null(strstr(out, "nan"));
        assert_null(strstr(out, "inf,"));
        assert_null(strstr(out, "(? s)"));
        assert_true(i % 3 != 1 || json_valid(out));
        assert_true(i % 3 != 2 || csv_columns(out) >= 4);
    }
    assert_int_equal(run(&tide_cmd_report, "--counter MEM_MAX --json rich.tide"), 0);
    assert_true(json_valid(out));
    assert_int_equal(run(&tide_cmd_report, "--counter MEM_MAX bare.tide"), 0);
    assert_int_equal(run(&tide_cmd_report, "--source --flat --json rich.tide"), 0);
    assert_true(json_valid(out));
}

static void a_cut_trace_is_reported_and_says_so_first(void **state)
{
    (void)state;
    assert_int_equal(run(&tide_cmd_report, "cut.tide"), 0);
    const char *const warning = "! This trace is cut off: the first ";
    assert_int_equal(strncmp(out, warning, strlen(warning)), 0);
    assert_null(strstr(out + 1, warning)); /* not twice on a screen */
    assert_non_null(strstr(out, "600 B  in 3 blocks"));
    assert_int_equal(run(&tide_cmd_report, "--json cut.tide"), 0);
    assert_true(json_raw_at(out, "honesty.complete", "false"));
}

static void takes_the_newest_trace_when_none_is_named(void **state)
{
    (void)state;
    static const char *const OLDER[] = {"cut.tide", "rich.tide", "bare.tide",
                                        "one.tide"};
    const struct timespec long_ago[2] = {{.tv_sec = 1000}, {.tv_sec = 1000}};
    for (size_t i = 0; i < sizeof(OLDER) / sizeof(*OLDER); i++)
        assert_int_equal(utimensat(AT_FDCWD, OLDER[i], long_ago, 0), 0);
    assert_int_equal(run(&tide_cmd_info, ""), 0);
    assert_int_equal(strncmp(out, "small.tide\n", 11), 0);
}

static void says_what_a_file_is_that_is_no_trace(void **state)
{
    (void)state;
    write_file("prog", "\177ELF\2\1\1", 7);
    write_file("empty.tide", "", 0);
    write_file("text", "hello\n", 6);
    assert_int_equal(run(&tide_cmd_report, "prog"), 1);
    assert_string_equal(err,
                        "tidemark: prog: this is a program, not a trace; record it "
                        "first: tidemark run prog\n");
    assert_int_equal(run(&tide_cmd_report, "text"), 1);
    assert_string_equal(err, "tidemark: text: this is text, not a trace\n");
    assert_int_equal(run(&tide_cmd_info, "empty.tide"), 1);
    assert_non_null(strstr(err, "empty.tide: this is empty"));
    assert_int_equal(run(&tide_cmd_info, "/tmp"), 1);
    assert_non_null(strstr(err, "/tmp: this is a folder"));
    assert_int_equal(run(&tide_cmd_info, "none.tide"), 1);
    assert_string_equal(err,
                        "tidemark: none.tide: no such file; did you mean one.tide?\n");
    assert_int_equal(run(&tide_cmd_info, "no\033[2Jne"), 1);
    assert_string_equal(err, "tidemark: no\\x1b[2Jne: no such file\n");
    assert_string_equal(out, "");
}

static void refuses_options_that_contradict_each_other(void **state)
{
    (void)state;
    static const char *const LINES[] = {"--flat --tree",
                                        "--bytes --si",
                                        "--json --peak --leaks",
                                        "a b",
                                        "--rows=x",
                                        "--space=disk",
                                        "--json --csv",
                                        "--live-at 1 --between 1 2",
                                        "--between 2 1",
                                        "--sizes --peak",
                                        "--threads --callers f",
                                        "--size x"};
    for (size_t i = 0; i < sizeof(LINES) / sizeof(LINES[0]); i++) {
        assert_int_equal(run(&tide_cmd_report, LINES[i]), 2);
        assert_non_null(strstr(err, "usage: tidemark report"));
        assert_string_equal(out, "");
    }
    assert_int_equal(run(&tide_cmd_info, "--bytes --si"), 2);
}

static void help_names_every_option_and_an_example(void **state)
{
    (void)state;
    static const char *const NAMES[] = {
        "--peak",    "--leaks",     "--total",   "--churn",    "--tree",
        "--flat",    "--stacks",    "--rows",    "--space",    "--json",
        "--bytes",   "--si",        "--color",   "example: ",  "--live-at",
        "--between", "--bottom-up", "--callers", "--sandwich", "--threads",
        "--regions", "--labels",    "--lines",   "--sizes",    "--lifetimes",
        "--csv"};
    assert_int_equal(run(&tide_cmd_report, "--help-all"), 0);
    for (size_t i = 0; i < sizeof(NAMES) / sizeof(NAMES[0]); i++)
        assert_non_null(strstr(out, NAMES[i]));
    assert_int_equal(run(&tide_cmd_info, "-h"), 0);
    assert_non_null(strstr(out, "--modules"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reports_to_the_byte_what_the_file_holds),
        cmocka_unit_test(says_the_same_in_words),
        cmocka_unit_test(shows_the_views_that_are_asked_for),
        cmocka_unit_test(every_view_and_shape_of_a_rich_trace_is_valid_json),
        cmocka_unit_test(every_shape_of_a_rich_trace_is_a_table),
        cmocka_unit_test(every_shape_keeps_to_the_width),
        cmocka_unit_test(says_nothing_foolish_of_next_to_nothing),
        cmocka_unit_test(every_axis_and_layout_of_every_trace),
        cmocka_unit_test(a_cut_trace_is_reported_and_says_so_first),
        cmocka_unit_test(takes_the_newest_trace_when_none_is_named),
        cmocka_unit_test(says_what_a_file_is_that_is_no_trace),
        cmocka_unit_test(refuses_options_that_contradict_each_other),
        cmocka_unit_test(help_names_every_option_and_an_example),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
