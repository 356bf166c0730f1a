/* capture/stack_cache.h - the verified stack cache: what was walked is not walked again.
 *
 * For: stack.h, stack_cfi.c, coder.h.
 *
 * One step of a walk leads from the state (pc, sp, rbp) of a frame to its caller's.  It is a
 * function of that state and of the words it reads from the stack
 * (return address, perhaps a saved rbp).  So the last stack is kept with the state of
 * every frame and the address and value of every word that was read.  When a new walk
 * comes to a state that is kept, and the words from there on outwards are unchanged, the
 * rest of the stack is what a walk would find: by induction, not by likelihood.
 *
 * A saved rbp need be compared only where a frame further out finds itself by rbp before
 * it is restored again; in optimised code that leaves about one word a frame.  Where it
 * is not needed, the kept rbp may be out of date and is never used.
 */
#ifndef TIDE_CAPTURE_STACK_CACHE_H
#define TIDE_CAPTURE_STACK_CACHE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "capture/row_table.h"
#include "capture/self.h"
#include "capture/stack_other.h"

enum {
    TIDE_CACHE_MAX = 512,  /* frames; deeper stacks are walked in full */
    TIDE_FRAME_CHECKS = 3, /* words that one step may read */
    TIDE_LEAF_FRAMES = 7,  /* frames of a leaf */
    TIDE_RESTLESS = 15,
    TIDE_LEAF_OTHERS = 5, /* words of a leaf that are no return addresses */
    TIDE_LEAF_COUNT = 1024,
    TIDE_LEAF_TURNS =
        32, /* of 256: so often leaves are tried where they bring nothing */
    TIDE_SIGHTS = 1024,
    TIDE_SIGHT_WORDS = 4, /* return addresses that a leaf is found by */
};

struct tide_cached_frame {
    uintptr_t sp, rbp;
    uint64_t hash;     /* of the words of this frame and all further out */
    uint32_t checks;   /* those of this frame and all further out */
    uint32_t need_rbp; /* rbp is part of the state: somebody finds his frame by it */
};

struct tide_check {
    const uintptr_t *at;
    uintptr_t value;
};

/* A frame as the walk met it; its caller stands behind it. */
struct tide_walked {
    uintptr_t pc, sp, rbp;
    uint64_t row; /* packed: how its caller was found */
};

/* The innermost frames of a stack that was taken before, on top of one that is kept: a
 * program that goes the same ways again and again finds them here, without a row being
 * looked at.  Found by the innermost return addresses: see tide_leaf_key().
 *
 * Places are told in words above sp.  Arrays are filled from the end, and what is left of
 * them repeats the first, so that all can be looked at without asking how many there are. */
struct tide_leaf {
    _Alignas(64) uintptr_t sp;
    uintptr_t rbp;
    uint64_t base_hash; /* of the kept frames that it stands on */
    uintptr_t base_rbp;
    uint64_t hash; /* of the whole stack */
    uint32_t generation;
    uint16_t base; /* how many they are */
    uint16_t next; /* leaf that was found after this one last time */
    uint8_t frames;
    bool need_rbp, base_needs_rbp, has_others;
    uint16_t pc_at[TIDE_LEAF_FRAMES];
    uint16_t other_at[TIDE_LEAF_OTHERS];
    uint64_t
        words[TIDE_LEAF_FRAMES + 1];   /* outermost first, from the base's last one */
    uint64_t others[TIDE_LEAF_OTHERS]; /* what was read beside return addresses */
};
_Static_assert(sizeof(struct tide_leaf) == 192, "three lines of the cache");

/* Where the innermost return addresses of a stack stood that began as KEY tells. */
struct tide_sight {
    uint64_t key;
    uint16_t at[TIDE_SIGHT_WORDS];
};

struct tide_stack_cache {
    uint32_t frames;        /* 0: nothing is known */
    bool own_stack;         /* every word is on the thread's own stack */
    uint64_t changes;       /* else: of what is mapped, before they were read */
    uint64_t generation;    /* of loaded code */
    struct tide_leaf *leaf; /* the last stack ended in it; NULL: in frame[] */
    uint8_t luck;           /* with leaves: at 0 they are tried now and then only */
    uint8_t turns;          /* since they were tried last */
    uint8_t steady; /* how well `next` foretells; at 0 it is tried now and then only */
    uint8_t tries;
    /* As in struct tide_leaf, after a stack that ended in frame[]. */
    uint16_t next_leaf;
    uint8_t restless; /* how often the last stack walked is not the next one as well */
    struct tide_cached_frame frame[TIDE_CACHE_MAX]; /* outermost first, as in stack[] */
    struct tide_check check[TIDE_FRAME_CHECKS * TIDE_CACHE_MAX]; /* outermost first */
    struct tide_walked walked[TIDE_CACHE_MAX + 1]; /* new ones, innermost first */
    struct tide_sight sights[TIDE_SIGHTS];
    /* What each leaf is found by: beside each other, since leaves themselves are too large
     * to be looked at in vain. */
    uint64_t leaf_keys[TIDE_LEAF_COUNT];
    _Alignas(64) struct tide_leaf leaves[TIDE_LEAF_COUNT];
};

static inline uintptr_t tide_stack_word(uintptr_t at)
{
    return *(const uintptr_t *)at; /* NOLINT(performance-no-int-to-ptr) */
}

static inline uint64_t tide_cache_hash(uint64_t outer, uint64_t word)
{
    const uint64_t hash = (outer ^ word) * 0x9e3779b97f4a7c15ull;
    return hash ^ hash >> 32;
}

/* Four at once, written out: at -O2 a loop stays a loop. */
TIDE_HOT uintptr_t tide_four_changed(const struct tide_check *check)
{
    return (*check[0].at ^ check[0].value) | (*check[1].at ^ check[1].value) |
           (*check[2].at ^ check[2].value) | (*check[3].at ^ check[3].value);
}

/* Are the words of frame INDEX and all further out as they were?  Returns INDEX + 1 if
 * so, else how many of the outermost frames do not depend on what has changed.
 *
 * From the inside out, so that a word is read only when those before it are unchanged: a
 * stack other than the thread's own may have been unmapped.  And what was read beyond the end
 * of such a one (see stack_other.h) is there only as long as nothing has been. */
static inline uint32_t tide_cache_verify(const struct tide_stack_cache *cache,
                                         uint32_t index)
{
    const struct tide_check *const first = cache->check;
    const struct tide_check *end = first + cache->frame[index].checks;
    if (TIDE_LIKELY(cache->own_stack)) {
        while (end >= first + 8 &&
               !(tide_four_changed(end - 4) | tide_four_changed(end - 8)))
            end -= 8;
        if (end >= first + 4 && !tide_four_changed(end - 4))
            end -= 4;
    } else if (cache->changes != tide_other_changes()) {
        return 0;
    }
    while (end > first && *end[-1].at == end[-1].value)
        end--;
    if (TIDE_LIKELY(end == first))
        return index + 1;
    while (index > 0 && first + cache->frame[index - 1].checks >= end)
        index--;
    return index;
}

/* Is the frame (PC, SP, RBP), where PCS are those of the cache, the outermost TOP-th or
 * one further out?  *TOP becomes the number of frames that are not further in than SP. */
static inline bool tide_cache_meets(const struct tide_stack_cache *cache,
                                    const uint64_t *pcs, const struct tide_walked *at,
                                    uint32_t *top)
{
    const struct tide_cached_frame *frame = &cache->frame[*top] - 1;
    while (frame >= cache->frame && frame->sp < at->sp)
        frame--;
    *top = (uint32_t)(frame + 1 - cache->frame);
    if (*top == 0)
        return false;
    return frame->sp == at->sp && pcs[*top - 1] == at->pc &&
           (!frame->need_rbp || frame->rbp == at->rbp);
}

/* What goes on from one kept frame to the next further in. */
struct tide_cache_end {
    struct tide_check *check; /* the next */
    uint64_t hash;
    bool need_rbp;
};

static inline struct tide_cache_end tide_cache_end_of(struct tide_stack_cache *cache,
                                                      uint32_t frames)
{
    if (frames == 0)
        return (struct tide_cache_end){.check = cache->check};
    const struct tide_cached_frame *const last = &cache->frame[frames - 1];
    return (struct tide_cache_end){cache->check + last->checks, last->hash,
                                   last->need_rbp};
}

/* The step read VALUE at AT. */
TIDE_HOT struct tide_check *tide_check_put(struct tide_check *check, uintptr_t at,
                                           uintptr_t value)
{
    check->at = (const uintptr_t *)at; /* NOLINT(performance-no-int-to-ptr) */
    check->value = value;
    return check + 1;
}

/* What the step from WALKED to the one behind it read, by any row; nothing, if that leads
 * nowhere.  *NEED_RBP: those further out need it. */
static __attribute__((noinline)) struct tide_check *tide_check_put_any(
    struct tide_check *check, const struct tide_walked *walked, bool *need_rbp)
{
    const struct tide_cfi_row row = tide_row_unpack(walked->row);
    const struct tide_walked *const outer = walked + 1;
    if (row.cfa == TIDE_CFA_END || row.cfa == TIDE_CFA_UNKNOWN)
        return check;
    const uintptr_t rbp_base = row.rbp == TIDE_RBP_AT_CFA ? outer->sp : walked->rbp;
    const uintptr_t rbp_at = rbp_base + (uintptr_t)(intptr_t)row.rbp_offset;
    const uintptr_t cfa_at = walked->rbp + (uintptr_t)(intptr_t)row.cfa_offset;
    if (row.rbp != TIDE_RBP_SAME && *need_rbp)
        check = tide_check_put(check, rbp_at, outer->rbp);
    check = tide_check_put(check, outer->sp - 8, outer->pc);
    if (row.cfa == TIDE_CFA_DEREF)
        check = tide_check_put(check, cfa_at, outer->sp);
    *need_rbp = row.cfa != TIDE_CFA_RSP || row.rbp == TIDE_RBP_AT_RBP ||
                (row.rbp == TIDE_RBP_SAME && *need_rbp);
    return check;
}

/* Keep the step from WALKED to the one behind it as FRAME, the next after END. */
TIDE_HOT void tide_cache_add(const struct tide_stack_cache *cache,
                             struct tide_cached_frame *frame,
                             struct tide_cache_end *end,
                             const struct tide_walked *walked)
{
    if (TIDE_LIKELY(tide_row_is_by_rsp(walked->row) && !end->need_rbp)) {
        end->check = tide_check_put(end->check, walked[1].sp - 8, walked[1].pc);
    } else {
        bool need_rbp = end->need_rbp;
        end->check = tide_check_put_any(end->check, walked, &need_rbp);
        end->need_rbp = need_rbp;
    }
    end->hash = tide_cache_hash(end->hash, walked->pc);
    frame->sp = walked->sp;
    frame->rbp = walked->rbp;
    frame->hash = end->hash;
    frame->checks = (uint32_t)(end->check - cache->check);
    frame->need_rbp = end->need_rbp;
}

/* Code was loaded or unloaded so many times. */
extern _Atomic uint64_t tide_stack_generation __attribute__((visibility("hidden")));

/* The likeliest case of all: does the stack of CALLER begin with the frame that was the
 * innermost last time? */
TIDE_HOT bool tide_cache_begins(const struct tide_stack_cache *cache,
                                const uint64_t *pcs, struct tide_caller caller)
{
    const uint32_t frames = cache->frames;
    if (TIDE_UNLIKELY(frames == 0))
        return false;
    const struct tide_cached_frame *const top = &cache->frame[frames - 1];
    return top->sp == caller.frame + 16 && pcs[frames - 1] == caller.pc &&
           (!top->need_rbp || top->rbp == tide_stack_word(caller.frame)) &&
           cache->generation ==
               atomic_load_explicit(&tide_stack_generation, memory_order_relaxed);
}

#endif
