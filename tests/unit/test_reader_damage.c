/* unit/test_reader_damage.c - opening a trace that ends early or is damaged. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "reader_bench.h"
#include "trace_walk.h"

static void says_where_it_ends_early(void **state)
{
    (void)state;
    struct tide_builder *builder = tide_builder_new();
    add_chunk(builder, 0, 0);
    const size_t first = builder->file.length;
    add_chunk(builder, 0, 0);
    struct tide_trace *trace;
    assert_int_equal(open_bytes(builder->file.bytes, builder->file.length - 3, &trace),
                     TIDE_OK);
    assert_false(trace->complete);
    assert_int_equal(trace->good_bytes, first);
    assert_int_equal(trace->chunk_count, 1);
    assert_int_equal(trace->end_ticks, trace->lane_chunks[0].last_ticks > 1000
                                           ? trace->lane_chunks[0].last_ticks
                                           : 1000);
    char expected[100];
    snprintf(expected, sizeof(expected), "ends early at byte %zu; %zu bytes unread",
             first, builder->file.length - 3 - first);
    assert_string_equal(trace->problem, expected);
    tide_trace_close(trace);
    tide_builder_free(builder);
}

/* Five chunks; the third is damaged at byte AT of its header by ^= MASK. */
static struct tide_trace *open_damaged(size_t at, uint8_t mask, size_t *third)
{
    struct tide_builder *builder = tide_builder_new();
    for (int i = 0; i < 5; i++) {
        if (i == 2)
            *third = builder->file.length;
        add_chunk(builder, 0, 0);
    }
    tide_builder_finish(builder);
    builder->file.bytes[*third + at] ^= mask;
    struct tide_trace *trace = opened(builder);
    tide_builder_free(builder);
    return trace;
}

static void goes_on_after_a_damaged_header(void **state)
{
    (void)state;
    /* magic, kind, stored_bytes a little and a lot, raw_bytes */
    const struct {
        size_t at;
        uint8_t mask;
    } cases[] = {{0, 1}, {5, 64}, {8, 1}, {10, 1}, {11, 128}, {15, 1}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        size_t third = 0;
        struct tide_trace *trace = open_damaged(cases[i].at, cases[i].mask, &third);
        char expected[60];
        snprintf(expected, sizeof(expected), "damaged at byte %zu: 1 chunk,", third);
        assert_true(trace->complete);
        assert_int_equal(trace->bad_chunks, 1);
        assert_int_equal(trace->chunk_count, 4);
        assert_ptr_equal(strstr(trace->problem, expected), trace->problem);
        assert_true(trace->good_bytes < trace->file_bytes);
        tide_trace_close(trace);
    }
}

static void a_chunk_that_says_a_wrong_lane_is_dropped(void **state)
{
    (void)state;
    const size_t process = 16, lane = 20, sequence = 24;
    const size_t fields[] = {process, lane, lane + 3, sequence, sequence + 3};
    for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
        size_t third = 0;
        struct tide_trace *trace = open_damaged(fields[i], 8, &third);
        assert_int_equal(trace->lane_count, 1);
        assert_int_equal(trace->process_count, 1);
        assert_int_equal(trace->chunk_count, 4);
        assert_int_equal(trace->bad_chunks, 1);
        tide_trace_close(trace);
    }
}

static void a_damaged_payload_is_found_when_it_is_read(void **state)
{
    (void)state;
    struct tide_builder *builder = tide_builder_new();
    size_t third = 0;
    for (int i = 0; i < 5; i++) {
        if (i == 2)
            third = builder->file.length;
        add_chunk(builder, 0, 0);
    }
    tide_builder_finish(builder);
    builder->file.bytes[third + 70] ^= 1;
    struct tide_walked walked;
    assert_int_equal(tide_walk(tide_builder_fd(builder), 10, &walked), TIDE_OK);
    assert_int_equal(walked.trace->bad_chunks, 1);
    assert_int_equal(walked.counts.lost_records, 1);
    assert_int_equal(walked.counts.events, 4);
    char expected[60];
    snprintf(expected, sizeof(expected), "damaged chunk at byte %zu", third);
    assert_string_equal(walked.trace->problem, expected);
    tide_walk_release(&walked);
    tide_builder_free(builder);
}

static void says_what_stands_after_the_end(void **state)
{
    (void)state;
    struct tide_builder *builder = tide_builder_new();
    tide_builder_finish(builder);
    tide_buffer_put(&builder->file, "more", 4);
    struct tide_trace *trace = opened(builder);
    assert_true(trace->complete);
    assert_ptr_equal(strstr(trace->problem, "4 bytes after the end"), trace->problem);
    tide_trace_close(trace);
    tide_builder_free(builder);
}

static void a_huge_hole_takes_no_time(void **state)
{
    (void)state;
    struct tide_builder *builder = tide_builder_new();
    struct tide_trace *trace;
    add_chunk(builder, 0, 0);
    const int fd = tide_builder_fd(builder);
    if (ftruncate(fd, (off_t)1 << 50) == 0) {
        assert_int_equal(tide_trace_open_fd(fd, "trace", why, sizeof(why), &trace),
                         TIDE_OK);
        assert_false(trace->complete);
        assert_int_equal(trace->chunk_count, 1);
        tide_trace_close(trace);
    } else {
        close(fd);
    }
    tide_builder_free(builder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(says_where_it_ends_early),
        cmocka_unit_test(goes_on_after_a_damaged_header),
        cmocka_unit_test(a_chunk_that_says_a_wrong_lane_is_dropped),
        cmocka_unit_test(a_damaged_payload_is_found_when_it_is_read),
        cmocka_unit_test(says_what_stands_after_the_end),
        cmocka_unit_test(a_huge_hole_takes_no_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
