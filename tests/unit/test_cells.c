/* unit/test_cells.c - numbers of any size stand apart, in every table that has them. */
#include <stdio.h>
#include <time.h>

#include "report_bench.h"
#include "view/cells.h"
#include "view/told_text.h"

static const struct tide_style WHOLE = {.width = 300, .units = TIDE_UNITS_BYTES};

enum { TIDE_LARGE = 1234567890 };
#define TIDE_LARGE_WORDS "1,234,567,890"

/* From LINE on, the large number is there TIMES times, with nothing but blanks beside it
 * and its unit. */
static void assert_apart(const char *line, size_t times)
{
    size_t found = 0;
    for (const char *at = strstr(line, TIDE_LARGE_WORDS); at;
         at = strstr(at, TIDE_LARGE_WORDS)) {
        const char *end = at + strlen(TIDE_LARGE_WORDS);
        const bool sign = at > line && (at[-1] == '+' || at[-1] == '-');
        if (strncmp(end, " B", 2) == 0)
            end += 2;
        if (at - sign == line || at[-1 - sign] != ' ' ||
            (*end && *end != ' ' && *end != '\n'))
            fail_msg("columns touch: %s", line);
        found++;
        at = end;
    }
    if (found != times)
        fail_msg("%zu numbers, not %zu: %s", found, times, line);
}

/* The line of TEXT that ends in NAME has TIMES large numbers. */
static void assert_row(const struct tide_text *text, const char *name, size_t times)
{
    assert_non_null(text->bytes);
    char *const copy = strdup(text->bytes);
    char *rest;
    bool found = false;
    for (char *line = strtok_r(copy, "\n", &rest); line;
         line = strtok_r(NULL, "\n", &rest)) {
        const size_t length = strlen(line), wanted = strlen(name);
        if (length > wanted && strcmp(line + length - wanted, name) == 0) {
            assert_apart(line, times);
            found = true;
        }
    }
    free(copy);
    if (!found)
        fail_msg("no line ends in %s:\n%s", name, text->bytes);
}

static void visits_stand_apart(void **state)
{
    (void)state;
    struct tide_text text = {0};
    struct tide_page page = {.out = &text, .style = &WHOLE};
    struct tide_told_region regions[] = {
        {.inside = 1},
        {.name = "solve",
         .depth = 1,
         .visits = TIDE_LARGE,
         .entry_bytes = TIDE_LARGE,
         .exit_bytes = TIDE_LARGE,
         .delta_bytes = -TIDE_LARGE,
         .peak_bytes = TIDE_LARGE},
    };
    const struct tide_told told = {.regions = regions, .region_count = 2};
    tide_view_visits(&page, &told, 0);
    assert_row(&text, "solve", 5);
    tide_text_release(&text);
}

static void labels_stand_apart(void **state)
{
    (void)state;
    struct tide_text text = {0};
    struct tide_page page = {.out = &text, .style = &WHOLE};
    struct tide_told_label label = {.label = "field",
                                    .size = TIDE_LARGE,
                                    .blocks = TIDE_LARGE,
                                    .moved = TIDE_LARGE};
    const struct tide_told told = {.labels = &label, .label_count = 1};
    tide_view_label_sizes(&page, &told, 0);
    assert_row(&text, "field", 3);
    tide_text_release(&text);
}

static void pools_stand_apart(void **state)
{
    (void)state;
    struct tide_text text = {0};
    struct tide_page page = {.out = &text, .style = &WHOLE};
    struct tide_told_pool pool = {.name = "arena",
                                  .calls = TIDE_LARGE,
                                  .bytes = TIDE_LARGE,
                                  .free_calls = TIDE_LARGE,
                                  .live_bytes = TIDE_LARGE,
                                  .peak_bytes = TIDE_LARGE};
    struct tide_told_piece piece = {.label = "part",
                                    .calls = TIDE_LARGE,
                                    .bytes = TIDE_LARGE,
                                    .live_bytes = TIDE_LARGE,
                                    .holder_label = ""};
    const struct tide_told told = {
        .pools = &pool, .pool_count = 1, .pieces = &piece, .piece_count = 1};
    const struct tide_model model = {0};
    tide_view_pools(&page, &model, &told);
    assert_row(&text, "arena", 5);
    assert_row(&text, "part", 4);
    tide_text_release(&text);
}

static void windows_stand_apart(void **state)
{
    (void)state;
    struct tide_text text = {0};
    struct tide_page page = {.out = &text, .style = &WHOLE};
    struct tide_window window = {.requested_bytes = TIDE_LARGE,
                                 .used_bytes = TIDE_LARGE,
                                 .alloc_calls = TIDE_LARGE,
                                 .free_calls = TIDE_LARGE,
                                 .peak_bytes = TIDE_LARGE,
                                 .stddev_bytes = TIDE_LARGE};
    struct tide_trace *trace;
    char why[200];
    assert_int_equal(tide_trace_open(TIDE_SOURCE_DIR "/tests/golden/v1/all_calls.tide",
                                     why, sizeof(why), &trace),
                     TIDE_OK);
    struct tide_window *const own = trace->windows;
    const size_t count = trace->window_count;
    trace->windows = &window;
    trace->window_count = 1;
    const struct tide_model model = {.trace = trace};
    tide_view_windows(&page, &model, 0);
    assert_row(&text, "[unnamed]", 6);
    trace->windows = own;
    trace->window_count = count;
    tide_trace_close(trace);
    tide_text_release(&text);
}

static void sizes_and_lives_stand_apart(void **state)
{
    (void)state;
    enum { TIDE_PLACE = 50 };
    struct tide_text text = {0};
    struct tide_page page = {.out = &text, .style = &WHOLE};
    struct tide_histograms all = {0};
    struct tide_trace trace = {0};
    struct tide_histogram *const each[] = {&all.requested,   &all.usable,
                                           &all.freed,       &all.life_ns,
                                           &all.life_allocs, &all.life_bytes};
    for (size_t i = 0; i < sizeof(each) / sizeof(each[0]); i++) {
        each[i]->calls[TIDE_PLACE] = TIDE_LARGE;
        each[i]->bytes[TIDE_PLACE] = TIDE_LARGE;
    }
    const struct tide_model model = {.trace = &trace, .histograms = &all};
    tide_view_sizes(&page, &model);
    char *row = strstr(text.bytes, "from 562,949,953,421,312 B ");
    assert_non_null(row);
    assert_apart(row, 4);
    tide_text_clear(&text);
    tide_view_lifetimes(&page, &model);
    row = strstr(text.bytes, "from 562,949,953,421,312 B ");
    assert_non_null(row);
    assert_apart(row, 2);
    tide_text_release(&text);
}

static void losses_stand_apart(void **state)
{
    (void)state;
    struct fixture f;
    fixture_init_solver(&f);
    struct tide_process process = {
        .pid = TIDE_LARGE, .ppid = TIDE_LARGE, .dropped = TIDE_LARGE, .exe = "a.out"};
    struct tide_text text = {0};
    struct tide_page page = {.out = &text, .style = &WHOLE};
    f.trace.processes = &process;
    f.trace.process_count = 1;
    tide_view_info(&page, &f.model, (struct tide_info_options){false, true});
    assert_holds(&text, "  1234567890  1234567890  1,234,567,890  a.out");
    tide_text_release(&text);
    f.trace.processes = NULL;
    f.trace.process_count = 0;
    fixture_release(&f);
}

/* Each program once, those with most processes first; in time that grows with their number:
 * what compares each with all others takes four times as long here. */
static void many_programs_are_listed_in_time(void **state)
{
    (void)state;
    enum { TIDE_PROGRAMS = 150000, TIDE_NAME = 16 };
    struct fixture f;
    fixture_init_solver(&f);
    struct tide_unrecorded_program *const list = calloc(TIDE_PROGRAMS, sizeof(*list));
    char(*const names)[TIDE_NAME] = calloc(TIDE_PROGRAMS, TIDE_NAME);
    struct tide_text text = {0};
    struct tide_page page = {.out = &text, .style = &WHOLE};
    assert_true(list && names);
    for (int i = 0; i < TIDE_PROGRAMS; i++) {
        (void)snprintf(names[i], TIDE_NAME, "p%d", i < 3 ? 0 : i);
        list[i] =
            (struct tide_unrecorded_program){.name = names[i], .reason = "static"};
    }
    f.trace.unrecorded = list;
    f.trace.unrecorded_count = TIDE_PROGRAMS;
    const clock_t begun = clock();
    tide_view_info(&page, &f.model, (struct tide_info_options){false, false});
    assert_true(clock() - begun < 5 * CLOCKS_PER_SEC);
    const char *const first = strstr(text.bytes, "p0\n");
    assert_non_null(first);
    assert_null(strstr(first + 1, "p0\n"));
    assert_true(first < strstr(text.bytes, "p10\n"));
    assert_holds(&text, "149,978 more (-v shows all)");
    tide_text_release(&text);
    f.trace.unrecorded = NULL;
    f.trace.unrecorded_count = 0;
    free(names);
    free(list);
    fixture_release(&f);
}

/* Small numbers have the widths that are asked for; a narrow page has them no wider than
 * they must be. */
static void columns_draw_together_on_a_narrow_page(void **state)
{
    (void)state;
    struct tide_cells cells = {.left = 1, .words = 10};
    struct tide_cells_row row = {.texts = {{"12"}, {"1,234 B"}}};
    tide_cells_add(&cells, "n", 12);
    tide_cells_add(&cells, "bytes", 5);
    tide_cells_measure(&cells, &row);
    assert_int_equal(tide_cells_end(&cells, &(struct tide_style){.width = 32}, 1), 13);
    assert_int_equal(tide_cells_end(&cells, &(struct tide_style){.width = 32}, 2), 22);
    assert_int_equal(tide_cells_end(&cells, &(struct tide_style){.width = 31}, 2), 14);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(visits_stand_apart),
        cmocka_unit_test(labels_stand_apart),
        cmocka_unit_test(pools_stand_apart),
        cmocka_unit_test(windows_stand_apart),
        cmocka_unit_test(sizes_and_lives_stand_apart),
        cmocka_unit_test(losses_stand_apart),
        cmocka_unit_test(many_programs_are_listed_in_time),
        cmocka_unit_test(columns_draw_together_on_a_narrow_page),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
