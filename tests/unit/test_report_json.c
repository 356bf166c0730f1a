/* tests/unit/test_report_json.c - report and info as JSON: valid, and as promised. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "json_check.h"
#include "model_fixture.h"
#include "view/info.h"
#include "view/report_json.h"

static struct tide_text report(struct fixture *f, enum tide_metric metric,
                               enum tide_shape shape, size_t limit)
{
    struct tide_text text = {0};
    fixture_rows(f, metric);
    const struct tide_report_json request = {
        .model = &f->model,
        .rows = &f->rows,
        .findings = &f->findings,
        .shape = shape,
        .limit = limit,
    };
    tide_view_report_json(&text, &request);
    assert_false(text.failed);
    assert_true(json_valid(text.bytes));
    return text;
}

/* What DESIGN.md promises. */
static const char *const KEYS[] = {"command",
                                   "duration_s",
                                   "view",
                                   "shape",
                                   "summary",
                                   "spaces",
                                   "rows",
                                   "findings",
                                   "honesty",
                                   "summary.alloc_calls",
                                   "summary.free_calls",
                                   "summary.realloc_calls",
                                   "summary.failed_calls",
                                   "summary.allocated_bytes",
                                   "summary.peak_bytes",
                                   "summary.peak_with_realloc_bytes",
                                   "summary.peak_usable_bytes",
                                   "summary.peak_time_s",
                                   "summary.peak_uncertainty_bytes",
                                   "summary.live_bytes",
                                   "summary.live_blocks",
                                   "summary.temporary_calls",
                                   "summary.temporary_bytes",
                                   "summary.rss_peak_bytes",
                                   "summary.rss_peak_exact",
                                   "summary.threads",
                                   "summary.processes",
                                   "spaces[0].space",
                                   "spaces[1].peak_bytes",
                                   "honesty.events",
                                   "honesty.dropped",
                                   "honesty.unmatched_frees",
                                   "honesty.inherited_frees",
                                   "honesty.truncated_stacks",
                                   "honesty.unfinished_stacks",
                                   "honesty.unfinished_in",
                                   "honesty.unresolved_frames",
                                   "honesty.complete",
                                   "honesty.rss_explained",
                                   "honesty.recorder_bytes",
                                   "honesty.ring_bytes",
                                   "honesty.order_table_bytes",
                                   "honesty.collector_bytes",
                                   "findings[0].kind",
                                   "findings[0].text",
                                   "findings[0].bytes",
                                   "findings[0].calls",
                                   "findings[0].stack[0].function"};

static void the_schema_comes_first_and_all_keys_are_there(void **state)
{
    (void)state;
    struct fixture f;
    fixture_init_solver(&f);
    struct tide_text text = report(&f, TIDE_METRIC_PEAK, TIDE_SHAPE_TREE, 0);
    const char *const start = "{\n  \"schema\": \"tidemark.report/1\",\n";
    assert_int_equal(strncmp(text.bytes, start, strlen(start)), 0);
    for (size_t i = 0; i < sizeof(KEYS) / sizeof(KEYS[0]); i++) {
        if (!json_at(text.bytes, KEYS[i]))
            print_error("no key %s\n", KEYS[i]);
        assert_non_null(json_at(text.bytes, KEYS[i]));
    }
    assert_true(json_raw_at(text.bytes, "view", "\"peak\""));
    assert_true(json_raw_at(text.bytes, "shape", "\"tree\""));
    assert_true(json_raw_at(text.bytes, "command",
                            "\"./solver --mesh 'wing section.msh' --steps=100\""));
    assert_true(json_raw_at(text.bytes, "argv[2]", "\"wing section.msh\""));
    assert_true(json_raw_at(text.bytes, "honesty.complete", "true"));
    tide_text_release(&text);
    fixture_release(&f);
}

static void numbers_are_the_models_to_the_byte(void **state)
{
    (void)state;
    struct fixture f;
    fixture_init_solver(&f);
    f.model.summary[TIDE_IN_HEAP].allocated_bytes = UINT64_MAX;
    struct tide_text text = report(&f, TIDE_METRIC_PEAK, TIDE_SHAPE_FLAT, 0);
    const char *const json = text.bytes;
    assert_true(json_uint_at(json, "summary.allocated_bytes") == UINT64_MAX);
    assert_int_equal(json_uint_at(json, "summary.peak_bytes"), 716040179);
    assert_int_equal(json_uint_at(json, "summary.alloc_calls"), 2553015);
    assert_int_equal(json_uint_at(json, "spaces[1].reserved_peak_bytes"), 512 << 20);
    assert_true(fabs(json_number_at(json, "summary.peak_time_s") - 7.3122) < 1e-9);
    assert_int_equal(json_uint_at(json, "total_bytes"), 716040179);
    tide_text_release(&text);
    fixture_release(&f);
}

static void flat_rows_have_self_and_inclusive(void **state)
{
    (void)state;
    struct fixture f;
    fixture_init(&f);
    fixture_add(
        &f, &(struct fixture_site){"main@m.c:1;f@f.c:7", 3, 300, 0, 0, 3, 300, 0, 0});
    fixture_add(&f, &(struct fixture_site){"main@m.c:1", 1, 100, 0, 0, 1, 100, 0, 0});
    struct tide_text text = report(&f, TIDE_METRIC_TOTAL, TIDE_SHAPE_FLAT, 0);
    const char *const json = text.bytes;
    assert_int_equal(json_count_at(json, "rows"), 2);
    assert_true(json_raw_at(json, "rows[1].function", "\"main\""));
    assert_int_equal(json_uint_at(json, "rows[1].bytes"), 100);
    assert_int_equal(json_uint_at(json, "rows[1].calls"), 1);
    assert_int_equal(json_uint_at(json, "rows[1].inclusive_bytes"), 400);
    assert_int_equal(json_uint_at(json, "rows[1].inclusive_calls"), 4);
    assert_true(fabs(json_number_at(json, "rows[1].share") - 0.25) < 1e-9);
    assert_true(json_raw_at(json, "rows[0].file", "\"f.c\""));
    assert_int_equal(json_uint_at(json, "rows[0].line"), 7);
    assert_true(json_raw_at(json, "rows[0].module", "\"/home/you/a.out\""));
    tide_text_release(&text);
    fixture_release(&f);
}

static void tree_rows_nest_in_children(void **state)
{
    (void)state;
    struct fixture f;
    fixture_init(&f);
    fixture_add(&f, &(struct fixture_site){"main;a;b", 3, 300, 0, 0, 3, 300, 0, 0});
    fixture_add(&f, &(struct fixture_site){"main;c", 1, 100, 0, 0, 1, 100, 0, 0});
    fixture_add(&f, &(struct fixture_site){"other", 1, 50, 0, 0, 1, 50, 0, 0});
    struct tide_text text = report(&f, TIDE_METRIC_PEAK, TIDE_SHAPE_TREE, 0);
    const char *const json = text.bytes;
    assert_int_equal(json_count_at(json, "rows"), 2);
    assert_int_equal(json_uint_at(json, "rows[0].bytes"), 400);
    assert_int_equal(json_uint_at(json, "rows[0].blocks"), 4);
    assert_int_equal(json_count_at(json, "rows[0].children"), 2);
    assert_true(json_raw_at(json, "rows[0].children[0].function", "\"a\""));
    assert_true(json_raw_at(json, "rows[0].children[0].children[0].function", "\"b\""));
    assert_int_equal(json_uint_at(json, "rows[0].children[0].children[0].self_bytes"),
                     300);
    assert_true(json_raw_at(json, "rows[0].children[1].function", "\"c\""));
    assert_int_equal(json_count_at(json, "rows[0].children[1].children"), 0);
    assert_true(json_raw_at(json, "rows[1].function", "\"other\""));
    assert_true(json_raw_at(json, "rows[1].file", "null"));
    tide_text_release(&text);
    text = report(&f, TIDE_METRIC_PEAK, TIDE_SHAPE_TREE, 2);
    assert_int_equal(json_count_at(text.bytes, "rows"), 1);
    assert_int_equal(json_count_at(text.bytes, "rows[0].children"), 1);
    tide_text_release(&text);
    fixture_release(&f);
}

static void stack_rows_list_frames_innermost_first(void **state)
{
    (void)state;
    struct fixture f;
    fixture_init_solver(&f);
    struct tide_text text = report(&f, TIDE_METRIC_LEAKS, TIDE_SHAPE_STACKS, 2);
    const char *const json = text.bytes;
    assert_int_equal(json_count_at(json, "rows"), 2);
    assert_int_equal(json_uint_at(json, "rows[1].bytes"), 2 << 20);
    assert_int_equal(json_uint_at(json, "rows[1].blocks"), 1);
    assert_true(json_raw_at(json, "rows[1].function", "\"xrealloc\""));
    assert_int_equal(json_uint_at(json, "rows[1].line"), 31);
    assert_int_equal(json_count_at(json, "rows[1].stack"), 5);
    assert_true(json_raw_at(json, "rows[1].stack[0].function", "\"xrealloc\""));
    assert_true(json_raw_at(json, "rows[1].stack[4].function", "\"main\""));
    assert_int_equal(json_uint_at(json, "rows[1].stack[4].line"), 212);
    tide_text_release(&text);
    fixture_release(&f);
}

static void any_name_makes_valid_json(void **state)
{
    (void)state;
    static const char *argv[] = {"a\"b\\\n\xff", NULL};
    static const char *troubles[] = {"\033[2J", NULL};
    struct fixture f;
    fixture_init(&f);
    f.trace.argv = argv;
    f.trace.troubles = troubles;
    f.trace.path = "\xfe";
    f.trace.modules[0].path = "\"quoted\"";
    f.model.duration_s = (double)NAN;
    f.model.honesty.rss_explained = (double)INFINITY;
    snprintf(f.trace.problem, sizeof(f.trace.problem), "at \"7\"\t\xc3");
    fixture_add(&f, &(struct fixture_site){"ma\"in;\\;\xe9\033[0m@\"f\".c:1", 1, 1, 1,
                                           1, 1, 1, 1, 1});
    fixture_add_finding(&f, "leak", "\"\n\xff", 1);
    for (int shape = TIDE_SHAPE_TREE; shape <= TIDE_SHAPE_STACKS; shape++) {
        struct tide_text text =
            report(&f, TIDE_METRIC_CHURN, (enum tide_shape)shape, 0);
        assert_null(strchr(text.bytes, '\033'));
        assert_true(json_raw_at(text.bytes, "duration_s", "null"));
        tide_text_release(&text);
    }
    struct tide_text text = {0};
    tide_view_info_json(&text, &f.model);
    assert_true(json_valid(text.bytes));
    tide_text_release(&text);
    fixture_release(&f);
}

static void a_deep_tree_is_still_valid(void **state)
{
    (void)state;
    struct fixture f;
    fixture_init(&f);
    struct tide_text path = {0};
    tide_text_add(&path, "main");
    for (int i = 0; i < 500; i++)
        tide_text_addf(&path, ";f%d", i);
    fixture_add(&f, &(struct fixture_site){path.bytes, 1, 1, 1, 1, 1, 1, 1, 1});
    tide_text_release(&path);
    struct tide_text text = report(&f, TIDE_METRIC_PEAK, TIDE_SHAPE_TREE, 0);
    tide_text_release(&text);
    fixture_release(&f);
}

static void an_empty_run_has_empty_rows(void **state)
{
    (void)state;
    struct fixture f;
    fixture_init(&f);
    for (int shape = TIDE_SHAPE_TREE; shape <= TIDE_SHAPE_STACKS; shape++) {
        struct tide_text text =
            report(&f, TIDE_METRIC_LEAKS, (enum tide_shape)shape, 0);
        assert_int_equal(json_count_at(text.bytes, "rows"), 0);
        tide_text_release(&text);
    }
    fixture_release(&f);
}

static void info_says_what_the_trace_holds(void **state)
{
    (void)state;
    struct fixture f;
    fixture_init_solver(&f);
    struct tide_chunk_place chunks[] = {{.stored_bytes = 100, .raw_bytes = 1000},
                                        {.stored_bytes = 50, .raw_bytes = 400}};
    struct tide_thread threads[] = {{.tid = 4711, .name = "solver"},
                                    {.tid = 4712, .name = "pool"},
                                    {.tid = 4713, .name = "pool"}};
    f.trace.lane_chunks = chunks;
    f.trace.chunk_count = 2;
    f.trace.lane_count = 3;
    f.trace.threads = threads;
    f.trace.thread_count = 3;
    f.trace.file_bytes = 2000;
    f.trace.start_unix_ns = UINT64_C(1700000000123456789);
    f.model.honesty.events = 1000;
    struct tide_text text = {0};
    tide_view_info_json(&text, &f.model);
    const char *const json = text.bytes;
    assert_true(json_valid(json));
    assert_true(json_raw_at(json, "schema", "\"tidemark.info/1\""));
    assert_int_equal(json_uint_at(json, "stored_bytes"), 150);
    assert_int_equal(json_uint_at(json, "raw_bytes"), 1400);
    assert_int_equal(json_uint_at(json, "kinds.malloc"), 1944000);
    assert_true(json_raw_at(json, "started", "\"2023-11-14T22:13:20Z\""));
    assert_true(fabs(json_number_at(json, "bytes_per_event") - 2.0) < 1e-9);
    assert_int_equal(json_count_at(json, "processes"), 1);
    assert_true(json_raw_at(json, "processes[0].ending", "\"exited with status 0\""));
    assert_int_equal(json_count_at(json, "threads"), 3);
    assert_true(json_raw_at(json, "modules[0].build_id", "\"abcdef012345\""));
    tide_text_clear(&text);

    const struct tide_style style = {.width = 80};
    struct tide_page page = {.out = &text, .style = &style};
    tide_view_info(&page, &f.model, (struct tide_info_options){.modules = true});
    assert_non_null(strstr(text.bytes, "  file        1.95 KiB, complete\n"));
    assert_non_null(strstr(text.bytes, "solver, pool (2)\n"));
    assert_non_null(strstr(text.bytes, "2 chunks of 3 lanes, 150 B from 1.37 KiB"));
    assert_non_null(strstr(text.bytes, "malloc 1,944,000, new 609,014, free "));
    assert_non_null(strstr(text.bytes, "  events      1,000, 2.00 bytes each"));
    assert_non_null(strstr(text.bytes, "abcdef012345"));
    assert_non_null(strstr(text.bytes, "    4711      4710         0  /home/you/a.out  "
                                       "exited with status 0\n"));
    tide_text_release(&text);
    fixture_release(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_schema_comes_first_and_all_keys_are_there),
        cmocka_unit_test(numbers_are_the_models_to_the_byte),
        cmocka_unit_test(flat_rows_have_self_and_inclusive),
        cmocka_unit_test(tree_rows_nest_in_children),
        cmocka_unit_test(stack_rows_list_frames_innermost_first),
        cmocka_unit_test(any_name_makes_valid_json),
        cmocka_unit_test(a_deep_tree_is_still_valid),
        cmocka_unit_test(an_empty_run_has_empty_rows),
        cmocka_unit_test(info_says_what_the_trace_holds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
