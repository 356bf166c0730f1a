/* capture/stack_libunwind.c - let libunwind walk.
 *
 * The library is opened at start, for this engine only, and privately: the target's own
 * use of it is not touched, and a machine without it loses nothing but this engine.
 * libunwind keeps its caches in memory of its own, not in the target's heap.
 */
#include <dlfcn.h>
#include <stdatomic.h>
#include <string.h>
#include <ucontext.h>

#include "capture/stack.h"
#include "trace/format.h"

enum {
    TIDE_OWN_FRAMES = 16, /* hooks, this file and libunwind itself, at most */
    TIDE_CURSOR_WORDS = 127,
    TIDE_UNW_RIP = 16,
};

/* By the names that libunwind's header hides behind macros. */
static struct {
    int (*backtrace)(void **buffer, int size);
    int (*get_context)(ucontext_t *context);
    int (*start)(uint64_t *cursor, ucontext_t *context);
    int (*step)(uint64_t *cursor);
    int (*get_register)(uint64_t *cursor, int number, uint64_t *value);
    void (*flush_cache)(void *space, uint64_t low, uint64_t high);
    void **local_space;
} unw;
static _Atomic bool unloaded; /* code, since the start */

static bool find(void *library, void *slot, const char *name)
{
    void *const symbol = dlsym(library, name);
    memcpy(slot, &symbol, sizeof(symbol));
    return symbol != NULL;
}

bool tide_stack_libunwind_init(void)
{
    void *library = dlopen("libunwind.so.8", RTLD_NOW | RTLD_LOCAL);
    void *frames[4];
    if (!library || !find(library, &unw.backtrace, "unw_backtrace") ||
        !find(library, &unw.get_context, "_Ux86_64_getcontext") ||
        !find(library, &unw.start, "_ULx86_64_init_local") ||
        !find(library, &unw.step, "_ULx86_64_step") ||
        !find(library, &unw.get_register, "_ULx86_64_get_reg") ||
        !find(library, &unw.local_space, "_ULx86_64_local_addr_space") ||
        !find(library, &unw.flush_cache, "_Ux86_64_flush_cache"))
        return false;
    unw.backtrace(frames, 4); /* what it allocates the first time is not the target's */
    return true;
}

void tide_stack_libunwind_flush(void)
{
    unw.flush_cache(*unw.local_space, 0, 0);
    atomic_store(&unloaded, true);
}

/* unw_backtrace keeps, for each thread, what it found at a place in the code, and flushing
 * does not make it forget.  The walk step by step does forget. */
static int walk(void **frames, int most)
{
    ucontext_t context;
    uint64_t cursor[TIDE_CURSOR_WORDS];
    if (!atomic_load_explicit(&unloaded, memory_order_relaxed))
        return unw.backtrace(frames, most);
    int count = 0;
    if (unw.get_context(&context) != 0 || unw.start(cursor, &context) != 0)
        return 0;
    do {
        uint64_t pc = 0;
        unw.get_register(cursor, TIDE_UNW_RIP, &pc);
        memcpy(&frames[count++], &pc, sizeof(pc));
    } while (count < most && unw.step(cursor) > 0);
    return count;
}

/* Frames come innermost first and begin with our own; the caller's is known by its pc. */
uint32_t tide_stack_libunwind(struct tide_stream *stream, struct tide_caller caller,
                              uint32_t limit, bool *cut)
{
    void **frames = (void **)stream->walk; /* words and pointers are of one size */
    const uint32_t room = TIDE_STACK_MAX - 1;
    const uint32_t most =
        limit + TIDE_OWN_FRAMES < room ? limit + TIDE_OWN_FRAMES : room;
    const int got = walk(frames, (int)most);
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
