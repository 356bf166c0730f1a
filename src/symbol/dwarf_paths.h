/* symbol/dwarf_paths.h - what is around the functions of a DWARF unit.
 *
 * For: symbol/.  libdw cannot say what an entry lies in without a walk through its
 * unit, so one walk notes it for all functions of the unit.
 */
#ifndef TIDE_SYMBOL_DWARF_PATHS_H
#define TIDE_SYMBOL_DWARF_PATHS_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TIDE_NO_PATH UINT32_MAX

/* A namespace, class or function that has functions inside. */
struct tide_path_node {
    Dwarf_Off die;
    uint32_t parent; /* node, or TIDE_NO_PATH */
};

struct tide_dwarf_paths {
    const void *unit; /* only compared: where the unit's entry lies in memory */
    struct tide_path_node *nodes; /* owned; parents first */
    size_t node_count, node_capacity;
    struct tide_path_entry *entries; /* owned; sorted, as they stand in the file */
    size_t entry_count, entry_capacity;
    bool failed; /* memory ran out: incomplete */
};

/* Fill PATHS (all zeros before) with what is in UNIT. */
void tide_dwarf_paths_load(struct tide_dwarf_paths *paths, Dwarf_Die *unit);
void tide_dwarf_paths_release(struct tide_dwarf_paths *paths);

/* The node that the function at DIE lies in, or TIDE_NO_PATH. */
uint32_t tide_dwarf_paths_find(const struct tide_dwarf_paths *paths, Dwarf_Off die);

#endif
