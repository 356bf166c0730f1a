/* unit/test_report_text.c - the report as text: right, safe, never too wide. */
#include <stdio.h>

#include "dice.h"
#include "report_bench.h"
#include "view/leak_text.h"

static void no_line_is_wider_than_the_page(void **state)
{
    (void)state;
    static const int WIDTHS[] = {60, 80, 100, 160, 200, 400};
    struct fixture f;
    fixture_init_solver(&f);
    for (size_t i = 0; i < sizeof(WIDTHS) / sizeof(WIDTHS[0]); i++) {
        for (int look = 0; look < 16; look++) {
            const struct tide_style style = {
                .width = WIDTHS[i],
                .color = look & 1,
                .bars = look & 2,
                .utf8 = look & 4,
                .units = look & 8 ? TIDE_UNITS_BYTES : TIDE_UNITS_IEC,
            };
            struct tide_text text = everything(&f, &style, look % 3 ? 10 : 0);
            assert_width(&text, &style);
            tide_text_release(&text);
        }
    }
    fixture_release(&f);
}

static void random_path(struct dice *dice, struct tide_text *path)
{
    static const char *const PARTS[] = {
        "a",
        "std::vector<int, std::allocator<int> >::push_back(int&&)",
        "尺寸",
        "\033]0,owned\007",
        "x\xff",
        "operator()",
        "a_function_with_a_very_long_name_that_never_seems_to_come_to_its_very_end",
    };
    const int depth = dice_roll(dice, 12);
    tide_text_clear(path);
    tide_text_add(path, "");
    for (int d = 0; d < depth; d++)
        tide_text_addf(path, "%s%s%d@dir/%s.c:%d", d ? ";" : "",
                       PARTS[dice_roll(dice, sizeof(PARTS) / sizeof(PARTS[0]))],
                       dice_roll(dice, 3), dice_roll(dice, 2) ? "尺" : "long_file_name",
                       dice_roll(dice, 100000));
}

static void fill_with_random_sites(struct fixture *f, struct dice *dice)
{
    struct tide_text path = {0};
    for (int s = dice_roll(dice, 30); s > 0; s--) {
        const uint64_t calls = dice_number(dice) / 64 + 1;
        const uint64_t bytes = dice_number(dice) / 64;
        random_path(dice, &path);
        fixture_add(f,
                    &(struct fixture_site){path.bytes, calls, bytes, calls / 2, bytes,
                                           calls / 3, bytes, calls / 4, bytes});
    }
    tide_text_release(&path);
    f->model.duration_s = dice_roll(dice, 100000);
    f->model.timeline_count = (uint32_t)dice_roll(dice, TIDE_TIMELINE_POINTS);
    for (uint32_t i = 0; i < f->model.timeline_count; i++)
        f->model.timeline[i] = dice_number(dice);
}

static void no_line_of_random_rows_is_wider_than_the_page(void **state)
{
    (void)state;
    struct dice dice = {17};
    for (int round = 0; round < 60; round++) {
        const struct tide_style style = {
            .width = TIDE_WIDTH_MIN + dice_roll(&dice, 140),
            .bars = dice_roll(&dice, 2),
            .color = dice_roll(&dice, 2),
            .utf8 = dice_roll(&dice, 2),
            .units = (enum tide_units)dice_roll(&dice, 3),
        };
        struct fixture f;
        fixture_init(&f);
        fill_with_random_sites(&f, &dice);
        struct tide_text text = everything(&f, &style, (size_t)dice_roll(&dice, 12));
        assert_width(&text, &style);
        tide_text_release(&text);
        fixture_release(&f);
    }
}

static void the_overview_says_what_the_run_was(void **state)
{
    (void)state;
    struct fixture f;
    fixture_init_solver(&f);
    struct tide_text text = {0};
    struct tide_page page = {.out = &text, .style = &PLAIN};
    tide_view_overview(&page, &f.model, NULL);
    assert_holds(&text, "./solver --mesh 'wing section.msh' --steps=100\n");
    assert_holds(&text,
                 "Ran 12.43 s with 9 allocating threads; exited with status 0.\n");
    /* 412+118+61+48+31+8 MiB, 4 MiB - 13, 525+80+210+4 KiB, 72,704 */
    assert_holds(&text, "peak         683 MiB  in 47,417 blocks at 7.312 s");
    assert_holds(&text, "(+/- 12.0 KiB)\n");
    assert_holds(&text, "at the end  7.16 MiB  in 42,274 blocks never freed\n");
    assert_holds(&text, "by 2,553,015 calls, 93.7 % of them temporary\n");
    assert_holds(&text, "804 MiB  resident at most (RSS)\n");
    assert_holds(&text, "96.0 MiB  mapped at 3.200 s; 16.0 MiB at the end; 512 MiB");
    tide_text_release(&text);
    fixture_release(&f);
}

static void is_silent_about_what_is_not_there(void **state)
{
    (void)state;
    struct fixture f;
    fixture_init(&f);
    fixture_add(&f, &(struct fixture_site){"main", 1, 10, 0, 0, 1, 10, 0, 0});
    struct tide_text text = {0};
    struct tide_page page = {.out = &text, .style = &PLAIN};
    tide_view_overview(&page, &f.model, NULL);
    tide_view_warning(&page, &f.trace);
    tide_view_findings(&page, &f.findings, 0);
    assert_holds(&text, "every block was freed");
    assert_null(strstr(text.bytes, "mmap"));
    assert_null(strstr(text.bytes, "RSS"));
    assert_null(strstr(text.bytes, "+/-"));
    assert_null(strstr(text.bytes, "temporary"));
    assert_null(strstr(text.bytes, "!"));
    assert_null(strstr(text.bytes, "Findings"));
    tide_text_release(&text);
    fixture_release(&f);
}

static void says_what_shows_more_findings(void **state)
{
    (void)state;
    char one[] = "one", two[] = "two", three[] = "three";
    struct tide_finding list[] = {{.text = one}, {.text = two}, {.text = three}};
    struct tide_text text = {0};
    struct tide_page page = {.out = &text, .style = &PLAIN};
    tide_view_findings(&page, &(struct tide_findings){list, 3}, 1);
    assert_holds(&text, " one\n");
    assert_null(strstr(text.bytes, "two"));
    assert_holds(&text, " 2 more findings (-v)\n");
    tide_text_clear(&text);
    tide_view_findings(&page, &(struct tide_findings){list, 3}, 0);
    assert_holds(&text, " three\n");
    assert_null(strstr(text.bytes, "more"));
    tide_text_release(&text);
}

static void says_so_when_nothing_was_recorded(void **state)
{
    (void)state;
    struct fixture f;
    fixture_init(&f);
    struct tide_text text = everything(&f, &PLAIN, 10);
    assert_holds(&text, "No allocation was recorded.");
    assert_holds(&text, "Live at the end  nothing was recorded\n");
    tide_text_release(&text);
    fixture_release(&f);
}

/* Each process ends at a time of its own: the sum may be above the peak. */
static void what_all_processes_leave_is_not_at_one_end(void **state)
{
    (void)state;
    static const struct tide_style WIDE = {.width = 120};
    struct fixture f;
    fixture_init_solver(&f);
    for (uint32_t replaced = 0; replaced < 2; replaced++) {
        struct tide_text text = {0};
        struct tide_page page = {.out = &text, .style = &WIDE};
        f.model.processes = 2;
        f.model.replaced = replaced;
        tide_view_overview(&page, &f.model, NULL);
        assert_holds(&text, replaced ? "; 16.0 MiB left mapped, over all its programs;"
                                     : "; 16.0 MiB left mapped, over all processes;");
        tide_text_release(&text);
    }
    fixture_release(&f);
}

/* The report of SPACE of a run with OPTIONS in which nothing was recorded. */
static struct tide_text report_of_nothing(const char *options, enum tide_space space)
{
    struct fixture f;
    struct tide_text text = {0};
    struct tide_page page = {.out = &text, .style = &PLAIN};
    fixture_init(&f);
    f.trace.options = options;
    const struct tide_view_totals totals = {.metric = TIDE_METRIC_PEAK, .space = space};
    tide_view_overview(&page, &f.model, NULL);
    tide_view_heading(&page, &f.model, &totals);
    fixture_release(&f);
    return text;
}

static void what_was_not_asked_for_is_not_missed(void **state)
{
    (void)state;
    static const char HEAP[] = "unwind=cfi depth=256 spaces=heap follow=none";
    static const char MMAP[] = "unwind=cfi depth=256 spaces=mmap";
    static const char BOTH[] = "unwind=cfi depth=256 spaces=mmap,heap";
    struct tide_text text = report_of_nothing(MMAP, TIDE_IN_HEAP);
    assert_holds(&text, "  The heap was not recorded, as run --spaces asks.\n");
    assert_holds(&text,
                 "At the peak  the heap was not recorded, as run --spaces asks\n");
    assert_null(strstr(text.bytes, "static"));
    tide_text_release(&text);
    text = report_of_nothing(HEAP, TIDE_IN_MMAP);
    assert_holds(&text, "Is the program static");
    assert_holds(&text, "mapped memory was not recorded, as run --spaces asks");
    tide_text_release(&text);
    text = report_of_nothing(BOTH, TIDE_IN_HEAP);
    assert_holds(&text, "Is the program static");
    assert_null(strstr(text.bytes, "--spaces"));
    tide_text_release(&text);
}

static void assert_ending_of(int status, bool known, bool execed, const char *words)
{
    struct fixture f;
    fixture_init(&f);
    f.trace.processes[0].execed = execed;
    f.trace.processes[0].status = status;
    f.trace.processes[0].status_known = known;
    struct tide_text text = {0};
    struct tide_page page = {.out = &text, .style = &PLAIN};
    tide_view_overview(&page, &f.model, NULL);
    assert_holds(&text, words);
    tide_text_release(&text);
    fixture_release(&f);
}

static void assert_ending(int status, bool known, const char *words)
{
    assert_ending_of(status, known, false, words);
}

static void says_how_the_program_ended(void **state)
{
    (void)state;
    assert_ending(0, true, "; exited with status 0.");
    assert_ending(3 << 8, true, "; exited with status 3.");
    assert_ending(9, true, "; killed by SIGKILL.");
    assert_ending(11 | 0x80, true, "; killed by SIGSEGV, core dumped.");
    assert_ending(40, true, "; killed by signal 40.");
    assert_ending(0, false, "; ended, status not known.");
    assert_ending_of(3 << 8, true, true, "; replaced by exec, exit status 3.");
    assert_ending_of(9, true, true, "; replaced by exec, killed by SIGKILL.");
    assert_ending_of(0, false, true, "; replaced by exec.");
}

/* What a program held when it died of a signal was not leaked. */
static void what_a_killed_program_held_is_not_called_never_freed(void **state)
{
    (void)state;
    struct fixture f;
    fixture_init(&f);
    f.trace.processes[0].status = 9;
    f.trace.processes[0].status_known = true;
    fixture_add(&f, &(struct fixture_site){"main", 1, 10, 1, 10, 1, 10, 0, 0});
    struct tide_text text = everything(&f, &PLAIN, 10);
    assert_holds(&text, "in 1 block still held when it was killed by SIGKILL\n");
    assert_holds(&text,
                 "Live at the end  10 B in 1 block still held when it was killed "
                 "by SIGKILL\n");
    assert_null(strstr(text.bytes, "never freed"));
    tide_text_release(&text);
    f.model.processes = 2;
    text = everything(&f, &PLAIN, 10);
    assert_holds(&text, "in 1 block never freed, or still held when the program was");
    tide_text_release(&text);
    f.trace.processes[0].ended = f.trace.processes[0].status_known = false;
    text = everything(&f, &PLAIN, 10);
    assert_holds(&text, "in 1 block still held when the recording stopped");
    tide_text_release(&text);
    fixture_release(&f);
}

static void control_characters_of_names_are_shown_as_numbers(void **state)
{
    (void)state;
    struct fixture f;
    static const char *argv[] = {"./evil\033]0;argv\007", NULL};
    static const char *troubles[] = {"odd \033[2J trouble", NULL};
    fixture_init(&f);
    f.trace.argv = argv;
    f.trace.path = "evil\033.tide";
    f.trace.host = "host\033[31m";
    f.trace.troubles = troubles;
    f.trace.complete = false;
    snprintf(f.trace.problem, sizeof(f.trace.problem), "chunk \033[5m at 7");
    f.trace.processes[0].exe = "/bin/evil\b\b";
    f.trace.modules[0].path = "/tmp/\033[31mred.so";
    fixture_add(&f, &(struct fixture_site){"main;\033]0,x\007@ev\033il.c:3", 1, 10, 1,
                                           10, 1, 10, 1, 10});
    fixture_add_finding(&f, "leak", "the function \033]0;x\007 leaks", 1);
    struct tide_text text = everything(&f, &PLAIN, 10);
    assert_null(strchr(text.bytes, '\033'));
    assert_null(strchr(text.bytes, '\007'));
    assert_null(strchr(text.bytes, '\b'));
    assert_holds(&text, "\\x1b]0,x\\x07  ev\\x1bil.c:3");
    assert_holds(&text, "\\x1b]0;argv\\x07");
    assert_holds(&text, "\\x1b[31mred.so");
    assert_width(&text, &PLAIN);
    tide_text_release(&text);
    fixture_release(&f);
}

static void a_trace_that_ends_early_says_so(void **state)
{
    (void)state;
    struct fixture f;
    fixture_init(&f);
    const struct tide_style wide = {.width = 200};
    struct tide_text text = {0};
    struct tide_page page = {.out = &text, .style = &wide};
    f.trace.complete = false;
    f.trace.good_bytes = f.trace.file_bytes = 4711;
    snprintf(f.trace.problem, sizeof(f.trace.problem), "ends early at byte 4711");
    tide_view_warning(&page, &f.trace);
    assert_holds(&text, "! This trace is cut off after 4.60 KiB, at 0.");
    assert_holds(&text, "What came later is missing, and how the run ended is not "
                        "known: \"at the end\" is that moment.\n");
    tide_text_clear(&text);
    f.trace.file_bytes = 9000;
    tide_view_warning(&page, &f.trace);
    assert_holds(&text, "! This trace is cut off: the first 4.60 KiB of its 8.79 KiB "
                        "could be read, up to 0.");
    tide_text_clear(&text);
    f.trace.complete = true;
    snprintf(f.trace.problem, sizeof(f.trace.problem), "damaged at byte 4711: 1 chunk");
    tide_view_warning(&page, &f.trace);
    assert_string_equal(text.bytes,
                        "! This trace is damaged at byte 4711: 1 chunk. What "
                        "was lost is not in these numbers.\n");
    tide_text_clear(&text);
    f.trace.complete = false;
    f.trace.problem[0] = '\0';
    f.trace.processes[0].ended = false;
    tide_view_warning(&page, &f.trace);
    tide_view_overview(&page, &f.model, NULL);
    assert_holds(&text, "! This trace is cut off");
    assert_holds(&text, "; how it ended is not in the trace.");
    tide_text_release(&text);
    fixture_release(&f);
}

static void the_honesty_lines_say_what_is_known(void **state)
{
    (void)state;
    struct fixture f;
    fixture_init(&f);
    struct tide_text text = {0};
    struct tide_page page = {.out = &text, .style = &PLAIN};
    const struct tide_style wide = {.width = 300};
    page.style = &wide;
    f.model.honesty.events = 1234567;
    tide_view_honesty(&page, &f.model, true);
    assert_holds(
        &text,
        "1,234,567 events recorded; none dropped, all frees matched a recorded allocation.");
    assert_holds(&text, "No stack was too deep, every frame has a name.");
    assert_null(strstr(text.bytes, "[unknown]"));
    tide_text_clear(&text);
    static const char *troubles[] = {"a process was not recorded", NULL};
    f.trace.troubles = troubles;
    tide_view_honesty(&page, &f.model, true);
    assert_holds(&text, "1,234,567 events recorded; there was more, see below.");
    f.trace.troubles = NULL;
    tide_text_clear(&text);
    f.model.honesty.events = 0;
    tide_view_honesty(&page, &f.model, true);
    assert_holds(&text, "0 events recorded; there is nothing to judge by.");
    assert_null(strstr(text.bytes, "No stack"));
    tide_text_clear(&text);
    f.model.honesty.events = 2;
    f.model.summary[TIDE_IN_HEAP].peak_uncertainty_bytes = 2048;
    tide_view_honesty(&page, &f.model, true);
    assert_holds(&text, "The peak may have been 2.00 KiB more or less: the order of");
    tide_text_release(&text);
    fixture_release(&f);
}

static void the_honesty_lines_name_every_loss(void **state)
{
    (void)state;
    struct fixture f;
    fixture_init(&f);
    struct tide_text text = {0};
    const struct tide_style wide = {.width = 300};
    struct tide_page page = {.out = &text, .style = &wide};
    f.model.honesty.events = 2;
    f.model.honesty.dropped = 1;
    f.model.honesty.unmatched_frees = 5;
    f.model.honesty.double_frees = 3;
    f.model.honesty.reordered = 3;
    f.model.honesty.truncated_stacks = 4;
    f.model.honesty.unfinished_stacks = 9;
    f.model.honesty.unfinished = (struct tide_unfinished[]){
        {"/lib/libjit.so", 6}, {NULL, 1}, {"/bin/a\033b", 1}, {"/lib/d.so", 1}};
    f.model.honesty.unfinished_count = 4;
    f.model.honesty.unresolved_frames = 5;
    f.model.honesty.inherited_frees = 6;
    f.model.honesty.lost_records = 7;
    f.model.honesty.replaced_blocks = 8;
    f.model.honesty.rss_explained = 0.923;
    f.model.rss_peak_exact = true;
    tide_view_honesty(&page, &f.model, true);
    assert_holds(
        &text,
        "1 event dropped, 7 gaps in the records, 3 double frees, 2 frees of blocks "
        "that were not recorded, 8 blocks replaced without a free, 3 events out of order.");
    assert_holds(&text,
                 "4 stacks cut at the depth limit (run --depth), 9 stacks that end in "
                 "[unknown], 5 frames without a name, 6 frees of blocks "
                 "inherited by fork.");
    assert_holds(
        &text,
        "coroutine. Here: libjit.so, code made at run time, a\\x1bb and 1 more. If ");
    assert_holds(&text, "explain 92 % of the RSS peak");
    tide_text_release(&text);
    fixture_release(&f);
}

static void colours_and_bars_only_when_the_style_has_them(void **state)
{
    (void)state;
    struct fixture f;
    fixture_init_solver(&f);
    const struct tide_style plain = {.width = 120, .utf8 = true};
    const struct tide_style fancy = {
        .width = 120, .utf8 = true, .color = true, .bars = true};
    const uint32_t points = f.model.timeline_count;
    f.model.timeline_count = 0; /* else the overview has its small curve */
    struct tide_text text = everything(&f, &plain, 10);
    assert_null(strchr(text.bytes, '\033'));
    assert_null(strstr(text.bytes, "█"));
    tide_text_release(&text);
    f.model.timeline_count = points;
    text = everything(&f, &fancy, 10);
    assert_non_null(strchr(text.bytes, '\033'));
    assert_non_null(strstr(text.bytes, "█"));
    tide_text_release(&text);
    const struct tide_style ascii = {.width = 120, .bars = true};
    text = everything(&f, &ascii, 10);
    for (size_t i = 0; i < text.length; i++)
        assert_true((unsigned char)text.bytes[i] < 0x80);
    tide_text_release(&text);
    fixture_release(&f);
}

static void the_crest_stands_under_the_highest_point(void **state)
{
    (void)state;
    struct fixture f;
    fixture_init(&f);
    f.model.duration_s = 100;
    f.model.summary[TIDE_IN_HEAP].peak_time_s = 50;
    f.model.timeline_count = TIDE_TIMELINE_POINTS;
    for (uint32_t i = 0; i < TIDE_TIMELINE_POINTS; i++)
        f.model.timeline[i] = i == TIDE_TIMELINE_POINTS / 2 ? 1000 : 10;
    const struct tide_style style = {.width = 80, .bars = true};
    struct tide_text text = {0};
    struct tide_page page = {.out = &text, .style = &style};
    tide_view_timeline(&page, &f.model);
    const char *const top = strchr(text.bytes, '#');
    const char *const crest = strchr(text.bytes, '^');
    assert_non_null(top);
    assert_non_null(crest);
    const char *crest_line = crest;
    while (crest_line > text.bytes && crest_line[-1] != '\n')
        crest_line--;
    assert_int_equal(top - text.bytes, crest - crest_line);
    assert_holds(&text, "^ 50.00 s");
    assert_holds(&text, "100.0 s\n");
    tide_text_release(&text);
    fixture_release(&f);
}

static void what_was_born_at_once_has_one_time(void **state)
{
    (void)state;
    static const struct {
        struct tide_leak leak;
        const char *words;
    } CASES[] = {
        {{.kind = TIDE_LEAK_ONCE, .first_s = 0.0601, .last_s = 0.0604},
         "once, allocated at 0.060 s"},
        {{.kind = TIDE_LEAK_ONCE, .first_s = 0.060, .last_s = 0.061},
         "once, allocated from 0.060 s to 0.061 s"},
        {{.kind = TIDE_LEAK_GROWING, .ended = true, .first_s = 0.06, .last_s = 0.06},
         "grew until 0.060 s"},
        {{.kind = TIDE_LEAK_GROWING, .ended = true, .first_s = 0.05, .last_s = 0.06},
         "grew until 0.060 s, from 0.050 s on"},
        {{.rhythm = TIDE_RHYTHM_STRETCH,
          .first_s = 0.003,
          .last_s = 0.006,
          .bytes_per_second = 1e8},
         "in one stretch, allocated from 0.003 s to 0.006 s"},
        {{.rhythm = TIDE_RHYTHM_SCATTERED, .first_s = 1, .last_s = 6},
         "now and then, allocated from 1.000 s to 6.000 s"},
        {{.rhythm = TIDE_RHYTHM_STRETCH, .first_s = 1, .last_s = 6, .processes = 3},
         "in 3 processes, allocated from 1.000 s to 6.000 s"},
        {{.first_s = 1, .last_s = 6}, "allocated from 1.000 s to 6.000 s"},
    };
    for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
        struct tide_text text = {0};
        tide_words_leak(&text, &CASES[i].leak, 5, TIDE_UNITS_IEC);
        assert_string_equal(text.bytes, CASES[i].words);
        tide_text_release(&text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_line_is_wider_than_the_page),
        cmocka_unit_test(no_line_of_random_rows_is_wider_than_the_page),
        cmocka_unit_test(the_overview_says_what_the_run_was),
        cmocka_unit_test(is_silent_about_what_is_not_there),
        cmocka_unit_test(says_so_when_nothing_was_recorded),
        cmocka_unit_test(says_what_shows_more_findings),
        cmocka_unit_test(what_was_not_asked_for_is_not_missed),
        cmocka_unit_test(what_all_processes_leave_is_not_at_one_end),
        cmocka_unit_test(says_how_the_program_ended),
        cmocka_unit_test(what_a_killed_program_held_is_not_called_never_freed),
        cmocka_unit_test(control_characters_of_names_are_shown_as_numbers),
        cmocka_unit_test(a_trace_that_ends_early_says_so),
        cmocka_unit_test(the_honesty_lines_say_what_is_known),
        cmocka_unit_test(the_honesty_lines_name_every_loss),
        cmocka_unit_test(colours_and_bars_only_when_the_style_has_them),
        cmocka_unit_test(what_was_born_at_once_has_one_time),
        cmocka_unit_test(the_crest_stands_under_the_highest_point),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
