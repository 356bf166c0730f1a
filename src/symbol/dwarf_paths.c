/* symbol/dwarf_paths.c - what is around the functions of a DWARF unit. */
#include "symbol/dwarf_paths.h"

#include <dwarf.h>
#include <stdlib.h>

#include "symbol/die_walk.h"

struct tide_path_entry {
    Dwarf_Off die; /* of a function */
    uint32_t node;
};

/* Room for one more of SIZE bytes in the array ITEMS; NULL without memory. */
static void *make_room(void *items, size_t count, size_t *capacity, size_t size)
{
    if (count < *capacity)
        return items;
    const size_t larger = *capacity ? *capacity * 2 : 64;
    void *const moved = reallocarray(items, larger, size);
    if (moved)
        *capacity = larger;
    return moved;
}

static bool add_entry(struct tide_dwarf_paths *paths, Dwarf_Die *die, uint32_t node)
{
    struct tide_path_entry *const entries = make_room(
        paths->entries, paths->entry_count, &paths->entry_capacity, sizeof(*entries));
    if (!entries)
        return false;
    paths->entries = entries;
    entries[paths->entry_count++] = (struct tide_path_entry){
        .die = dwarf_dieoffset(die),
        .node = node,
    };
    return true;
}

/* Make DIE a node below *NODE, and that the new *NODE. */
static bool add_node(struct tide_dwarf_paths *paths, Dwarf_Die *die, uint32_t *node)
{
    struct tide_path_node *const nodes = make_room(
        paths->nodes, paths->node_count, &paths->node_capacity, sizeof(*nodes));
    if (!nodes)
        return false;
    paths->nodes = nodes;
    nodes[paths->node_count] = (struct tide_path_node){
        .die = dwarf_dieoffset(die),
        .parent = *node,
    };
    *node = (uint32_t)paths->node_count++;
    return true;
}

static enum tide_die_step done(struct tide_dwarf_paths *paths, bool ok)
{
    if (!ok)
        paths->failed = true;
    return ok ? TIDE_DIE_ENTER : TIDE_DIE_STOP;
}

static enum tide_die_step visit(void *user, Dwarf_Die *die, uint32_t *node)
{
    struct tide_dwarf_paths *const paths = user;

    switch (dwarf_tag(die)) {
    case DW_TAG_subprogram:
        return done(paths, (*node == TIDE_NO_PATH || add_entry(paths, die, *node)) &&
                               (!dwarf_haschildren(die) || add_node(paths, die, node)));
    case DW_TAG_namespace:
    case DW_TAG_module:
    case DW_TAG_class_type:
    case DW_TAG_structure_type:
    case DW_TAG_union_type:
        return done(paths, !dwarf_haschildren(die) || add_node(paths, die, node));
    case DW_TAG_lexical_block:
        return TIDE_DIE_ENTER;
    default:
        return TIDE_DIE_SKIP;
    }
}

void tide_dwarf_paths_load(struct tide_dwarf_paths *paths, Dwarf_Die *unit)
{
    const struct tide_die_visitor visitor = {.visit = visit, .user = paths};
    paths->unit = unit->addr;
    if (tide_die_walk(unit, TIDE_NO_PATH, &visitor) != TIDE_OK)
        paths->failed = true;
}

void tide_dwarf_paths_release(struct tide_dwarf_paths *paths)
{
    free(paths->nodes);
    free(paths->entries);
    *paths = (struct tide_dwarf_paths){0};
}

uint32_t tide_dwarf_paths_find(const struct tide_dwarf_paths *paths, Dwarf_Off die)
{
    size_t first = 0;
    size_t last = paths->entry_count;
    while (first < last) {
        const size_t middle = first + (last - first) / 2;
        if (paths->entries[middle].die < die)
            first = middle + 1;
        else
            last = middle;
    }
    if (first == paths->entry_count || paths->entries[first].die != die)
        return TIDE_NO_PATH;
    return paths->entries[first].node;
}
