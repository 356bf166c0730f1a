/* tests/unit/test_coder.c - what the recorder writes is what the reader reads.
 *
 * Random births and deaths go through the recorder's rows and the encoder's columns, and must
 * come out as they went in, with the stacks they had: both sides remember stacks, births and
 * addresses by rules that must agree to the letter.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "capture/coder.h"
#include "dice.h"
#include "trace/decode.h"
#include "trace/encode.h"

enum {
    TIDE_TEST_EVENTS = 40000,
    TIDE_TEST_BYTES = 1 << 23,
    TIDE_TEST_CHUNK = 3000, /* events in a chunk, about */
    TIDE_TEST_LIVE = 3000,
    TIDE_TEST_SYNC = 700, /* events between resets, about */
    TIDE_TEST_DEEPEST = 30,
    TIDE_TEST_STACKS = 1500,
};

/* The modules of frames are of no interest here. */
void tide_modules_see(uint64_t address)
{
    (void)address;
}

struct expected {
    uint64_t address, size, usable;
    uint8_t kind, alloc_kind, align_log2;
    uint32_t depth; /* 0: no stack */
    uint64_t words[TIDE_TEST_DEEPEST];
};

struct fixture {
    struct tide_stream *stream;
    uint64_t *rows, *end; /* end: where the next one goes */
    size_t cuts[64];      /* in words: where chunks begin */
    uint32_t cut_count;
    struct expected *events;
    size_t count;
    uint64_t live[TIDE_TEST_LIVE], usable[TIDE_TEST_LIVE];
    uint64_t freed[64]; /* addresses to be used again, by class */
    struct dice dice;
};

static uint32_t roll(struct fixture *f, uint32_t sides)
{
    return (uint32_t)dice_roll(&f->dice, (int)sides);
}

static int set_up(void **state)
{
    struct fixture *f = calloc(1, sizeof(*f));
    f->stream = calloc(1, sizeof(*f->stream));
    f->rows = calloc(1, TIDE_TEST_BYTES);
    f->events = calloc(TIDE_TEST_EVENTS, sizeof(*f->events));
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    free(f->stream);
    free(f->rows);
    free(f->events);
    free(f);
    return 0;
}

/* --- Writing --------------------------------------------------------------------------- */

/* As put_reset() of stream.c does it. */
static void reset(struct fixture *f)
{
    struct tide_stream *s = f->stream;
    memset(s->seen, 0, sizeof(s->seen));
    s->depth = s->known = 0;
    s->memory.stacks = 0;
    *f->end++ = TIDE_ROW_HEAD(TIDE_OP_SYNC, 0, 0);
    for (int i = 0; i < 3; i++)
        *f->end++ = 0;
}

/* One of TIDE_TEST_STACKS stacks, taken as an engine takes it; they share their outer frames. */
static uint32_t take_stack(struct fixture *f)
{
    struct tide_stream *s = f->stream;
    struct dice shape = {1 + roll(f, TIDE_TEST_STACKS)};
    const uint32_t depth = 1 + (uint32_t)dice_roll(&shape, TIDE_TEST_DEEPEST);
    for (uint32_t i = 0; i < depth; i++)
        s->walk[depth - 1 - i] =
            0x1000 + i * 16 + (uint32_t)dice_roll(&shape, i + 3 < depth ? 2 : 5);
    s->in_walk = true;
    return depth;
}

static void expect(struct fixture *f, const struct expected *event)
{
    f->events[f->count++] = *event;
}

static void make_birth(struct fixture *f, uint32_t at)
{
    struct tide_stream *s = f->stream;
    const uint32_t class = roll(f, 64);
    struct expected e = {.kind = TIDE_EVENT_ALLOC,
                         .alloc_kind = (uint8_t)roll(f, 3),
                         .size = roll(f, 8) ? 16 * class + 1 : roll(f, 1u << 30)};
    e.usable = roll(f, 5) ? TIDE_USABLE_GLIBC(e.size) : e.size + roll(f, 99);
    e.align_log2 = roll(f, 20) ? 0 : 6;
    const uint64_t again = f->freed[tide_class_of(e.usable) % 64];
    e.address = again && roll(f, 2)
                    ? again
                    : 0x7f0000000000 + 8ull * roll(f, 1u << 24) + (roll(f, 50) == 0);
    const uint32_t depth = take_stack(f);
    const struct tide_birth birth = {.address = e.address,
                                     .size = e.size,
                                     .usable = e.usable,
                                     .op = TIDE_OP_ALLOC,
                                     .kind = e.alloc_kind,
                                     .align_log2 = e.align_log2};
    const bool leaf = roll(f, 40) == 0;
    const struct tide_stack_plan plan =
        leaf ? tide_plan_leaf(0x5000 + at) : tide_plan_stack(s, depth);
    f->end = tide_put_birth(s, f->end, &birth, &plan);
    e.depth = leaf ? 1 : depth;
    memcpy(e.words, s->stack, depth * sizeof(e.words[0]));
    if (leaf)
        e.words[0] = 0x5000 + at;
    expect(f, &e);
    f->live[at] = e.address;
    f->usable[at] = e.usable;
}

static void make_death(struct fixture *f, uint32_t at)
{
    const struct tide_death death = {.address = f->live[at], .op = TIDE_OP_FREE};
    f->end = tide_put_death(f->stream, f->end, &death, NULL);
    expect(f, &(struct expected){.kind = TIDE_EVENT_FREE, .address = f->live[at]});
    f->freed[tide_class_of(f->usable[at]) % 64] = f->live[at];
    f->live[at] = 0;
}

static void write_all(struct fixture *f, uint32_t seed)
{
    memset(f->stream, 0, sizeof(*f->stream));
    memset(f->live, 0, sizeof(f->live));
    f->end = f->rows;
    f->count = f->cut_count = 0;
    f->dice = (struct dice){seed};
    f->cuts[f->cut_count++] = 0;
    reset(f);
    while (f->count < TIDE_TEST_EVENTS &&
           (size_t)(f->end - f->rows) * 8 + 4096 < TIDE_TEST_BYTES) {
        const uint32_t at = roll(f, TIDE_TEST_LIVE);
        if (roll(f, TIDE_TEST_CHUNK) == 0 && f->cut_count < 60)
            f->cuts[f->cut_count++] = (size_t)(f->end - f->rows);
        if (roll(f, TIDE_TEST_SYNC) == 0)
            reset(f);
        if (f->live[at])
            make_death(f, at);
        else
            make_birth(f, at);
    }
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
    if (e->kind != TIDE_EVENT_ALLOC)
        return;
    assert_int_equal(event->size, e->size);
    assert_int_equal(event->usable, e->usable);
    assert_int_equal(event->alloc_kind, e->alloc_kind);
    assert_int_equal(event->align_log2, e->align_log2);
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

/* The columns of BYTES of rows, in one piece of memory with slack, which the caller frees. */
static uint8_t *columns_of(struct tide_encoder *encoder, struct tide_encoder_lane *lane,
                           const uint64_t *rows, size_t bytes, struct tide_fields *out)
{
    struct tide_column_bytes columns[TIDE_COLUMNS];
    assert_int_equal(tide_encode(encoder, lane, rows, bytes, columns), TIDE_OK);
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
    tide_decoder_begin_chunk(&r->decoder);
    do {
        size_t count;
        stop = tide_decode(&r->decoder, &fields, events, 64, &count);
        for (size_t i = 0; i < count; i++)
            check_event(&r->stacks, &events[i], &f->events[(*seen)++]);
    } while (stop == TIDE_STOP_STAMP || stop == TIDE_STOP_FULL);
    assert_int_equal(stop, TIDE_STOP_EMPTY);
}

static void reads_what_was_written(void **state)
{
    struct fixture *f = *state;
    struct tide_encoder *const encoder = tide_encoder_new();
    for (uint32_t seed = 1; seed <= 5; seed++) {
        struct tide_encoder_lane lane = {0};
        struct reading r;
        size_t seen = 0;
        write_all(f, seed);
        assert_true(f->cut_count > 2);
        f->cuts[f->cut_count] = (size_t)(f->end - f->rows);
        begin_reading(&r);
        for (uint32_t i = 0; i < f->cut_count; i++) {
            struct tide_fields fields;
            uint8_t *const memory =
                columns_of(encoder, &lane, f->rows + f->cuts[i],
                           (f->cuts[i + 1] - f->cuts[i]) * 8, &fields);
            read_chunk(f, &r, fields, &seen);
            free(memory);
        }
        assert_int_equal(seen, f->count);
        end_reading(&r);
    }
    tide_encoder_free(encoder);
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
    struct tide_encoder *const encoder = tide_encoder_new();
    struct tide_encoder_lane lane = {0};
    struct tide_fields fields;
    write_all(f, 3);
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
    struct tide_encoder *const encoder = tide_encoder_new();
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
        refused += tide_encode(encoder, &lane, rows, words * 8, columns) != TIDE_OK;
        assert_true(lane.current < TIDE_RECENTS);
        for (size_t i = 0; i < TIDE_COLUMNS; i++)
            assert_true(columns[i].length <= words * 20);
    }
    assert_true(refused > 1000 && refused < 20000);
    tide_encoder_free(encoder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(reads_what_was_written, set_up, tear_down),
        cmocka_unit_test_setup_teardown(damage_looks_the_same_to_both, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(encodes_no_nonsense, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
