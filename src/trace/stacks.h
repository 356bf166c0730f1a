/* trace/stacks.h - the distinct stacks of a trace, as one tree.
 *
 * For: trace/, model/, tests/.  A node is a frame with everything that called it, so a
 * stack is one number.  Node 0 is the root: it has no frame.  Frames are told apart by
 * module and offset, so equal code in two processes is one frame, and an address that
 * two modules used in turn is two.
 */
#ifndef TIDE_TRACE_STACKS_H
#define TIDE_TRACE_STACKS_H

#include <stddef.h>
#include <stdint.h>

#include <tidemark/status.h>

#define TIDE_NO_MODULE 0xffffffffu

struct tide_frame {
    uint8_t kind;    /* enum tide_frame_kind */
    uint32_t module; /* index into the trace's modules, or TIDE_NO_MODULE */
    uint64_t value;  /* address minus the module's load bias (what the ELF file says);
                        without module the address; synthetic: enum tide_synthetic */
};

struct tide_node {
    uint32_t parent; /* node of the caller */
    uint32_t frame;
    uint32_t depth; /* root 0 */
};

/* A place of the index of nodes: what a node is found by beside its number, so that one
 * look at memory finds it. */
struct tide_node_slot {
    uint32_t parent, frame;
    uint32_t node; /* 0: empty */
};

struct tide_stacks {
    struct tide_node *nodes; /* owned: node_count of them, 0 is the root */
    uint32_t node_count;
    struct tide_frame *frames; /* owned */
    uint32_t frame_count;
    /* Open-addressing indexes and capacities: see stacks.c. */
    uint32_t node_capacity, frame_capacity;
    struct tide_node_slot *node_slots;
    uint32_t *frame_slots;
    uint32_t node_mask, frame_mask;
    unsigned node_shift; /* of a hash of 64 bits, to a place in node_slots */
    uint64_t seed, factor;
};

/* A return address is one after the call it belongs to. */
static inline uint64_t tide_call_address(uint64_t value)
{
    return value ? value - 1 : 0;
}

enum tide_status tide_stacks_init(struct tide_stacks *stacks);
void tide_stacks_release(struct tide_stacks *stacks);

/* The number of FRAME, new or known. */
enum tide_status tide_stacks_frame(struct tide_stacks *stacks, struct tide_frame frame,
                                   uint32_t *out);
/* The node for FRAME called from node PARENT, new or known. */
enum tide_status tide_stacks_child(struct tide_stacks *stacks, uint32_t parent,
                                   uint32_t frame, uint32_t *out);

static inline uint32_t tide_stacks_place(const struct tide_stacks *stacks,
                                         uint32_t parent, uint32_t frame)
{
    const uint64_t both = (uint64_t)parent << 32 | frame;
    return (uint32_t)(((both ^ stacks->seed) * stacks->factor) >> stacks->node_shift);
}

#endif
