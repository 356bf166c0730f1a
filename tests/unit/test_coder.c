/* tests/unit/test_coder.c - what the recorder writes is what the reader reads.
 *
 * Random births and deaths go through the recorder's coder, and through the columns of a
 * file, and must come out as they went in, with the stacks they had: both sides remember
 * stacks, births and addresses by rules that must agree to the letter.
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
#include "trace/record_columns.h"

enum {
    TIDE_TEST_EVENTS = 40000,
    TIDE_TEST_BYTES = 1 << 21,
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
    uint8_t *rows;
    size_t length;
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
    uint8_t *out = f->rows + f->length;
    memset(s->dictionary, 0, sizeof(s->dictionary));
    s->depth = s->known = 0;
    s->last_kind = TIDE_KIND_MALLOC;
    s->memory.stacks = s->memory.current = s->memory.births = 0;
    s->memory.next_birth = s->memory.last_death = 0;
    memset(s->memory.pile_count, 0, sizeof(s->memory.pile_count));
    *out++ = TIDE_OP_SYNC;
    for (int i = 0; i < 4; i++)
        out = tide_put_varint(out, 0);
    f->length = (size_t)(out - f->rows);
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
    const uint64_t again = f->freed[tide_class_within(e.usable) % 64];
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
    f->length =
        (size_t)(tide_put_birth(s, f->rows + f->length, &birth, &plan) - f->rows);
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
    f->length = (size_t)(tide_put_death(f->stream, f->rows + f->length, &death, NULL) -
                         f->rows);
    expect(f, &(struct expected){.kind = TIDE_EVENT_FREE, .address = f->live[at]});
    f->freed[tide_class_within(f->usable[at]) % 64] = f->live[at];
    f->live[at] = 0;
}

static void write_all(struct fixture *f, uint32_t seed)
{
    f->dice = (struct dice){seed};
    reset(f);
    while (f->count < TIDE_TEST_EVENTS && f->length + 4096 < TIDE_TEST_BYTES) {
        const uint32_t at = roll(f, TIDE_TEST_LIVE);
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

static void read_all(struct fixture *f, const uint8_t *rows)
{
    struct tide_trace trace;
    struct tide_stacks stacks;
    struct tide_resolver resolver;
    struct tide_decoder decoder;
    struct tide_event events[64];
    struct tide_process process;
    memset(&trace, 0, sizeof(trace));
    memset(&process, 0,
           sizeof(process)); /* without modules: addresses stay as they are */
    trace.processes = &process;
    trace.process_count = 1;
    assert_int_equal(tide_stacks_init(&stacks), TIDE_OK);
    assert_int_equal(tide_resolver_init(&resolver, &trace, &stacks), TIDE_OK);
    tide_decoder_init(&decoder, &resolver, 0, 0);
    struct tide_cursor cursor = tide_cursor_over(rows, f->length);
    enum tide_decode_stop stop;
    size_t seen = 0;
    do {
        size_t count;
        stop = tide_decode(&decoder, &cursor, events, 64, &count);
        for (size_t i = 0; i < count; i++)
            check_event(&stacks, &events[i], &f->events[seen++]);
    } while (stop == TIDE_STOP_STAMP || stop == TIDE_STOP_FULL);
    assert_int_equal(stop, TIDE_STOP_EMPTY);
    assert_int_equal(seen, f->count);
    tide_decoder_release(&decoder);
    tide_resolver_release(&resolver);
    tide_stacks_release(&stacks);
}

/* Through the columns and back. */
static uint8_t *through_columns(const struct fixture *f)
{
    struct tide_columns columns;
    uint8_t *const memory = malloc(TIDE_COLUMNS * f->length);
    uint8_t *const rows = malloc(f->length);
    for (size_t i = 0; i < TIDE_COLUMNS; i++)
        columns.bytes[i] = memory + i * f->length;
    assert_true(tide_columns_split(f->rows, f->length, &columns));
    size_t sum = 0;
    for (size_t i = 0; i < TIDE_COLUMNS; i++)
        sum += columns.length[i];
    assert_int_equal(sum, f->length);
    assert_true(tide_columns_join(&columns, rows, f->length));
    assert_memory_equal(rows, f->rows, f->length);
    assert_false(tide_columns_join(&columns, rows, f->length - 1));
    columns.length[TIDE_COLUMN_TAGS]--;
    assert_false(tide_columns_join(&columns, rows, f->length));
    free(memory);
    return rows;
}

static void reads_what_was_written(void **state)
{
    struct fixture *f = *state;
    for (uint32_t seed = 1; seed <= 5; seed++) {
        memset(f->stream, 0, sizeof(*f->stream));
        memset(f->live, 0, sizeof(f->live));
        f->length = f->count = 0;
        write_all(f, seed);
        read_all(f, f->rows);
        uint8_t *const rows = through_columns(f);
        read_all(f, rows);
        free(rows);
    }
}

/* --- Damage ---------------------------------------------------------------------------- */

typedef enum tide_decode_stop decode(struct tide_decoder *decoder,
                                     struct tide_cursor *cursor,
                                     struct tide_event *events, size_t max,
                                     size_t *count);

/* Decode ROWS by HOW; the sum of what came out. */
static uint64_t sum_of(const uint8_t *rows, size_t length, decode *how)
{
    struct tide_trace trace;
    struct tide_process process;
    struct tide_stacks stacks;
    struct tide_resolver resolver;
    struct tide_decoder decoder;
    struct tide_event events[64];
    memset(&trace, 0, sizeof(trace));
    memset(&process, 0, sizeof(process));
    trace.processes = &process;
    trace.process_count = 1;
    assert_int_equal(tide_stacks_init(&stacks), TIDE_OK);
    assert_int_equal(tide_resolver_init(&resolver, &trace, &stacks), TIDE_OK);
    tide_decoder_init(&decoder, &resolver, 0, 0);
    struct tide_cursor cursor = tide_cursor_over(rows, length);
    enum tide_decode_stop stop;
    uint64_t sum = 0;
    do {
        size_t count;
        stop = how(&decoder, &cursor, events, 64, &count);
        for (size_t i = 0; i < count; i++)
            sum = sum * 31 + events[i].kind + events[i].address + events[i].size +
                  events[i].usable + events[i].stack;
    } while (stop == TIDE_STOP_STAMP || stop == TIDE_STOP_FULL);
    sum = sum * 31 + stop;
    tide_decoder_release(&decoder);
    tide_resolver_release(&resolver);
    tide_stacks_release(&stacks);
    return sum;
}

/* The fast decoder and the plain one believe the same of damaged records. */
static void damage_looks_the_same_to_both(void **state)
{
    struct fixture *f = *state;
    write_all(f, 3);
    const size_t length = f->length < 20000 ? f->length : 20000;
    uint8_t rows[20000];
    for (int round = 0; round < 500; round++) {
        memcpy(rows, f->rows, length);
        for (uint32_t i = 0; i <= roll(f, 3); i++)
            rows[roll(f, (uint32_t)length)] = (uint8_t)roll(f, 256);
        assert_int_equal(sum_of(rows, length, tide_decode),
                         sum_of(rows, length, tide_decode_plain));
    }
}

/* Nothing may be relied upon that only looks like records. */
static void splits_no_nonsense(void **state)
{
    struct fixture *f = *state;
    struct dice dice = {7};
    uint8_t rows[256], memory[TIDE_COLUMNS][sizeof(rows)];
    struct tide_columns columns;
    (void)f;
    for (int round = 0; round < 20000; round++) {
        const size_t length = 1 + (uint32_t)dice_roll(&dice, sizeof(rows));
        for (size_t i = 0; i < length; i++)
            rows[i] = (uint8_t)(uint32_t)dice_roll(&dice, 256);
        for (size_t i = 0; i < TIDE_COLUMNS; i++)
            columns.bytes[i] = memory[i];
        if (!tide_columns_split(rows, length, &columns))
            continue;
        uint8_t again[sizeof(rows)];
        assert_true(tide_columns_join(&columns, again, length));
        assert_memory_equal(rows, again, length);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(reads_what_was_written, set_up, tear_down),
        cmocka_unit_test_setup_teardown(damage_looks_the_same_to_both, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(splits_no_nonsense, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
