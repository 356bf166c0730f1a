/* capture/hooks_map.c - mmap and its family, as a space of its own.
 *
 * The calls are made directly: an allocator may map memory while it starts, when nothing
 * can be resolved yet.  Which maps count, and as what, is decided by the reader: it knows
 * whether the caller was an allocator or the loader.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/raw/ticks.h"
#include "capture/hooks.h"
#include "capture/lifecycle.h"
#include "capture/live_table.h"
#include "capture/record.h"
#include "capture/sandbox.h"
#include "capture/stack.h"
#include "capture/stack_other.h"
#include "capture/watch.h"
#include "trace/ring.h"

/* Of addresses that every kernel gives to programs. */
#define TIDE_USUAL_END (((uintptr_t)1 << 47) - TIDE_PAGE)

/* Within a quiet call of an allocator maps count too: the handler of a signal may make
 * them, and the allocator's own are known to the reader. */
static inline bool maps_count(void)
{
    return (tide_spaces & TIDE_SPACE_MMAP) &&
           (!tide_self.quiet || tide_self.quiet_frame);
}

/* LENGTH in whole pages. */
static size_t whole_pages(size_t length)
{
    return (length + TIDE_PAGE - 1) & ~(size_t)(TIDE_PAGE - 1);
}

/* --- Moves ------------------------------------------------------------------------------ */

/* Where mappings are that mremap is about to leave, in part or whole.  The kernel says only
 * afterwards where to; meanwhile another thread may map what has become free.  It waits then
 * until the move is recorded, so that the reader hears of both in their order. */
enum { TIDE_MOVES_MAX = 16, TIDE_MOVE_WAIT_NS = 200 * 1000 * 1000 };
static struct {
    _Atomic uintptr_t old; /* 0: free */
    _Atomic uintptr_t end; /* 0: not known yet */
    _Atomic uint64_t thread;
} moves[TIDE_MOVES_MAX];
static _Atomic uint32_t moves_begun; /* places that were ever taken */

/* Its place; TIDE_MOVES_MAX: there is none. */
static uint32_t move_begins(uintptr_t old, size_t length)
{
    for (uint32_t i = 0; i < TIDE_MOVES_MAX; i++) {
        uintptr_t none = 0;
        if (!old || !atomic_compare_exchange_strong(&moves[i].old, &none, old))
            continue;
        atomic_store(&moves[i].thread, (uint64_t)(uintptr_t)&tide_self);
        atomic_store(&moves[i].end, old + length);
        if (atomic_load(&moves_begun) <= i)
            atomic_store(&moves_begun, i + 1);
        return i;
    }
    return TIDE_MOVES_MAX;
}

static void move_ends(uint32_t place)
{
    if (place == TIDE_MOVES_MAX)
        return;
    atomic_store(&moves[place].end, 0);
    atomic_store(&moves[place].old, 0);
}

/* Wait until the move at PLACE is not that of OLD any more.  One that does not end in time
 * was forked away, or its thread waits in a handler: it is not waited for again. */
static void wait_for_move(uint32_t place, uintptr_t old)
{
    const uint64_t begun = tide_ticks_monotonic();
    while (atomic_load(&moves[place].old) == old) {
        (void)syscall(SYS_sched_yield);
        if (tide_ticks_monotonic() - begun < TIDE_MOVE_WAIT_NS)
            continue;
        move_ends(place);
        return;
    }
}

/* LENGTH bytes at AT are this thread's now, and are about to be recorded. */
static TIDE_COLD void wait_for_moves(uintptr_t at, size_t length)
{
    const int saved = errno;
    for (uint32_t i = 0; i < atomic_load(&moves_begun); i++) {
        const uintptr_t old = atomic_load(&moves[i].old);
        const uintptr_t end = atomic_load(&moves[i].end);
        if (at >= end || at + length <= old ||
            atomic_load(&moves[i].thread) == (uint64_t)(uintptr_t)&tide_self)
            continue;
        wait_for_move(i, old);
    }
    errno = saved;
}

static inline void in_order(uintptr_t at, size_t length)
{
    if (TIDE_UNLIKELY(atomic_load_explicit(&moves_begun, memory_order_relaxed)))
        wait_for_moves(at, length);
}

static void *map(struct tide_caller caller, const struct tide_map_record *asked, int fd,
                 off_t offset)
{
    const long at =
        tide_program_call(SYS_mmap, asked->address, asked->length, asked->argument1,
                          (int)asked->argument2, fd, offset);
    if (TIDE_UNLIKELY(tide_live_kept) && at != -1 && (asked->argument2 & MAP_FIXED))
        tide_live_unmapped((const void *)at, whole_pages(asked->length));
    if (asked->argument2 & MAP_FIXED)
        tide_other_forget();
    if (at != -1)
        tide_stack_mapped((uintptr_t)at, whole_pages(asked->length));
    if (at == -1 || !maps_count() || TIDE_UNLIKELY(tide_attended && tide_is_paused()))
        return (void *)at;
    in_order((uintptr_t)at, whole_pages(asked->length));
    struct tide_map_record done = *asked;
    done.address = (uint64_t)at;
    done.argument2 = (uint32_t)asked->argument2;
    if (!(asked->argument2 & MAP_ANONYMOUS))
        done.argument2 |= TIDE_MAP_FILE;
    tide_record_map(caller, &done);
    return (void *)at;
}

/* NOLINTNEXTLINE(readability-function-size): six parameters are mmap's */
TIDE_HOOK void *mmap(void *address, size_t length, int prot, int flags, int fd,
                     off_t offset)
{
    const struct tide_map_record asked = {TIDE_MAP_MMAP, (uintptr_t)address, length,
                                          (uint32_t)prot, (uint32_t)flags};
    return map(TIDE_CALLER, &asked, fd, offset);
}

/* NOLINTNEXTLINE(readability-function-size) */
TIDE_HOOK void *mmap64(void *address, size_t length, int prot, int flags, int fd,
                       off_t offset)
{
    const struct tide_map_record asked = {TIDE_MAP_MMAP, (uintptr_t)address, length,
                                          (uint32_t)prot, (uint32_t)flags};
    return map(TIDE_CALLER, &asked, fd, offset);
}

static void unmapped(struct tide_caller caller, void *address, size_t length)
{
    if (maps_count()) {
        const struct tide_map_record gone = {TIDE_MAP_MUNMAP, (uintptr_t)address,
                                             length, 0, 0};
        tide_record_map(caller, &gone);
    }
    if (TIDE_UNLIKELY(tide_live_kept))
        tide_live_unmapped(address, whole_pages(length));
}

/* Before the call, since the addresses are free for others during it.  Unmapping only
 * fails on arguments that name no pages, or some beyond the end of what programs have: where
 * that is only the kernel knows. */
TIDE_HOOK int munmap(void *address, size_t length)
{
    const bool pages = length > 0 && (uintptr_t)address % TIDE_PAGE == 0;
    const bool doubtful =
        length > TIDE_USUAL_END || (uintptr_t)address > TIDE_USUAL_END - length;
    if (pages && !doubtful)
        unmapped(TIDE_CALLER, address, length);
    tide_other_forget(); /* and once more, of what others learn meanwhile */
    const int status = (int)tide_program_call(SYS_munmap, address, length);
    tide_other_forget();
    if (TIDE_UNLIKELY(doubtful) && status == 0)
        unmapped(TIDE_CALLER, address, length);
    return status;
}

/* With MREMAP_DONTUNMAP the address is a wish, and the old place stays mapped: it is told as
 * a mapping of its own, as that of an old length of 0 is. */
TIDE_HOOK void *mremap(void *old, size_t old_length, size_t length, int flags, ...)
{
    void *wish = NULL;
    if (flags & (MREMAP_FIXED | MREMAP_DONTUNMAP)) {
        va_list rest;
        va_start(rest, flags);
        wish = va_arg(rest, void *);
        va_end(rest);
    }
    const uint32_t place = maps_count()
                               ? move_begins((uintptr_t)old, whole_pages(old_length))
                               : TIDE_MOVES_MAX;
    const long at = tide_program_call(SYS_mremap, old, old_length, length, flags, wish);
    tide_other_forget();
    if (TIDE_UNLIKELY(tide_live_kept) && at != -1)
        tide_live_remapped(old, whole_pages(old_length), (const void *)at,
                           whole_pages(length));
    if (at != -1)
        tide_stack_mapped((uintptr_t)at, whole_pages(length));
    if (at != -1 && maps_count()) {
        const struct tide_map_record moved = {
            TIDE_MAP_MREMAP, (uint64_t)at, length, (uintptr_t)old,
            flags & MREMAP_DONTUNMAP ? 0 : old_length};
        in_order((uintptr_t)at, whole_pages(length));
        tide_record_map(TIDE_CALLER, &moved);
    }
    move_ends(place);
    return (void *)at;
}

TIDE_HOOK int mprotect(void *address, size_t length, int prot)
{
    const int status = (int)tide_program_call(SYS_mprotect, address, length, prot);
    tide_other_forget();
    if (status == 0 && length > 0 && maps_count()) {
        const struct tide_map_record changed = {TIDE_MAP_MPROTECT, (uintptr_t)address,
                                                length, (uint32_t)prot, 0};
        tide_record_map(TIDE_CALLER, &changed);
    }
    return status;
}

TIDE_HOOK int madvise(void *address, size_t length, int advice)
{
    const int status = (int)tide_program_call(SYS_madvise, address, length, advice);
    if (status == 0 && length > 0 && maps_count()) {
        const struct tide_map_record advised = {TIDE_MAP_MADVISE, (uintptr_t)address,
                                                length, (uint32_t)advice, 0};
        tide_record_map(TIDE_CALLER, &advised);
    }
    return status;
}
