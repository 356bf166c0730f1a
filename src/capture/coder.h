/* capture/coder.h - turn events into the records of trace/format.h.
 *
 * For: capture/.  Every function here writes into room that tide_stream_room() made, and
 * returns where the next byte goes.  Nothing is published: the caller does that once the
 * record is whole.
 */
#ifndef TIDE_CAPTURE_CODER_H
#define TIDE_CAPTURE_CODER_H

#include <stdint.h>

#include "base/raw/varint.h"
#include "capture/memory.h"
#include "capture/modules.h"
#include "capture/stream.h"
#include "trace/format.h"

/* --- Stacks ------------------------------------------------------------------------- */

/* How the stack of an event is going to be written. */
struct tide_stack_plan {
    uint32_t depth; /* of the stack */
    uint32_t keep;  /* outermost ones that the reader has */
    uint32_t entry; /* SAME, RECENT: of the recent stacks */
    uint8_t mode;   /* enum tide_stack_mode */
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
    const struct tide_memory *const memory = &stream->memory;
    plan.entry = memory->current;
    if (memory->stacks > 0 && memory->recent[plan.entry].hash == stream->hash)
        plan.mode = TIDE_STACK_SAME;
    else if (tide_memory_has_stack(memory, stream->hash, &plan.entry))
        plan.mode = TIDE_STACK_RECENT;
    else
        plan.mode = TIDE_STACK_DELTA;
    return plan;
}

static inline struct tide_stack_plan tide_plan_leaf(uint64_t pc)
{
    return (struct tide_stack_plan){.leaf = TIDE_WORD(TIDE_FRAME_NATIVE, pc),
                                    .mode = TIDE_STACK_LEAF};
}

/* The most bytes a record with this stack can take. */
static inline uint32_t tide_plan_bytes(const struct tide_stack_plan *plan)
{
    if (TIDE_LIKELY(plan->mode != TIDE_STACK_DELTA))
        return TIDE_RECORD_MAX;
    return TIDE_RECORD_MAX + (plan->depth - plan->keep) * (uint32_t)TIDE_VARINT_MAX;
}

static inline uint8_t *tide_put_word(struct tide_stream *stream, uint8_t *out,
                                     uint64_t word)
{
    const uint32_t slot = tide_word_slot(word);
    if (TIDE_LIKELY(stream->dictionary[slot] == word))
        return tide_put_varint(out, (uint64_t)slot << 1);
    stream->dictionary[slot] = word;
    if (TIDE_WORD_KIND(word) == TIDE_FRAME_NATIVE)
        tide_modules_see(word);
    return tide_put_varint(out, word << 1 | 1);
}

/* A lone frame goes out whole, past the dictionary; `leaves` only remembers whose module
 * was said already. */
static TIDE_COLD uint8_t *tide_put_leaf(struct tide_stream *stream, uint8_t *out,
                                        uint64_t word)
{
    uint64_t *known = &stream->leaves[tide_word_slot(word) % TIDE_LEAVES];
    if (TIDE_UNLIKELY(*known != word)) {
        *known = word;
        tide_modules_see(word);
    }
    return tide_put_varint(out, word);
}

static inline uint8_t *tide_put_delta(struct tide_stream *stream, uint8_t *out,
                                      const struct tide_stack_plan *plan)
{
    const struct tide_leaf *const leaf = stream->cache.leaf;
    if (leaf) {
        memcpy(stream->stack + leaf->base, leaf->words,
               leaf->frames * sizeof(leaf->words[0]));
        stream->known = plan->depth;
    }
    out = tide_put_varint(out, stream->depth - plan->keep);
    out = tide_put_varint(out, plan->depth - plan->keep);
    for (uint32_t i = plan->keep; i < plan->depth; i++)
        out = tide_put_word(stream, out, stream->stack[i]);
    tide_memory_add_stack(&stream->memory, stream->hash);
    return out;
}

TIDE_HOT uint8_t *tide_put_stack(struct tide_stream *stream, uint8_t *out,
                                 const struct tide_stack_plan *plan)
{
    if (plan->mode == TIDE_STACK_SAME)
        return out;
    if (TIDE_UNLIKELY(plan->mode == TIDE_STACK_LEAF))
        return tide_put_leaf(stream, out, plan->leaf);
    stream->known = stream->cache.leaf ? stream->cache.leaf->base : plan->depth;
    if (TIDE_LIKELY(plan->mode == TIDE_STACK_RECENT)) {
        stream->memory.current = plan->entry;
        out = tide_put_varint(out, plan->entry);
    } else {
        out = tide_put_delta(stream, out, plan);
    }
    stream->depth = plan->depth;
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

static inline uint8_t *tide_put_near(uint8_t *out, uint64_t address, uint64_t base)
{
    return tide_put_varint_any(out, tide_zigzag((int64_t)(address - base) >> 3));
}

static inline uint8_t tide_shape_of(const struct tide_birth *birth, uint64_t base)
{
    uint8_t shape = birth->kind;
    if (birth->usable != TIDE_USABLE_GLIBC(birth->size))
        shape |= TIDE_SHAPE_SLACK;
    if (birth->align_log2)
        shape |= TIDE_SHAPE_ALIGN;
    if ((birth->address - base) & 7)
        shape |= TIDE_SHAPE_FAR;
    return shape;
}

/* What and where, when it is not like the last one with this stack. */
static inline uint8_t *tide_put_details(uint8_t *out, const struct tide_birth *birth,
                                        uint8_t shape, uint64_t base, bool here)
{
    out = tide_put_varint_any(out, birth->size);
    if (TIDE_UNLIKELY(shape & TIDE_SHAPE_SLACK))
        out = tide_put_varint(out, birth->usable - birth->size);
    if (TIDE_UNLIKELY(shape & TIDE_SHAPE_ALIGN))
        *out++ = birth->align_log2;
    if (here)
        return out;
    if (TIDE_UNLIKELY(shape & TIDE_SHAPE_FAR))
        return tide_put_varint(out, birth->address);
    return tide_put_near(out, birth->address, base);
}

TIDE_HOT uint8_t *tide_put_birth(struct tide_stream *stream, uint8_t *out,
                                 const struct tide_birth *birth,
                                 const struct tide_stack_plan *plan)
{
    struct tide_memory *const memory = &stream->memory;
    const uint64_t base = memory->next_birth;
    const struct tide_likeness likeness =
        tide_likeness(birth->size, birth->usable, birth->kind, birth->align_log2);
    const bool fresh = birth->op == TIDE_OP_ALLOC;
    const bool here =
        fresh && tide_memory_expects(memory, birth->usable) == birth->address;
    const uint8_t shape = tide_shape_of(birth, base);
    const bool like = fresh && (plan->mode & 1) == 0 &&
                      tide_memory_is_like(memory, plan->entry, likeness) &&
                      (here || !(shape & TIDE_SHAPE_FAR));
    const uint8_t op = fresh ? tide_op_of_birth(like, here) : birth->op;
    const uint8_t said = here ? shape & (uint8_t)~TIDE_SHAPE_FAR : shape;
    const bool shaped = !like && said != stream->last_kind;

    *out++ = (uint8_t)(op | (birth->numbered ? TIDE_TAG_NUMBERED : 0) |
                       (unsigned)plan->mode << TIDE_TAG_MODE_SHIFT |
                       (shaped ? TIDE_TAG_SHAPED : 0));
    if (TIDE_UNLIKELY(birth->numbered))
        out = tide_put_u16(out, birth->number);
    if (TIDE_UNLIKELY(shaped)) {
        *out++ = said;
        stream->last_kind = birth->kind;
    }
    if (!like)
        out = tide_put_details(out, birth, said, base, here);
    else if (!here)
        out = tide_put_near(out, birth->address, base);
    out = tide_put_stack(stream, out, plan);
    if (plan->mode != TIDE_STACK_LEAF)
        tide_memory_keep_likeness(memory, likeness);
    tide_memory_add_birth(memory, birth->address, birth->usable);
    return out;
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
TIDE_HOT uint8_t *tide_put_death(struct tide_stream *stream, uint8_t *out,
                                 const struct tide_death *death,
                                 const struct tide_stack_plan *plan)
{
    struct tide_memory *const memory = &stream->memory;
    uint32_t age = 0;
    const bool known = death->op == TIDE_OP_FREE &&
                       tide_memory_has_birth(memory, death->address, &age);
    const bool far = !known && ((death->address - memory->last_death) & 7);
    const uint8_t op = known ? TIDE_OP_FREE_AGE : death->op;
    *out++ = (uint8_t)(op | (death->numbered ? TIDE_TAG_NUMBERED : 0) |
                       (far ? TIDE_TAG_FAR : 0) | (plan ? TIDE_TAG_STACKED : 0));
    if (TIDE_UNLIKELY(death->numbered))
        out = tide_put_u16(out, death->number);
    if (known)
        out = tide_put_varint_any(out, age);
    else if (TIDE_UNLIKELY(far))
        out = tide_put_varint(out, death->address);
    else
        out = tide_put_near(out, death->address, memory->last_death);
    memory->last_death = death->address;
    if (plan) {
        *out++ = plan->mode;
        out = tide_put_stack(stream, out, plan);
    }
    return out;
}

static inline uint8_t *tide_put_extra(uint8_t *out, uint8_t kind,
                                      const uint64_t *values, uint32_t count)
{
    uint8_t payload[3 * TIDE_VARINT_MAX];
    uint8_t *end = payload;
    for (uint32_t i = 0; i < count && i < 3; i++)
        end = tide_put_varint(end, values[i]);
    *out++ = TIDE_OP_EXTRA;
    out = tide_put_varint(out, kind);
    out = tide_put_varint(out, (uint64_t)(end - payload));
    memcpy(out, payload, (size_t)(end - payload));
    return out + (end - payload);
}

#endif
