/* capture/hooks_heap.h - what malloc's family shares.
 *
 * For: hooks_heap.c, hooks_free.c.
 */
#ifndef TIDE_CAPTURE_HOOKS_HEAP_H
#define TIDE_CAPTURE_HOOKS_HEAP_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "capture/real.h"
#include "capture/self.h"

/* Ready, or made ready now? */
static inline bool tide_real_is_ready(void)
{
    return TIDE_LIKELY(tide_real.ready) || tide_real_resolve();
}

/* Usable bytes of BLOCK, for which SIZE were asked; never less, whatever an allocator that
 * is only starting says. */
static inline size_t tide_usable(void *block, size_t size)
{
    if (TIDE_LIKELY(tide_real.glibc))
        return tide_glibc_usable(block);
    if (tide_real.exact || !tide_real.malloc_usable_size)
        return size;
    const size_t usable = tide_real.malloc_usable_size(block);
    return usable > size ? usable : size;
}

/* The same of a block of the past: what was asked for is not known. */
static inline size_t tide_usable_now(void *block)
{
    if (tide_real.glibc)
        return tide_glibc_usable(block);
    return tide_real.malloc_usable_size ? tide_real.malloc_usable_size(block) : 0;
}

/* Allocators may implement one of these by another: what they call inside is theirs. */
#define TIDE_QUIETLY_DO(what)                                          \
    do {                                                               \
        const uint8_t before = tide_self.quiet;                        \
        const uintptr_t frame = tide_self.quiet_frame;                 \
        tide_self.quiet_frame = (uintptr_t)__builtin_frame_address(0); \
        atomic_signal_fence(memory_order_seq_cst);                     \
        tide_self.quiet = 1;                                           \
        (what);                                                        \
        tide_self.quiet = before;                                      \
        atomic_signal_fence(memory_order_seq_cst);                     \
        tide_self.quiet_frame = frame;                                 \
    } while (0)
#define TIDE_QUIETLY(result, call) TIDE_QUIETLY_DO((result) = (call))

#endif
