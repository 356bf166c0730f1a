/* tests/unit/test_coder.c - what the recorder writes is what the reader reads.
 *
 * Random events of all kinds go through the recorder's rows and the encoder's columns, and
 * must come out as they went in, with the stacks they had: both sides remember stacks, births
 * and addresses by rules that must agree to the letter.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "dice.h"
#include "random_rows.h"
#include "trace/decode.h"
#include "trace/encode.h"

/* The modules of frames are of no interest here. */
void tide_modules_see(uint64_t address, uint64_t epoch)
{
    (void)address;
    (void)epoch;
}

/* --- Reading ---------------------------------------------------------------------------- */

static void check_stack(const struct tide_stacks *stacks, uint32_t node,
                        const struct expected *e)
{
    assert_int_equal(stacks->nodes[node].depth, e->depth);
    for (uint32_t i = e->depth; i-- > 0; node = stacks->nodes[node].parent)
        assert_int_equal(stacks->frames[stacks->nodes[node].frame].value, e->words[i]);
}

static void check_event(const struct tide_stacks *stacks,
                        const struct tide_event *event, const struct expected *e)
{
    assert_int_equal(event->kind, e->kind);
    assert_int_equal(event->address, e->address);
    assert_int_equal(event->size, e->size);
    assert_int_equal(event->usable, e->usable);
    assert_int_equal(event->value, e->value);
    assert_int_equal(event->alloc_kind, e->alloc_kind);
    assert_int_equal(event->align_log2, e->align_log2);
    assert_int_equal(event->map_call, e->map_call);
    assert_int_equal(event->extra, e->extra);
    assert_int_equal(event->numbered, e->numbered);
    assert_int_equal(event->number, e->number);
    assert_true(e->ticks - event->ticks <
                TIDE_TEST_NOISE); /* not later, hardly earlier */
    check_stack(stacks, event->stack, e);
}

/* Everything needed to decode. */
struct reading {
    struct tide_trace trace;
    struct tide_process process; /* without modules: addresses stay as they are */
    struct tide_stacks stacks;
    struct tide_resolver resolver;
    struct tide_decoder decoder;
};

static void begin_reading(struct reading *r)
{
    memset(r, 0, sizeof(*r));
    r->trace.processes = &r->process;
    r->trace.process_count = 1;
    assert_int_equal(tide_stacks_init(&r->stacks), TIDE_OK);
    assert_int_equal(tide_resolver_init(&r->resolver, &r->trace, &r->stacks), TIDE_OK);
    tide_decoder_init(&r->decoder, &r->resolver, 0, 0);
}

static void end_reading(struct reading *r)
{
    tide_decoder_release(&r->decoder);
    tide_resolver_release(&r->resolver);
    tide_stacks_release(&r->stacks);
}

/* One chunk of BYTES of rows. */
static enum tide_status encode(struct tide_encoder *encoder,
                               struct tide_encoder_lane *lane, const uint64_t *rows,
                               size_t bytes, struct tide_column_bytes out[TIDE_COLUMNS])
{
    tide_encoder_begin(encoder, lane);
    const enum tide_status status = tide_encoder_add(encoder, lane, rows, bytes);
    tide_encoder_columns(encoder, out);
    return status;
}

/* The columns of BYTES of rows, in one piece of memory with slack, which the caller frees. */
static uint8_t *columns_of(struct tide_encoder *encoder, struct tide_encoder_lane *lane,
                           const uint64_t *rows, size_t bytes, struct tide_fields *out)
{
    struct tide_column_bytes columns[TIDE_COLUMNS];
    assert_int_equal(encode(encoder, lane, rows, bytes, columns), TIDE_OK);
    size_t sum = TIDE_COLUMN_SLACK, at = 0;
    for (size_t i = 0; i < TIDE_COLUMNS; i++)
        sum += columns[i].length;
    assert_true(sum <= TIDE_CHUNK_MAX);
    uint8_t *const memory = calloc(1, sum);
    *out = (struct tide_fields){.columns = true};
    for (size_t i = 0; i < TIDE_COLUMNS; i++) {
        memcpy(memory + at, columns[i].bytes, columns[i].length);
        out->at[i] = tide_cursor_over(memory + at, columns[i].length);
        at += columns[i].length;
    }
    return memory;
}

static void read_chunk(struct fixture *f, struct reading *r, struct tide_fields fields,
                       size_t *seen)
{
    struct tide_event events[64];
    enum tide_decode_stop stop;
    do {
        size_t count;
        stop = tide_decode(&r->decoder, &fields, events, 64, &count);
        for (size_t i = 0; i < count; i++)
            check_event(&r->stacks, &events[i], &f->events[(*seen)++]);
    } while (stop == TIDE_STOP_STAMP || stop == TIDE_STOP_FULL);
    assert_int_equal(stop, TIDE_STOP_EMPTY);
}

/* A chunk of another lane. */
static void encode_another(struct tide_encoder *encoder)
{
    const uint64_t sync[] = {TIDE_ROW_HEAD(TIDE_OP_SYNC, 0, 0), 1, 0, 7};
    struct tide_encoder_lane lane = {0};
    struct tide_column_bytes columns[TIDE_COLUMNS];
    assert_int_equal(encode(encoder, &lane, sync, sizeof(sync), columns), TIDE_OK);
    assert_false(lane.goes_on);
}

/* How many births of a chunk are at the place of a death, behind a birth, near and far. */
static void count_places(const struct tide_fields *fields, uint32_t counts[4])
{
    const struct tide_cursor *const places = &fields->at[TIDE_COLUMN_PLACES_HIGH];
    for (const uint8_t *at = places->at; at < places->end; at++)
        counts[*at < 16 ? 0 : *at < 254 ? 1 : *at - 252]++;
}

static void reads_what_was_written(void **state)
{
    struct fixture *f = *state;
    struct tide_encoder *const encoder = tide_encoder_new(0);
    uint32_t places[4] = {0};
    for (uint32_t run = 0; run < TIDE_TEST_RUNS; run++) {
        struct tide_encoder_lane lane = {0};
        struct reading r;
        size_t seen = 0;
        write_all(f, run);
        assert_true(f->cut_count > 2);
        f->cuts[f->cut_count] = (size_t)(f->end - f->rows);
        begin_reading(&r);
        for (uint32_t i = 0; i < f->cut_count; i++) {
            struct tide_fields fields;
            if (i % 3 == 2)
                encode_another(encoder); /* so the next chunk cannot go on */
            uint8_t *const memory =
                columns_of(encoder, &lane, f->rows + f->cuts[i],
                           (f->cuts[i + 1] - f->cuts[i]) * 8, &fields);
            assert_int_equal(lane.goes_on, i > 0 && i % 3 != 2);
            if (!lane.goes_on)
                tide_decoder_begin_chunk(&r.decoder);
            count_places(&fields, places);
            read_chunk(f, &r, fields, &seen);
            free(memory);
        }
        assert_int_equal(seen, f->count);
        assert_true(f->resetty < TIDE_TEST_EVENTS ||
                    f->stream->memory.stacks > 2 * TIDE_RECENTS);
        end_reading(&r);
    }
    for (size_t i = 0; i < 4; i++)
        assert_true(places[i] > 100);
    tide_encoder_free(encoder);
}

/* Rows that come in two pieces make the chunk that they make in one. */
static void pieces_make_the_same_chunk(void **state)
{
    struct fixture *f = *state;
    struct tide_encoder *const whole = tide_encoder_new(0);
    struct tide_encoder *const pieces = tide_encoder_new(0);
    struct tide_encoder_lane lane = {0}, other = {0};
    write_all(f, 0);
    f->cuts[f->cut_count] = (size_t)(f->end - f->rows);
    for (uint32_t i = 0; i + 2 <= f->cut_count; i += 2) {
        struct tide_column_bytes one[TIDE_COLUMNS], two[TIDE_COLUMNS];
        const size_t *const cuts = f->cuts + i;
        assert_int_equal(
            encode(whole, &lane, f->rows + cuts[0], (cuts[2] - cuts[0]) * 8, one),
            TIDE_OK);
        tide_encoder_begin(pieces, &other);
        for (uint32_t k = 0; k < 2; k++)
            assert_int_equal(tide_encoder_add(pieces, &other, f->rows + cuts[k],
                                              (cuts[k + 1] - cuts[k]) * 8),
                             TIDE_OK);
        tide_encoder_columns(pieces, two);
        for (size_t k = 0; k < TIDE_COLUMNS; k++) {
            assert_int_equal(one[k].length, two[k].length);
            assert_memory_equal(one[k].bytes, two[k].bytes, one[k].length);
        }
    }
    tide_encoder_free(whole);
    tide_encoder_free(pieces);
}

/* A lane goes on with the coder that made its last chunk, and with no other. */
static void only_the_last_coder_goes_on(void **state)
{
    (void)state;
    struct tide_encoder *const first = tide_encoder_new(0);
    struct tide_encoder *const second = tide_encoder_new(0);
    struct tide_encoder_lane lane = {0};
    tide_encoder_begin(first, &lane);
    assert_false(lane.goes_on);
    tide_encoder_begin(first, &lane);
    assert_true(lane.goes_on);
    encode_another(second); /* now both have made as many */
    encode_another(second);
    tide_encoder_begin(second, &lane);
    assert_false(lane.goes_on);
    tide_encoder_begin(first, &lane);
    assert_false(lane.goes_on);
    tide_encoder_begin(first, &lane);
    assert_true(lane.goes_on);
    tide_encoder_free(first);
    tide_encoder_free(second);
}

/* --- Stamps ---------------------------------------------------------------------------- */

enum { TIDE_TEST_STAMPS = 70, TIDE_TEST_STEP = 1000 };

/* How many stamps of BYTES of ROWS stay when those closer than CLOSE need not. */
static uint32_t stamps_kept(uint64_t close, const uint64_t *rows, size_t bytes)
{
    struct tide_encoder *const encoder = tide_encoder_new(close);
    struct tide_encoder_lane lane = {0};
    struct tide_column_bytes columns[TIDE_COLUMNS];
    uint32_t varints = 0;
    assert_int_equal(encode(encoder, &lane, rows, bytes, columns), TIDE_OK);
    for (size_t i = 0; i < columns[TIDE_COLUMN_TIMES].length; i++)
        varints += columns[TIDE_COLUMN_TIMES].bytes[i] < 0x80;
    tide_encoder_free(encoder);
    return varints / 2;
}

/* So many of TIDE_TEST_STAMPS stamps, TIDE_TEST_STEP ticks apart, stay when those closer
 * than CLOSE need not.  After each stands a free, and an EXTRA before or after that, if at
 * all. */
static uint32_t stamps_left(uint64_t close, unsigned flags, bool before, bool after)
{
    uint64_t rows[4 + 5 * TIDE_TEST_STAMPS] = {TIDE_ROW_HEAD(TIDE_OP_SYNC, flags, 0),
                                               TIDE_TEST_STEP, 0, 7};
    size_t words = 4;
    for (uint64_t i = 0; i < TIDE_TEST_STAMPS; i++) {
        rows[words++] = TIDE_ROW_HEAD(TIDE_OP_TIME, 0, 0);
        rows[words++] = (2 + i) * TIDE_TEST_STEP;
        if (before)
            rows[words++] = TIDE_ROW_HEAD(TIDE_OP_EXTRA, 0, TIDE_EXTRA_ITERATION_END);
        rows[words++] = TIDE_ROW_HEAD(TIDE_OP_FREE, 0, 4096 + 16 * i);
        if (after)
            rows[words++] = TIDE_ROW_HEAD(TIDE_OP_EXTRA, 0, TIDE_EXTRA_ITERATION_END);
    }
    return stamps_kept(close, rows, words * 8);
}

static void stamps_that_are_close_are_left_out(void **state)
{
    (void)state;
    const uint64_t most = 1u << 30, some = 7 * TIDE_TEST_STEP / 2;
    assert_int_equal(stamps_left(0, 0, false, false), TIDE_TEST_STAMPS);
    assert_int_equal(stamps_left(TIDE_TEST_STEP, 0, false, false), TIDE_TEST_STAMPS);
    assert_int_equal(stamps_left(some, 0, false, false), TIDE_TEST_STAMPS / 4);
    /* However close, a stretch has less than 1024 events. */
    assert_int_equal(stamps_left(most, 0, false, false), TIDE_TEST_STAMPS / 7);
    /* Not in threads, nor beside what a program tells; the first stamp has nothing before
     * it in the last case. */
    assert_int_equal(stamps_left(most, 1, false, false), TIDE_TEST_STAMPS);
    assert_int_equal(stamps_left(most, TIDE_ROW_UNORDERED, false, false),
                     TIDE_TEST_STAMPS);
    assert_int_equal(stamps_left(most, 0, true, false), TIDE_TEST_STAMPS);
    assert_int_equal(stamps_left(most, 0, false, true), TIDE_TEST_STAMPS - 1);
}

/* How many of three stamps stay, of which the last two have nothing between them but a REST;
 * those closer than TIDE_TEST_STEP need not. */
static uint32_t stamps_around(uint64_t rest)
{
    const uint64_t rows[] = {
        TIDE_ROW_HEAD(TIDE_OP_SYNC, 0, 0),
        1000,
        0,
        7,
        TIDE_ROW_HEAD(TIDE_OP_TIME, 0, 0),
        1001,
        TIDE_ROW_HEAD(TIDE_OP_FREE, 0, 4096),
        TIDE_ROW_HEAD(TIDE_OP_TIME, 0, 0),
        1002,
        TIDE_ROW_HEAD(TIDE_OP_TIME, 0, 0),
        1002 + rest,
        TIDE_ROW_HEAD(TIDE_OP_FREE, 0, 8192),
    };
    return stamps_kept(TIDE_TEST_STEP, rows, sizeof(rows));
}

static void a_stamp_before_a_rest_is_kept(void **state)
{
    (void)state;
    assert_int_equal(stamps_around(TIDE_TEST_STEP), 2);
    assert_int_equal(stamps_around(TIDE_TEST_STEP - 10), 0);
}

/* --- Damage ---------------------------------------------------------------------------- */

typedef enum tide_decode_stop decode(struct tide_decoder *decoder,
                                     struct tide_fields *fields,
                                     struct tide_event *events, size_t max,
                                     size_t *count);

/* Decode FIELDS by HOW; the sum of what came out. */
static uint64_t sum_of(struct tide_fields fields, decode *how)
{
    struct reading r;
    struct tide_event events[64];
    enum tide_decode_stop stop;
    uint64_t sum = 0;
    begin_reading(&r);
    do {
        size_t count;
        stop = how(&r.decoder, &fields, events, 64, &count);
        for (size_t i = 0; i < count; i++)
            sum = sum * 31 + events[i].kind + events[i].address + events[i].size +
                  events[i].usable + events[i].stack;
    } while (stop == TIDE_STOP_STAMP || stop == TIDE_STOP_FULL);
    sum = sum * 31 + stop;
    end_reading(&r);
    return sum;
}

/* The fast decoder and the plain one believe the same of damaged records. */
static void damage_looks_the_same_to_both(void **state)
{
    struct fixture *f = *state;
    struct tide_encoder *const encoder = tide_encoder_new(0);
    struct tide_encoder_lane lane = {0};
    struct tide_fields fields;
    write_all(f, 1);
    uint8_t *const memory =
        columns_of(encoder, &lane, f->rows, f->cuts[1] * 8, &fields);
    const size_t length = (size_t)(fields.at[TIDE_COLUMNS - 1].end - memory);
    uint64_t whole = sum_of(fields, tide_decode), damaged = 0;
    for (int round = 0; round < 500; round++) {
        uint8_t before[4];
        uint32_t at[4];
        const uint32_t wounds = 1 + roll(f, 4);
        for (uint32_t i = 0; i < wounds; i++) {
            at[i] = roll(f, (uint32_t)length);
            before[i] = memory[at[i]];
            memory[at[i]] = (uint8_t)roll(f, 256);
        }
        const uint64_t sum = sum_of(fields, tide_decode);
        assert_int_equal(sum, sum_of(fields, tide_decode_plain));
        damaged += sum != whole;
        for (uint32_t i = wounds; i-- > 0;)
            memory[at[i]] = before[i];
    }
    assert_true(damaged > 300);
    free(memory);
    tide_encoder_free(encoder);
}

/* What only looks like rows becomes columns that can be read, or is refused. */
static void encodes_no_nonsense(void **state)
{
    (void)state;
    struct tide_encoder *const encoder = tide_encoder_new(0);
    struct dice dice = {7};
    uint32_t refused = 0;
    for (int round = 0; round < 20000; round++) {
        struct tide_encoder_lane lane = {.stacks = 1};
        struct tide_column_bytes columns[TIDE_COLUMNS];
        uint64_t rows[32];
        const size_t words = 1 + (uint32_t)dice_roll(&dice, 32);
        for (size_t i = 0; i < words; i++) {
            rows[i] = (uint64_t)dice_roll(&dice, 1 << 30) << 34 |
                      (uint64_t)dice_roll(&dice, 1 << 30) << 8;
            if (dice_roll(&dice, 3) == 0)
                rows[i] = (uint64_t)dice_roll(&dice, 256) << TIDE_ROW_TAG_SHIFT |
                          (uint64_t)dice_roll(&dice, 8);
        }
        refused += encode(encoder, &lane, rows, words * 8, columns) != TIDE_OK;
        assert_true(lane.current < TIDE_RECENTS);
        for (size_t i = 0; i < TIDE_COLUMNS; i++)
            assert_true(columns[i].length <= words * 20);
    }
    assert_true(refused > 1000 && refused < 20000);
    tide_encoder_free(encoder);
}

/* COUNT words of a row, again and again, in all the rows that a chunk takes; instead of
 * UINT64_MAX they have numbers that are about as large. */
static void fill(uint64_t *rows, const uint64_t *row, size_t count)
{
    struct dice dice = {11};
    for (size_t i = 0; i < TIDE_ROWS_MAX / sizeof(*rows); i++)
        rows[i] = row[i % count] < UINT64_MAX ? row[i % count]
                                              : dice_bits(&dice) | 1ull << 63;
}

/* However long the numbers of a program are, what is made of them fits. */
static void the_longest_numbers_fit(void **state)
{
    (void)state;
    const unsigned known = TIDE_OP_ALLOC | TIDE_STACK_ENTRY << TIDE_TAG_MODE_SHIFT;
    const unsigned delta = TIDE_OP_ALLOC | TIDE_STACK_DELTA << TIDE_TAG_MODE_SHIFT;
    const uint64_t far = TIDE_ROW_ADDRESS_MASK, most = UINT64_MAX, five = 5ull << 32;
    const uint64_t large = UINT64_MAX >> 16 | 4095ull << TIDE_ROW_ENTRY_SHIFT;
    const struct {
        uint64_t row[8];
        size_t count;
    } rows[] = {
        {{TIDE_ROW_HEAD(known, 9, far), large, TIDE_ROW_HEAD(known, 10, 7), large}, 4},
        {{TIDE_ROW_HEAD(delta, 9, far), large, five, most, most, most, most, most}, 8},
        {{TIDE_ROW_HEAD(delta, 9, far), large, UINT32_MAX}, 3},
        {{TIDE_ROW_HEAD(TIDE_OP_FREE, 0, far), TIDE_ROW_HEAD(TIDE_OP_FREE, 0, 7)}, 2},
        {{TIDE_ROW_HEAD(TIDE_OP_SYNC, 255, 0), most, most, most}, 4},
        {{TIDE_ROW_HEAD(TIDE_OP_EXTRA, 7, far), most, most, most, most, most, most,
          most},
         8},
        {{TIDE_ROW_HEAD(TIDE_OP_EXTRA, 0, far)}, 1},
        {{TIDE_ROW_HEAD(TIDE_OP_EXTRA, 255, far)}, 1},
    };
    struct tide_encoder *const encoder = tide_encoder_new(0);
    uint64_t *const words = malloc(TIDE_ROWS_MAX);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct tide_encoder_lane lane = {0};
        struct tide_column_bytes columns[TIDE_COLUMNS];
        size_t sum = 0;
        fill(words, rows[i].row, rows[i].count);
        (void)encode(encoder, &lane, words, TIDE_ROWS_MAX, columns); /* all or most */
        for (size_t k = 0; k < TIDE_COLUMNS; k++)
            sum += columns[k].length;
        assert_true(sum > TIDE_ROWS_MAX * 3ull / 4);
        assert_true(sum <= TIDE_CHUNK_MAX);
    }
    free(words);
    tide_encoder_free(encoder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(reads_what_was_written, set_up, tear_down),
        cmocka_unit_test_setup_teardown(pieces_make_the_same_chunk, set_up, tear_down),
        cmocka_unit_test(only_the_last_coder_goes_on),
        cmocka_unit_test(stamps_that_are_close_are_left_out),
        cmocka_unit_test(a_stamp_before_a_rest_is_kept),
        cmocka_unit_test_setup_teardown(damage_looks_the_same_to_both, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(encodes_no_nonsense, set_up, tear_down),
        cmocka_unit_test(the_longest_numbers_fit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
