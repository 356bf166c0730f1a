/* model/profile.h - functions by rank, with their callers and callees.
 *
 * For: model/, view/, cli/, tests/.  The profile that gprof and IgProf print.  A function
 * that is called again below itself is a node of its own each time (name'2, name'3...), so
 * that no stack counts twice in any node or edge.
 */
#ifndef TIDE_MODEL_PROFILE_H
#define TIDE_MODEL_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tidemark/status.h>

#include "model/model.h"

/* Node 0: it calls what programs and threads begin with, and has no function. */
#define TIDE_PROFILE_ROOT 0u

struct tide_profile_node {
    uint32_t function; /* of rows->functions; of the root: UINT32_MAX */
    uint32_t level;    /* 1: not called below itself */
    uint32_t depth;    /* calls between it and the root, where it is nearest to it */
    uint32_t rank;     /* 1: the first of profile->order */
    uint32_t deeper;   /* node of the next level, 0: none */
    uint64_t bytes, calls;           /* with everything it calls */
    uint64_t self_bytes, self_calls; /* of stacks that end here */
    uint64_t children_bytes;         /* of what it calls */
    /* Into profile->callers and profile->callees. */
    size_t first_caller, caller_count, first_callee, callee_count;
};

struct tide_profile_edge {
    uint32_t caller, callee; /* nodes */
    uint64_t bytes, calls;
};

struct tide_profile {
    const struct tide_rows *rows;    /* borrowed: names, and what was asked for */
    bool largest;                    /* bytes are of single blocks and not added up */
    struct tide_profile_node *nodes; /* owned */
    size_t node_count, node_capacity;
    uint32_t *order;   /* owned: nodes by bytes, largest first */
    uint32_t *by_self; /* owned: nodes by their own bytes */
    /* Owned, by callee (smallest first) and by caller (largest first). */
    struct tide_profile_edge *callers, *callees;
    size_t edge_count;
};

/* The profile of the stacks of ROWS, which must outlive it.  LARGEST (borrowed) says of
 * each node of the model's stacks how large the largest block was, when the profile is to
 * be of that; NULL: it is of the bytes of ROWS. */
enum tide_status tide_profile_build(const struct tide_model *model,
                                    const struct tide_rows *rows,
                                    const uint64_t *largest, struct tide_profile *out);
void tide_profile_release(struct tide_profile *profile);

/* The largest block of SPACE that each stack ever made, by node; walks all events once
 * more.  The caller frees *OUT. */
enum tide_status tide_largest_blocks(struct tide_model *model, enum tide_space space,
                                     const struct tide_progress *progress,
                                     uint64_t **out);

#endif
