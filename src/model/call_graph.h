/* model/call_graph.h - who calls whom, with all metrics at once.
 *
 * For: model/, view/, tests/.  For formats that hold a graph of functions and no stacks.
 * In such a graph a function that calls itself, perhaps through others, would be counted
 * again each time.  So what runs below an earlier call of the same function is a node of
 * its own ("again"), and what a first node holds with all below it is exact.
 */
#ifndef TIDE_MODEL_CALL_GRAPH_H
#define TIDE_MODEL_CALL_GRAPH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tidemark/status.h>

#include "model/model.h"
#include "model/path.h"

enum { TIDE_COSTS = 8 }; /* bytes and counts of each enum tide_metric, in its order */

struct tide_costs {
    uint64_t of[TIDE_COSTS];
};

/* A node: 0 is the root, which calls what threads begin with. */
#define TIDE_GRAPH_ROOT 0u
/* In place of a callee: what stacks that end here hold. */
#define TIDE_GRAPH_SELF UINT32_MAX

static inline uint32_t tide_graph_function(uint32_t node)
{
    return (node - 1) / 2;
}
static inline bool tide_graph_again(uint32_t node)
{
    return node != TIDE_GRAPH_ROOT && (node - 1) % 2;
}

/* What goes from a line of CALLER to CALLEE. */
struct tide_graph_line {
    uint32_t caller, callee;
    uint32_t line; /* in the file of the caller's function, 0: unknown */
    uint32_t last_stack;
    struct tide_costs costs;
};

struct tide_call_graph {
    struct tide_paths paths;       /* its functions are those of the nodes */
    struct tide_graph_line *lines; /* owned; by caller, first its own */
    size_t count, capacity;
    struct tide_costs total;
    /* While it is built. */
    uint32_t *slots; /* owned: index + 1 */
    size_t mask;
    uint32_t *seen; /* owned, per function: the last stack that had it, + 1 */
    size_t seen_capacity;
};

/* The graph of SPACE.  The model must be symbolized and outlive it. */
enum tide_status tide_call_graph_build(const struct tide_model *model,
                                       enum tide_space space,
                                       struct tide_call_graph *out);
void tide_call_graph_release(struct tide_call_graph *graph);

#endif
