/* trace/stacks.c - the distinct stacks of a trace, as one tree.
 *
 * Frames and nodes are only ever added, so both live in plain arrays, each with an
 * open-addressing index of numbers beside it.  In an index, 0 means empty: node 0 is the
 * root and never looked up, frames are entered by number + 1.  An index is at most half
 * full.  Hashes are keyed by a random seed: a trace cannot be made that piles up in one
 * place of an index.
 */
#include "trace/stacks.h"

#include <stdbool.h>
#include <stdlib.h>
#include <sys/random.h>

#include "base/zeroed.h"

enum {
    TIDE_STACKS_START = 1024,    /* capacity of both arrays at first */
    TIDE_STACKS_MAX = 1u << 26u, /* nodes or frames: no honest trace comes near */
    TIDE_STACKS_FEW = 64 * 1024, /* nodes */
};

static uint32_t mix(uint64_t a, uint64_t b)
{
    uint64_t hash = (a ^ (b << 32 | b >> 32)) * 0x9e3779b97f4a7c15u;
    hash ^= hash >> 29;
    hash *= 0xbf58476d1ce4e5b9u;
    return (uint32_t)(hash >> 32);
}

static uint32_t hash_frame(const struct tide_stacks *stacks,
                           const struct tide_frame *frame)
{
    const uint64_t where = (uint64_t)frame->module << 8 | frame->kind;
    return mix(frame->value, where + stacks->seed);
}

static uint64_t new_seed(const void *fallback)
{
    uint64_t seed = 0;
    if (getrandom(&seed, sizeof(seed), GRND_NONBLOCK) != (ssize_t)sizeof(seed))
        seed = (uint64_t)(uintptr_t)fallback;
    return seed;
}

/* ITEMS with twice the *CAPACITY, or NULL. */
static void *doubled(void *items, uint32_t capacity, size_t item_bytes)
{
    return realloc(items, (size_t)capacity * 2 * item_bytes);
}

static void enter(uint32_t *slots, uint32_t mask, uint32_t hash, uint32_t number)
{
    uint32_t slot = hash & mask;
    while (slots[slot])
        slot = (slot + 1) & mask;
    slots[slot] = number;
}

static void enter_node(struct tide_stacks *stacks, uint32_t number)
{
    const struct tide_node *node = &stacks->nodes[number];
    uint32_t slot = tide_stacks_place(stacks, node->parent, node->frame);
    while (stacks->node_slots[slot].node)
        slot = (slot + 1) & stacks->node_mask;
    stacks->node_slots[slot] = (struct tide_node_slot){
        .parent = node->parent, .frame = node->frame, .node = number};
}

/* How large the index for CAPACITY nodes is.  While they are few it is mostly empty, so
 * that nearly all are found at first sight. */
static uint32_t node_places(uint32_t capacity)
{
    return capacity <= TIDE_STACKS_FEW ? capacity * 4 : capacity * 2;
}

static void set_places(struct tide_stacks *stacks, uint32_t places)
{
    stacks->node_mask = places - 1;
    stacks->node_shift = 64 - (unsigned)__builtin_ctz(places);
}

/* Twice the room for nodes: array and index. */
static enum tide_status widen_nodes(struct tide_stacks *stacks)
{
    const uint32_t capacity = stacks->node_capacity;
    if (capacity >= TIDE_STACKS_MAX)
        return TIDE_ELIMIT;
    struct tide_node *nodes = doubled(stacks->nodes, capacity, sizeof(*nodes));
    if (!nodes)
        return TIDE_ENOMEM;
    stacks->nodes = nodes;
    const uint32_t places = node_places(capacity * 2);
    struct tide_node_slot *slots = tide_zeroed(places, sizeof(*slots));
    if (!slots)
        return TIDE_ENOMEM;
    free(stacks->node_slots);
    stacks->node_slots = slots;
    set_places(stacks, places);
    stacks->node_capacity = capacity * 2;
    for (uint32_t i = 1; i < stacks->node_count; i++)
        enter_node(stacks, i);
    return TIDE_OK;
}

static enum tide_status widen_frames(struct tide_stacks *stacks)
{
    const uint32_t capacity = stacks->frame_capacity;
    if (capacity >= TIDE_STACKS_MAX)
        return TIDE_ELIMIT;
    struct tide_frame *frames = doubled(stacks->frames, capacity, sizeof(*frames));
    if (!frames)
        return TIDE_ENOMEM;
    stacks->frames = frames;
    uint32_t *slots = calloc((size_t)capacity * 4, sizeof(*slots));
    if (!slots)
        return TIDE_ENOMEM;
    free(stacks->frame_slots);
    stacks->frame_slots = slots;
    stacks->frame_mask = capacity * 4 - 1;
    stacks->frame_capacity = capacity * 2;
    for (uint32_t i = 0; i < stacks->frame_count; i++)
        enter(slots, stacks->frame_mask, hash_frame(stacks, &frames[i]), i + 1);
    return TIDE_OK;
}

enum tide_status tide_stacks_init(struct tide_stacks *stacks)
{
    *stacks = (struct tide_stacks){
        .nodes = calloc(TIDE_STACKS_START, sizeof(struct tide_node)),
        .frames = calloc(TIDE_STACKS_START, sizeof(struct tide_frame)),
        .node_slots =
            calloc(node_places(TIDE_STACKS_START), sizeof(struct tide_node_slot)),
        .frame_slots = calloc((size_t)TIDE_STACKS_START * 2, sizeof(uint32_t)),
        .node_count = 1,
        .node_capacity = TIDE_STACKS_START,
        .frame_capacity = TIDE_STACKS_START,
        .frame_mask = TIDE_STACKS_START * 2 - 1,
    };
    set_places(stacks, node_places(TIDE_STACKS_START));
    stacks->seed = new_seed(stacks->nodes);
    /* A factor with few bits set, or zero, would not mix. */
    stacks->factor = (new_seed(stacks->frames) | 1) ^ 0x9e3779b97f4a7c14u;
    if (stacks->nodes && stacks->frames && stacks->node_slots && stacks->frame_slots)
        return TIDE_OK;
    tide_stacks_release(stacks);
    return TIDE_ENOMEM;
}

void tide_stacks_release(struct tide_stacks *stacks)
{
    free(stacks->nodes);
    free(stacks->frames);
    free(stacks->node_slots);
    free(stacks->frame_slots);
    *stacks = (struct tide_stacks){0};
}

static bool same_frame(const struct tide_frame *a, const struct tide_frame *b)
{
    return a->value == b->value && a->module == b->module && a->kind == b->kind;
}

enum tide_status tide_stacks_frame(struct tide_stacks *stacks, struct tide_frame frame,
                                   uint32_t *out)
{
    const uint32_t hash = hash_frame(stacks, &frame);
    uint32_t slot = hash & stacks->frame_mask;
    while (stacks->frame_slots[slot]) {
        const uint32_t number = stacks->frame_slots[slot] - 1;
        if (same_frame(&stacks->frames[number], &frame)) {
            *out = number;
            return TIDE_OK;
        }
        slot = (slot + 1) & stacks->frame_mask;
    }
    if (stacks->frame_count == stacks->frame_capacity) {
        const enum tide_status status = widen_frames(stacks);
        if (status)
            return status;
    }
    *out = stacks->frame_count++;
    stacks->frames[*out] = frame;
    enter(stacks->frame_slots, stacks->frame_mask, hash, *out + 1);
    return TIDE_OK;
}

enum tide_status tide_stacks_child(struct tide_stacks *stacks, uint32_t parent,
                                   uint32_t frame, uint32_t *out)
{
    uint32_t at = tide_stacks_place(stacks, parent, frame);
    for (; stacks->node_slots[at].node; at = (at + 1) & stacks->node_mask) {
        const struct tide_node_slot *slot = &stacks->node_slots[at];
        if (slot->parent == parent && slot->frame == frame) {
            *out = slot->node;
            return TIDE_OK;
        }
    }
    if (stacks->node_count == stacks->node_capacity) {
        const enum tide_status status = widen_nodes(stacks);
        if (status)
            return status;
    }
    *out = stacks->node_count++;
    stacks->nodes[*out] = (struct tide_node){
        .parent = parent, .frame = frame, .depth = stacks->nodes[parent].depth + 1};
    enter_node(stacks, *out);
    return TIDE_OK;
}
