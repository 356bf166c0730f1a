/* unit/test_load.c - from the bytes of a trace to a model. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

#include <cmocka.h>

#include "model/model.h"
#include "model/model_state.h"
#include "model/process_ends.h"
#include "trace_builder.h"
#include "trace_rich.h"

/* As in trace_rich.c: the clock's line is 1000 ticks a second from tick 1000 on. */
enum { TIDE_START = 1000, TIDE_SECOND = 1000000 };

static struct tide_builder *builder;
static struct tide_trace *trace;
static struct tide_model *model;

static int enter(void **state)
{
    (void)state;
    builder = tide_builder_new();
    tide_builder_clock(builder, TIDE_START, 10 * TIDE_SECOND, 10);
    return 0;
}

static int leave(void **state)
{
    (void)state;
    tide_model_free(model);
    tide_trace_close(trace);
    tide_builder_free(builder);
    model = NULL;
    trace = NULL;
    builder = NULL;
    return 0;
}

static void open_trace(void)
{
    char why[200];
    tide_builder_finish(builder);
    assert_int_equal(
        tide_trace_open_fd(tide_builder_fd(builder), "trace", why, sizeof(why), &trace),
        TIDE_OK);
}

static void load_until(double until_s)
{
    const struct tide_model_options options = {.until_s = until_s};
    tide_model_free(model);
    assert_int_equal(tide_model_load(trace, &options, &model), TIDE_OK);
}

static void load(void)
{
    open_trace();
    load_until(-1);
}

static uint64_t ticks_at(double seconds)
{
    return TIDE_START + (uint64_t)(seconds * TIDE_SECOND);
}

static void describe(uint32_t process, uint64_t flags)
{
    const uint64_t facts[] = {100 + process, 1, TIDE_START + 1 + process, 0, flags};
    const uint64_t app[] = {0, 0, 0x400000, 0x410000, 0x400000};
    const uint64_t libc[] = {1, 0, 0x7f0000000000, 0x7f0000010000, 0x7f0000000000};
    tide_builder_note(&builder->notes[process], TIDE_NOTE_PROCESS, facts, 5, NULL);
    tide_builder_module(builder, process, app, "/bin/app");
    tide_builder_module(builder, process, libc, "/lib/libc.so.6");
}

static struct tide_out_birth birth(uint64_t address, uint64_t size)
{
    return (struct tide_out_birth){.address = address, .size = size};
}

/* Outermost first: a stack of the program, and one that ends in libc. */
static const uint64_t app_words[] = {0x401000, 0x402000};
static const uint64_t libc_words[] = {0x401000, 0x7f0000001000};
static const struct tide_out_stack in_app = {.words = app_words, .depth = 2};
static const struct tide_out_stack in_libc = {.words = libc_words, .depth = 2};

static void finds_totals_peak_and_leaks(void **state)
{
    (void)state;
    describe(0, 0);
    struct tide_lane_out *lane = tide_builder_lane(builder, 0, 0);
    tide_out_sync(lane, ticks_at(1), 0);
    tide_out_alloc(lane, birth(0x1000, 100), in_app);
    tide_out_alloc(lane, birth(0x2000, 200), in_libc);
    tide_out_time(lane, ticks_at(2));
    tide_out_alloc(lane, birth(0x3000, 1000), in_app);
    tide_out_time(lane, ticks_at(3));
    tide_out_free(lane, 0x3000);
    tide_out_free(lane, 0x1000);
    load();
    const struct tide_summary *heap = &model->summary[TIDE_IN_HEAP];
    assert_int_equal(heap->alloc_calls, 3);
    assert_int_equal(heap->free_calls, 2);
    assert_int_equal(heap->allocated_bytes, 1300);
    assert_int_equal(heap->peak_bytes, 1300);
    assert_int_equal(heap->peak_usable_bytes, TIDE_USABLE_GLIBC(100) +
                                                  TIDE_USABLE_GLIBC(200) +
                                                  TIDE_USABLE_GLIBC(1000));
    assert_true(fabs(heap->peak_time_s - 2) < 1e-3);
    assert_int_equal(heap->live_bytes, 200);
    assert_int_equal(heap->temporary_calls, 1);
    assert_int_equal(heap->peak_uncertainty_bytes, 0);
    assert_int_equal(model->site_count, 2);
    assert_int_equal(model->honesty.events, 5);
    assert_true(model->honesty.complete);
    assert_int_equal(model->threads, 1);
    assert_int_equal(model->processes, 1);
}

static void stops_at_the_moment_asked_for(void **state)
{
    (void)state;
    describe(0, 0);
    struct tide_lane_out *lane = tide_builder_lane(builder, 0, 0);
    tide_out_sync(lane, ticks_at(1), 0);
    tide_out_alloc(lane, birth(0x1000, 100), in_app);
    tide_out_time(lane, ticks_at(3));
    tide_out_alloc(lane, birth(0x2000, 200), in_app);
    tide_out_time(lane, ticks_at(6));
    tide_out_free(lane, 0x1000);
    tide_out_free(lane, 0x2000);
    open_trace();
    static const struct {
        double until_s;
        uint64_t live;
    } moments[] = {{0, 0},     {0.5, 0}, {1.5, 100}, {3.5, 300},
                   {5.9, 300}, {100, 0}, {-1, 0}};
    for (size_t i = 0; i < sizeof(moments) / sizeof(moments[0]); i++) {
        load_until(moments[i].until_s);
        assert_int_equal(model->summary[TIDE_IN_HEAP].live_bytes, moments[i].live);
    }
}

static void counts_no_mappings_made_by_libc(void **state)
{
    (void)state;
    describe(0, 0);
    struct tide_lane_out *lane = tide_builder_lane(builder, 0, 0);
    const uint64_t mine[] = {0x10000, 8192, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS};
    const uint64_t theirs[] = {0x90000, 8192, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS};
    tide_out_sync(lane, ticks_at(1), 0);
    tide_out_map(lane, TIDE_MAP_MMAP, mine, in_app);
    tide_out_map(lane, TIDE_MAP_MMAP, theirs, in_libc);
    load();
    assert_int_equal(model->summary[TIDE_IN_MMAP].peak_bytes, 8192);
    assert_int_equal(model->summary[TIDE_IN_MMAP].alloc_calls, 1);
}

static void knows_inherited_frees_by_the_process(void **state)
{
    (void)state;
    describe(0, 0);
    describe(1, TIDE_PROCESS_FORKED);
    for (uint32_t i = 0; i < 2; i++) {
        struct tide_lane_out *lane = tide_builder_lane(builder, i, 0);
        tide_out_sync(lane, ticks_at(1), 0);
        tide_out_free(lane, 0x1000);
        if (i == 0)
            tide_out_free(lane, 0x2000);
    }
    load();
    assert_int_equal(model->honesty.unmatched_frees, 2);
    assert_int_equal(model->honesty.inherited_frees, 1);
    assert_int_equal(model->processes, 2);
}

/* What a process held last counts until it holds something else, or has ended. */
static void adds_up_the_memory_of_processes(void **state)
{
    (void)state;
    static const struct {
        uint32_t process;
        double at;
        uint64_t bytes;
    } samples[] = {{0, 0.2, 100}, {0, 0.8, 500}, {1, 0.9, 300}, /* 800 */
                   {0, 1.1, 200}, {1, 1.2, 650},                /* 850 */
                   {1, 2.0, 700}, {2, 2.5, 140}};               /* 840 */
    const uint64_t ended[] = {0, ticks_at(1.5), 1, 0, 0, 0};
    for (uint32_t i = 0; i < 3; i++)
        describe(i, 0);
    tide_builder_note(&builder->run, TIDE_NOTE_PROCESS_END, ended, 6, NULL);
    for (size_t i = 0; i < sizeof(samples) / sizeof(samples[0]); i++) {
        const uint64_t rss[] = {samples[i].process, ticks_at(samples[i].at),
                                samples[i].bytes, samples[i].bytes};
        tide_builder_note(&builder->run, TIDE_NOTE_RSS, rss, 4, NULL);
    }
    load();
    assert_int_equal(model->rss_peak_bytes, 850);
}

static void explains_resident_memory(void **state)
{
    (void)state;
    describe(0, 0);
    const uint64_t rss[] = {0, ticks_at(1), 1000, 4000};
    tide_builder_note(&builder->run, TIDE_NOTE_RSS, rss, 4, NULL);
    struct tide_lane_out *lane = tide_builder_lane(builder, 0, 0);
    tide_out_sync(lane, ticks_at(1), 0);
    tide_out_alloc(lane, birth(0x1000, 1000), in_app);
    load();
    assert_int_equal(model->rss_peak_bytes, 4000);
    assert_true(fabs(model->honesty.rss_explained -
                     (double)TIDE_USABLE_GLIBC(1000) / 4000) < 1e-9);
}

/* Looks at a process may miss its peak; what the system told who waited for it is exact, also
 * when it has become another program, but not of what several held together. */
static void knows_whether_the_peak_was_seen(void **state)
{
    (void)state;
    static const struct {
        double at;
        bool known;
        uint32_t pid;
        bool exact;
    } cases[] = {
        {2, true, 100, true},
        {1, true, 100, false},
        {2, false, 100, false},
        {2, true, 101, false},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const uint64_t second[] = {cases[i].pid, 1, TIDE_START + 2, 0, 0};
        const uint64_t early[] = {0, ticks_at(1), 7000, 7000};
        const uint64_t last[] = {1, ticks_at(cases[i].at), 5000, 9000};
        const uint64_t left[] = {0, ticks_at(0.5), 0, 0, 0, TIDE_END_EXECED};
        const uint64_t ended[] = {1, ticks_at(2), cases[i].known,
                                  0, 0,           TIDE_END_EXITED};
        enter(NULL);
        describe(0, 0);
        tide_builder_note(&builder->notes[1], TIDE_NOTE_PROCESS, second, 5, NULL);
        tide_builder_note(&builder->run, TIDE_NOTE_RSS, early, 4, NULL);
        tide_builder_note(&builder->run, TIDE_NOTE_PROCESS_END, left, 6, NULL);
        tide_builder_note(&builder->run, TIDE_NOTE_RSS, last, 4, NULL);
        tide_builder_note(&builder->run, TIDE_NOTE_PROCESS_END, ended, 6, NULL);
        load();
        assert_int_equal(model->replaced, cases[i].pid == 100);
        assert_int_equal(model->rss_peak_exact, cases[i].exact);
        assert_int_equal(model->rss_peak_bytes, 9000);
        leave(NULL);
    }
}

/* A block of 1000 bytes, gone before 8192 are mapped, or not. */
static double explained(bool apart)
{
    static const uint64_t mine[] = {0x700000, 8192, PROT_READ | PROT_WRITE,
                                    MAP_PRIVATE | MAP_ANONYMOUS};
    const uint64_t rss[] = {0, ticks_at(1), 9000, 9000};
    enter(NULL);
    describe(0, 0);
    tide_builder_note(&builder->run, TIDE_NOTE_RSS, rss, 4, NULL);
    struct tide_lane_out *lane = tide_builder_lane(builder, 0, 0);
    tide_out_sync(lane, ticks_at(1), 0);
    tide_out_alloc(lane, birth(0x1000, 1000), in_app);
    if (apart)
        tide_out_free(lane, 0x1000);
    tide_out_time(lane, ticks_at(5));
    tide_out_map(lane, TIDE_MAP_MMAP, mine, in_app);
    load();
    const double found =
        model->honesty.rss_explained + (double)model->honesty.beyond_rss_bytes / 9000;
    assert_true(model->honesty.rss_explained <= 1); /* no part is above the whole */
    leave(NULL);
    return found;
}

/* The peaks of heap and mmap may be of two times: nobody ever held both. */
static void memory_of_two_times_is_not_added_up(void **state)
{
    (void)state;
    assert_true(fabs(explained(true) - 8192.0 / 9000) < 1e-9);
    assert_true(fabs(explained(false) - (8192.0 + TIDE_USABLE_GLIBC(1000)) / 9000) <
                1e-9);
}

/* Two processes keep a block each; the first ended without a word. */
static void tells_what_was_held_from_what_was_lost(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 2; i++) {
        const uint64_t ended[] = {i, ticks_at(2), 0, 0, 0, TIDE_END_EXITED, i == 0};
        describe(i, 0);
        tide_builder_note(&builder->run, TIDE_NOTE_PROCESS_END, ended, i == 0 ? 7 : 6,
                          NULL);
        struct tide_lane_out *lane = tide_builder_lane(builder, i, 0);
        tide_out_sync(lane, ticks_at(1), 0);
        tide_out_alloc(lane, birth(0x1000, i == 0 ? 100 : 30), in_app);
    }
    open_trace();
    const struct tide_model_options options = {.until_s = -1, .evidence = true};
    assert_int_equal(tide_model_load(trace, &options, &model), TIDE_OK);
    assert_true(trace->processes[0].silent);
    assert_false(trace->processes[1].silent);
    assert_int_equal(model->summary[TIDE_IN_HEAP].live_bytes, 130);
    assert_int_equal(tide_model_held_bytes(model), 100);
    assert_int_equal(model->site_count, 1);
    assert_int_equal(model->survivals[0].bytes, 130);
    assert_int_equal(model->losses[0].blocks, 1);
    assert_int_equal(model->losses[0].bytes, 30);
    assert_int_equal(model->losses[0].processes, 1);
}

/* How many of two programs of pid 7 the second took the place of. */
static uint64_t replaced(struct tide_process first, struct tide_process second)
{
    struct tide_process processes[] = {second, first};
    struct tide_trace two = {
        .processes = processes, .process_count = 2, .ticks_per_second = 1000};
    struct tide_model of_two = {.trace = &two};
    processes[0].pid = processes[1].pid = 7;
    assert_int_equal(tide_model_count_processes(&of_two, (uint32_t[2]){0}), TIDE_OK);
    assert_int_equal(of_two.processes, 2);
    return of_two.replaced;
}

static void tells_exec_from_a_pid_that_comes_again(void **state)
{
    (void)state;
    const struct tide_process first = {
        .ppid = 1, .ended = true, .begin_ticks = 1000, .end_ticks = 5000};
    const struct tide_process soon = {.ppid = 1, .begin_ticks = 5999};
    const struct tide_process late = {.ppid = 1, .begin_ticks = 6000};
    const struct tide_process before_it_was_seen = {.ppid = 1, .begin_ticks = 4000};
    struct tide_process other = soon;
    assert_int_equal(replaced(first, soon), 1);
    assert_int_equal(replaced(first, late), 0);
    assert_int_equal(replaced(first, before_it_was_seen), 1);
    other.forked = true;
    assert_int_equal(replaced(first, other), 0);
    other = soon;
    other.ppid = 2;
    assert_int_equal(replaced(first, other), 0);
}

/* The same when the mapping makes room for the block, and comes back after it. */
static void memory_that_takes_turns_is_not_added_up(void **state)
{
    (void)state;
    static const uint64_t mine[] = {0x700000, 8192, PROT_READ | PROT_WRITE,
                                    MAP_PRIVATE | MAP_ANONYMOUS};
    const uint64_t rss[] = {0, ticks_at(1), 9000, 9000};
    describe(0, 0);
    tide_builder_note(&builder->run, TIDE_NOTE_RSS, rss, 4, NULL);
    struct tide_lane_out *lane = tide_builder_lane(builder, 0, 0);
    tide_out_sync(lane, ticks_at(1), 0);
    tide_out_map(lane, TIDE_MAP_MMAP, mine, in_app);
    tide_out_time(lane, ticks_at(5));
    tide_out_map(lane, TIDE_MAP_MUNMAP, mine, in_app);
    tide_out_alloc(lane, birth(0x1000, 1000), in_app);
    tide_out_free(lane, 0x1000);
    tide_out_map(lane, TIDE_MAP_MMAP, mine, in_app);
    load();
    assert_int_equal(model->summary[TIDE_IN_HEAP].peak_bytes, 1000);
    assert_int_equal(model->summary[TIDE_IN_MMAP].peak_bytes, 8192);
    assert_true(fabs(model->honesty.rss_explained - 8192.0 / 9000) < 1e-9);
}

/* An orphan that executes another program has another parent than before. */
static void tells_exec_of_an_orphan(void **state)
{
    (void)state;
    struct tide_process processes[] = {
        {.pid = 6, .ppid = 5, .main = true, .ended = true, .end_ticks = 5000},
        {.pid = 7, .ppid = 6, .forked = true, .begin_ticks = 1000, .end_ticks = 5400},
        {.pid = 7, .ppid = 1, .begin_ticks = 5300},
    };
    struct tide_trace three = {
        .processes = processes, .process_count = 3, .ticks_per_second = 1000};
    struct tide_model orphaned = {.trace = &three};
    processes[1].ended = true;
    assert_int_equal(tide_model_count_processes(&orphaned, (uint32_t[3]){0}), TIDE_OK);
    assert_int_equal(orphaned.replaced, 1);

    struct tide_model reused = {.trace = &three};
    processes[0].end_ticks = 9000; /* its child would still be its own */
    assert_int_equal(tide_model_count_processes(&reused, (uint32_t[3]){0}), TIDE_OK);
    assert_int_equal(reused.replaced, 0);
}

static void counts_threads_by_their_notes(void **state)
{
    (void)state;
    describe(0, 0);
    for (uint64_t i = 0; i < 3; i++) { /* one after the other in lane 0; one twice */
        const uint64_t thread[] = {0, 500 + i, ticks_at(1) + i};
        const char *name[] = {"w", NULL};
        tide_builder_note(&builder->notes[0], TIDE_NOTE_THREAD, thread, 3, name);
        if (i == 0)
            tide_builder_note(&builder->notes[0], TIDE_NOTE_THREAD, thread, 3, name);
    }
    tide_out_sync(tide_builder_lane(builder, 0, 0), ticks_at(1), 0);
    tide_out_free(tide_builder_lane(builder, 0, 0), 0x10);
    load();
    assert_int_equal(model->threads, 3);
}

static void adds_up_all_lanes_of_a_rich_trace(void **state)
{
    (void)state;
    tide_builder_free(builder);
    builder = tide_rich_trace(false);
    char why[200];
    assert_int_equal(
        tide_trace_open_fd(tide_builder_fd(builder), "trace", why, sizeof(why), &trace),
        TIDE_OK);
    load_until(-1);
    const struct tide_summary *heap = &model->summary[TIDE_IN_HEAP];
    assert_int_equal(model->honesty.events, TIDE_RICH_EVENTS);
    assert_int_equal(model->processes, 3);
    uint64_t live = 0, peak = 0;
    for (size_t i = 0; i < model->site_count; i++) {
        if (model->sites[i].space != TIDE_IN_HEAP)
            continue;
        live += (uint64_t)model->sites[i].live_bytes;
        peak += (uint64_t)model->sites[i].peak_bytes;
    }
    assert_int_equal(live, heap->live_bytes);
    assert_int_equal(peak, heap->peak_bytes);
    assert_int_equal(tide_model_symbolize(model), TIDE_OK);
    struct tide_rows *rows;
    assert_int_equal(tide_rows_build(model, TIDE_METRIC_PEAK, TIDE_IN_HEAP, &rows),
                     TIDE_OK);
    assert_int_equal(rows->total_bytes, heap->peak_bytes);
    tide_rows_free(rows);
}

static uint64_t last_done, last_total, steps;

static void step(void *user, uint64_t done, uint64_t total)
{
    assert_ptr_equal(user, &steps);
    assert_true(done >= last_done);
    last_done = done;
    last_total = total;
    steps++;
}

static void tells_how_far_it_is(void **state)
{
    (void)state;
    describe(0, 0);
    struct tide_lane_out *lane = tide_builder_lane(builder, 0, 0);
    tide_out_sync(lane, ticks_at(1), 0);
    for (uint64_t i = 1; i <= 100000; i++) {
        tide_out_alloc(lane, birth(0x1000 + i * 32, 16), in_app);
        if (i % 5000 == 0)
            tide_out_cut(lane);
    }
    open_trace();
    const struct tide_model_options options = {.until_s = -1,
                                               .progress = {step, &steps}};
    assert_int_equal(tide_model_load(trace, &options, &model), TIDE_OK);
    assert_true(steps > 2);
    assert_int_equal(last_total, trace->file_bytes);
    assert_true(last_done <= last_total && last_done > 0);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, enter, leave)
    const struct CMUnitTest tests[] = {
        CASE(finds_totals_peak_and_leaks),
        CASE(stops_at_the_moment_asked_for),
        CASE(counts_no_mappings_made_by_libc),
        CASE(knows_inherited_frees_by_the_process),
        CASE(adds_up_the_memory_of_processes),
        CASE(explains_resident_memory),
        cmocka_unit_test(knows_whether_the_peak_was_seen),
        cmocka_unit_test(memory_of_two_times_is_not_added_up),
        CASE(memory_that_takes_turns_is_not_added_up),
        CASE(tells_what_was_held_from_what_was_lost),
        cmocka_unit_test(tells_exec_from_a_pid_that_comes_again),
        cmocka_unit_test(tells_exec_of_an_orphan),
        CASE(counts_threads_by_their_notes),
        CASE(adds_up_all_lanes_of_a_rich_trace),
        CASE(tells_how_far_it_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
