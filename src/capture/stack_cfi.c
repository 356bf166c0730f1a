/* capture/stack_cfi.c - walk by the frame tables, with rows remembered per pc.
 *
 * State is (pc, sp, rbp); a row (cfi_row.h) leads to the caller's.  Rows are found once
 * per pc and kept: see row_table.h.
 *
 * Loads are bounded: on the thread's own stack by its end, elsewhere (alternate signal
 * stack, coroutine) by a reach that any one stack has, and by what can be read there.  A
 * frame without a row ends the walk with the synthetic frame UNKNOWN, so that a broken
 * stack can be told from a whole one.
 */
#include <stdatomic.h>
#include <stdbool.h>

#include "capture/row_table.h"
#include "capture/stack.h"
#include "capture/stack_leaf.h"
#include "capture/stack_other.h"
#include "trace/format.h"

enum {
    /* Byte offsets in the ucontext that the kernel leaves on a signal's stack. */
    TIDE_UC_R10 = 40 + 2 * 8,
    TIDE_UC_RBP = 40 + 10 * 8,
    TIDE_UC_RBX = 40 + 11 * 8,
    TIDE_UC_RSP = 40 + 15 * 8,
    TIDE_UC_RIP = 40 + 16 * 8,
    TIDE_UC_BYTES = 40 + 23 * 8,
    TIDE_RED_ZONE = 128,
};

_Atomic uint64_t tide_stack_generation; /* not wiped by fork, as rows are not */

struct walk_state {
    uintptr_t pc, sp, rbp;
    uintptr_t low; /* what may be read begins here */
    struct tide_stack_bounds to;
    bool exact; /* pc is where the frame is, not where it will go on */
};

/* What a walk without the cache knows besides. */
struct behind {
    uintptr_t pc, sp; /* of the frame inside the one where the walk is */
    bool exact;
    uintptr_t context; /* what the kernel saved of the last exact frame */
};

/* Keys hold so many generations: when they begin anew, no row may be left of the last
 * time. */
void tide_stack_cfi_flush(void)
{
    const uint64_t generations = 1ull << (64 - TIDE_EPOCH_SHIFT);
    const uint64_t next = atomic_fetch_add(&tide_stack_generation, 1) + 1;
    if (TIDE_UNLIKELY(next % (generations / 2) == 0) && tide_rows)
        tide_rows_forget(next);
}

/* --- Steps ----------------------------------------------------------------------------- */

static inline bool readable(const struct walk_state *walk, uintptr_t at,
                            uintptr_t bytes)
{
    if (at < walk->low || at % 8 != 0)
        return false;
    return TIDE_LIKELY(at <= walk->to.high - bytes) ||
           (walk->to.reach && at <= walk->to.reach - bytes && tide_other_is_there(at) &&
            (bytes == 8 || tide_other_is_there(at + bytes - 8)));
}

static inline uintptr_t load(uintptr_t at)
{
    return *(const uintptr_t *)at;
}

/* What may be read above SP; 0: it is not on the thread's own stack. */
static inline uintptr_t own_end(const struct tide_stream *stream, uintptr_t sp)
{
    return sp >= stream->stack_low && sp < stream->stack_high ? stream->stack_high : 0;
}

/* What may be read around SP: up to the end of the thread's stack if SP is on it. */
static void set_bounds(const struct tide_stream *stream, struct walk_state *walk)
{
    walk->low = walk->sp;
    walk->to = tide_bounds_at(walk->sp, own_end(stream, walk->sp));
}

static TIDE_COLD bool step_signal(const struct tide_stream *stream,
                                  struct walk_state *walk, struct behind *behind)
{
    const uintptr_t context = walk->sp;
    if (!readable(walk, context, TIDE_UC_BYTES))
        return false;
    walk->pc = load(context + TIDE_UC_RIP);
    walk->rbp = load(context + TIDE_UC_RBP);
    walk->sp = load(context + TIDE_UC_RSP);
    walk->exact = true;
    behind->context = context;
    set_bounds(stream, walk);
    if (walk->to.reach && !tide_other_is_there(walk->sp))
        walk->low = UINTPTR_MAX; /* sp itself may be why the signal came */
    else
        walk->low -= TIDE_RED_ZONE; /* at a ret, rbp may stand just below sp */
    return true;
}

static inline bool step(struct walk_state *walk, struct tide_cfi_row row)
{
    uintptr_t cfa = (row.cfa == TIDE_CFA_RSP ? walk->sp : walk->rbp) +
                    (uintptr_t)(intptr_t)row.cfa_offset;
    if (TIDE_UNLIKELY(row.cfa == TIDE_CFA_DEREF)) {
        if (!readable(walk, cfa, 8))
            return false;
        cfa = load(cfa);
    }
    if (TIDE_UNLIKELY(cfa <= walk->sp || !readable(walk, cfa - 8, 8)))
        return false;
    if (row.rbp != TIDE_RBP_SAME) {
        const uintptr_t at = (row.rbp == TIDE_RBP_AT_CFA ? cfa : walk->rbp) +
                             (uintptr_t)(intptr_t)row.rbp_offset;
        if (TIDE_UNLIKELY(!readable(walk, at, 8)))
            return false;
        walk->rbp = load(at);
    }
    walk->pc = load(cfa - 8);
    walk->sp = cfa;
    walk->low = cfa;
    if (TIDE_UNLIKELY(cfa > walk->to.high))
        walk->to.high = tide_page_end(cfa);
    walk->exact = false;
    return true;
}

/* rbx in the frame where WALK is: known when a signal interrupted this frame, or when the
 * one inside it saved it, or was interrupted before it did. */
static TIDE_COLD bool find_rbx(const struct walk_state *walk,
                               const struct behind *behind, uintptr_t *rbx)
{
    struct tide_cfi_rbx saved = {TIDE_RBX_SAME, 0};
    if (!walk->exact)
        saved = tide_cfi_find_rbx(behind->exact ? behind->pc : behind->pc - 1);
    if (saved.where == TIDE_RBX_SAME && (walk->exact || behind->exact)) {
        *rbx = load(behind->context + TIDE_UC_RBX);
        return true;
    }
    const uintptr_t at = walk->sp + (uintptr_t)(intptr_t)saved.offset;
    if (saved.where != TIDE_RBX_AT_CFA || at < behind->sp - TIDE_RED_ZONE ||
        at > walk->sp - 8 || at % 8 != 0)
        return false;
    *rbx = load(at);
    return true;
}

/* A CFA found by another register than rsp and rbp, as one that is found by rsp. */
static TIDE_COLD bool make_plain(const struct walk_state *walk,
                                 const struct behind *behind, struct tide_cfi_row *row)
{
    uintptr_t base;
    if (row->cfa == TIDE_CFA_R10 && walk->exact)
        base = load(behind->context + TIDE_UC_R10);
    else if (row->cfa != TIDE_CFA_RBX || !find_rbx(walk, behind, &base))
        return false;
    row->cfa = TIDE_CFA_RSP;
    row->cfa_offset += (int32_t)(base - walk->sp);
    return base >= walk->sp && base - walk->sp < TIDE_OTHER_REACH;
}

/* One frame outwards.  False: this was the last one, *WHOLE tells whether by right. */
static bool go_out(const struct tide_stream *stream, struct walk_state *walk,
                   struct behind *behind, uint64_t epoch, bool *whole)
{
    struct tide_cfi_row row = tide_row_of(walk->exact ? walk->pc : walk->pc - 1, epoch);
    if (TIDE_UNLIKELY(row.cfa == TIDE_CFA_END)) {
        *whole = true;
        return false;
    }
    if (TIDE_UNLIKELY(row.cfa == TIDE_CFA_SIGNAL))
        return step_signal(stream, walk, behind);
    if (TIDE_UNLIKELY(row.cfa > TIDE_CFA_SIGNAL) && !make_plain(walk, behind, &row))
        return false;
    behind->pc = walk->pc;
    behind->sp = walk->sp;
    behind->exact = walk->exact;
    if (row.cfa == TIDE_CFA_UNKNOWN || !step(walk, row))
        return false;
    *whole = walk->pc == 0;
    return walk->pc != 0;
}

static inline struct walk_state start_at(const struct tide_stream *stream,
                                         struct tide_caller caller)
{
    struct walk_state walk = {
        .pc = caller.pc, .sp = caller.frame + 16, .rbp = load(caller.frame)};
    set_bounds(stream, &walk);
    return walk;
}

enum tide_found tide_stack_find(const struct tide_stream *stream,
                                struct tide_caller caller, uintptr_t frame)
{
    const uint64_t epoch = atomic_load(&tide_stack_generation);
    struct walk_state walk = start_at(stream, caller);
    struct behind behind = {0};
    bool whole = false, interrupted = false;
    if (!tide_rows)
        return TIDE_FOUND_UNSURE;
    while (go_out(stream, &walk, &behind, epoch, &whole)) {
        interrupted |= walk.exact;
        if (walk.sp == frame + 16)
            return interrupted ? TIDE_FOUND_INTERRUPTED : TIDE_FOUND;
    }
    return whole ? TIDE_FOUND_NOT : TIDE_FOUND_UNSURE;
}

/* --- Walks ------------------------------------------------------------------------------ */

/* Every frame anew, into stream->walk: what the cache cannot hold, signal frames, stacks
 * that are too deep or broken. */
static TIDE_COLD uint32_t walk_in_full(struct tide_stream *stream,
                                       struct tide_caller caller, uint32_t limit,
                                       bool *cut)
{
    const uint64_t epoch =
        atomic_load_explicit(&tide_stack_generation, memory_order_relaxed);
    struct walk_state walk = start_at(stream, caller);
    struct behind behind = {0};
    uint32_t depth = 0;
    bool whole = false;
    stream->cache.frames = 0;
    stream->cache.leaf = NULL;
    stream->in_walk = true;
    do {
        if (TIDE_UNLIKELY(depth == limit)) {
            *cut = true;
            return depth;
        }
        /* Readers look one byte before a frame's address; an exact pc is moved on. */
        stream->walk[depth++] = TIDE_WORD(TIDE_FRAME_NATIVE, walk.pc + walk.exact);
    } while (go_out(stream, &walk, &behind, epoch, &whole));
    if (TIDE_UNLIKELY(!whole) && depth < limit)
        stream->walk[depth++] = TIDE_WORD(TIDE_FRAME_SYNTHETIC, TIDE_SYNTHETIC_UNKNOWN);
    return depth;
}

/* The frame from which the stack of CALLER goes on. */
static inline struct tide_walked first_of(struct tide_caller caller)
{
    return (struct tide_walked){
        .pc = caller.pc, .sp = caller.frame + 16, .rbp = load(caller.frame)};
}

/* How a walk with the cache came to its end. */
enum how { TIDE_MET, TIDE_ENDED, TIDE_NO_ROW, TIDE_NOT_FOR_CACHE };

struct found {
    uint32_t kept;  /* outermost frames that are as before */
    uint32_t fresh; /* then these, innermost first in cache->walked */
    enum how how;
};

/* Put the new frames behind the kept ones. */
static inline uint32_t add_fresh(struct tide_stream *stream, const struct found *found)
{
    struct tide_stack_cache *const cache = &stream->cache;
    uint32_t at = found->kept;
    if (TIDE_UNLIKELY(found->how == TIDE_NO_ROW)) {
        const uint64_t word = TIDE_WORD(TIDE_FRAME_SYNTHETIC, TIDE_SYNTHETIC_UNKNOWN);
        cache->frame[at] = (struct tide_cached_frame){.sp = UINTPTR_MAX,
                                                      .hash = tide_cache_hash(0, word)};
        stream->stack[at++] = word;
    }
    struct tide_cache_end end = tide_cache_end_of(cache, at);
    for (uint32_t i = found->fresh; i-- > 0; at++) {
        const struct tide_walked *const walked = &cache->walked[i];
        tide_cache_add(cache, &cache->frame[at], &end, walked);
        stream->stack[at] = TIDE_WORD(TIDE_FRAME_NATIVE, walked->pc);
    }
    return at;
}

/* Is AT a frame that is known, with all that called it?  *TOP: how many may still be. */
static inline bool joins_known(const struct tide_stream *stream,
                               const struct tide_walked *at, uint32_t *top)
{
    const struct tide_stack_cache *const cache = &stream->cache;
    if (!tide_cache_meets(cache, stream->stack, at, top))
        return false;
    const uint32_t good = tide_cache_verify(cache, *top - 1);
    const bool known = good == *top;
    *top = good;
    return known;
}

/* The step outwards from AT by a row that is not of a usual kind, or beyond what is surely
 * there. */
static __attribute__((noinline)) enum how go_on_by(const struct tide_walked *at,
                                                   struct tide_stack_bounds bounds,
                                                   struct tide_walked *outer)
{
    const struct tide_cfi_row row = tide_row_unpack(at->row);
    struct walk_state walk = {
        .pc = at->pc, .sp = at->sp, .rbp = at->rbp, .low = at->sp, .to = bounds};
    enum how how = TIDE_MET;
    if (row.cfa == TIDE_CFA_END || row.cfa == TIDE_CFA_UNKNOWN)
        how = row.cfa == TIDE_CFA_END ? TIDE_ENDED : TIDE_NO_ROW;
    else if (row.cfa >= TIDE_CFA_SIGNAL || !step(&walk, row))
        how = TIDE_NOT_FOR_CACHE;
    outer->pc = walk.pc;
    outer->sp = walk.sp;
    outer->rbp = walk.rbp;
    return how;
}

/* The step outwards from AT by its row, to OUTER; TIDE_MET: it leads on.  Rows of usual kinds
 * keep sp aligned and lead outwards, if rbp does.  Field by field: a frame that is copied as
 * a whole is read before what was written has come to the cache. */
TIDE_HOT enum how go_on(const struct tide_walked *at, uintptr_t high,
                        struct tide_walked *outer)
{
    const uint64_t row = at->row;
    const uintptr_t sp = at->sp, rbp = at->rbp;
    uintptr_t cfa;
    if (TIDE_LIKELY(tide_row_is_by_rsp(row))) {
        cfa = sp + (uintptr_t)tide_row_first_offset(row);
        if (TIDE_UNLIKELY(cfa > high))
            return TIDE_NOT_FOR_CACHE;
        const uintptr_t saved = load(cfa + (uintptr_t)tide_row_second_offset(row));
        const uintptr_t saves = -(uintptr_t)(row / TIDE_SAVES_RBP & 1);
        outer->rbp = rbp ^ ((rbp ^ saved) & saves);
    } else if (TIDE_LIKELY((row & 0xff) == TIDE_FRAME_ROW)) {
        if (TIDE_UNLIKELY(rbp < sp || rbp > high - 16 || rbp % 8 != 0))
            return TIDE_NOT_FOR_CACHE;
        cfa = rbp + 16;
        outer->rbp = load(rbp);
    } else {
        return go_on_by(at, (struct tide_stack_bounds){high, 0}, outer);
    }
    outer->pc = load(cfa - 8);
    outer->sp = cfa;
    return TIDE_MET;
}

/* Walk from the first of cache->walked until a frame is met that is known; the first TOP of
 * the cache may be, but not the one where it begins.  What the last step led to stands behind
 * those that are fresh. */
static inline struct found walk_to_known(struct tide_stream *stream,
                                         struct tide_stack_bounds bounds,
                                         uint32_t limit, uint32_t top)
{
    struct tide_stack_cache *const cache = &stream->cache;
    const uint64_t epoch = cache->generation;
    struct tide_walked *at = cache->walked;
    for (uint32_t fresh = 0; fresh + 2 < limit; fresh++, at++) {
        if (fresh > 0 && joins_known(stream, at, &top))
            return (struct found){top, fresh, TIDE_MET};
        at->row = tide_row_packed(at->pc - 1, epoch);
        enum how how = go_on(at, bounds.high, at + 1);
        if (TIDE_UNLIKELY(how == TIDE_NOT_FOR_CACHE) && bounds.reach) {
            how = go_on_by(at, bounds, at + 1);
            bounds.high = tide_page_end(at[1].sp);
        }
        if (TIDE_UNLIKELY(how != TIDE_MET))
            return (struct found){0, fresh + 1, how};
        if (TIDE_UNLIKELY(at[1].pc == 0))
            return (struct found){0, fresh + 1, TIDE_ENDED};
    }
    return (struct found){.how = TIDE_NOT_FOR_CACHE};
}

/* The same, but its innermost frames are those of LEAF. */
static inline uint32_t taken_by_leaf(struct tide_stream *stream, struct tide_leaf *leaf)
{
    stream->kept = leaf->base;
    stream->in_walk = false;
    stream->cache.leaf = leaf;
    stream->hash = leaf->hash;
    return leaf->base + leaf->frames;
}

/* What is wanted of a walk. */
struct wish {
    uint32_t limit; /* frames */
    uint32_t top;   /* outermost frames of the cache that it may meet */
    bool leaf;      /* keep the way as a leaf */
};

/* Nothing that is known leads here: walk, and keep what is found.  Sets *CUT when there is
 * more than the limit. */
static __attribute__((noinline)) uint32_t walk_and_keep(struct tide_stream *stream,
                                                        struct tide_caller caller,
                                                        struct wish wish, bool *cut)
{
    struct tide_stack_cache *const cache = &stream->cache;
    const uint32_t most = wish.limit < TIDE_CACHE_MAX ? wish.limit : TIDE_CACHE_MAX;
    const struct tide_walked first = first_of(caller);
    const uintptr_t own = own_end(stream, first.sp);
    const uint64_t changes = tide_other_changes();

    cache->walked[0] = first;
    cache->generation =
        atomic_load_explicit(&tide_stack_generation, memory_order_relaxed);
    tide_sight_fetch_rows(cache, &first, own);
    const struct found found =
        walk_to_known(stream, tide_bounds_at(first.sp, own), most, wish.top);
    if (TIDE_UNLIKELY(found.how == TIDE_NOT_FOR_CACHE) ||
        TIDE_UNLIKELY(found.kept + found.fresh + 1 > most))
        return walk_in_full(stream, caller, wish.limit, cut);
    cache->own_stack = own && (found.kept == 0 || cache->own_stack);
    cache->changes = changes;
    const uint32_t depth = add_fresh(stream, &found);
    (void)tide_cache_taken(stream, found.kept, depth);
    if (wish.leaf && found.kept > 0)
        tide_leaf_keep(cache, stream->stack, found.kept);
    return depth;
}

/* The leaf in which the stack of CALLER ends, if that is known. */
static inline struct tide_leaf *try_leaves(struct tide_stream *stream,
                                           struct tide_caller caller)
{
    struct tide_stack_cache *const cache = &stream->cache;
    const struct tide_walked at = first_of(caller);
    struct tide_leaf *const leaf = tide_leaf_find(cache, &at, own_end(stream, at.sp));
    tide_leaf_try_ended(cache, leaf);
    return leaf;
}

static inline bool is_out_of_date(const struct tide_stack_cache *cache)
{
    return TIDE_UNLIKELY(
        cache->generation !=
        atomic_load_explicit(&tide_stack_generation, memory_order_relaxed));
}

uint32_t tide_stack_retake_leaf(struct tide_stream *stream, struct tide_caller caller)
{
    struct tide_stack_cache *const cache = &stream->cache;
    struct tide_leaf *const leaf =
        is_out_of_date(cache) ? NULL : try_leaves(stream, caller);
    if (TIDE_UNLIKELY(!leaf))
        return tide_stack_take_tried(stream, caller);
    tide_cache_was_same(cache, leaf->hash == cache->frame[cache->frames - 1].hash);
    return taken_by_leaf(stream, leaf);
}

/* The last stack is not this one, but GOOD of its frames are; leaves may have been TRIED in
 * vain. */
static inline uint32_t take_changed(struct tide_stream *stream,
                                    struct tide_caller caller, struct wish wish,
                                    bool tried, bool *cut)
{
    struct tide_stack_cache *const cache = &stream->cache;
    tide_cache_was_same(cache, false);
    wish.leaf = tried || tide_leaf_is_worth_it(cache);
    struct tide_leaf *const leaf =
        wish.leaf && !tried ? try_leaves(stream, caller) : NULL;
    return leaf ? taken_by_leaf(stream, leaf)
                : walk_and_keep(stream, caller, wish, cut);
}

uint32_t tide_stack_cfi_changed(struct tide_stream *stream, struct tide_caller caller,
                                uint32_t limit, bool *cut, uint32_t good)
{
    return take_changed(stream, caller, (struct wish){.limit = limit, .top = good},
                        false, cut);
}

static inline uint32_t take(struct tide_stream *stream, struct tide_caller caller,
                            uint32_t limit, bool tried, bool *cut)
{
    struct tide_stack_cache *const cache = &stream->cache;
    const struct tide_walked at = first_of(caller);
    struct wish wish = {.limit = limit, .top = cache->frames};
    const bool anew = is_out_of_date(cache);
    if (TIDE_UNLIKELY(!stream->stack_high) || (anew && stream->shared))
        tide_stack_find_bounds(stream); /* a monitor's has found its own */
    if (anew)
        return walk_and_keep(stream, caller, (struct wish){.limit = limit}, cut);
    if (joins_known(stream, &at, &wish.top)) {
        tide_cache_was_same(cache, true);
        return tide_cache_taken(stream, wish.top, wish.top);
    }
    return take_changed(stream, caller, wish, tried, cut);
}

uint32_t tide_stack_cfi_tried(struct tide_stream *stream, struct tide_caller caller,
                              uint32_t limit, bool *cut)
{
    return take(stream, caller, limit, true, cut);
}

/* In the order of what is likely: the frame that was there last time; a way that was gone
 * before; something new. */
uint32_t tide_stack_cfi(struct tide_stream *stream, struct tide_caller caller,
                        uint32_t limit, bool *cut)
{
    return take(stream, caller, limit, false, cut);
}
