/* capture/live_map.c - numbers by address. */
#include "capture/live_map.h"

#include <stddef.h>

#include "capture/process.h"

enum {
    TIDE_PLACE_BITS = 3,   /* eight bytes have one number */
    TIDE_LEAF_BITS = 15,   /* places of a leaf */
    TIDE_BRANCH_BITS = 15, /* leaves of a branch */
    TIDE_ROOT_BITS = 15,   /* branches: 48 bits of address in all */
    TIDE_LEAF_PLACES = 1 << TIDE_LEAF_BITS,
    TIDE_LEAF_WORDS = TIDE_LEAF_PLACES / 64,
};

struct leaf {
    _Atomic uint64_t taken[TIDE_LEAF_WORDS];
    _Atomic uint32_t numbers[TIDE_LEAF_PLACES];
};

struct tide_live_branch {
    _Atomic(struct leaf *) leaves[1 << TIDE_BRANCH_BITS];
};

typedef _Atomic(struct tide_live_branch *) root;

/* Where an address stands. */
struct spot {
    uint32_t root, branch, leaf;
};

static bool is_within(uint64_t address)
{
    return address >>
               (TIDE_PLACE_BITS + TIDE_LEAF_BITS + TIDE_BRANCH_BITS + TIDE_ROOT_BITS) ==
           0;
}

static struct spot spot_of(uint64_t address)
{
    const uint64_t place = address >> TIDE_PLACE_BITS;
    return (struct spot){
        .root = (uint32_t)(place >> (TIDE_LEAF_BITS + TIDE_BRANCH_BITS)) &
                ((1u << TIDE_ROOT_BITS) - 1),
        .branch = (uint32_t)(place >> TIDE_LEAF_BITS) & ((1u << TIDE_BRANCH_BITS) - 1),
        .leaf = (uint32_t)place & (TIDE_LEAF_PLACES - 1),
    };
}

bool tide_live_map_begin(struct tide_live_map *map)
{
    map->roots = tide_lasting_memory(sizeof(root) << TIDE_ROOT_BITS);
    return map->roots != NULL;
}

/* --- Finding a leaf -------------------------------------------------------------------- */

static struct leaf *leaf_at(const struct tide_live_map *map, struct spot spot)
{
    struct tide_live_branch *const branch =
        atomic_load_explicit(&map->roots[spot.root], memory_order_acquire);
    return branch ? atomic_load_explicit(&branch->leaves[spot.branch],
                                         memory_order_acquire)
                  : NULL;
}

/* Who comes second takes what the first one made. */
static struct tide_live_branch *make_branch(root *place)
{
    struct tide_live_branch *branch = atomic_load(place);
    if (TIDE_LIKELY(branch != NULL))
        return branch;
    struct tide_live_branch *const made = tide_lasting_memory(sizeof(*made));
    if (!made || atomic_compare_exchange_strong(place, &branch, made))
        return made;
    tide_lasting_release(made, sizeof(*made));
    return branch;
}

static struct leaf *make_leaf(struct tide_live_map *map, struct spot spot)
{
    struct tide_live_branch *const branch = make_branch(&map->roots[spot.root]);
    struct leaf *leaf = branch ? atomic_load(&branch->leaves[spot.branch]) : NULL;
    if (!branch || leaf)
        return leaf;
    struct leaf *const made = tide_lasting_memory(sizeof(*made));
    if (!made ||
        atomic_compare_exchange_strong(&branch->leaves[spot.branch], &leaf, made))
        return made;
    tide_lasting_release(made, sizeof(*made));
    return leaf;
}

/* --- Changing -------------------------------------------------------------------------- */

bool tide_live_map_put(struct tide_live_map *map, uint64_t address, uint32_t number,
                       uint32_t *before)
{
    const struct spot spot = spot_of(address);
    *before = 0;
    if (!is_within(address))
        return false;
    struct leaf *leaf = leaf_at(map, spot);
    if (!leaf)
        leaf = make_leaf(map, spot);
    if (!leaf)
        return false;
    *before = atomic_exchange(&leaf->numbers[spot.leaf], number);
    atomic_fetch_or(&leaf->taken[spot.leaf / 64], 1ull << spot.leaf % 64);
    return true;
}

uint32_t tide_live_map_take(struct tide_live_map *map, uint64_t address)
{
    const struct spot spot = spot_of(address);
    struct leaf *const leaf = is_within(address) ? leaf_at(map, spot) : NULL;
    if (!leaf)
        return 0;
    atomic_fetch_and(&leaf->taken[spot.leaf / 64], ~(1ull << spot.leaf % 64));
    return atomic_exchange(&leaf->numbers[spot.leaf], 0);
}

/* --- Looking --------------------------------------------------------------------------- */

uint32_t tide_live_map_at(const struct tide_live_map *map, uint64_t address)
{
    const struct spot spot = spot_of(address);
    const struct leaf *const leaf = is_within(address) ? leaf_at(map, spot) : NULL;
    return leaf ? atomic_load(&leaf->numbers[spot.leaf]) : 0;
}

/* The last place of LEAF that is taken, at or before PLACE; below 0: none is. */
static int last_taken(const struct leaf *leaf, uint32_t place)
{
    uint64_t mask = ~0ull >> (63 - place % 64);
    for (int word = (int)(place / 64); word >= 0; word--, mask = ~0ull) {
        const uint64_t taken = atomic_load(&leaf->taken[word]) & mask;
        if (taken)
            return word * 64 + 63 - __builtin_clzll(taken);
    }
    return -1;
}

/* The last byte before the leaf, or the branch, that ADDRESS stands in. */
static uint64_t before_all_of(uint64_t address, unsigned bits)
{
    return (address >> bits << bits) - 1;
}

uint32_t tide_live_map_before(const struct tide_live_map *map, uint64_t *address,
                              uint64_t lowest)
{
    const unsigned leaf_bits = TIDE_PLACE_BITS + TIDE_LEAF_BITS;
    uint64_t at = *address | ((1u << TIDE_PLACE_BITS) - 1);
    while (at >= lowest && is_within(at)) {
        const struct spot spot = spot_of(at);
        const struct leaf *const leaf = leaf_at(map, spot);
        const int place = leaf ? last_taken(leaf, spot.leaf) : -1;
        if (place < 0) {
            const bool branch = atomic_load(&map->roots[spot.root]) != NULL;
            at = before_all_of(at, leaf_bits + (branch ? 0 : TIDE_BRANCH_BITS));
            continue;
        }
        const uint32_t number = atomic_load(&leaf->numbers[place]);
        at = before_all_of(at, leaf_bits) + 1 + ((uint64_t)place << TIDE_PLACE_BITS);
        *address = at--;
        if (number && at + (1u << TIDE_PLACE_BITS) >= lowest)
            return number;
    }
    return 0;
}
