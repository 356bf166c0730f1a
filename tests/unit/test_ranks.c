/* unit/test_ranks.c - what each rank held by itself. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "model/model.h"
#include "model/ranks.h"
#include "trace/trace.h"
#include "trace_builder.h"

/* A trace that was opened, with its model. */
struct opened {
    int fd;
    struct tide_trace *trace;
    struct tide_model *model;
};

static void open_built(struct opened *opened, struct tide_builder *builder)
{
    char why[200];
    const struct tide_model_options options = {.until_s = -1};
    tide_builder_finish(builder);
    opened->fd = tide_builder_fd(builder);
    tide_builder_free(builder);
    assert_int_equal(
        tide_trace_open_fd(opened->fd, "trace", why, sizeof(why), &opened->trace),
        TIDE_OK);
    assert_int_equal(tide_model_load(opened->trace, &options, &opened->model), TIDE_OK);
}

static void close_opened(struct opened *opened)
{
    tide_model_free(opened->model);
    tide_trace_close(opened->trace);
    (void)close(opened->fd);
}

/* LANE makes a block of SIZE and, if it is so BRIEF, frees it. */
static void make(struct tide_lane_out *lane, uint64_t size, bool brief)
{
    const uint64_t words[] = {0x401000, 0x402000};
    const uint64_t address = 0x10000 + size * 64;
    tide_out_alloc(lane, (struct tide_out_birth){.address = address, .size = size},
                   (struct tide_out_stack){.words = words, .depth = 2});
    if (brief)
        tide_out_free(lane, address);
}

static void give_rank(struct tide_trace *trace, size_t process, uint64_t rank)
{
    trace->processes[process].ranked = true;
    trace->processes[process].rank = rank;
}

/* Processes 0 and 2 are of rank 9, 1 is of rank 4, and 3, their launcher, of none. */
static void a_rank_is_all_of_its_processes(void **state)
{
    (void)state;
    struct tide_builder *const builder = tide_builder_new();
    struct opened opened;
    struct tide_ranks ranks;
    for (uint32_t i = 0; i < 4; i++) {
        struct tide_lane_out *const lane = tide_builder_lane(builder, i, 0);
        tide_out_sync(lane, 1000 + i, 0);
        make(lane, 100 * (i + 1), true);
        make(lane, 10, false);
    }
    open_built(&opened, builder);
    give_rank(opened.trace, 0, 9);
    give_rank(opened.trace, 1, 4);
    give_rank(opened.trace, 2, 9);
    assert_int_equal(tide_ranks_find(opened.model, NULL, &ranks), TIDE_OK);
    static const struct tide_rank wanted[] = {
        {.ranked = true, .rank = 4, .processes = 1, .allocated_bytes = 210},
        {.ranked = true, .rank = 9, .processes = 2, .allocated_bytes = 420},
        {.processes = 1, .allocated_bytes = 410},
    };
    assert_int_equal(ranks.count, 3);
    assert_int_equal(ranks.ranked, 2);
    for (size_t i = 0; i < ranks.count; i++) {
        const struct tide_rank *const rank = &ranks.list[i];
        assert_int_equal(rank->ranked, wanted[i].ranked);
        assert_int_equal(rank->rank, wanted[i].rank);
        assert_int_equal(rank->processes, wanted[i].processes);
        assert_int_equal(rank->threads, wanted[i].processes);
        assert_int_equal(rank->allocated_bytes, wanted[i].allocated_bytes);
        assert_int_equal(rank->live_bytes, 10 * wanted[i].processes);
        assert_int_equal(rank->alloc_calls, 2 * wanted[i].processes);
    }
    assert_int_equal(ranks.list[0].peak_bytes, 200);
    assert_int_equal(ranks.list[0].peak_margin_bytes, 0);
    assert_in_range(ranks.list[1].peak_bytes + ranks.list[1].peak_margin_bytes, 310,
                    420);
    assert_int_equal(ranks.list[2].peak_bytes, 400);
    tide_ranks_release(&ranks);
    close_opened(&opened);
}

/* The processor's time to find COUNT ranks of two lanes each, that did nothing. */
static double time_of(struct opened *opened, size_t count)
{
    struct tide_trace large = *opened->trace;
    struct tide_ranks ranks;
    large.processes = calloc(count, sizeof(*large.processes));
    large.lanes = calloc(2 * count, sizeof(*large.lanes));
    assert_non_null(large.processes);
    assert_non_null(large.lanes);
    large.process_count = count;
    large.lane_count = 2 * count;
    large.thread_count = 0;
    for (size_t i = 0; i < count; i++) {
        give_rank(&large, i, count - i);
        for (size_t k = 0; k < 2; k++)
            large.lanes[2 * i + k] =
                (struct tide_lane){.process = (uint32_t)i, .number = (uint32_t)k};
    }
    opened->model->trace = &large;
    const clock_t before = clock();
    assert_int_equal(tide_ranks_find(opened->model, NULL, &ranks), TIDE_OK);
    const clock_t after = clock();
    opened->model->trace = opened->trace;
    assert_int_equal(ranks.ranked, count);
    assert_int_equal(ranks.list[count - 1].threads, 2);
    tide_ranks_release(&ranks);
    free(large.processes);
    free(large.lanes);
    return (double)(after - before) / CLOCKS_PER_SEC;
}

/* A file may name as many processes as it likes. */
static void many_ranks_take_time_in_proportion(void **state)
{
    (void)state;
    struct opened opened;
    open_built(&opened, tide_builder_new());
    const double some = time_of(&opened, 4000);
    const double many = time_of(&opened, 32000);
    close_opened(&opened);
    assert_true(many < 24 * some + 0.2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_rank_is_all_of_its_processes),
        cmocka_unit_test(many_ranks_take_time_in_proportion),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
