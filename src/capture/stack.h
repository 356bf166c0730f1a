/* capture/stack.h - taking the call stack: one seam, several engines.
 *
 * For: capture/.  An engine fills stream->walk with return addresses, innermost first,
 * starting with the hook's caller; own frames never appear.  It may be interrupted by a
 * signal handler and must neither allocate from the target's heap nor lock.
 */
#ifndef TIDE_CAPTURE_STACK_H
#define TIDE_CAPTURE_STACK_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "capture/stack_leaf.h"
#include "capture/stream.h"

/* Take up to LIMIT frames for CALLER into stream->walk; return how many.  Sets *CUT when
 * there were more. */
typedef uint32_t tide_stack_engine(struct tide_stream *stream,
                                   struct tide_caller caller, uint32_t limit,
                                   bool *cut);

tide_stack_engine tide_stack_fp;
tide_stack_engine tide_stack_cfi;
tide_stack_engine tide_stack_libunwind;

/* The engine cfi, when the first frame is not where the cache can help, but GOOD others may
 * be. */
uint32_t tide_stack_cfi_changed(struct tide_stream *stream, struct tide_caller caller,
                                uint32_t limit, bool *cut, uint32_t good);

/* The same when leaves were tried in vain. */
tide_stack_engine tide_stack_cfi_tried;

/* Choose the engine and the depth limit; falls back to cfi, then to fp.
 * Called once, before recording starts. */
void tide_stack_init(uint32_t unwind, uint32_t depth_limit);
/* Get what an engine needs; false when it cannot be had. */
bool tide_stack_cfi_init(void);
bool tide_stack_libunwind_init(void);
/* How long a stack may be, asked of the system once. */
void tide_stack_bounds_init(void);
/* The size of the stack that a thread with ATTRIBUTES (NULL: none) is going to have; 0: the
 * one that threads have as a rule. */
uint64_t tide_stack_bytes_asked(const pthread_attr_t *attributes) TIDE_COLD;
/* The program has mapped BYTES at AT: if that is below the main stack, it may be another. */
void tide_stack_mapped(uintptr_t at, uintptr_t bytes);
/* The program is about to limit its system calls: libunwind makes some of its own, so walk
 * without it. */
void tide_stack_shut_in(void);
/* Find out stack_low and stack_high of the calling thread's stream. */
void tide_stack_find_bounds(struct tide_stream *stream) TIDE_COLD;
/* Modules are being, or were, unloaded: forget what is cached by address. */
void tide_stack_flush(void);
void tide_stack_cfi_flush(void);
void tide_stack_libunwind_flush(void);

/* Is the function with frame address FRAME among those that led to CALLER's hook?  Or
 * was it interrupted by a signal whose handler did? */
enum tide_found {
    TIDE_FOUND_NOT,
    TIDE_FOUND,
    TIDE_FOUND_INTERRUPTED,
    TIDE_FOUND_UNSURE
};
enum tide_found tide_stack_find(const struct tide_stream *stream,
                                struct tide_caller caller, uintptr_t frame) TIDE_COLD;

/* The stack of CALLER in stream->walk, as words; returns how many, 0 when stacks are
 * off.  A cut stack ends in the word for TIDE_SYNTHETIC_CUT. */
uint32_t tide_stack_take(struct tide_stream *stream, struct tide_caller caller);

/* The same, when it is known to begin as the last one did, and only GOOD of the frames of
 * that are still right. */
uint32_t tide_stack_take_changed(struct tide_stream *stream, struct tide_caller caller,
                                 uint32_t good);

/* The same, when leaves were tried in vain; and when it most likely ends in one. */
uint32_t tide_stack_take_tried(struct tide_stream *stream, struct tide_caller caller);
uint32_t tide_stack_retake_leaf(struct tide_stream *stream, struct tide_caller caller);

/* The same for those in a hurry: nothing is called when it is the stack of last time. */
TIDE_HOT uint32_t tide_stack_retake(struct tide_stream *stream,
                                    struct tide_caller caller)
{
    struct tide_stack_cache *const cache = &stream->cache;
    if (tide_cache_is_restless(cache))
        return tide_stack_retake_leaf(stream, caller);
    if (!tide_cache_begins(cache, stream->stack, caller))
        return tide_stack_take(stream, caller);
    const uint32_t frames = cache->frames;
    const uint32_t good = tide_cache_verify(cache, frames - 1);
    if (good < frames)
        return tide_stack_take_changed(stream, caller, good);
    tide_cache_was_same(cache, true);
    return tide_cache_taken(stream, frames, frames);
}

#endif
