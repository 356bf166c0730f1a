/* symbol/dwarf_unit.h - the functions and lines of one compilation unit.
 *
 * For: symbol/.
 */
#ifndef TIDE_SYMBOL_DWARF_UNIT_H
#define TIDE_SYMBOL_DWARF_UNIT_H

#include <elfutils/libdw.h>
#include <stdbool.h>

#include "symbol/span_table.h"

#define TIDE_NO_FILE UINT32_MAX

/* A function where it has code: on its own, or inlined into another one. */
struct tide_scope {
    Dwarf_Off die;      /* where it is described */
    const char *name;   /* in the pool; NULL until somebody asks, or when it has none */
    uint32_t parent;    /* scope that it is inlined into; TIDE_NO_OWNER: it is not */
    uint32_t call_file; /* inlined: where it was called; TIDE_NO_FILE: unknown */
    uint32_t call_line; /* 0: unknown */
    bool named;         /* somebody asked */
};

struct tide_dwarf_unit {
    Dwarf_Die die; /* of the unit */
    Dwarf_Die
        body; /* what describes its functions: die, or that of the split unit, which
                       lies in a file of its own; filled when it is scanned */
    struct tide_debug_image *image; /* borrowed: where it is read from; may be NULL */
    struct tide_debug_package *package; /* borrowed: may have the split unit; or NULL */
    bool stray;                         /* it does not say which addresses it covers */
    bool scanned;                       /* scopes and functions are filled */
    bool lined;                         /* lines and files are filled */
    struct tide_scope *scopes;          /* owned */
    uint32_t scope_count;
    struct tide_span_table functions; /* owners are indices of scopes */
    Dwarf_Lines *lines;               /* borrowed from libdw: sorted by address */
    size_t line_count;
    Dwarf_Files *files; /* borrowed from libdw */
};

/* Add the address ranges of DIE to LIST, as those of OWNER at DEPTH. */
enum tide_status tide_dwarf_add_ranges(struct tide_span_list *list, Dwarf_Die *die,
                                       uint32_t depth, uint32_t owner);

/* Find the functions of UNIT, once. */
enum tide_status tide_dwarf_unit_scan(struct tide_dwarf_unit *unit);
void tide_dwarf_unit_release(struct tide_dwarf_unit *unit);

/* The source line of ADDRESS (0 when the compiler gave none); false when there is none.
 * *FILE is borrowed from libdw and NULL when unknown. */
bool tide_dwarf_unit_line(struct tide_dwarf_unit *unit, uint64_t address,
                          const char **file, uint32_t *line);

/* The name of file INDEX in UNIT, borrowed from libdw, or NULL. */
const char *tide_dwarf_unit_file(struct tide_dwarf_unit *unit, uint32_t index);

/* The folder that UNIT was compiled in, borrowed from libdw, or NULL. */
const char *tide_dwarf_unit_folder(struct tide_dwarf_unit *unit);

#endif
