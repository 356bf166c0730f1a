/* capture/stack_libunwind.c - let libunwind walk.
 *
 * The library is opened at start, for this engine only, and privately: the target's own
 * use of it is not touched, and a machine without it loses nothing but this engine.
 * libunwind keeps its caches in memory of its own, not in the target's heap.
 */
#include <dlfcn.h>
#include <string.h>

#include "capture/stack.h"
#include "trace/format.h"

enum { TIDE_OWN_FRAMES = 16 }; /* hooks, this file and libunwind itself, at most */

static int (*backtrace)(void **buffer, int size);
static void (*flush_cache)(void *space, uint64_t low, uint64_t high);
static void **local_space;

bool tide_stack_libunwind_init(void)
{
    void *library = dlopen("libunwind.so.8", RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return false;
    void *symbol = dlsym(library, "unw_backtrace");
    memcpy(&backtrace, &symbol, sizeof(symbol));
    symbol = dlsym(library, "_ULx86_64_flush_cache");
    memcpy(&flush_cache, &symbol, sizeof(symbol));
    local_space = dlsym(library, "_ULx86_64_local_addr_space");
    void *frames[4];
    if (backtrace)
        backtrace(frames, 4); /* what it allocates the first time is not the target's */
    return backtrace != NULL;
}

void tide_stack_libunwind_flush(void)
{
    if (flush_cache && local_space)
        flush_cache(*local_space, 0, 0);
}

/* Frames come innermost first and begin with our own; the caller's is known by its pc. */
uint32_t tide_stack_libunwind(struct tide_stream *stream, struct tide_caller caller,
                              uint32_t limit, bool *cut)
{
    void **frames = (void **)stream->walk; /* words and pointers are of one size */
    const uint32_t room = TIDE_STACK_MAX - 1;
    const uint32_t most =
        limit + TIDE_OWN_FRAMES < room ? limit + TIDE_OWN_FRAMES : room;
    const int got = backtrace(frames, (int)most);
    uint32_t first = 0;
    while ((int)first < got && (uintptr_t)frames[first] != caller.pc)
        first++;
    if ((int)first >= got) {
        stream->walk[0] = TIDE_WORD(TIDE_FRAME_NATIVE, caller.pc);
        return 1;
    }
    uint32_t depth = (uint32_t)got - first;
    *cut = depth > limit || (uint32_t)got == most;
    if (depth > limit)
        depth = limit;
    memmove(stream->walk, stream->walk + first, depth * sizeof(stream->walk[0]));
    while (depth > 1 && stream->walk[depth - 1] < 4096)
        depth--; /* the walk's end, which libunwind gives as a frame */
    return depth;
}
