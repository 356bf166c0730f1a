/* tests/unit/test_lane_in.c - chunks of a lane by columns, written and read again. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "trace/encode.h"
#include "trace/lane_in.h"
#include "trace/writer.h"
#include "trace_builder.h"
#include "trace_walk.h"

/* A trace of one lane in the making. */
struct fixture {
    int fd;
    struct tide_writer *writer;
    struct tide_encoder *encoder;
    struct tide_encoder_lane lane;
    uint32_t sequence;
    struct tide_walked read;
};

static int set_up(void **state)
{
    struct fixture *const f = calloc(1, sizeof(*f));
    struct tide_builder *const builder = tide_builder_new(); /* for the header */
    if (!f)
        return -1;
    *state = f;
    f->fd = tide_builder_fd(builder);
    f->encoder = tide_encoder_new(0);
    const enum tide_status status =
        tide_writer_continue(dup(f->fd), builder->file.length, 0, &f->writer);
    tide_builder_free(builder);
    return status == TIDE_OK ? 0 : -1;
}

static int tear_down(void **state)
{
    struct fixture *const f = *state;
    tide_walk_release(&f->read);
    tide_writer_close(f->writer);
    tide_encoder_free(f->encoder);
    free(f);
    return 0;
}

static void write_columns(struct fixture *f, uint16_t flags,
                          const struct tide_column_bytes columns[TIDE_COLUMNS])
{
    const struct tide_chunk_label label = {.kind = TIDE_CHUNK_EVENTS,
                                           .flags = flags,
                                           .sequence = f->sequence++,
                                           .first_ticks = 1000,
                                           .last_ticks = 1 << 20};
    assert_int_equal(tide_writer_events(f->writer, &label, columns), TIDE_OK);
}

/* The chunk of so many words of ROWS. */
static void write_rows(struct fixture *f, const uint64_t *rows, size_t words)
{
    struct tide_column_bytes columns[TIDE_COLUMNS];
    tide_encoder_begin(f->encoder, &f->lane);
    assert_int_equal(tide_encoder_add(f->encoder, &f->lane, rows, words * 8), TIDE_OK);
    tide_encoder_columns(f->encoder, columns);
    write_columns(f, f->lane.goes_on ? TIDE_CHUNK_GOES_ON : TIDE_CHUNK_RESET, columns);
}

static void read_all(struct fixture *f)
{
    assert_int_equal(tide_walk(f->fd, 64, &f->read), TIDE_OK);
}

/* A lane may rest right after it has said what time it is. */
static void a_stamp_alone_is_a_chunk(void **state)
{
    struct fixture *const f = *state;
    const uint64_t first[] = {TIDE_ROW_HEAD(TIDE_OP_SYNC, 0, 0), 1024, 0, 7,
                              TIDE_ROW_HEAD(TIDE_OP_FREE, 0, 4096)};
    const uint64_t stamp[] = {TIDE_ROW_HEAD(TIDE_OP_TIME, 0, 0), 4096};
    const uint64_t last[] = {TIDE_ROW_HEAD(TIDE_OP_FREE, 0, 8192)};
    write_rows(f, first, 5);
    write_rows(f, stamp, 2);
    write_rows(f, last, 1);
    read_all(f);
    assert_int_equal(f->read.counts.lost_records, 0);
    assert_int_equal(tide_walk_count(&f->read, TIDE_EVENT_FREE), 2);
    const struct tide_event *const event = &f->read.events[f->read.count - 1];
    assert_int_equal(event->address, 8192);
    assert_int_equal(event->ticks, 4096);
}

static const uint8_t SYNC[] = {1, 0, 7, 0, 9}; /* and a byte more */

/* A chunk of SYNC and FREES frees, and a byte that belongs to nothing. */
static void write_too_much(struct fixture *f, size_t frees)
{
    uint8_t *const tags = malloc(1 + frees), *const deaths = calloc(1, frees);
    assert_true(tags && deaths);
    memset(tags, TIDE_OP_FREE, 1 + frees);
    tags[0] = TIDE_OP_SYNC;
    const struct tide_column_bytes columns[TIDE_COLUMNS] = {
        [TIDE_COLUMN_TAGS] = {tags, 1 + frees},
        [TIDE_COLUMN_DEATHS] = {deaths, frees},
        [TIDE_COLUMN_REST] = {SYNC, sizeof(SYNC)},
    };
    write_columns(f, TIDE_CHUNK_RESET, columns);
    free(tags);
    free(deaths);
}

/* However many events there was room for when the records ended: a lane that is brought back
 * to a mark has less, and must find the same. */
static void bytes_left_over_are_noticed(void **state)
{
    struct fixture *const f = *state;
    for (size_t frees = 1; frees <= TIDE_STRETCH_MAX; frees++)
        write_too_much(f, frees);
    read_all(f);
    assert_int_equal(f->read.counts.lost_records, TIDE_STRETCH_MAX);
}

/* What stands before a reset would be decoded with what nobody remembers. */
static void a_reset_has_no_stamp_before_it(void **state)
{
    struct fixture *const f = *state;
    const uint8_t tags[] = {TIDE_OP_SYNC, TIDE_OP_FREE}, death = 0;
    uint8_t times[] = {0, 9};
    const struct tide_column_bytes columns[TIDE_COLUMNS] = {
        [TIDE_COLUMN_TAGS] = {tags, 2},
        [TIDE_COLUMN_TIMES] = {times, 2},
        [TIDE_COLUMN_DEATHS] = {&death, 1},
        [TIDE_COLUMN_REST] = {SYNC, 4},
    };
    write_columns(f, TIDE_CHUNK_RESET, columns);
    times[0] = 1;
    write_columns(f, TIDE_CHUNK_RESET, columns);
    read_all(f);
    assert_int_equal(f->read.trace->bad_chunks, 1);
    assert_int_equal(f->read.counts.lost_records, 1);
    assert_int_equal(tide_walk_count(&f->read, TIDE_EVENT_FREE), 1);
}

/* --- What is remembered ---------------------------------------------------------------- */

enum { TIDE_TEST_APART = 4096, TIDE_TEST_BASE = 1 << 30 };

static uint64_t place(size_t i)
{
    return TIDE_TEST_BASE + i * TIDE_TEST_APART;
}

/* So many blocks are born, or as many die that nobody knew, then the first of them dies, or
 * one is born where it was.  The length of COLUMN by then. */
static size_t remember(struct fixture *f, bool births, size_t count,
                       enum tide_column column)
{
    const uint64_t sync[] = {TIDE_ROW_HEAD(TIDE_OP_SYNC, 0, 0), 1024, 0, 7};
    const unsigned leaf = TIDE_STACK_LEAF << TIDE_TAG_MODE_SHIFT;
    uint64_t *const rows = calloc(4 + 3 * (count + 1), 8), *end = rows + 4;
    assert_non_null(rows);
    memcpy(rows, sync, sizeof(sync));
    for (size_t i = 0; i <= count; i++) {
        if (births == (i < count)) {
            *end++ = TIDE_ROW_HEAD(TIDE_OP_ALLOC | leaf, 0, place(i % count));
            *end++ = 24;
            *end++ = 0x1000;
        } else {
            *end++ = TIDE_ROW_HEAD(TIDE_OP_FREE, 0, place(i % count));
        }
    }
    struct tide_column_bytes columns[TIDE_COLUMNS];
    tide_encoder_begin(f->encoder, &f->lane);
    assert_int_equal(
        tide_encoder_add(f->encoder, &f->lane, rows, (size_t)(end - rows) * 8),
        TIDE_OK);
    tide_encoder_columns(f->encoder, columns);
    write_columns(f, TIDE_CHUNK_RESET, columns);
    free(rows);
    return columns[column].length;
}

static void check_memory(const struct fixture *f, size_t at, size_t count)
{
    for (size_t i = 0; i < count; i++)
        assert_int_equal(f->read.events[at + i].address, place(i));
    assert_int_equal(f->read.events[at + count].address, place(0));
}

/* The last birth and the last death that are remembered are, and those before are not. */
static void as_much_is_remembered_as_is_said(void **state)
{
    struct fixture *const f = *state;
    assert_int_equal(remember(f, true, TIDE_AGES, TIDE_COLUMN_AGES_LOW), 1);
    assert_int_equal(remember(f, true, TIDE_AGES + 1, TIDE_COLUMN_AGES_LOW), 0);
    assert_int_equal(remember(f, false, TIDE_DEAD, TIDE_COLUMN_PLACES_LOW), 1);
    assert_int_equal(remember(f, false, TIDE_DEAD + 1, TIDE_COLUMN_PLACES_LOW), 0);
    read_all(f);
    size_t at = 0;
    for (size_t i = 0; i < f->read.count; i++)
        if (f->read.events[i].kind != TIDE_EVENT_SPAN)
            f->read.events[at++] = f->read.events[i];
    assert_int_equal(at, 2 * (TIDE_AGES + TIDE_DEAD) + 6);
    check_memory(f, 0, TIDE_AGES);
    check_memory(f, TIDE_AGES + 1, TIDE_AGES + 1);
    check_memory(f, 2 * TIDE_AGES + 3, TIDE_DEAD);
    check_memory(f, 2 * TIDE_AGES + TIDE_DEAD + 4, TIDE_DEAD + 1);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(a_stamp_alone_is_a_chunk),
        CASE(bytes_left_over_are_noticed),
        CASE(a_reset_has_no_stamp_before_it),
        CASE(as_much_is_remembered_as_is_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
