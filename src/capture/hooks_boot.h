/* capture/hooks_boot.h - malloc and its family before the real functions are known.
 *
 * For: hooks_heap.c, hooks_free.c.  Served from the arena of real.h; what is not the
 * recorder's own doing is kept for the trace.
 */
#ifndef TIDE_CAPTURE_HOOKS_BOOT_H
#define TIDE_CAPTURE_HOOKS_BOOT_H

#include <stddef.h>
#include <stdint.h>

#include "capture/self.h"

/* KIND of enum tide_alloc_kind; NULL: the arena is full. */
void *tide_hook_boot_block(size_t size, size_t align, uint8_t kind,
                           struct tide_caller caller) TIDE_COLD;
void tide_hook_boot_free(struct tide_caller caller, void *block) TIDE_COLD;
/* realloc of OLD, a block of the arena. */
void *tide_hook_boot_move(struct tide_caller caller, void *old, size_t size) TIDE_COLD;

#endif
