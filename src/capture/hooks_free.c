/* capture/hooks_free.c - free and its kin: deaths are recorded, then happen.
 *
 * The addresses are others' from then on: see "Rules of the recorder".  Errno is what the
 * real function left.
 */
#include <malloc.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "capture/hooks.h"
#include "capture/hooks_boot.h"
#include "capture/hooks_heap.h"
#include "capture/lifecycle.h"
#include "capture/live_table.h"
#include "capture/nested.h"
#include "capture/real.h"
#include "capture/record.h"
#include "capture/watch.h"

/* Windows and monitors hear of it. */
static void attend_death(struct tide_caller caller, void *block, size_t used)
{
    if (!(tide_self.quiet && tide_still_quiet(&tide_self, caller)))
        tide_watch_free(block, used);
}

/* Record the death of BLOCK.  False: it is the arena's, there is nothing to free. */
static bool dies(struct tide_caller caller, void *block)
{
    struct tide_self *self = &tide_self;
    if (self->deleting == block) {
        self->deleting = NULL; /* operator delete has recorded it already */
        if (TIDE_UNLIKELY(tide_attended) && !tide_boot_owns(block))
            attend_death(caller, block, tide_usable_now(block));
        return !tide_boot_owns(block);
    }
    if (TIDE_UNLIKELY(tide_boot_owns(block))) {
        tide_hook_boot_free(caller, block);
        return false;
    }
    if (TIDE_UNLIKELY(self->closing))
        tide_hook_closes(caller, block);
    if (TIDE_UNLIKELY(tide_attended))
        attend_death(caller, block, tide_usable_now(block));
    if (!tide_heap_ignored)
        tide_record_death_as_wanted(caller, block);
    return true;
}

/* Record the death of BLOCK, if that can be done without calling anything. */
TIDE_HOT enum tide_said dies_at_once(uintptr_t frame, void *block)
{
    if (TIDE_UNLIKELY(!tide_as_usual) || TIDE_UNLIKELY(tide_boot_owns(block)))
        return TIDE_SAID_NOT;
    if (tide_self.deleting == block) {
        tide_self.deleting = NULL; /* operator delete has said it already */
        return TIDE_SAID;
    }
    return tide_record_death_at_once(frame, (uintptr_t)block);
}

/* The free inside takes it out of the live table, but there may be none. */
static TIDE_COLD void dies_in_delete(struct tide_caller caller, void *block)
{
    if (tide_live_kept && !(tide_self.quiet && tide_still_quiet(&tide_self, caller)))
        tide_live_dies(block);
    if (!tide_heap_ignored)
        tide_record_death_as_wanted(caller, block);
}

void tide_hook_dies(struct tide_caller caller, void *block)
{
    const enum tide_said said = dies_at_once(caller.frame, block);
    if (TIDE_LIKELY(said == TIDE_SAID))
        return;
    if (said == TIDE_SAID_WAITING)
        tide_leave_late(&tide_self, tide_self.stream);
    else if (TIDE_UNLIKELY(tide_boot_owns(block)))
        tide_hook_boot_free(caller, block);
    else
        dies_in_delete(caller, block);
}

/* There was no free inside, so the block may be from anywhere, and be anybody's by now. */
void tide_hook_died(struct tide_caller caller, void *block, size_t size)
{
    if (tide_attended && !tide_boot_owns(block) &&
        !(tide_self.quiet && tide_still_quiet(&tide_self, caller)))
        tide_watch_freed(block, size);
}

static __attribute__((noinline)) void free_unusual(struct tide_caller caller,
                                                   void *block)
{
    if (TIDE_UNLIKELY(!tide_real_is_ready())) {
        if (tide_boot_owns(block))
            tide_hook_boot_free(caller, block);
        return;
    }
    if (dies(caller, block))
        tide_real.free(block);
}

static TIDE_COLD void free_late(void *block)
{
    tide_leave_late(&tide_self, tide_self.stream);
    tide_real.free(block);
}

TIDE_HOOK void free(void *block)
{
    if (!block)
        return;
    const enum tide_said said =
        dies_at_once((uintptr_t)__builtin_frame_address(0), block);
    if (TIDE_LIKELY(said == TIDE_SAID))
        tide_real.free(block);
    else if (said == TIDE_SAID_WAITING)
        free_late(block);
    else
        free_unusual(TIDE_CALLER, block);
}

/* Of programs that were linked long ago. */
TIDE_HOOK void cfree(void *block) __THROW __attribute__((alias("free")));

/* C23's; this libc does not declare them yet. */
void free_sized(void *block, size_t size);
void free_aligned_sized(void *block, size_t align, size_t size);

TIDE_HOOK void free_sized(void *block, size_t size)
{
    if (!block || !tide_real_is_ready() || !dies(TIDE_CALLER, block))
        return;
    if (tide_real.free_sized)
        TIDE_QUIETLY_DO(tide_real.free_sized(block, size));
    else
        tide_real.free(block);
}

TIDE_HOOK void free_aligned_sized(void *block, size_t align, size_t size)
{
    if (!block || !tide_real_is_ready() || !dies(TIDE_CALLER, block))
        return;
    if (tide_real.free_aligned_sized)
        TIDE_QUIETLY_DO(tide_real.free_aligned_sized(block, align, size));
    else
        tide_real.free(block);
}
