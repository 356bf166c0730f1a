/* capture/stack_leaf.h - the ends of stacks that were taken before.
 *
 * For: stack.h, stack_cfi.c, coder.h.  Most stacks of a program differ from the last one in
 * their innermost frames, and these have been seen before.  A leaf (struct tide_leaf) is
 * such an end, with every word that was read to walk it: when all of them are unchanged, and
 * so is what it stands on, the stack is that one.
 */
#ifndef TIDE_CAPTURE_STACK_LEAF_H
#define TIDE_CAPTURE_STACK_LEAF_H

#include "capture/stack_cache.h"

/* A leaf is found by the innermost return addresses.  Where they stand, nobody can know
 * without a walk, but a sight tells where they stood the last time that the stack began
 * like this.  What it tells is a guess, and so is what is found by it: tide_leaf_holds()
 * is what counts. */
static inline uint64_t tide_sight_key(const struct tide_stack_cache *cache,
                                      uintptr_t pc, uintptr_t sp)
{
    return (pc ^ sp << 24 ^ cache->generation << 52) * 0x9e3779b97f4a7c15ull;
}

static inline struct tide_sight *tide_sight_of(struct tide_stack_cache *cache,
                                               uint64_t key)
{
    return &cache->sights[key >> 32 & (TIDE_SIGHTS - 1)];
}

static inline uint64_t tide_sight_word(uintptr_t sp, uint16_t at)
{
    return ((const uintptr_t *)sp)[at]; /* NOLINT(performance-no-int-to-ptr) */
}

/* Four products that do not wait for each other. */
TIDE_HOT uint64_t tide_leaf_mix(uint64_t key, uint64_t a, uint64_t b, uint64_t c,
                                uint64_t d)
{
    const uint64_t mixed = (a * 0xff51afd7ed558ccdull ^ b * 0xc4ceb9fe1a85ec53ull) +
                           (c * 0x2545f4914f6cdd1dull ^ d * 0xd6e8feb86659fd93ull) +
                           key;
    return mixed ^ mixed >> 32;
}

/* The key of the stack whose first frame is at SP, as SIGHT tells where to look. */
TIDE_HOT uint64_t tide_leaf_key(const struct tide_sight *sight, uintptr_t sp)
{
    return tide_leaf_mix(sight->key, tide_sight_word(sp, sight->at[0]),
                         tide_sight_word(sp, sight->at[1]),
                         tide_sight_word(sp, sight->at[2]),
                         tide_sight_word(sp, sight->at[3]));
}

/* Each has two places, so that two that are used by turns do not drive each other out. */
static inline uint32_t tide_leaf_places(uint64_t key)
{
    return (uint32_t)(key % (TIDE_LEAF_COUNT / 2)) * 2;
}

/* Where every way is as likely as any other, looking for leaves and keeping them is a
 * waste. */
static inline bool tide_leaf_is_worth_it(struct tide_stack_cache *cache)
{
    return cache->luck > 0 || ++cache->turns < TIDE_LEAF_TURNS;
}

static inline void tide_leaf_try_ended(struct tide_stack_cache *cache, bool found)
{
    if (found)
        cache->luck = cache->luck < 253 ? (uint8_t)(cache->luck + 2) : 255;
    else if (cache->luck > 0)
        cache->luck--;
}

TIDE_HOT uint64_t tide_leaf_word_changed(const struct tide_leaf *leaf, uintptr_t sp,
                                         int i)
{
    return tide_sight_word(sp, leaf->pc_at[i]) ^ leaf->words[i];
}

TIDE_HOT uint64_t tide_leaf_other_changed(const struct tide_leaf *leaf, uintptr_t sp,
                                          int i)
{
    return tide_sight_word(sp, leaf->other_at[i]) ^ leaf->others[i];
}

/* Does LEAF begin with the frame AT, and stand on frames that are in the cache?  Then its
 * words are on the stack of this thread. */
TIDE_HOT bool tide_leaf_fits(const struct tide_stack_cache *cache,
                             const struct tide_leaf *leaf, const struct tide_walked *at)
{
    if ((leaf->sp ^ at->sp) | (leaf->words[TIDE_LEAF_FRAMES] ^ at->pc) |
        (leaf->generation ^ (uint32_t)cache->generation))
        return false;
    if ((leaf->need_rbp && leaf->rbp != at->rbp) || leaf->base > cache->frames)
        return false;
    const struct tide_cached_frame *const base = &cache->frame[leaf->base - 1];
    const uintptr_t base_sp = at->sp + 8 + 8 * (uintptr_t)leaf->pc_at[0];
    return !((base->hash ^ leaf->base_hash) | (base->sp ^ base_sp)) &&
           (!leaf->base_needs_rbp || base->rbp == leaf->base_rbp);
}

/* Is the stack whose first frame is AT the one that LEAF tells?  Every word is looked
 * at. */
TIDE_HOT bool tide_leaf_holds(const struct tide_stack_cache *cache,
                              const struct tide_leaf *leaf,
                              const struct tide_walked *at)
{
    const uintptr_t sp = at->sp;
    if (!tide_leaf_fits(cache, leaf, at))
        return false;
    uint64_t changed =
        tide_leaf_word_changed(leaf, sp, 0) | tide_leaf_word_changed(leaf, sp, 1) |
        tide_leaf_word_changed(leaf, sp, 2) | tide_leaf_word_changed(leaf, sp, 3) |
        tide_leaf_word_changed(leaf, sp, 4) | tide_leaf_word_changed(leaf, sp, 5) |
        tide_leaf_word_changed(leaf, sp, 6);
    if (leaf->has_others)
        changed |= tide_leaf_other_changed(leaf, sp, 0) |
                   tide_leaf_other_changed(leaf, sp, 1) |
                   tide_leaf_other_changed(leaf, sp, 2) |
                   tide_leaf_other_changed(leaf, sp, 3) |
                   tide_leaf_other_changed(leaf, sp, 4);
    return !changed && tide_cache_verify(cache, leaf->base - 1) == leaf->base;
}

/* Is the next stack so seldom the one in frame[] that leaves are to be tried first? */
static inline bool tide_cache_is_restless(const struct tide_stack_cache *cache)
{
    return cache->restless > TIDE_RESTLESS / 2 && cache->luck > 0;
}

static inline void tide_cache_was_same(struct tide_stack_cache *cache, bool same)
{
    const unsigned now = cache->restless;
    cache->restless = (uint8_t)(same ? now - (now > 0) : now + (now < TIDE_RESTLESS));
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

/* The stack whose first frame is AT will be walked: have the rows of the frames that follow,
 * by what the sight tells.  Each would have to wait for the one before. */
static inline void tide_sight_fetch_rows(struct tide_stack_cache *cache,
                                         const struct tide_walked *at, uintptr_t high)
{
    const uint64_t begin = tide_sight_key(cache, at->pc, at->sp);
    const struct tide_sight *const sight = tide_sight_of(cache, begin);
    if (sight->key != begin || at->sp + 8 * (uintptr_t)sight->at[3] >= high)
        return;
#pragma GCC unroll 4
    for (int i = 0; i < TIDE_SIGHT_WORDS; i++)
        tide_row_fetch(tide_sight_word(at->sp, sight->at[i]) - 1, cache->generation);
}

/* The leaf for the stack whose first frame is AT, by what the sight tells; NULL when it
 * does not hold.  What is read is below HIGH. */
static inline struct tide_leaf *tide_leaf_look(struct tide_stack_cache *cache,
                                               const struct tide_walked *at,
                                               uintptr_t high)
{
    const uint64_t begin = tide_sight_key(cache, at->pc, at->sp);
    const struct tide_sight *const sight = tide_sight_of(cache, begin);
    if (sight->key != begin || at->sp + 8 * (uintptr_t)sight->at[3] >= high)
        return NULL;
    const uint64_t key = tide_leaf_key(sight, at->sp);
    /* Which of the two it is nobody can foretell, so that is no branch. */
    uint32_t place = tide_leaf_places(key);
    place += cache->leaf_keys[place + 1] == key;
    struct tide_leaf *const leaf = &cache->leaves[place];
    if (cache->leaf_keys[place] != key || !tide_leaf_holds(cache, leaf, at))
        return NULL;
    *tide_leaf_next(cache) = (uint16_t)place;
    return leaf;
}

/* The same, or by what is known to follow. */
static inline struct tide_leaf *tide_leaf_find(struct tide_stack_cache *cache,
                                               const struct tide_walked *at,
                                               uintptr_t high)
{
    struct tide_leaf *leaf = NULL;
    if (cache->steady > 0 || ++cache->tries % 16 == 0)
        leaf = tide_leaf_follow(cache, at);
    return leaf ? leaf : tide_leaf_look(cache, at, high);
}

/* How many words AT stands above SP; more than UINT16_MAX: a leaf cannot tell it. */
static inline uintptr_t tide_leaf_distance(uintptr_t at, uintptr_t sp)
{
    return at < sp || at % 8 != 0 ? UINTPTR_MAX : (at - sp) / 8;
}

/* What the step from frame INDEX read beside its return address is added to LEAF's OTHERS.
 * False: there is no room for it, or it stands further out than frame BASE begins. */
static inline bool tide_leaf_add_others(const struct tide_stack_cache *cache,
                                        struct tide_leaf *leaf, uint32_t base,
                                        uint32_t index, uint32_t *others)
{
    const uintptr_t sp = cache->frame[cache->frames - 1].sp;
    const uintptr_t pc_at = cache->frame[index - 1].sp - 8;
    const uintptr_t base_sp = cache->frame[base - 1].sp;
    for (uint32_t i = cache->frame[index - 1].checks; i < cache->frame[index].checks;
         i++) {
        const uintptr_t at = (uintptr_t)cache->check[i].at;
        const uintptr_t distance = tide_leaf_distance(at, sp);
        if (at == pc_at)
            continue;
        if (*others == TIDE_LEAF_OTHERS || distance > UINT16_MAX || at >= base_sp)
            return false;
        ++*others;
        leaf->other_at[TIDE_LEAF_OTHERS - *others] = (uint16_t)distance;
        leaf->others[TIDE_LEAF_OTHERS - *others] = cache->check[i].value;
    }
    return true;
}

/* Make LEAF of the innermost frames of the stack in the cache, WORDS, down to BASE.  False:
 * it cannot be told by one. */
static inline bool tide_leaf_fill(const struct tide_stack_cache *cache,
                                  struct tide_leaf *leaf, const uint64_t *words,
                                  uint32_t base)
{
    const uintptr_t sp = cache->frame[cache->frames - 1].sp;
    uint32_t others = 0, at = TIDE_LEAF_FRAMES;
    leaf->words[at] = words[cache->frames - 1];
    for (uint32_t i = cache->frames - 1; i >= base; i--) {
        at--;
        leaf->pc_at[at] = (uint16_t)((cache->frame[i - 1].sp - 8 - sp) / 8);
        leaf->words[at] = words[i - 1];
        if (cache->frame[i].checks - cache->frame[i - 1].checks != 1 &&
            !tide_leaf_add_others(cache, leaf, base, i, &others))
            return false;
    }
    for (uint32_t i = 0; i < at; i++) {
        leaf->pc_at[i] = leaf->pc_at[at];
        leaf->words[i] = leaf->words[at];
    }
    leaf->has_others = others > 0;
    if (others == 0)
        return true;
    const uint32_t first = TIDE_LEAF_OTHERS - others;
    for (uint32_t i = 0; i < first; i++) {
        leaf->other_at[i] = leaf->other_at[first];
        leaf->others[i] = leaf->others[first];
    }
    return true;
}

/* The word of frame INDEX of a stack that ends in LEAF. */
static inline uint64_t tide_leaf_word(const struct tide_leaf *leaf, uint32_t index)
{
    return leaf->words[TIDE_LEAF_FRAMES + 1 - leaf->frames + index - leaf->base];
}

/* The usual case: of each of the innermost frames nothing was read but the return address,
 * and they are not far apart. */
static inline bool tide_leaf_is_plain(const struct tide_stack_cache *cache)
{
    const struct tide_cached_frame *const top = &cache->frame[cache->frames - 1];
    const struct tide_cached_frame *const under = top - TIDE_LEAF_FRAMES;
    return cache->frames > TIDE_LEAF_FRAMES &&
           top->checks - under->checks == TIDE_LEAF_FRAMES &&
           under->sp - top->sp <= 8 * (uintptr_t)UINT16_MAX;
}

/* Then this does what tide_leaf_fill() would. */
TIDE_HOT void tide_leaf_fill_plain(const struct tide_stack_cache *cache,
                                   struct tide_leaf *leaf, const uint64_t *words)
{
    const uint32_t base = cache->frames - TIDE_LEAF_FRAMES;
    const uintptr_t sp = cache->frame[cache->frames - 1].sp;
    const struct tide_cached_frame *const frame = &cache->frame[base - 1];
#pragma GCC unroll 8
    for (int i = 0; i < TIDE_LEAF_FRAMES; i++) {
        leaf->pc_at[i] = (uint16_t)((frame[i].sp - 8 - sp) / 8);
        leaf->words[i] = words[base - 1 + (uint32_t)i];
    }
    leaf->words[TIDE_LEAF_FRAMES] = words[cache->frames - 1];
    leaf->has_others = false;
}

/* How many frames a leaf of the stack in the cache stands on: as few as its size allows,
 * since those further out change the least. */
static inline uint32_t tide_leaf_base(const struct tide_stack_cache *cache)
{
    const uint32_t top = cache->frames - 1;
    uint32_t base = cache->frames;
    while (base > 1 && cache->frames - (base - 1) <= TIDE_LEAF_FRAMES) {
        const uint32_t read = cache->frame[top].checks - cache->frame[base - 2].checks;
        if (cache->frame[base - 1].checks == cache->frame[base - 2].checks ||
            read - (cache->frames - base + 1) > TIDE_LEAF_OTHERS ||
            tide_leaf_distance(cache->frame[base - 2].sp - 8, cache->frame[top].sp) >
                UINT16_MAX)
            break;
        base--;
    }
    return base;
}

/* Where the I-th innermost return address of the stack in the cache stands; where the stack
 * ends before, or it is too far, LAST. */
static inline uint16_t tide_sight_place(const struct tide_stack_cache *cache,
                                        uint32_t i, uint16_t last)
{
    const uint32_t top = cache->frames - 1;
    const uintptr_t at = i < top ? tide_leaf_distance(cache->frame[top - 1 - i].sp - 8,
                                                      cache->frame[top].sp)
                                 : UINTPTR_MAX;
    return at <= UINT16_MAX ? (uint16_t)at : last;
}

/* Learn the sight of the stack in the cache, PCS, that was just walked.  If it is PLAIN, all
 * of its places can be told.  Returns the key of the stack. */
TIDE_HOT uint64_t tide_sight_learn(struct tide_stack_cache *cache, const uint64_t *pcs,
                                   bool plain)
{
    const uint32_t top = cache->frames - 1;
    const uintptr_t sp = cache->frame[top].sp;
    const uint64_t key = tide_sight_key(cache, pcs[top], sp);
    struct tide_sight *const sight = tide_sight_of(cache, key);
    sight->key = key;
    if (TIDE_LIKELY(plain)) {
        const struct tide_cached_frame *const frame = &cache->frame[top];
#pragma GCC unroll 4
        for (int i = 0; i < TIDE_SIGHT_WORDS; i++)
            sight->at[i] = (uint16_t)((frame[-1 - i].sp - 8 - sp) / 8);
        return tide_leaf_mix(key, pcs[top - 1], pcs[top - 2], pcs[top - 3],
                             pcs[top - 4]);
    }
    uint16_t last = 0;
    for (uint32_t i = 0; i < TIDE_SIGHT_WORDS; i++)
        sight->at[i] = last = tide_sight_place(cache, i, last);
    return tide_leaf_key(sight, sp);
}

/* Keep the innermost frames of the stack in the cache, WORDS; KNOWN of its frames, the
 * outermost, were there before. */
static inline void tide_leaf_keep(struct tide_stack_cache *cache, const uint64_t *words,
                                  uint32_t known)
{
    if (!cache->own_stack)
        return;
    const struct tide_cached_frame *const top = &cache->frame[cache->frames - 1];
    const bool plain = tide_leaf_is_plain(cache);
    const uint64_t key = tide_sight_learn(cache, words, plain);
    const uint32_t base =
        plain ? cache->frames - TIDE_LEAF_FRAMES : tide_leaf_base(cache);
    if (base > known || base == cache->frames)
        return;
    const struct tide_cached_frame *const under = &cache->frame[base - 1];
    uint32_t place = tide_leaf_places(key);
    if (cache->leaf_keys[place] != key)
        place += cache->leaf_keys[place + 1] == key || (cache->turns++ & 1);
    struct tide_leaf *const leaf = &cache->leaves[place];
    leaf->sp = 0; /* a handler may jump out of here: half a leaf is none */
    atomic_signal_fence(memory_order_seq_cst);
    if (TIDE_LIKELY(plain))
        tide_leaf_fill_plain(cache, leaf, words);
    else if (!tide_leaf_fill(cache, leaf, words, base))
        return;
    leaf->rbp = top->rbp;
    cache->leaf_keys[place] = key;
    leaf->generation = (uint32_t)cache->generation;
    leaf->base_hash = under->hash;
    leaf->base_rbp = under->rbp;
    leaf->hash = top->hash;
    leaf->base = (uint16_t)base;
    leaf->frames = (uint8_t)(cache->frames - base);
    leaf->need_rbp = top->need_rbp;
    leaf->base_needs_rbp = under->need_rbp;
    atomic_signal_fence(memory_order_seq_cst);
    leaf->sp = top->sp;
}

#endif
