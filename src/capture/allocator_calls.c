/* capture/allocator_calls.c - a call of what an allocator offers beside malloc.
 *
 * What an allocator calls inside itself is its own affair.
 *
 * An arena of jemalloc's that is destroyed or reset takes its blocks along without a call
 * for each; that such arenas are used is said.  A heap of mimalloc's is asked for its
 * blocks before it is destroyed.
 */
#include "capture/allocator_calls.h"

#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "capture/cautions.h"
#include "capture/hooks.h"
#include "capture/hooks_heap.h"
#include "capture/lifecycle.h"
#include "capture/nested.h"
#include "capture/next.h"
#include "capture/record.h"
#include "capture/watch.h"

enum { TIDE_JE_ALIGN = 63, TIDE_JE_ZERO = 64, TIDE_JE_ARENA_SHIFT = 20 };

/* One call of it. */
struct made {
    const struct tide_allocator_call *call;
    struct tide_caller caller;
    const long *argument;
    tide_allocator_function *next;
};

/* --- What was asked for ------------------------------------------------------------------ */

static size_t argument_of(const struct made *made, uint8_t place, size_t otherwise)
{
    return place ? (size_t)made->argument[place - 1] : otherwise;
}

static void *old_of(const struct made *made)
{
    return (void *)argument_of(made, made->call->old, 0);
}

static size_t size_of(const struct made *made)
{
    size_t bytes;
    const size_t size = argument_of(made, made->call->size, 0);
    const size_t count = argument_of(made, made->call->count, 1);
    return __builtin_mul_overflow(count, size, &bytes) ? SIZE_MAX : bytes;
}

static uint8_t align_of(const struct made *made)
{
    const size_t flags = argument_of(made, made->call->flags, 0);
    const size_t align = argument_of(made, made->call->align, 0);
    return align ? (uint8_t)__builtin_ctzll(align) : (uint8_t)(flags & TIDE_JE_ALIGN);
}

static long call_at_once(const struct made *made)
{
    const long *const a = made->argument;
    return made->next(a[0], a[1], a[2], a[3], a[4], a[5]);
}

/* Who may throw is not called quietly: what is allocated for the exception is freed by the
 * program. */
static long call_next(const struct made *made)
{
    const uint8_t kind = made->call->kind;
    long result;
    if (kind == TIDE_KIND_NEW || kind == TIDE_KIND_NEW_ARRAY)
        return call_at_once(made);
    TIDE_QUIETLY(result, call_at_once(made));
    return result;
}

static tide_allocator_function *find_next(void *_Atomic *cache, const char *name,
                                          uintptr_t pc)
{
    void *found = tide_next_at_once(cache);
    if (TIDE_UNLIKELY(!found))
        found = tide_next_find(cache, name, (void *)pc);
    tide_allocator_function *next;
    memcpy(&next, &found, sizeof(next));
    return next;
}

/* Usable bytes of BLOCK, of which SIZE were asked for. */
static size_t used_of(const struct made *made, const void *block, size_t size)
{
    static const char *const names[TIDE_FAMILIES] = {
        "sallocx", "je_sallocx", "tc_malloc_size", "mi_usable_size"};
    static void *_Atomic caches[TIDE_FAMILIES];
    const uint8_t family = made->call->family;
    tide_allocator_function *const ask =
        find_next(&caches[family], names[family], made->caller.pc);
    const size_t used = ask && block ? (size_t)ask((long)block, 0, 0, 0, 0, 0) : 0;
    return used > size ? used : size;
}

/* --- Births and deaths ------------------------------------------------------------------- */

static bool is_attended(const struct made *made)
{
    return tide_attended &&
           !(tide_self.quiet && tide_still_quiet(&tide_self, made->caller));
}

static void gave(const struct made *made, const void *block, size_t size)
{
    const struct tide_birth birth = {.address = (uintptr_t)block,
                                     .size = size,
                                     .usable = used_of(made, block, size),
                                     .op = TIDE_OP_ALLOC,
                                     .kind = made->call->kind,
                                     .align_log2 = align_of(made)};
    if (TIDE_UNLIKELY(is_attended(made))) {
        if (tide_is_paused())
            return;
        if (block)
            tide_watch_alloc(block, size, birth.usable);
        else
            tide_watch_failed(size);
    }
    if (tide_heap_ignored ||
        (tide_self.quiet && tide_still_quiet(&tide_self, made->caller)))
        return;
    if (block)
        tide_record_birth(made->caller, birth);
    else
        tide_record_failure(made->caller, made->call->kind, size);
}

static void takes(const struct made *made, void *block)
{
    if (TIDE_UNLIKELY(is_attended(made)))
        tide_watch_free(block, used_of(made, block, 0));
    if (!tide_heap_ignored)
        tide_record_death_as_wanted(made->caller, block);
}

static size_t wide_bytes(const uint16_t *text)
{
    size_t length = 0;
    while (text[length])
        length++;
    return (length + 1) * sizeof(*text);
}

/* Where it is a text that is copied, no block is no failure to make one. */
static void gave_text(const struct made *made, const void *block, bool wide)
{
    if (block)
        gave(made, block, wide ? wide_bytes(block) : strlen(block) + 1);
}

static long fill(const struct made *made)
{
    const long status = call_next(made);
    const void *const block = status == 0 ? *(void **)old_of(made) : NULL;
    if (made->call->shape == TIDE_FILLS_STRING)
        gave_text(made, block, false);
    else
        gave(made, block, size_of(made));
    return status;
}

static long give(const struct made *made)
{
    const long result = call_next(made);
    const void *const block = (const void *)result;
    if (made->call->shape == TIDE_GIVES || made->call->shape == TIDE_MOVES)
        gave(made, block, size_of(made));
    else
        gave_text(made, block, made->call->shape == TIDE_GIVES_WIDE);
    return result;
}

/* mimalloc has blocks of no bytes, and its reallocf frees what it cannot move. */
static bool is_gone(const struct made *made, size_t size)
{
    return (made->call->family != TIDE_MIMALLOC && size == 0) ||
           strstr(made->call->name, "reallocf");
}

/* --- Moves --------------------------------------------------------------------------------- */

static void moved(const struct made *made, bool begun,
                  const struct tide_watch_move *move)
{
    struct tide_birth birth = {.address = (uintptr_t)move->block,
                               .size = move->requested,
                               .usable = move->used,
                               .op = TIDE_OP_ALLOC,
                               .kind = made->call->kind,
                               .align_log2 = align_of(made)};
    void *const old = (void *)(uintptr_t)move->old;
    if (move->block && begun)
        tide_record_move_end(made->caller, &birth);
    else if (move->block)
        tide_record_move_late(made->caller, old, &birth);
    else if (begun)
        tide_record_move_back(made->caller, old, move->gone);
    else if (move->gone)
        tide_record_move_late(made->caller, old, NULL);
    if (!move->block && !move->gone)
        tide_record_failure(made->caller, made->call->kind, move->requested);
}

static long move(const struct made *made)
{
    struct tide_watch_move move = {.old = old_of(made), .requested = size_of(made)};
    if (!move.old)
        return give(made);
    const bool attended = is_attended(made) && !tide_is_paused();
    if (TIDE_UNLIKELY(attended)) {
        move.old_used = used_of(made, move.old, 0);
        tide_watch_move_begin(&move);
    }
    const bool begun =
        !tide_heap_ignored && tide_record_move_begin(made->caller, old_of(made));
    const long result = call_next(made);
    move.block = (const void *)result;
    move.gone = !result && is_gone(made, move.requested);
    move.used = used_of(made, move.block, move.block ? move.requested : 0);
    if (!tide_heap_ignored)
        moved(made, begun, &move);
    if (TIDE_UNLIKELY(attended))
        tide_watch_move_end(&move);
    return result;
}

/* mi_reallocarr() is mi_reallocarray() on a pointer that it is shown. */
static long move_in(const struct made *made)
{
    static const struct tide_allocator_call call = {.name = "mi_reallocarray",
                                                    .shape = TIDE_MOVES,
                                                    .family = TIDE_MIMALLOC,
                                                    .kind = TIDE_KIND_REALLOCARRAY,
                                                    .old = 1,
                                                    .count = 2,
                                                    .size = 3};
    static void *_Atomic cache;
    void **const place = old_of(made);
    tide_allocator_function *const next = find_next(&cache, call.name, made->caller.pc);
    if (!place || !next)
        return call_next(made);
    const long argument[TIDE_ARGUMENTS] = {(long)*place, made->argument[1],
                                           made->argument[2]};
    const struct made inner = {&call, made->caller, argument, next};
    void *const block = (void *)move(&inner);
    if (!block)
        return errno;
    *place = block;
    return 0;
}

/* The block keeps its place and is its owner's throughout, so all can be said behind. */
static long resize(const struct made *made)
{
    struct tide_watch_move move = {.old = old_of(made), .requested = size_of(made)};
    const bool attended = is_attended(made) && !tide_is_paused();
    move.old_used = attended ? used_of(made, move.old, 0) : 0;
    const long result = call_next(made);
    const bool by_size = made->call->shape == TIDE_XALLOCX;
    if (by_size ? (size_t)result < move.requested : !result)
        return result;
    move.block = move.old;
    move.used = used_of(made, move.block, move.requested);
    if (TIDE_UNLIKELY(attended))
        tide_watch_move_begin(&move);
    if (!tide_heap_ignored)
        moved(made, tide_record_move_begin(made->caller, old_of(made)), &move);
    if (TIDE_UNLIKELY(attended))
        tide_watch_move_end(&move);
    return result;
}

/* --- All at once --------------------------------------------------------------------------- */

/* mimalloc calls it for each area (no block) and each block in it. */
static bool visit(const void *heap, const void *area, void *block, size_t bytes,
                  void *made)
{
    (void)heap, (void)area, (void)bytes;
    if (block)
        takes(made, block);
    return true;
}

static long destroy(const struct made *made)
{
    static void *_Atomic cache;
    tide_allocator_function *const all =
        find_next(&cache, "mi_heap_visit_blocks", made->caller.pc);
    if (all)
        all((long)old_of(made), true, (long)&visit, (long)made, 0, 0);
    return call_next(made);
}

/* --- The call -------------------------------------------------------------------------------- */

/* Nobody has the function: who calls it has found ours by its name. */
static long do_with_malloc(const struct made *made)
{
    const bool zero = (argument_of(made, made->call->flags, 0) & TIDE_JE_ZERO) ||
                      made->call->kind == TIDE_KIND_CALLOC;
    const size_t size = size_of(made), align = (size_t)1 << align_of(made);
    switch (made->call->shape) {
    case TIDE_GIVES:
        return (long)(zero         ? calloc(1, size)
                      : align > 16 ? memalign(align, size)
                                   : malloc(size));
    case TIDE_FILLS:
        return posix_memalign(old_of(made), align, size);
    case TIDE_MOVES:
        return (long)realloc(old_of(made), size);
    case TIDE_FILLS_STRING:
    case TIDE_MOVES_IN:
        return ENOSYS;
    case TIDE_XALLOCX:
        return (long)malloc_usable_size(old_of(made));
    case TIDE_TAKES:
        free(old_of(made));
        return 0;
    case TIDE_ASKS:
        return (long)(made->call->old ? malloc_usable_size(old_of(made)) : size);
    default:
        return 0;
    }
}

/* The allocator calls itself by way of its public names, or does so in a jump from what one
 * of our hooks has called: that hook says what happens. */
static bool is_inside(const struct made *made)
{
    static const char ours;
    struct dl_find_object object;
    const void *next;
    memcpy(&next, &made->next, sizeof(next));
    if (_dl_find_object((void *)made->caller.pc, &object) != 0)
        return false;
    const void *const begin = object.dlfo_map_start, *const end = object.dlfo_map_end;
    return (next >= begin && next < end) ||
           ((const void *)&ours >= begin && (const void *)&ours < end);
}

static long recorded(const struct made *made)
{
    if (argument_of(made, made->call->flags, 0) >> TIDE_JE_ARENA_SHIFT)
        tide_caution_arenas();
    switch (made->call->shape) {
    case TIDE_FILLS:
    case TIDE_FILLS_STRING:
        return fill(made);
    case TIDE_MOVES:
        return move(made);
    case TIDE_MOVES_IN:
        return move_in(made);
    case TIDE_RESIZES:
    case TIDE_XALLOCX:
        return resize(made);
    case TIDE_TAKES:
        if (old_of(made))
            takes(made, old_of(made));
        return call_next(made);
    case TIDE_WRAPS:
        return call_next(made);
    case TIDE_DESTROYS:
        return destroy(made);
    case TIDE_ASKS:
        return call_at_once(made);
    default:
        return give(made);
    }
}

long tide_allocator_call(const struct tide_allocator_call *call, void *_Atomic *cache,
                         struct tide_caller caller, const long argument[TIDE_ARGUMENTS])
{
    struct made made = {call, caller, argument, NULL};
    if (tide_real_is_ready())
        made.next = find_next(cache, call->name, caller.pc);
    if (TIDE_UNLIKELY(!made.next) || TIDE_UNLIKELY(tide_boot_owns(old_of(&made))))
        return do_with_malloc(&made);
    if (is_inside(&made))
        return call_at_once(&made);
    return recorded(&made);
}
