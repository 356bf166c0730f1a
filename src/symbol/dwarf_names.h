/* symbol/dwarf_names.h - what a function is called, by its debug information.
 *
 * For: symbol/.
 */
#ifndef TIDE_SYMBOL_DWARF_NAMES_H
#define TIDE_SYMBOL_DWARF_NAMES_H

#include <elfutils/libdw.h>
#include <stddef.h>

#include "symbol/name_pool.h"

/* Namers of all zeros are ready for use, once POOL is set. */
struct tide_dwarf_names {
    struct tide_name_pool *pool;    /* borrowed */
    struct tide_debug_image *image; /* borrowed: where entries are read from; or NULL */
    struct tide_dwarf_paths *paths; /* owned: of the units that were asked about */
    size_t path_count;
};

void tide_dwarf_names_release(struct tide_dwarf_names *names);

/* The name of the function that DIE describes; NULL when it has none.  UNIT is the unit
 * that it was found in. */
const char *tide_dwarf_names_of(struct tide_dwarf_names *names, Dwarf_Die *die,
                                Dwarf_Die *unit);

#endif
