/* capture/stack.c - choose the engine; turn what it finds into words. */
#include "capture/stack.h"

#include <stdatomic.h>
#include <stddef.h>

#include "capture/frame_tables.h"
#include "trace/format.h"
#include "trace/ring.h"

static tide_stack_engine *_Atomic engine;
static tide_stack_engine *own = tide_stack_fp; /* the better one of ours */
static uint32_t depth_limit;

void tide_stack_init(uint32_t unwind, uint32_t limit)
{
    const bool cfi = tide_stack_cfi_init(); /* others need it for tide_stack_find() */
    tide_stack_bounds_init();
    if (cfi)
        own = tide_stack_cfi;
    depth_limit = limit > TIDE_STACK_MAX - 1 ? TIDE_STACK_MAX - 1 : limit;
    tide_stack_engine *chosen = unwind == TIDE_UNWIND_FP ? tide_stack_fp : own;
    if (unwind == TIDE_UNWIND_NONE || depth_limit == 0)
        chosen = NULL;
    else if (unwind == TIDE_UNWIND_LIBUNWIND && tide_stack_libunwind_init())
        chosen = tide_stack_libunwind;
    engine = chosen;
    if (chosen == tide_stack_cfi)
        tide_frame_tables_begin();
}

void tide_stack_flush(void)
{
    tide_stack_cfi_flush();
    if (engine == tide_stack_libunwind)
        tide_stack_libunwind_flush();
}

void tide_stack_shut_in(void)
{
    if (engine == tide_stack_libunwind)
        engine = own;
}

/* No stacks are wanted: just who called. */
static uint32_t take_caller(struct tide_stream *stream, struct tide_caller caller)
{
    const uint64_t word = TIDE_WORD(TIDE_FRAME_NATIVE, caller.pc);
    stream->kept = stream->stack[0] == word;
    stream->stack[0] = word;
    stream->hash = tide_cache_hash(0, word);
    stream->in_walk = false;
    return 1;
}

static uint32_t finish(struct tide_stream *stream, uint32_t depth, bool cut)
{
    if (TIDE_LIKELY(!cut))
        return depth;
    stream->walk[depth] = TIDE_WORD(TIDE_FRAME_SYNTHETIC, TIDE_SYNTHETIC_CUT);
    stream->cuts++;
    return depth + 1;
}

uint32_t tide_stack_take(struct tide_stream *stream, struct tide_caller caller)
{
    tide_stack_engine *const walk = atomic_load_explicit(&engine, memory_order_relaxed);
    if (!walk)
        return take_caller(stream, caller);
    bool cut = false;
    stream->in_walk = true;
    const uint32_t depth = walk(stream, caller, depth_limit, &cut);
    return finish(stream, depth, cut);
}

uint32_t tide_stack_take_tried(struct tide_stream *stream, struct tide_caller caller)
{
    bool cut = false;
    stream->in_walk = true;
    const uint32_t depth = tide_stack_cfi_tried(stream, caller, depth_limit, &cut);
    return finish(stream, depth, cut);
}

uint32_t tide_stack_take_changed(struct tide_stream *stream, struct tide_caller caller,
                                 uint32_t good)
{
    bool cut = false;
    stream->in_walk = true;
    const uint32_t depth =
        tide_stack_cfi_changed(stream, caller, depth_limit, &cut, good);
    return finish(stream, depth, cut);
}
