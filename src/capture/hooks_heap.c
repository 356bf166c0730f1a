/* capture/hooks_heap.c - malloc and its family; free is in hooks_free.c.
 *
 * A hook calls the real function, then records what was born; deaths it records before:
 * see "Rules of the recorder".  Errno is what the real function left.
 */
#include <errno.h>
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

/* An operator new that threw may leave its mark behind; it is not this far up. */
enum { TIDE_NEW_REACH = 1 << 16 };

/* --- Births -------------------------------------------------------------------------- */

/* A real function gave BLOCK (or NULL) to CALLER, who asked for WISH: enum
 * tide_alloc_kind, and log2 of an alignment above it. */
TIDE_HOT void *born(struct tide_caller caller, void *block, size_t size, uint32_t wish)
{
    struct tide_self *self = &tide_self;
    uint8_t kind = (uint8_t)wish;
    if (TIDE_UNLIKELY(self->quiet) && tide_still_quiet(self, caller))
        return block;
    if (self->new_kind) { /* for operator new: it is the one who asked */
        if (self->new_frame - caller.frame < TIDE_NEW_REACH) {
            kind = (uint8_t)(self->new_kind - 1);
            caller = (struct tide_caller){self->new_pc, self->new_frame};
        }
        self->new_kind = 0;
    }
    if (TIDE_UNLIKELY(!block)) {
        tide_record_failure(caller, kind, size);
        return NULL;
    }
    const struct tide_birth birth = {.address = (uintptr_t)block,
                                     .size = size,
                                     .usable = tide_usable(block, size),
                                     .op = TIDE_OP_ALLOC,
                                     .kind = kind,
                                     .align_log2 = (uint8_t)(wish >> 8)};
    tide_record_birth(caller, birth);
    return block;
}

/* Windows and monitors hear of it.  False: it shall not be recorded. */
static TIDE_COLD bool attend_birth(struct tide_caller caller, void *block, size_t size,
                                   size_t used)
{
    if (tide_self.quiet && tide_still_quiet(&tide_self, caller))
        return true;
    if (tide_is_paused())
        return false;
    if (block)
        tide_watch_alloc(block, size, used);
    else
        tide_watch_failed(size);
    return true;
}

/* The same for those who are not in such a hurry. */
static __attribute__((noinline)) void *born_if_wanted(struct tide_caller caller,
                                                      void *block, size_t size,
                                                      uint32_t wish)
{
    const bool wanted =
        !TIDE_UNLIKELY(tide_attended) ||
        attend_birth(caller, block, size, block ? tide_usable(block, size) : 0);
    if (wanted && !tide_heap_ignored)
        return born(caller, block, size, wish);
    tide_self.new_kind = 0; /* operator new need not say it either */
    return block;
}

/* The same of what ALIGN asks for; an operator new may have rounded SIZE up to it, and may
 * try again in the same place when it fails.  Or it throws: nobody tells us. */
static __attribute__((noinline)) void *born_aligned(struct tide_caller caller,
                                                    void *block, size_t align,
                                                    size_t size, uint8_t kind)
{
    struct tide_self *self = &tide_self;
    const size_t least = self->asked ? self->asked : 1;
    if (TIDE_UNLIKELY(self->asked_frame - caller.frame < TIDE_NEW_REACH) &&
        (!self->asked_pc || self->asked_pc == caller.pc) && size >= least &&
        size - least < align) {
        size = self->asked;
        self->asked_frame = block ? 0 : self->asked_frame;
        self->asked_pc = caller.pc;
    }
    const uint32_t log2 = align ? (uint32_t)__builtin_ctzll(align) : 0;
    return born_if_wanted(caller, block, size, kind | log2 << 8);
}

/* Of an operator new that did not call malloc. */
void tide_hook_born(struct tide_caller caller, void *block, size_t size, size_t usable,
                    uint8_t kind)
{
    if (usable < size)
        usable = size;
    if (TIDE_UNLIKELY(tide_attended) && !attend_birth(caller, block, size, usable))
        return;
    if (tide_heap_ignored || (tide_self.quiet && tide_still_quiet(&tide_self, caller)))
        return;
    if (!block) {
        tide_record_failure(caller, kind, size);
        return;
    }
    struct tide_birth birth = {.address = (uintptr_t)block,
                               .size = size,
                               .usable = usable,
                               .op = TIDE_OP_ALLOC,
                               .kind = kind};
    tide_record_birth(caller, birth);
}

/* Not everything is as usual: the real functions are not known yet, the heap is not
 * recorded, deaths shall have stacks. */
static TIDE_COLD void *malloc_unusual(struct tide_caller caller, size_t size)
{
    if (!tide_real_is_ready())
        return tide_hook_boot_block(size, 16, TIDE_KIND_MALLOC, caller);
    return born_if_wanted(caller, tide_real.malloc(size), size, TIDE_KIND_MALLOC);
}

TIDE_HOOK void *malloc(size_t size)
{
    if (TIDE_UNLIKELY(!tide_as_usual))
        return malloc_unusual(TIDE_CALLER, size);
    return born(TIDE_CALLER, tide_real.malloc(size), size, TIDE_KIND_MALLOC);
}

TIDE_HOOK void *calloc(size_t count, size_t size)
{
    size_t bytes;
    const bool too_large = __builtin_mul_overflow(count, size, &bytes);
    if (TIDE_UNLIKELY(!tide_real_is_ready()))
        return too_large
                   ? NULL
                   : tide_hook_boot_block(bytes, 16, TIDE_KIND_CALLOC, TIDE_CALLER);
    void *block;
    TIDE_QUIETLY(block, tide_real.calloc(count, size));
    return born_if_wanted(TIDE_CALLER, block, too_large ? SIZE_MAX : bytes,
                          TIDE_KIND_CALLOC);
}

TIDE_HOOK int posix_memalign(void **out, size_t align, size_t size)
{
    if (TIDE_UNLIKELY(!tide_real_is_ready())) {
        void *block =
            tide_hook_boot_block(size, align, TIDE_KIND_POSIX_MEMALIGN, TIDE_CALLER);
        if (block)
            *out = block;
        return block ? 0 : ENOMEM;
    }
    int status;
    TIDE_QUIETLY(status, tide_real.posix_memalign(out, align, size));
    born_aligned(TIDE_CALLER, status == 0 ? *out : NULL, align, size,
                 TIDE_KIND_POSIX_MEMALIGN);
    return status;
}

TIDE_HOOK void *aligned_alloc(size_t align, size_t size)
{
    if (TIDE_UNLIKELY(!tide_real_is_ready()))
        return tide_hook_boot_block(size, align, TIDE_KIND_ALIGNED_ALLOC, TIDE_CALLER);
    void *block;
    TIDE_QUIETLY(block, tide_real.aligned_alloc(align, size));
    return born_aligned(TIDE_CALLER, block, align, size, TIDE_KIND_ALIGNED_ALLOC);
}

TIDE_HOOK void *memalign(size_t align, size_t size)
{
    if (TIDE_UNLIKELY(!tide_real_is_ready()))
        return tide_hook_boot_block(size, align, TIDE_KIND_MEMALIGN, TIDE_CALLER);
    void *block;
    TIDE_QUIETLY(block, tide_real.memalign(align, size));
    return born_aligned(TIDE_CALLER, block, align, size, TIDE_KIND_MEMALIGN);
}

TIDE_HOOK void *valloc(size_t size)
{
    if (TIDE_UNLIKELY(!tide_real_is_ready()))
        return tide_hook_boot_block(size, 4096, TIDE_KIND_VALLOC, TIDE_CALLER);
    void *block;
    TIDE_QUIETLY(block, tide_real.valloc(size));
    return born_if_wanted(TIDE_CALLER, block, size, TIDE_KIND_VALLOC);
}

TIDE_HOOK void *pvalloc(size_t size)
{
    if (TIDE_UNLIKELY(!tide_real_is_ready()))
        return tide_hook_boot_block((size + 4095) & ~(size_t)4095, 4096,
                                    TIDE_KIND_PVALLOC, TIDE_CALLER);
    void *block;
    TIDE_QUIETLY(block, tide_real.pvalloc(size));
    return born_if_wanted(TIDE_CALLER, block, size, TIDE_KIND_PVALLOC);
}

/* --- Moves --------------------------------------------------------------------------- */

/* The real realloc of a live block, with its two halves recorded. */
static void *move_now(struct tide_caller caller, void *old, size_t size, uint8_t kind)
{
    if (TIDE_UNLIKELY(tide_heap_ignored))
        return tide_real.realloc(old, size);
    const bool begun = tide_record_move_begin(caller, old);
    void *block;
    TIDE_QUIETLY(block, tide_real.realloc(old, size));

    if (!block) {
        const bool gone = size == 0; /* freed, as glibc does; else it failed */
        if (begun)
            tide_record_move_back(caller, old, gone);
        else if (gone)
            tide_record_move_late(caller, old, NULL);
        if (!gone)
            tide_record_failure(caller, kind, size);
        return NULL;
    }
    struct tide_birth birth = {.address = (uintptr_t)block,
                               .size = size,
                               .usable = tide_usable(block, size),
                               .op = TIDE_OP_ALLOC,
                               .kind = kind};
    if (begun)
        tide_record_move_end(caller, &birth);
    else
        tide_record_move_late(caller, old, &birth);
    return block;
}

/* In a pause: what was recorded ends, and what comes of it appears nowhere. */
static void *move_paused(struct tide_caller caller, void *old, size_t size)
{
    const bool begun = !tide_heap_ignored && tide_record_move_begin(caller, old);
    const uint32_t lifted = tide_live_kept ? tide_live_lift(old) : 0;
    void *block;
    TIDE_QUIETLY(block, tide_real.realloc(old, size));
    const bool gone = block || size == 0;
    if (lifted && block)
        tide_live_set_down(lifted, block,
                           (struct tide_live_size){size, tide_usable(block, size)});
    else
        tide_live_put_back(lifted, gone);
    if (begun)
        tide_record_move_back(caller, old, gone);
    else if (gone && !tide_heap_ignored)
        tide_record_move_late(caller, old, NULL);
    return block;
}

/* The same when windows or monitors shall hear of it. */
static TIDE_COLD void *move_attended(struct tide_caller caller, void *old, size_t size,
                                     uint8_t kind)
{
    if (tide_self.quiet && tide_still_quiet(&tide_self, caller))
        return move_now(caller, old, size, kind);
    if (tide_is_paused())
        return move_paused(caller, old, size);
    struct tide_watch_move moving = {
        .old = old, .old_used = tide_usable_now(old), .requested = size};
    tide_watch_move_begin(&moving);
    void *const block = move_now(caller, old, size, kind);
    moving.block = block;
    moving.gone = !block && size == 0;
    moving.used = block ? tide_usable(block, size) : 0;
    tide_watch_move_end(&moving);
    return block;
}

static inline void *move(struct tide_caller caller, void *old, size_t size,
                         uint8_t kind)
{
    return TIDE_UNLIKELY(tide_attended) ? move_attended(caller, old, size, kind)
                                        : move_now(caller, old, size, kind);
}

TIDE_HOOK void *realloc(void *old, size_t size)
{
    if (TIDE_UNLIKELY(tide_boot_owns(old)))
        return tide_hook_boot_move(TIDE_CALLER, old, size);
    if (TIDE_UNLIKELY(!tide_real_is_ready()))
        return tide_hook_boot_block(size, 16, TIDE_KIND_REALLOC, TIDE_CALLER);
    if (!old) {
        void *block;
        TIDE_QUIETLY(block, tide_real.realloc(NULL, size));
        return born_if_wanted(TIDE_CALLER, block, size, TIDE_KIND_REALLOC);
    }
    return move(TIDE_CALLER, old, size, TIDE_KIND_REALLOC);
}

TIDE_HOOK void *reallocarray(void *old, size_t count, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes)) {
        if (TIDE_UNLIKELY(tide_attended) && tide_real_is_ready())
            attend_birth(TIDE_CALLER, NULL, SIZE_MAX, 0);
        tide_record_failure(TIDE_CALLER, TIDE_KIND_REALLOCARRAY, SIZE_MAX);
        errno = ENOMEM;
        return NULL;
    }
    if (TIDE_UNLIKELY(tide_boot_owns(old)) || TIDE_UNLIKELY(!tide_real_is_ready()))
        return realloc(old, bytes);
    if (!old) {
        void *block;
        TIDE_QUIETLY(block, tide_real.realloc(NULL, bytes));
        return born_if_wanted(TIDE_CALLER, block, bytes, TIDE_KIND_REALLOCARRAY);
    }
    return move(TIDE_CALLER, old, bytes, TIDE_KIND_REALLOCARRAY);
}

/* --- The rest ------------------------------------------------------------------------- */

TIDE_HOOK size_t malloc_usable_size(void *block)
{
    if (TIDE_UNLIKELY(block && tide_boot_owns(block)))
        return tide_boot_size(block);
    if (!block || !tide_real_is_ready() || !tide_real.malloc_usable_size)
        return 0;
    return tide_real.malloc_usable_size(block);
}
