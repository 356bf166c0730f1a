/* capture/hooks.h - what the hook files share.
 *
 * For: hooks_*.c.
 */
#ifndef TIDE_CAPTURE_HOOKS_H
#define TIDE_CAPTURE_HOOKS_H

#include <stddef.h>
#include <stdint.h>

#include "capture/self.h"

#define TIDE_HOOK __attribute__((visibility("default"), noinline))

/* This thread is in dlclose, where BLOCK is freed: libraries may have gone. */
void tide_hook_closes(struct tide_caller caller, const void *block) TIDE_COLD;

/* Find the operators behind ours, if the program has begun with any. */
void tide_operators_begin(void) TIDE_COLD;

/* A child is about to begin, or a call that starts one has come back: stamp the time. */
void tide_hook_stamp(void);

/* An allocator of the target gave BLOCK (NULL: it failed) to CALLER, who asked for SIZE.
 * The block may be from anywhere: USABLE is 0 when nobody knows. */
void tide_hook_born(struct tide_caller caller, void *block, size_t size, size_t usable,
                    uint8_t kind);
/* CALLER is about to delete BLOCK.  Windows and monitors hear of it from the free inside,
 * which knows how large it is... */
void tide_hook_dies(struct tide_caller caller, void *block);
/* ...or, when there is none, now; SIZE as its allocator says, else as the operator was
 * told, or 0. */
void tide_hook_died(struct tide_caller caller, void *block, size_t size);

#endif
