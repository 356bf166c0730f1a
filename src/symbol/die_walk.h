/* symbol/die_walk.h - visit the entries (DIEs) of a DWARF unit, parents first.
 *
 * For: symbol/.  Depth and number of entries are bounded, and damaged links between
 * entries cannot make the walk go in circles.
 */
#ifndef TIDE_SYMBOL_DIE_WALK_H
#define TIDE_SYMBOL_DIE_WALK_H

#include <elfutils/libdw.h>
#include <stdint.h>

#include <tidemark/status.h>

enum tide_die_step {
    TIDE_DIE_SKIP,  /* go on, but not into its children */
    TIDE_DIE_ENTER, /* go on with its children */
    TIDE_DIE_STOP,  /* this was the last one */
};

struct tide_die_visitor {
    /* *VALUE is what the visit of the parent left there; what this visit leaves there
     * is for the children. */
    enum tide_die_step (*visit)(void *user, Dwarf_Die *die, uint32_t *value);
    void *user;
};

/* Visit everything below ROOT, whose children get VALUE. */
enum tide_status tide_die_walk(Dwarf_Die *root, uint32_t value,
                               const struct tide_die_visitor *visitor);

#endif
