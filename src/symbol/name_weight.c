/* symbol/name_weight.c - how much a mangled C++ name is when nothing is abbreviated.
 *
 * A name is parsed into a tree whose branches may be shared: each substitution is one
 * pointer more to what it stands for.  Printing walks all of it, as often as there are
 * ways to get there, and some of these walks print nothing (the search for a parameter
 * pack), so that a limit on the output does not end them.  Here each part is looked at
 * once.
 *
 * libiberty keeps the parts in one array, so a part is an index, and anything that
 * does not point into the array is no part: that holds whatever kinds of parts there
 * will be.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

#include <libiberty/demangle.h>

#include "symbol/name_weight.h"

#define TIDE_NO_PART SIZE_MAX

enum part_state { TIDE_PART_NEW, TIDE_PART_OPEN, TIDE_PART_DONE };

struct part {
    uint32_t weight;
    uint8_t state; /* enum part_state */
};

struct tree {
    const struct demangle_component *components; /* owned by the caller */
    size_t count;
    struct part *parts; /* owned: one for each component */
    size_t *stack;      /* owned: parts that wait */
    size_t depth;
};

/* Kinds that do not hold two parts. */
static bool is_leaf(enum demangle_component_type type)
{
    static const enum demangle_component_type leaves[] = {
        DEMANGLE_COMPONENT_NAME,           DEMANGLE_COMPONENT_TEMPLATE_PARAM,
        DEMANGLE_COMPONENT_FUNCTION_PARAM, DEMANGLE_COMPONENT_CTOR,
        DEMANGLE_COMPONENT_DTOR,           DEMANGLE_COMPONENT_SUB_STD,
        DEMANGLE_COMPONENT_BUILTIN_TYPE,   DEMANGLE_COMPONENT_EXTENDED_BUILTIN_TYPE,
        DEMANGLE_COMPONENT_OPERATOR,       DEMANGLE_COMPONENT_EXTENDED_OPERATOR,
        DEMANGLE_COMPONENT_FIXED_TYPE,     DEMANGLE_COMPONENT_CHARACTER,
        DEMANGLE_COMPONENT_NUMBER,         DEMANGLE_COMPONENT_LAMBDA,
        DEMANGLE_COMPONENT_DEFAULT_ARG,    DEMANGLE_COMPONENT_UNNAMED_TYPE,
    };
    for (size_t i = 0; i < sizeof(leaves) / sizeof(leaves[0]); i++) {
        if (type == leaves[i])
            return true;
    }
    return false;
}

static size_t part_at(const struct tree *tree, const struct demangle_component *pointer)
{
    const uintptr_t from = (uintptr_t)tree->components;
    const uintptr_t at = (uintptr_t)pointer;
    if (at < from || (at - from) % sizeof(*pointer) != 0)
        return TIDE_NO_PART;
    const size_t part = (at - from) / sizeof(*pointer);
    return part < tree->count ? part : TIDE_NO_PART;
}

static uint32_t weight_of(const struct tree *tree, size_t part)
{
    return part == TIDE_NO_PART ? 0 : tree->parts[part].weight;
}

static void push(struct tree *tree, size_t part)
{
    if (part != TIDE_NO_PART && tree->parts[part].state == TIDE_PART_NEW)
        tree->stack[tree->depth++] = part;
}

/* Open the part on top of the stack or, when all below it is done, close it. */
static void step(struct tree *tree)
{
    const size_t top = tree->stack[tree->depth - 1];
    const struct demangle_component *const component = &tree->components[top];
    size_t left = TIDE_NO_PART;
    size_t right = TIDE_NO_PART;
    if (!is_leaf(component->type)) {
        left = part_at(tree, component->u.s_binary.left);
        right = part_at(tree, component->u.s_binary.right);
    }
    struct part *const part = &tree->parts[top];
    if (part->state == TIDE_PART_NEW) {
        part->state = TIDE_PART_OPEN;
        push(tree, left);
        push(tree, right);
        return;
    }
    if (part->state == TIDE_PART_OPEN) {
        const uint32_t sum = 1 + weight_of(tree, left) + weight_of(tree, right);
        part->weight = sum < TIDE_NAME_WEIGHT_MAX ? sum : TIDE_NAME_WEIGHT_MAX;
        part->state = TIDE_PART_DONE;
    }
    tree->depth--;
}

static uint32_t weigh(struct tree *tree, const struct demangle_component *root)
{
    /* A part is opened once, and pushes at most two then. */
    tree->parts = calloc(tree->count, sizeof(*tree->parts));
    tree->stack = calloc(2 * tree->count + 1, sizeof(*tree->stack));
    uint32_t weight = TIDE_NAME_WEIGHT_MAX;
    const size_t first = part_at(tree, root);
    if (tree->parts && tree->stack && first != TIDE_NO_PART) {
        push(tree, first);
        while (tree->depth > 0)
            step(tree);
        weight = weight_of(tree, first);
    }
    free(tree->parts);
    free(tree->stack);
    return weight;
}

uint32_t tide_name_weight(const char *name, size_t length)
{
    void *memory = NULL;
    const struct demangle_component *const root =
        cplus_demangle_v3_components(name, DMGL_PARAMS | DMGL_ANSI, &memory);
    if (!root)
        return 0;
    struct tree tree = {.components = memory, .count = 2 * length};
    const uint32_t weight = weigh(&tree, root);
    free(memory);
    return weight;
}
