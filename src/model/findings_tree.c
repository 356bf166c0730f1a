/* model/findings_tree.c - what functions have part in, summed up over all stacks at once.
 *
 * Stacks share most of their outer frames.  What is known of each is added at its inner end and
 * summed up along the tree of stacks; then the tree is visited once, and a function gets what
 * lies below the outermost of its calls.  Walking each stack by itself takes ten times as long.
 */
#include <stdlib.h>
#include <string.h>

#include "model/findings_parts.h"

void tide_stack_tree_release(struct tide_stack_tree *tree)
{
    free(tree->links);
    free(tree->sums);
    free(tree->has);
    free(tree->on_path);
    *tree = (struct tide_stack_tree){0};
}

enum tide_status tide_stack_tree_init(struct tide_stack_tree *tree,
                                      const struct tide_model *model,
                                      const struct tide_paths *paths)
{
    const struct tide_stacks *const stacks = &model->stacks;
    const size_t room = (size_t)stacks->node_count + 1;
    *tree = (struct tide_stack_tree){.stacks = stacks, .paths = paths};
    tree->links = calloc(room, sizeof(*tree->links));
    tree->sums = calloc(room, sizeof(*tree->sums));
    tree->has = calloc(room, 1);
    tree->on_path = calloc(paths->function_count + 1, sizeof(*tree->on_path));
    if (!tree->links || !tree->sums || !tree->has || !tree->on_path) {
        tide_stack_tree_release(tree);
        return TIDE_ENOMEM;
    }
    for (uint32_t node = stacks->node_count; node-- > 1;) {
        struct tide_node_links *const parent = &tree->links[stacks->nodes[node].parent];
        tree->links[node].next = parent->child;
        parent->child = node;
    }
    return TIDE_OK;
}

void tide_stack_tree_clear(struct tide_stack_tree *tree)
{
    for (uint32_t node = 0; node < tree->stacks->node_count; node++)
        tree->sums[node] = (struct tide_node_sum){0};
}

void tide_stack_tree_add(struct tide_stack_tree *tree, uint32_t stack, uint64_t amount,
                         uint64_t news)
{
    if (stack >= tree->stacks->node_count)
        return;
    tree->sums[stack].amount += amount;
    tree->sums[stack].news += news;
}

/* The calls of NODE, innermost first. */
static const struct tide_call *calls_of(const struct tide_stack_tree *tree,
                                        uint32_t node, uint32_t *count)
{
    const uint32_t frame = tree->stacks->nodes[node].frame;
    *count = 0;
    if (frame >= tree->stacks->frame_count || !tree->paths->frames[frame].known)
        return NULL;
    const struct tide_frame_calls *const own = &tree->paths->frames[frame];
    *count = own->count;
    return &tree->paths->frame_calls[own->first];
}

/* Callers come before their callees. */
static void sum_up(struct tide_stack_tree *tree)
{
    for (uint32_t node = tree->stacks->node_count; node-- > 1;) {
        struct tide_node_sum *const parent =
            &tree->sums[tree->stacks->nodes[node].parent];
        parent->amount += tree->sums[node].amount;
        parent->news += tree->sums[node].news;
    }
}

/* Is it one of those that carry a program or a thread to its first function? */
static bool is_outside(const struct tide_stack_tree *tree, const struct tide_call *call)
{
    const struct tide_function *const function =
        &tree->paths->functions[call->function];
    return tree->depth == 0 && function->outer && strcmp(function->name, "main") != 0;
}

/* The outermost function explains nothing: it does not count. */
static void enter(struct tide_stack_tree *tree, uint32_t node, struct tide_reach *reach)
{
    uint32_t count;
    const struct tide_call *const calls = calls_of(tree, node, &count);
    for (uint32_t i = count; i-- > 0;) {
        const uint32_t function = calls[i].function;
        if (is_outside(tree, &calls[i]) || tree->depth++ == 0)
            continue;
        if (tree->on_path[function]++ > 0)
            continue;
        reach[function].left += tree->sums[node].amount;
        reach[function].news += tree->sums[node].news;
        reach[function].depth = tree->depth;
    }
}

static void leave(struct tide_stack_tree *tree, uint32_t node)
{
    uint32_t count;
    const struct tide_call *const calls = calls_of(tree, node, &count);
    for (uint32_t i = 0; i < count && tree->depth > 0; i++)
        if (--tree->depth > 0)
            tree->on_path[calls[i].function]--;
}

/* NODE or its next sibling that has anything; 0: there is none. */
static uint32_t with_amount(const struct tide_stack_tree *tree, uint32_t node)
{
    while (node && tree->sums[node].amount == 0 && tree->sums[node].news == 0)
        node = tree->links[node].next;
    return node;
}

void tide_stack_tree_reach(struct tide_stack_tree *tree, struct tide_reach *reach)
{
    for (size_t i = 0; i < tree->paths->function_count; i++)
        reach[i].left = reach[i].news = 0;
    sum_up(tree);
    tree->depth = 0;
    for (uint32_t node = with_amount(tree, tree->links[0].child); node;) {
        enter(tree, node, reach);
        uint32_t next = with_amount(tree, tree->links[node].child);
        while (!next && node) {
            leave(tree, node);
            next = with_amount(tree, tree->links[node].next);
            node = tree->stacks->nodes[node].parent;
        }
        node = next;
    }
}

void tide_stack_tree_mark(struct tide_stack_tree *tree, uint32_t function)
{
    for (uint32_t node = 1; node < tree->stacks->node_count; node++) {
        uint32_t count;
        const struct tide_call *const calls = calls_of(tree, node, &count);
        tree->has[node] = tree->has[tree->stacks->nodes[node].parent];
        for (uint32_t i = 0; i < count && !tree->has[node]; i++)
            tree->has[node] = calls[i].function == function;
    }
}

bool tide_stack_tree_has(const struct tide_stack_tree *tree, uint32_t stack)
{
    return stack < tree->stacks->node_count && tree->has[stack];
}
