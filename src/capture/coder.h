/* capture/coder.h - turn events into the rows of trace/row.h.
 *
 * For: capture/.  Every function here writes into room that tide_stream_room() made, and
 * returns where the next word goes.  Nothing is published: the caller does that once the
 * row is whole.
 */
#ifndef TIDE_CAPTURE_CODER_H
#define TIDE_CAPTURE_CODER_H

#include <stdint.h>

#include "capture/memory.h"
#include "capture/modules.h"
#include "capture/stack_leaf.h"
#include "capture/stream.h"
#include "trace/row.h"

/* --- Stacks ------------------------------------------------------------------------- */

/* How the stack of an event is going to be written. */
struct tide_stack_plan {
    uint32_t depth; /* of the stack */
    uint32_t keep;  /* outermost ones that the reader has */
    uint32_t entry; /* ENTRY: of the recent stacks */
    uint8_t mode;   /* ENTRY, DELTA or LEAF of enum tide_stack_mode */
    uint64_t leaf;  /* for LEAF: the word */
};

/* A walk that could not use the cache: see how much of it is as before. */
static TIDE_COLD void tide_settle_walk(struct tide_stream *stream, uint32_t depth)
{
    uint32_t kept = 0;
    while (kept < depth && kept < stream->known &&
           stream->stack[kept] == stream->walk[depth - 1 - kept])
        kept++;
    for (uint32_t i = kept; i < depth; i++)
        stream->stack[i] = stream->walk[depth - 1 - i];
    uint64_t hash = 0;
    for (uint32_t i = 0; i < depth; i++)
        hash = tide_cache_hash(hash, stream->stack[i]);
    stream->hash = hash;
    stream->kept = kept;
    stream->in_walk = false;
}

/* For the stack that was just taken, of DEPTH frames. */
TIDE_HOT struct tide_stack_plan tide_plan_stack(struct tide_stream *stream,
                                                uint32_t depth)
{
    if (TIDE_UNLIKELY(stream->in_walk))
        tide_settle_walk(stream, depth);
    if (stream->known > stream->kept)
        stream->known = stream->kept;
    struct tide_stack_plan plan = {.depth = depth, .keep = stream->known};
    const bool known =
        tide_memory_has_stack(&stream->memory, stream->hash, &plan.entry);
    plan.mode = known ? TIDE_STACK_ENTRY : TIDE_STACK_DELTA;
    return plan;
}

static inline struct tide_stack_plan tide_plan_leaf(uint64_t pc)
{
    return (struct tide_stack_plan){.leaf = TIDE_WORD(TIDE_FRAME_NATIVE, pc),
                                    .mode = TIDE_STACK_LEAF};
}

/* The most bytes a row with this stack can take. */
static inline uint32_t tide_plan_bytes(const struct tide_stack_plan *plan)
{
    if (TIDE_LIKELY(plan->mode != TIDE_STACK_DELTA))
        return TIDE_RECORD_MAX;
    return TIDE_RECORD_MAX + (plan->depth - plan->keep) * (uint32_t)sizeof(uint64_t);
}

/* When a word is seen for the first time, its module is told. */
static inline void tide_see_word(struct tide_stream *stream, uint64_t word)
{
    uint64_t *const known = &stream->seen[tide_word_slot(word) % TIDE_SEEN_WORDS];
    if (TIDE_LIKELY(*known == word))
        return;
    *known = word;
    stream->has_seen = true;
    if (TIDE_WORD_KIND(word) == TIDE_FRAME_NATIVE)
        tide_modules_see(word, stream->epoch);
}

static TIDE_COLD uint64_t *tide_put_leaf(struct tide_stream *stream, uint64_t *out,
                                         uint64_t word)
{
    tide_see_word(stream, word);
    *out++ = word;
    return out;
}

/* A stack that is no entry yet, after one of BEFORE frames.  It becomes one. */
static __attribute__((noinline)) uint64_t *tide_put_delta(
    struct tide_stream *stream, uint64_t *out, const struct tide_stack_plan *plan,
    uint32_t before)
{
    const struct tide_leaf *const leaf = stream->cache.leaf;
    const uint32_t base = leaf ? leaf->base : plan->depth;
    const uint32_t pushed = plan->depth - plan->keep;
    *out++ = (before - plan->keep) | (uint64_t)pushed << 32;
    for (uint32_t i = plan->keep; i < plan->depth; i++) {
        const uint64_t word = i < base ? stream->stack[i] : tide_leaf_word(leaf, i);
        tide_see_word(stream, word);
        *out++ = word;
    }
    tide_memory_add_stack(&stream->memory, stream->hash);
    return out;
}

/* The stack that was taken last, of DEPTH frames, is the reader's present one now. */
TIDE_HOT void tide_stack_written(struct tide_stream *stream, uint32_t depth)
{
    stream->known = stream->cache.leaf ? stream->cache.leaf->base : depth;
    stream->depth = depth;
}

/* The row's last words: its stack. */
static inline uint64_t *tide_put_stack(struct tide_stream *stream, uint64_t *out,
                                       const struct tide_stack_plan *plan)
{
    if (TIDE_UNLIKELY(plan->mode == TIDE_STACK_LEAF))
        return tide_put_leaf(stream, out, plan->leaf);
    const uint32_t before = stream->depth;
    tide_stack_written(stream, plan->depth);
    if (plan->mode == TIDE_STACK_DELTA)
        out = tide_put_delta(stream, out, plan, before);
    return out;
}

/* --- Births -------------------------------------------------------------------------- */

/* ALLOC or MOVE_END. */
struct tide_birth {
    uint64_t address, size, usable;
    uint8_t op;
    uint8_t kind;       /* enum tide_alloc_kind */
    uint8_t align_log2; /* 0: none asked for */
    bool numbered;
    uint16_t number;
};

static TIDE_COLD uint64_t *tide_put_wide(uint64_t *out, const struct tide_birth *birth)
{
    *out++ = birth->address;
    *out++ = birth->size;
    *out++ = birth->usable;
    *out++ = birth->align_log2;
    return out;
}

static inline uint64_t *tide_put_birth(struct tide_stream *stream, uint64_t *out,
                                       const struct tide_birth *birth,
                                       const struct tide_stack_plan *plan)
{
    const uint64_t slack = birth->usable - birth->size;
    const bool wide = (birth->address >> TIDE_ROW_TAG_SHIFT | birth->size >> 32 |
                       slack >> 16 | birth->align_log2) != 0;
    const uint32_t tag = birth->op | (unsigned)plan->mode << TIDE_TAG_MODE_SHIFT |
                         (birth->numbered ? TIDE_TAG_NUMBERED : 0);
    const uint64_t entry = (uint64_t)plan->entry << TIDE_ROW_ENTRY_SHIFT;
    if (TIDE_LIKELY(!wide)) {
        out[0] = TIDE_ROW_HEAD(tag, birth->kind, birth->address);
        out[1] = birth->size | slack << TIDE_ROW_SLACK_SHIFT | entry;
        out += 2;
    } else {
        out[0] = TIDE_ROW_HEAD(tag | TIDE_ROW_WIDE, birth->kind, 0);
        out[1] = entry;
        out = tide_put_wide(out + 2, birth);
    }
    if (TIDE_UNLIKELY(birth->numbered))
        *out++ = birth->number;
    return tide_put_stack(stream, out, plan);
}

/* --- Deaths -------------------------------------------------------------------------- */

/* FREE or MOVE_BEGIN. */
struct tide_death {
    uint64_t address;
    uint8_t op;
    bool numbered;
    uint16_t number;
};

/* PLAN is NULL when deaths carry no stack. */
static inline uint64_t *tide_put_death(struct tide_stream *stream, uint64_t *out,
                                       const struct tide_death *death,
                                       const struct tide_stack_plan *plan)
{
    const bool wide = death->address >> TIDE_ROW_TAG_SHIFT;
    const uint32_t tag = death->op | (death->numbered ? TIDE_TAG_NUMBERED : 0) |
                         (plan ? TIDE_TAG_STACKED : 0) | (wide ? TIDE_ROW_WIDE : 0);
    *out++ = TIDE_ROW_HEAD(tag, plan ? plan->mode : 0, wide ? 0 : death->address);
    if (plan)
        *out++ = plan->entry;
    if (TIDE_UNLIKELY(wide))
        *out++ = death->address;
    if (TIDE_UNLIKELY(death->numbered))
        *out++ = death->number;
    return plan ? tide_put_stack(stream, out, plan) : out;
}

/* --- The rest ------------------------------------------------------------------------- */

static inline uint64_t *tide_put_time(uint64_t *out, uint64_t ticks)
{
    *out++ = TIDE_ROW_HEAD(TIDE_OP_TIME, 0, 0);
    *out++ = ticks;
    return out;
}

/* COUNT values, at most three. */
static inline uint64_t *tide_put_extra(uint64_t *out, uint8_t kind,
                                       const uint64_t *values, uint32_t count)
{
    *out++ = TIDE_ROW_HEAD(TIDE_OP_EXTRA, count, kind);
    for (uint32_t i = 0; i < count; i++)
        *out++ = values[i];
    return out;
}

#endif
