/* tests/unit/random_rows.h - random events of all kinds, as rows and as they are expected.
 *
 * For: test_coder.c, test_encode_usual.c.
 */
#ifndef TIDE_TESTS_RANDOM_ROWS_H
#define TIDE_TESTS_RANDOM_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "capture/coder.h"
#include "dice.h"
#include "trace/decode.h"

enum {
    TIDE_TEST_EVENTS = 40000,
    TIDE_TEST_BYTES = 1 << 23,
    TIDE_TEST_CHUNK = 3000, /* events in a chunk, about */
    TIDE_TEST_LIVE = 3000,
    TIDE_TEST_SYNC = 700, /* events between resets, about */
    TIDE_TEST_DEEPEST = 30,
    TIDE_TEST_STACKS = 1500,
    TIDE_TEST_NOISE = 256, /* ticks that a stamp may be behind */
};

struct expected {
    uint64_t address, size, usable, value, ticks;
    uint8_t kind, alloc_kind, align_log2, map_call, extra, numbered;
    uint16_t number;
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
    uint64_t ticks;
    bool numbers;             /* the lane takes numbers */
    uint32_t stacks;          /* so many different ones */
    uint32_t resetty, chunky; /* a reset, a chunk in so many events */
    struct dice dice;
};

/* What a run of events is like: with rare resets entries of recent stacks are used again. */
static const struct {
    uint32_t seed, stacks, resetty, chunky;
    bool numbers;
} RUNS[] = {
    {1, TIDE_TEST_STACKS, TIDE_TEST_SYNC, TIDE_TEST_CHUNK, false},
    {2, TIDE_TEST_STACKS, TIDE_TEST_SYNC, TIDE_TEST_CHUNK, true},
    {3, TIDE_TEST_STACKS, TIDE_TEST_SYNC, TIDE_TEST_CHUNK, false},
    {4, 2 * TIDE_RECENTS, 2 * TIDE_TEST_EVENTS, TIDE_TEST_EVENTS / 4, false},
    {5, 2 * TIDE_RECENTS, 2 * TIDE_TEST_EVENTS, TIDE_TEST_EVENTS / 4, true},
    {6, 3, TIDE_TEST_SYNC, TIDE_TEST_CHUNK, true},
};
enum { TIDE_TEST_RUNS = sizeof(RUNS) / sizeof(RUNS[0]) };

static uint32_t roll(struct fixture *f, uint32_t sides)
{
    return (uint32_t)dice_roll(&f->dice, (int)sides);
}

static int set_up(void **state)
{
    struct fixture *f = calloc(1, sizeof(*f));
    f->stream = aligned_alloc(_Alignof(struct tide_stream), sizeof(*f->stream));
    if (f->stream)
        memset(f->stream, 0, sizeof(*f->stream));
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
    *f->end++ = TIDE_ROW_HEAD(TIDE_OP_SYNC, f->numbers, 0);
    *f->end++ = f->ticks;
    for (int i = 0; i < 2; i++)
        *f->end++ = 0;
}

static void stamp(struct fixture *f)
{
    *f->end++ = TIDE_ROW_HEAD(TIDE_OP_TIME, 0, 0);
    *f->end++ = f->ticks;
}

/* One of f->stacks stacks, taken as an engine takes it; they share their outer frames. */
static uint32_t take_stack(struct fixture *f)
{
    struct tide_stream *s = f->stream;
    struct dice shape = {1 + roll(f, f->stacks)};
    const uint32_t depth = 1 + (uint32_t)dice_roll(&shape, TIDE_TEST_DEEPEST);
    for (uint32_t i = 0; i < depth; i++)
        s->walk[depth - 1 - i] =
            0x1000 + i * 16 + (uint32_t)dice_roll(&shape, i + 3 < depth ? 2 : 5);
    s->in_walk = true;
    return depth;
}

/* The event that comes next, perhaps with a number. */
static struct expected begin_event(struct fixture *f, uint8_t kind)
{
    struct expected e = {.kind = kind, .ticks = f->ticks};
    e.numbered = f->numbers ? TIDE_ON_SLOT : 0;
    if (f->numbers && roll(f, 3) == 0) {
        e.numbered |= TIDE_HAS_NUMBER;
        e.number = (uint16_t)roll(f, 1 << 16);
    }
    return e;
}

static bool has_number(const struct expected *e)
{
    return e->numbered & TIDE_HAS_NUMBER;
}

/* A stack for E: how to write it. */
static struct tide_stack_plan plan(struct fixture *f, struct expected *e)
{
    if (roll(f, 40) == 0) {
        e->depth = 1;
        e->words[0] = 0x5000 + roll(f, 5000);
        return tide_plan_leaf(e->words[0]);
    }
    e->depth = take_stack(f);
    const struct tide_stack_plan made = tide_plan_stack(f->stream, e->depth);
    memcpy(e->words, f->stream->stack, e->depth * sizeof(e->words[0]));
    return made;
}

static void expect(struct fixture *f, const struct expected *event)
{
    f->events[f->count++] = *event;
}

/* Size, usable size and address, now and then too large for a narrow row. */
static void choose_block(struct fixture *f, struct expected *e)
{
    const uint32_t class = roll(f, 64);
    e->size = roll(f, 8) ? 16 * class + 1 : roll(f, 1u << 30);
    if (roll(f, 100) == 0)
        e->size = dice_number(&f->dice) >> 1;
    e->usable = roll(f, 5) ? TIDE_USABLE_GLIBC(e->size) : e->size + roll(f, 99);
    if (roll(f, 100) == 0)
        e->usable = e->size + (dice_number(&f->dice) >> 2);
    e->align_log2 = roll(f, 20) ? 0 : (uint8_t)roll(f, 64);
    const uint64_t again = f->freed[tide_class_of(e->usable) % 64];
    e->address = again && roll(f, 2)
                     ? again
                     : 0x7f0000000000 + 8ull * roll(f, 1u << 24) + (roll(f, 50) == 0);
    const uint32_t at = roll(f, TIDE_TEST_LIVE);
    if (f->live[at] && roll(f, 10) == 0) /* behind another */
        e->address = f->live[at] + f->usable[at] + 8;
    if (roll(f, 100) == 0)
        e->address = 1 + (dice_number(&f->dice) >> 9);
}

static void make_birth(struct fixture *f, uint32_t at, uint8_t op, uint64_t old)
{
    struct expected e =
        begin_event(f, op == TIDE_OP_ALLOC ? TIDE_EVENT_ALLOC : TIDE_EVENT_MOVE_END);
    choose_block(f, &e);
    e.alloc_kind = (uint8_t)roll(f, 3);
    e.value = old;
    const struct tide_birth birth = {.address = e.address,
                                     .size = e.size,
                                     .usable = e.usable,
                                     .op = op,
                                     .kind = e.alloc_kind,
                                     .align_log2 = e.align_log2,
                                     .numbered = has_number(&e),
                                     .number = e.number};
    const struct tide_stack_plan stack = plan(f, &e);
    f->end = tide_put_birth(f->stream, f->end, &birth, &stack);
    expect(f, &e);
    f->live[at] = e.address;
    f->usable[at] = e.usable;
}

static void make_death(struct fixture *f, uint32_t at, uint8_t op)
{
    struct expected e =
        begin_event(f, op == TIDE_OP_FREE ? TIDE_EVENT_FREE : TIDE_EVENT_MOVE_BEGIN);
    const struct tide_death death = {.address = f->live[at],
                                     .op = op,
                                     .numbered = has_number(&e),
                                     .number = e.number};
    e.address = f->live[at];
    struct tide_stack_plan stack;
    const bool stacked = roll(f, 4) == 0;
    if (stacked)
        stack = plan(f, &e);
    f->end = tide_put_death(f->stream, f->end, &death, stacked ? &stack : NULL);
    expect(f, &e);
    f->freed[tide_class_of(f->usable[at]) % 64] = f->live[at];
    f->live[at] = 0;
}

/* As tide_record_move_back() does it. */
static void make_move_back(struct fixture *f, uint64_t old)
{
    const bool gone = roll(f, 2);
    struct expected e =
        begin_event(f, gone ? TIDE_EVENT_MOVE_GONE : TIDE_EVENT_MOVE_BACK);
    if (gone)
        e.numbered = 0;
    e.address = old;
    *f->end++ =
        TIDE_ROW_HEAD(TIDE_OP_MOVE_BACK | (has_number(&e) ? TIDE_TAG_NUMBERED : 0) |
                          (gone ? TIDE_TAG_GONE : 0),
                      0, 0);
    if (has_number(&e))
        *f->end++ = e.number;
    else
        e.number = 0;
    expect(f, &e);
}

static void make_move(struct fixture *f, uint32_t at)
{
    const uint64_t old = f->live[at];
    make_death(f, at, TIDE_OP_MOVE_BEGIN);
    if (roll(f, 8))
        make_birth(f, at, TIDE_OP_MOVE_END, old);
    else
        make_move_back(f, old);
}

/* As tide_put_map() does it. */
static void make_map(struct fixture *f)
{
    struct expected e = begin_event(f, TIDE_EVENT_MAP);
    e.map_call = (uint8_t)roll(f, TIDE_MAP_CALLS);
    const struct tide_stack_plan stack = plan(f, &e);
    *f->end++ = TIDE_ROW_HEAD(TIDE_OP_MAP | (has_number(&e) ? TIDE_TAG_NUMBERED : 0) |
                                  (unsigned)stack.mode << TIDE_TAG_MODE_SHIFT,
                              e.map_call, stack.entry);
    *f->end++ = e.address = dice_number(&f->dice);
    *f->end++ = e.size = dice_number(&f->dice);
    *f->end++ = e.value = dice_number(&f->dice);
    *f->end++ = e.usable = dice_number(&f->dice); /* argument 2 */
    if (has_number(&e))
        *f->end++ = e.number;
    f->end = tide_put_stack(f->stream, f->end, &stack);
    expect(f, &e);
}

static void make_label(struct fixture *f)
{
    struct expected e = {.kind = TIDE_EVENT_EXTRA,
                         .ticks = f->ticks,
                         .extra = TIDE_EXTRA_LABEL,
                         .value = dice_number(&f->dice),
                         .usable = dice_number(&f->dice),   /* its second value */
                         .address = dice_number(&f->dice)}; /* and its third */
    const uint64_t values[] = {e.value, e.usable, e.address};
    f->end = tide_put_extra(f->end, e.extra, values, 3);
    expect(f, &e);
}

static void make_event(struct fixture *f)
{
    const uint32_t at = roll(f, TIDE_TEST_LIVE), what = roll(f, 200);
    if (what == 0)
        make_map(f);
    else if (what == 1)
        make_label(f);
    else if (!f->live[at])
        make_birth(f, at, TIDE_OP_ALLOC, 0);
    else if (what < 20)
        make_move(f, at);
    else
        make_death(f, at, TIDE_OP_FREE);
}

static void write_all(struct fixture *f, uint32_t run)
{
    memset(f->stream, 0, sizeof(*f->stream));
    memset(f->live, 0, sizeof(f->live));
    f->end = f->rows;
    f->count = f->cut_count = 0;
    f->dice = (struct dice){RUNS[run].seed};
    f->stacks = RUNS[run].stacks;
    f->resetty = RUNS[run].resetty;
    f->chunky = RUNS[run].chunky;
    f->numbers = RUNS[run].numbers;
    f->ticks = 1000;
    f->cuts[f->cut_count++] = 0;
    reset(f);
    while (f->count + 2 <= TIDE_TEST_EVENTS &&
           (size_t)(f->end - f->rows) * 8 + 4096 < TIDE_TEST_BYTES) {
        if (roll(f, f->chunky) == 0 && f->cut_count < 60)
            f->cuts[f->cut_count++] = (size_t)(f->end - f->rows);
        const bool resets = roll(f, f->resetty) == 0;
        if (resets || roll(f, 50) == 0) {
            f->ticks += roll(f, 1000);
            (resets ? reset : stamp)(f);
        }
        make_event(f);
    }
}

#endif
