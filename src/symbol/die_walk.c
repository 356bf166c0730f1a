/* symbol/die_walk.c - visit the entries (DIEs) of a DWARF unit, parents first.
 *
 * Parents first is also the order in which entries stand in the file.  So each step
 * must lead further on than all steps before; a sibling reference that points backwards
 * or into visited children ends the walk, which thereby takes no more steps than the
 * unit has bytes.
 */
#include "symbol/die_walk.h"

#include <stdbool.h>
#include <stdlib.h>

enum {
    TIDE_DIE_DEPTH_MAX = 512,              /* deeper entries are not visited */
    TIDE_DIE_COUNT_MAX = 32 * 1024 * 1024, /* per walk */
};

struct level {
    Dwarf_Die die;
    uint32_t value; /* for its siblings: what their parent left */
};

struct walk {
    struct level *levels; /* owned: TIDE_DIE_DEPTH_MAX of them */
    size_t depth;         /* levels in use; the last one is the present entry */
    uint32_t visited;
    Dwarf_Off furthest; /* offset of the last entry visited */
};

/* Account for the present entry; false when the walk must end here. */
static bool advance(struct walk *walk)
{
    Dwarf_Die *const die = &walk->levels[walk->depth - 1].die;
    const Dwarf_Off offset = dwarf_dieoffset(die);
    if (offset <= walk->furthest || ++walk->visited > TIDE_DIE_COUNT_MAX)
        return false;
    walk->furthest = offset;
    return true;
}

/* Go from the present entry, whose children are done with, to the next one. */
static bool step_over(struct walk *walk)
{
    while (walk->depth > 0) {
        struct level *const level = &walk->levels[walk->depth - 1];
        Dwarf_Die next;
        const int result = dwarf_siblingof(&level->die, &next);
        if (result == 0) {
            level->die = next;
            return advance(walk);
        }
        if (result < 0)
            return false;
        walk->depth--;
    }
    return false;
}

/* Go to the first child of DIE, if it has one. */
static bool step_into(struct walk *walk, Dwarf_Die *die, uint32_t value)
{
    if (walk->depth == TIDE_DIE_DEPTH_MAX)
        return false;
    struct level *const level = &walk->levels[walk->depth];
    if (dwarf_child(die, &level->die) != 0)
        return false;
    level->value = value;
    walk->depth++;
    return true;
}

static void walk_all(struct walk *walk, const struct tide_die_visitor *visitor)
{
    for (;;) {
        struct level *const level = &walk->levels[walk->depth - 1];
        uint32_t value = level->value;
        const enum tide_die_step step =
            visitor->visit(visitor->user, &level->die, &value);
        if (step == TIDE_DIE_STOP)
            return;
        if (step == TIDE_DIE_ENTER && step_into(walk, &level->die, value)) {
            if (!advance(walk))
                return;
        } else if (!step_over(walk)) {
            return;
        }
    }
}

enum tide_status tide_die_walk(Dwarf_Die *root, uint32_t value,
                               const struct tide_die_visitor *visitor)
{
    struct walk walk = {
        .levels = calloc(TIDE_DIE_DEPTH_MAX, sizeof(*walk.levels)),
        .furthest = dwarf_dieoffset(root),
    };
    if (!walk.levels)
        return TIDE_ENOMEM;
    if (step_into(&walk, root, value) && advance(&walk))
        walk_all(&walk, visitor);
    free(walk.levels);
    return TIDE_OK;
}
