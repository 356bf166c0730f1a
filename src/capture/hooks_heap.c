/* capture/hooks_heap.c - malloc and its family.
 *
 * A hook calls the real function, then records (births), or records, then calls it
 * (deaths): see "Rules of the recorder".  Errno is what the real function left.
 */
#include <errno.h>
#include <malloc.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "capture/hooks.h"
#include "capture/hooks_boot.h"
#include "capture/lifecycle.h"
#include "capture/live_table.h"
#include "capture/nested.h"
#include "capture/real.h"
#include "capture/record.h"
#include "capture/watch.h"

/* An operator new that threw may leave its mark behind; it is not this far up. */
enum { TIDE_NEW_REACH = 1 << 16 };

/* --- What all need --------------------------------------------------------------------- */

/* Ready, or made ready now? */
static inline bool ready(void)
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
static size_t usable_now(void *block)
{
    if (tide_real.glibc)
        return tide_glibc_usable(block);
    return tide_real.malloc_usable_size ? tide_real.malloc_usable_size(block) : 0;
}

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

/* Of an operator new that did not call malloc: its block may be from anywhere, so only
 * what was asked for is known. */
void tide_hook_born(struct tide_caller caller, void *block, size_t size, uint8_t kind)
{
    if (TIDE_UNLIKELY(tide_attended) && !attend_birth(caller, block, size, size))
        return;
    if (tide_heap_ignored || (tide_self.quiet && tide_still_quiet(&tide_self, caller)))
        return;
    if (!block) {
        tide_record_failure(caller, kind, size);
        return;
    }
    struct tide_birth birth = {.address = (uintptr_t)block,
                               .size = size,
                               .usable = size,
                               .op = TIDE_OP_ALLOC,
                               .kind = kind};
    tide_record_birth(caller, birth);
}

/* Not everything is as usual: the real functions are not known yet, the heap is not
 * recorded, deaths shall have stacks. */
static TIDE_COLD void *malloc_unusual(struct tide_caller caller, size_t size)
{
    if (!ready())
        return tide_hook_boot_block(size, 16, TIDE_KIND_MALLOC, caller);
    return born_if_wanted(caller, tide_real.malloc(size), size, TIDE_KIND_MALLOC);
}

TIDE_HOOK void *malloc(size_t size)
{
    if (TIDE_UNLIKELY(!tide_as_usual))
        return malloc_unusual(TIDE_CALLER, size);
    return born(TIDE_CALLER, tide_real.malloc(size), size, TIDE_KIND_MALLOC);
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

TIDE_HOOK void *calloc(size_t count, size_t size)
{
    size_t bytes;
    const bool too_large = __builtin_mul_overflow(count, size, &bytes);
    if (TIDE_UNLIKELY(!ready()))
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
    if (TIDE_UNLIKELY(!ready())) {
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
    if (TIDE_UNLIKELY(!ready()))
        return tide_hook_boot_block(size, align, TIDE_KIND_ALIGNED_ALLOC, TIDE_CALLER);
    void *block;
    TIDE_QUIETLY(block, tide_real.aligned_alloc(align, size));
    return born_aligned(TIDE_CALLER, block, align, size, TIDE_KIND_ALIGNED_ALLOC);
}

TIDE_HOOK void *memalign(size_t align, size_t size)
{
    if (TIDE_UNLIKELY(!ready()))
        return tide_hook_boot_block(size, align, TIDE_KIND_MEMALIGN, TIDE_CALLER);
    void *block;
    TIDE_QUIETLY(block, tide_real.memalign(align, size));
    return born_aligned(TIDE_CALLER, block, align, size, TIDE_KIND_MEMALIGN);
}

TIDE_HOOK void *valloc(size_t size)
{
    if (TIDE_UNLIKELY(!ready()))
        return tide_hook_boot_block(size, 4096, TIDE_KIND_VALLOC, TIDE_CALLER);
    void *block;
    TIDE_QUIETLY(block, tide_real.valloc(size));
    return born_if_wanted(TIDE_CALLER, block, size, TIDE_KIND_VALLOC);
}

TIDE_HOOK void *pvalloc(size_t size)
{
    if (TIDE_UNLIKELY(!ready()))
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
        .old = old, .old_used = usable_now(old), .requested = size};
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
    if (TIDE_UNLIKELY(!ready()))
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
        if (TIDE_UNLIKELY(tide_attended) && ready())
            attend_birth(TIDE_CALLER, NULL, SIZE_MAX, 0);
        tide_record_failure(TIDE_CALLER, TIDE_KIND_REALLOCARRAY, SIZE_MAX);
        errno = ENOMEM;
        return NULL;
    }
    if (TIDE_UNLIKELY(tide_boot_owns(old)) || TIDE_UNLIKELY(!ready()))
        return realloc(old, bytes);
    if (!old) {
        void *block;
        TIDE_QUIETLY(block, tide_real.realloc(NULL, bytes));
        return born_if_wanted(TIDE_CALLER, block, bytes, TIDE_KIND_REALLOCARRAY);
    }
    return move(TIDE_CALLER, old, bytes, TIDE_KIND_REALLOCARRAY);
}

/* --- Deaths --------------------------------------------------------------------------- */

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
            attend_death(caller, block, usable_now(block));
        return !tide_boot_owns(block);
    }
    if (TIDE_UNLIKELY(tide_boot_owns(block))) {
        tide_hook_boot_free(caller, block);
        return false;
    }
    if (TIDE_UNLIKELY(self->closing))
        tide_hook_closes(caller, block);
    if (TIDE_UNLIKELY(tide_attended))
        attend_death(caller, block, usable_now(block));
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
    if (TIDE_UNLIKELY(!ready())) {
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
    if (!block || !ready() || !dies(TIDE_CALLER, block))
        return;
    if (tide_real.free_sized)
        TIDE_QUIETLY_DO(tide_real.free_sized(block, size));
    else
        tide_real.free(block);
}

TIDE_HOOK void free_aligned_sized(void *block, size_t align, size_t size)
{
    if (!block || !ready() || !dies(TIDE_CALLER, block))
        return;
    if (tide_real.free_aligned_sized)
        TIDE_QUIETLY_DO(tide_real.free_aligned_sized(block, align, size));
    else
        tide_real.free(block);
}

TIDE_HOOK size_t malloc_usable_size(void *block)
{
    if (TIDE_UNLIKELY(block && tide_boot_owns(block)))
        return tide_boot_size(block);
    if (!block || !ready() || !tide_real.malloc_usable_size)
        return 0;
    return tide_real.malloc_usable_size(block);
}
