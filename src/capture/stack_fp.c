/* capture/stack_fp.c - walk the chain of frame pointers.
 *
 * Right only for code built with -fno-omit-frame-pointer; elsewhere the chain breaks and
 * the stack is short.  Every load is bounded by the thread's stack: a frame outside of it
 * (coroutine, alternate signal stack) ends the walk.
 */
#include "capture/stack.h"
#include "trace/format.h"

uint32_t tide_stack_fp(struct tide_stream *stream, struct tide_caller caller,
                       uint32_t limit, bool *cut)
{
    const uint64_t now =
        atomic_load_explicit(&tide_stack_generation, memory_order_relaxed);
    if (TIDE_UNLIKELY(!stream->stack_high || stream->cache.generation != now)) {
        stream->cache.generation = now;
        tide_stack_find_bounds(stream);
    }

    uintptr_t frame = caller.frame;
    uintptr_t low = frame;
    uint32_t depth = 0;
    stream->walk[depth++] = TIDE_WORD(TIDE_FRAME_NATIVE, caller.pc);
    if (!frame || frame < stream->stack_low || frame >= stream->stack_high)
        return depth;
    for (;;) {
        frame = *(const uintptr_t *)frame;
        if (frame <= low || frame > stream->stack_high - 16 || frame % 8)
            return depth;
        low = frame;
        const uintptr_t pc = ((const uintptr_t *)frame)[1];
        if (pc < 4096)
            return depth;
        if (depth == limit) {
            *cut = true;
            return depth;
        }
        stream->walk[depth++] = TIDE_WORD(TIDE_FRAME_NATIVE, pc);
    }
}
