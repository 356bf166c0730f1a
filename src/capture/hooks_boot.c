/* capture/hooks_boot.c - malloc and its family before the real functions are known. */
#include "capture/hooks_boot.h"

#include <errno.h>
#include <stdlib.h>

#include "capture/lifecycle.h"
#include "capture/nested.h"
#include "capture/real.h"
#include "capture/record.h"

void *tide_hook_boot_block(size_t size, size_t align, uint8_t kind,
                           struct tide_caller caller)
{
    const bool relocated = tide_is_relocated();
    void *block = tide_boot_alloc(size, align);
    if (!block) {
        if (relocated)
            errno = ENOMEM;
        return NULL;
    }
    const struct tide_bare_event event = {.op = TIDE_OP_ALLOC,
                                          .kind = kind,
                                          .address = (uintptr_t)block,
                                          .size = size,
                                          .usable = size,
                                          .pc = caller.pc};
    if (!relocated)
        tide_early_keep(&event);
    else if (!tide_self.quiet && !tide_heap_ignored)
        tide_bare(caller, &event);
    return block;
}

void tide_hook_boot_free(struct tide_caller caller, void *block)
{
    const struct tide_bare_event event = {
        .op = TIDE_OP_FREE, .address = (uintptr_t)block, .pc = caller.pc};
    if (!tide_is_relocated())
        tide_early_keep(&event);
    else if (!tide_self.quiet && !tide_heap_ignored)
        tide_record_death_as_wanted(caller, block);
}

/* Byte by byte through a volatile: memcpy may not be there yet. */
static void boot_copy(void *to, const void *from, size_t bytes)
{
    volatile unsigned char *out = to;
    for (size_t i = 0; i < bytes; i++)
        out[i] = ((const unsigned char *)from)[i];
}

void *tide_hook_boot_move(struct tide_caller caller, void *old, size_t size)
{
    const size_t kept = tide_boot_size(old) < size ? tide_boot_size(old) : size;
    void *block = tide_is_relocated()
                      ? malloc(size)
                      : tide_hook_boot_block(size, 16, TIDE_KIND_REALLOC, caller);
    if (block) {
        boot_copy(block, old, kept);
        tide_hook_boot_free(caller, old);
    }
    return block;
}
