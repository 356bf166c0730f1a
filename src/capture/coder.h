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
#include "capture/modules.h"
#include "capture/stream.h"
#include "trace/format.h"

/* How the stack of an event is going to be written. */
struct tide_stack_plan {
    uint32_t depth; /* frames in stream->walk */
    uint32_t keep;  /* outermost ones that are as before */
    uint64_t leaf;  /* for LEAF: the word */
    uint8_t mode;   /* enum tide_stack_mode */
};

/* Compare stream->walk (DEPTH frames) with the previous stack. */
static inline struct tide_stack_plan tide_plan_stack(const struct tide_stream *stream,
                                                     uint32_t depth)
{
    const uint32_t most = depth < stream->depth ? depth : stream->depth;
    uint32_t keep = 0;
    while (keep < most && stream->stack[keep] == stream->walk[depth - 1 - keep])
        keep++;
    const bool same = keep == depth && depth == stream->depth;
    return (struct tide_stack_plan){.depth = depth,
                                    .keep = keep,
                                    .mode = same ? TIDE_STACK_SAME : TIDE_STACK_DELTA};
}

static inline struct tide_stack_plan tide_plan_leaf(uint64_t pc)
{
    return (struct tide_stack_plan){.leaf = TIDE_WORD(TIDE_FRAME_NATIVE, pc),
                                    .mode = TIDE_STACK_LEAF};
}

/* The most bytes a record with this stack can take. */
static inline uint32_t tide_plan_bytes(const struct tide_stack_plan *plan)
{
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
static inline uint8_t *tide_put_leaf(struct tide_stream *stream, uint8_t *out,
                                     uint64_t word)
{
    uint64_t *known = &stream->leaves[tide_word_slot(word) % TIDE_LEAVES];
    if (TIDE_UNLIKELY(*known != word)) {
        *known = word;
        tide_modules_see(word);
    }
    return tide_put_varint(out, word);
}

static inline uint8_t *tide_put_stack(struct tide_stream *stream, uint8_t *out,
                                      const struct tide_stack_plan *plan)
{
    if (plan->mode == TIDE_STACK_SAME)
        return out;
    if (plan->mode == TIDE_STACK_LEAF)
        return tide_put_leaf(stream, out, plan->leaf);

    out = tide_put_varint(out, stream->depth - plan->keep);
    out = tide_put_varint(out, plan->depth - plan->keep);
    for (uint32_t i = plan->keep; i < plan->depth; i++) {
        const uint64_t word = stream->walk[plan->depth - 1 - i];
        stream->stack[i] = word;
        out = tide_put_word(stream, out, word);
    }
    stream->depth = plan->depth;
    return out;
}

static inline uint8_t *tide_put_near(struct tide_stream *stream, uint8_t *out,
                                     uint64_t address)
{
    const int64_t delta = (int64_t)(address - stream->last_address);
    stream->last_address = address;
    return tide_put_varint(out, tide_zigzag(delta / 8));
}

static inline bool tide_is_near(const struct tide_stream *stream, uint64_t address)
{
    return ((address - stream->last_address) & 7) == 0;
}

/* ALLOC or MOVE_END. */
struct tide_birth {
    uint64_t address, size, usable;
    uint8_t op;
    uint8_t kind;       /* enum tide_alloc_kind */
    uint8_t align_log2; /* 0: none asked for */
    bool numbered;
    uint16_t number;
};

static inline uint8_t tide_shape_of(const struct tide_stream *stream,
                                    const struct tide_birth *birth)
{
    uint8_t shape = birth->kind;
    if (birth->usable != TIDE_USABLE_GLIBC(birth->size))
        shape |= TIDE_SHAPE_SLACK;
    if (birth->align_log2)
        shape |= TIDE_SHAPE_ALIGN;
    if (!tide_is_near(stream, birth->address))
        shape |= TIDE_SHAPE_FAR;
    return shape;
}

static inline uint8_t *tide_put_birth(struct tide_stream *stream, uint8_t *out,
                                      const struct tide_birth *birth,
                                      const struct tide_stack_plan *plan)
{
    const uint8_t shape = tide_shape_of(stream, birth);
    const bool shaped = shape != stream->last_kind;
    *out++ = (uint8_t)(birth->op | (birth->numbered ? TIDE_TAG_NUMBERED : 0) |
                       (unsigned)plan->mode << TIDE_TAG_MODE_SHIFT |
                       (shaped ? TIDE_TAG_SHAPED : 0));
    if (birth->numbered)
        out = tide_put_u16(out, birth->number);
    if (shaped) {
        *out++ = shape;
        stream->last_kind = birth->kind;
    }
    out = tide_put_varint(out, birth->size);
    if (shape & TIDE_SHAPE_SLACK)
        out = tide_put_varint(out, birth->usable - birth->size);
    if (shape & TIDE_SHAPE_ALIGN)
        *out++ = birth->align_log2;
    if (shape & TIDE_SHAPE_FAR) {
        stream->last_address = birth->address;
        out = tide_put_varint(out, birth->address);
    } else {
        out = tide_put_near(stream, out, birth->address);
    }
    return tide_put_stack(stream, out, plan);
}

/* FREE or MOVE_BEGIN. */
struct tide_death {
    uint64_t address;
    uint8_t op;
    bool numbered;
    uint16_t number;
};

/* PLAN is NULL when deaths carry no stack. */
static inline uint8_t *tide_put_death(struct tide_stream *stream, uint8_t *out,
                                      const struct tide_death *death,
                                      const struct tide_stack_plan *plan)
{
    const bool far = !tide_is_near(stream, death->address);
    *out++ = (uint8_t)(death->op | (death->numbered ? TIDE_TAG_NUMBERED : 0) |
                       (far ? TIDE_TAG_FAR : 0) | (plan ? TIDE_TAG_STACKED : 0));
    if (death->numbered)
        out = tide_put_u16(out, death->number);
    if (far) {
        stream->last_address = death->address;
        out = tide_put_varint(out, death->address);
    } else {
        out = tide_put_near(stream, out, death->address);
    }
    if (!plan)
        return out;
    *out++ = plan->mode;
    return tide_put_stack(stream, out, plan);
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
