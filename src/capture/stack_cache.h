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

#include "capture/self.h"

enum {
    TIDE_CACHE_MAX = 512,  /* frames; deeper stacks are walked in full */
    TIDE_FRAME_CHECKS = 3, /* words that one step may read */
    TIDE_LEAF_FRAMES = 7,  /* frames of a leaf */
    TIDE_LEAF_CHECKS = 10, /* words of a leaf */
    TIDE_LEAF_COUNT = 768,
    TIDE_GUIDES = 2048,
    TIDE_GUIDE_STEPS = 4, /* return addresses that a leaf is found by */
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

/* A frame as the walk met it, and what the step from it read. */
struct tide_walked {
    uintptr_t pc, sp, rbp;
    const uintptr_t *rbp_at; /* NULL: rbp is the caller's as well */
    const uintptr_t *cfa_at; /* NULL: the CFA is not itself read from the stack */
    bool by_rbp;             /* the CFA, or rbp_at, was found by rbp */
};

/* The step from AT read nothing but the return address, which stands where SP tells. */
static inline void tide_walked_plainly(struct tide_walked *at)
{
    at->rbp_at = at->cfa_at = NULL;
    at->by_rbp = false;
}

/* The innermost frames of a stack that was taken before, on top of one that is kept: a
 * program that goes the same ways again and again finds them here, without a row being
 * looked at.  Found by the innermost return addresses: see tide_leaf_key(). */
struct tide_leaf {
    uintptr_t pc, sp, rbp;
    uint64_t base_hash; /* of the kept frames that it stands on */
    uintptr_t base_sp, base_rbp;
    uint64_t hash; /* of the whole stack */
    uint64_t generation;
    struct tide_check innermost; /* of the checks: says no the soonest */
    uint32_t base;               /* how many they are */
    uint16_t next;               /* leaf that was found after this one last time */
    uint16_t frames;
    uint8_t checks;
    bool need_rbp, base_needs_rbp;
    struct tide_check check[TIDE_LEAF_CHECKS]; /* outermost first */
    uint64_t words[TIDE_LEAF_FRAMES];          /* outermost first */
};

struct tide_stack_cache {
    uint32_t frames;     /* 0: nothing is known */
    bool own_stack;      /* every word is on the thread's own stack */
    uint64_t generation; /* of loaded code */
    struct tide_cached_frame frame[TIDE_CACHE_MAX]; /* outermost first, as in stack[] */
    struct tide_check check[TIDE_FRAME_CHECKS * TIDE_CACHE_MAX]; /* outermost first */
    struct tide_walked walked[TIDE_CACHE_MAX]; /* new ones, innermost first */
    struct tide_leaf *leaf; /* the last stack ended in it; NULL: in frame[] */
    uint8_t luck;           /* with leaves: at 0 they are tried now and then only */
    uint8_t turns;          /* since they were tried last */
    uint8_t steady; /* how well `next` foretells; at 0 it is tried now and then only */
    uint8_t tries;
    /* As in struct tide_leaf, after a stack that ended in frame[]. */
    uint16_t next_leaf;
    uintptr_t guide[TIDE_GUIDES]; /* see tide_leaf_key() */
    /* What each leaf is found by: beside each other, since leaves themselves are too large
     * to be looked at in vain. */
    uint64_t leaf_keys[TIDE_LEAF_COUNT];
    struct tide_leaf leaves[TIDE_LEAF_COUNT];
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

static inline bool tide_check_changed(struct tide_check check)
{
    return *check.at != check.value;
}

/* Four at once, written out: at -O2 a loop stays a loop. */
TIDE_HOT uintptr_t tide_four_changed(const struct tide_check *check)
{
    return (*check[0].at ^ check[0].value) | (*check[1].at ^ check[1].value) |
           (*check[2].at ^ check[2].value) | (*check[3].at ^ check[3].value);
}

TIDE_HOT bool tide_checks_changed(const struct tide_check *check, uint32_t count)
{
    uintptr_t changed = 0;
    for (; count >= 4; count -= 4, check += 4)
        changed |= tide_four_changed(check);
    for (uint32_t i = 0; i < count; i++)
        changed |= *check[i].at ^ check[i].value;
    return changed != 0;
}

/* Are the words of frame INDEX and all further out as they were?  Returns INDEX + 1 if
 * so, else how many of the outermost frames do not depend on what has changed.
 *
 * From the inside out, so that a word is read only when those before it are unchanged: a
 * stack other than the thread's own may have been unmapped. */
static inline uint32_t tide_cache_verify(const struct tide_stack_cache *cache,
                                         uint32_t index)
{
    const struct tide_check *const first = cache->check;
    const struct tide_check *end = first + cache->frame[index].checks;
    while (cache->own_stack && end - first >= 8 && !tide_four_changed(end - 4) &&
           !tide_four_changed(end - 8))
        end -= 8;
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
    while (*top > 0 && cache->frame[*top - 1].sp < at->sp)
        --*top;
    if (*top == 0)
        return false;
    const struct tide_cached_frame *frame = &cache->frame[*top - 1];
    return frame->sp == at->sp && pcs[*top - 1] == at->pc &&
           (!frame->need_rbp || frame->rbp == at->rbp);
}

/* What goes on from one kept frame to the next further in. */
struct tide_cache_end {
    uint64_t hash;
    uint32_t checks;
    bool need_rbp;
};

static inline struct tide_cache_end tide_cache_end_of(
    const struct tide_stack_cache *cache, uint32_t frames)
{
    if (frames == 0)
        return (struct tide_cache_end){0};
    const struct tide_cached_frame *const last = &cache->frame[frames - 1];
    return (struct tide_cache_end){last->hash, last->checks, last->need_rbp};
}

/* Keep the step from WALKED to the caller whose state is OUTER (NULL: it has none, and
 * nothing was read to know it) as FRAME, the next after END. */
TIDE_HOT void tide_cache_add(struct tide_stack_cache *cache,
                             struct tide_cached_frame *frame,
                             struct tide_cache_end *end,
                             const struct tide_walked *walked,
                             const struct tide_walked *outer)
{
    struct tide_check *check = &cache->check[end->checks];
    if (outer) {
        if (walked->rbp_at && end->need_rbp)
            *check++ = (struct tide_check){walked->rbp_at, outer->rbp};
        /* NOLINTNEXTLINE(performance-no-int-to-ptr) */
        *check++ = (struct tide_check){(const uintptr_t *)(outer->sp - 8), outer->pc};
        if (TIDE_UNLIKELY(walked->cfa_at))
            *check++ = (struct tide_check){walked->cfa_at, outer->sp};
    }
    end->hash = tide_cache_hash(end->hash, walked->pc);
    end->checks = (uint32_t)(check - cache->check);
    end->need_rbp = walked->by_rbp || (!walked->rbp_at && end->need_rbp);
    frame->sp = walked->sp;
    frame->rbp = walked->rbp;
    frame->hash = end->hash;
    frame->checks = end->checks;
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

/* --- Leaves ---------------------------------------------------------------------------- */

/* A leaf is found by the innermost return addresses.  Where they stand, nobody can know
 * without a walk, but guides tell where they stood the last time that all was the same so
 * far.  What they tell is a guess, and so is what is found by it: tide_leaf_holds() is
 * what counts.  A guide of 0 says that nothing is known. */
static inline uint64_t tide_leaf_key_begin(const struct tide_stack_cache *cache,
                                           uintptr_t pc, uintptr_t sp)
{
    return tide_cache_hash(pc ^ sp << 20, cache->generation);
}

static inline uintptr_t *tide_leaf_guide(struct tide_stack_cache *cache, uint64_t key)
{
    return &cache->guide[key % TIDE_GUIDES];
}

/* The key of the stack whose first frame is AT.  What is read is below HIGH. */
static inline uint64_t tide_leaf_key(struct tide_stack_cache *cache,
                                     const struct tide_walked *at, uintptr_t high)
{
    uint64_t key = tide_leaf_key_begin(cache, at->pc, at->sp);
    for (int i = 0; i < TIDE_GUIDE_STEPS; i++) {
        const uintptr_t place = *tide_leaf_guide(cache, key);
        if (place < at->sp || place >= high)
            break;
        key = tide_cache_hash(key, tide_stack_word(place));
    }
    return key;
}

/* The same of the stack in the cache, PCS, that was just walked; the guides learn it. */
static inline uint64_t tide_leaf_learn(struct tide_stack_cache *cache,
                                       const uint64_t *pcs)
{
    uint32_t at = cache->frames - 1;
    uint64_t key = tide_leaf_key_begin(cache, pcs[at], cache->frame[at].sp);
    for (int i = 0; i < TIDE_GUIDE_STEPS; i++) {
        *tide_leaf_guide(cache, key) = at > 0 ? cache->frame[at - 1].sp - 8 : 0;
        if (at-- == 0)
            break;
        key = tide_cache_hash(key, pcs[at]);
    }
    return key;
}

/* Each has two places, so that two that are used by turns do not drive each other out. */
static inline uint32_t tide_leaf_places(uint64_t key)
{
    return (uint32_t)(key / TIDE_GUIDES % (TIDE_LEAF_COUNT / 2)) * 2;
}

/* Where every way is as likely as any other, looking for leaves and keeping them is a
 * waste. */
static inline bool tide_leaf_is_worth_it(struct tide_stack_cache *cache)
{
    return cache->luck > 0 || ++cache->turns < 32; /* of 256 */
}

static inline void tide_leaf_try_ended(struct tide_stack_cache *cache, bool found)
{
    if (found)
        cache->luck = cache->luck < 253 ? (uint8_t)(cache->luck + 2) : 255;
    else if (cache->luck > 0)
        cache->luck--;
}

/* Is the stack whose first frame is AT the one that LEAF tells?  Every word is looked at,
 * from the inside out. */
static inline bool tide_leaf_holds(const struct tide_stack_cache *cache,
                                   const struct tide_leaf *leaf,
                                   const struct tide_walked *at)
{
    if (leaf->pc != at->pc || leaf->sp != at->sp ||
        leaf->generation != cache->generation || tide_check_changed(leaf->innermost) ||
        (leaf->need_rbp && leaf->rbp != at->rbp) || leaf->base > cache->frames)
        return false;
    const struct tide_cached_frame *const base = &cache->frame[leaf->base - 1];
    if (base->hash != leaf->base_hash || base->sp != leaf->base_sp ||
        (leaf->base_needs_rbp && base->rbp != leaf->base_rbp))
        return false;
    return !tide_checks_changed(leaf->check, leaf->checks) &&
           tide_cache_verify(cache, leaf->base - 1) == leaf->base;
}

/* How many frames a leaf of the stack in the cache stands on: as few as its size allows,
 * since those further out change the least.  0: it cannot be kept. */
static inline uint32_t tide_leaf_base(const struct tide_stack_cache *cache)
{
    const uint32_t most = cache->frame[cache->frames - 1].checks;
    uint32_t base = cache->frames;
    while (base > 1 && cache->frames - (base - 1) <= TIDE_LEAF_FRAMES &&
           most - cache->frame[base - 2].checks <= TIDE_LEAF_CHECKS)
        base--;
    return base;
}

/* Which leaf was found after the present stack last time. */
static inline uint16_t *tide_leaf_next(struct tide_stack_cache *cache)
{
    return cache->leaf ? &cache->leaf->next : &cache->next_leaf;
}

/* That one, if it is the one for the stack whose first frame is AT; else NULL. */
static inline struct tide_leaf *tide_leaf_follow(struct tide_stack_cache *cache,
                                                 const struct tide_walked *at)
{
    struct tide_leaf *const leaf = &cache->leaves[*tide_leaf_next(cache)];
    if (!tide_leaf_holds(cache, leaf, at)) {
        if (cache->steady > 0)
            cache->steady--;
        return NULL;
    }
    cache->steady = cache->steady < 14 ? (uint8_t)(cache->steady + 2) : 15;
    return leaf;
}

/* Do leaves follow each other so steadily that this is to be tried before all else? */
static inline bool tide_leaf_is_steady(const struct tide_stack_cache *cache)
{
    return cache->leaf && cache->steady > 7;
}

/* The leaf for the stack whose first frame is AT, by what is known to follow or by the
 * guides; NULL when neither holds. */
static inline struct tide_leaf *tide_leaf_find(struct tide_stack_cache *cache,
                                               const struct tide_walked *at,
                                               uintptr_t high)
{
    struct tide_leaf *leaf = NULL;
    if (cache->steady > 0 || ++cache->tries % 16 == 0)
        leaf = tide_leaf_follow(cache, at);
    if (leaf)
        return leaf;
    const uint64_t key = tide_leaf_key(cache, at, high);
    /* Which of the two it is nobody can foretell, so that is no branch. */
    uint32_t place = tide_leaf_places(key);
    place += cache->leaf_keys[place + 1] == key;
    leaf = &cache->leaves[place];
    if (cache->leaf_keys[place] != key || !tide_leaf_holds(cache, leaf, at))
        return NULL;
    *tide_leaf_next(cache) = (uint16_t)place;
    return leaf;
}

/* Keep the innermost frames of the stack in the cache, WORDS; KNOWN of its frames, the
 * outermost, were there before. */
static inline void tide_leaf_keep(struct tide_stack_cache *cache, const uint64_t *words,
                                  uint32_t known)
{
    if (!cache->own_stack)
        return;
    const uint64_t key = tide_leaf_learn(cache, words);
    const uint32_t base = tide_leaf_base(cache);
    if (base > known)
        return;
    const uint32_t frames = cache->frames - base;
    const struct tide_cached_frame *const top = &cache->frame[cache->frames - 1];
    const struct tide_cached_frame *const under = &cache->frame[base - 1];
    const uint32_t checks = top->checks - under->checks;
    uint32_t place = tide_leaf_places(key);
    if (cache->leaf_keys[place] != key)
        place += cache->leaf_keys[place + 1] == key || (cache->turns++ & 1);
    struct tide_leaf *const leaf = &cache->leaves[place];
    leaf->pc = 0; /* a handler may jump out of here: half a leaf is none */
    atomic_signal_fence(memory_order_seq_cst);
    leaf->sp = top->sp;
    leaf->rbp = top->rbp;
    cache->leaf_keys[place] = key;
    leaf->generation = cache->generation;
    leaf->base_hash = under->hash;
    leaf->base_sp = under->sp;
    leaf->base_rbp = under->rbp;
    leaf->hash = top->hash;
    leaf->base = base;
    leaf->frames = (uint16_t)frames;
    leaf->checks = (uint8_t)checks;
    leaf->need_rbp = top->need_rbp;
    leaf->base_needs_rbp = under->need_rbp;
    leaf->innermost = cache->check[top->checks - 1];
    for (uint32_t i = 0; i < checks; i++)
        leaf->check[i] = cache->check[under->checks + i];
    for (uint32_t i = 0; i < frames; i++)
        leaf->words[i] = words[base + i];
    atomic_signal_fence(memory_order_seq_cst);
    leaf->pc = words[cache->frames - 1];
}

#endif
