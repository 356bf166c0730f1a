/* model/life_table.c - the blocks that are alive in a stream, with all that is known.
 *
 * Entries stand in one array and are recycled; a hash with linear probing finds them.  A
 * taken entry leaves no tombstone: those behind it move up.
 */
#include "model/life_table.h"

#include <stdbool.h>
#include <stdlib.h>
#include <sys/random.h>
#include <time.h>

#include "model/grow.h"
#include "model/model.h"
#include "trace/kind_names.h"

enum { TIDE_LIFE_SLOTS_FIRST = 1024 }; /* a power of two */

enum tide_status tide_lives_init(struct tide_lives *lives)
{
    *lives = (struct tide_lives){.count = 1, .mask = TIDE_LIFE_SLOTS_FIRST - 1};
    /* Nobody shall write a trace whose blocks all collide. */
    if (getrandom(&lives->seed, sizeof(lives->seed), GRND_NONBLOCK) < 0)
        lives->seed = (uint64_t)time(NULL);
    lives->slots = calloc(TIDE_LIFE_SLOTS_FIRST, sizeof(*lives->slots));
    return lives->slots ? TIDE_OK : TIDE_ENOMEM;
}

void tide_lives_release(struct tide_lives *lives)
{
    free(lives->list);
    free(lives->slots);
    *lives = (struct tide_lives){0};
}

enum tide_status tide_lives_add(struct tide_lives *lives, const struct tide_life *life,
                                uint32_t *out)
{
    uint32_t entry = lives->spare;
    if (entry) {
        lives->spare = lives->list[entry].label;
    } else {
        if (lives->count >= UINT32_MAX / 2)
            return TIDE_ELIMIT;
        struct tide_life *const list =
            tide_grown(lives->list, &lives->capacity, lives->count + 1, sizeof(*list));
        if (!list)
            return TIDE_ENOMEM;
        lives->list = list;
        entry = (uint32_t)lives->count++;
    }
    lives->list[entry] = *life;
    *out = entry;
    return TIDE_OK;
}

void tide_lives_drop(struct tide_lives *lives, uint32_t entry)
{
    lives->list[entry] = (struct tide_life){.label = lives->spare};
    lives->spare = entry;
}

/* --- By address ------------------------------------------------------------------- */

static uint32_t hash_of(const struct tide_lives *lives, uint32_t process,
                        uint64_t address)
{
    uint64_t mixed = (address ^ lives->seed) * 0x9e3779b97f4a7c15ull;
    mixed = (mixed ^ (mixed >> 29) ^ process) * 0xbf58476d1ce4e5b9ull;
    return (uint32_t)(mixed >> 32);
}

/* Where the entry with HASH stands, or the empty place where it would. */
static size_t place_of(const struct tide_lives *lives, uint32_t process,
                       uint64_t address, uint32_t hash)
{
    size_t at = hash & lives->mask;
    while (lives->slots[at].entry) {
        const struct tide_life *const life = &lives->list[lives->slots[at].entry];
        if (lives->slots[at].hash == hash && life->address == address &&
            life->process == process)
            break;
        at = (at + 1) & lives->mask;
    }
    return at;
}

static enum tide_status widen(struct tide_lives *lives)
{
    const size_t before = lives->mask + 1;
    struct tide_life_slot *const old = lives->slots;
    struct tide_life_slot *const wider = calloc(before * 2, sizeof(*wider));
    if (!wider)
        return TIDE_ENOMEM;
    lives->slots = wider;
    lives->mask = before * 2 - 1;
    for (size_t i = 0; i < before; i++) {
        size_t at = old[i].hash & lives->mask;
        if (!old[i].entry)
            continue;
        while (wider[at].entry)
            at = (at + 1) & lives->mask;
        wider[at] = old[i];
    }
    free(old);
    return TIDE_OK;
}

enum tide_status tide_lives_put(struct tide_lives *lives, uint32_t entry)
{
    if (lives->used >= lives->mask / 2) {
        const enum tide_status status = widen(lives);
        if (status)
            return status;
    }
    const struct tide_life *const life = &lives->list[entry];
    const uint32_t hash = hash_of(lives, life->process, life->address);
    lives->slots[place_of(lives, life->process, life->address, hash)] =
        (struct tide_life_slot){entry, hash};
    lives->used++;
    return TIDE_OK;
}

uint32_t tide_lives_find(const struct tide_lives *lives, uint32_t process,
                         uint64_t address)
{
    const uint32_t hash = hash_of(lives, process, address);
    return lives->slots[place_of(lives, process, address, hash)].entry;
}

/* Would an entry with its home at HOME still be found if it moved from AT to HOLE? */
static bool may_move(size_t home, size_t at, size_t hole, size_t mask)
{
    return ((at - home) & mask) >= ((at - hole) & mask);
}

uint32_t tide_lives_take(struct tide_lives *lives, uint32_t process, uint64_t address)
{
    size_t hole = place_of(lives, process, address, hash_of(lives, process, address));
    const uint32_t taken = lives->slots[hole].entry;
    if (!taken)
        return 0;
    lives->slots[hole].entry = 0;
    lives->used--;
    for (size_t at = (hole + 1) & lives->mask; lives->slots[at].entry;
         at = (at + 1) & lives->mask) {
        const size_t home = lives->slots[at].hash & lives->mask;
        if (!may_move(home, at, hole, lives->mask))
            continue;
        lives->slots[hole] = lives->slots[at];
        lives->slots[at].entry = 0;
        hole = at;
    }
    return taken;
}

void tide_lives_expect(const struct tide_lives *lives, uint32_t process,
                       uint64_t address)
{
    __builtin_prefetch(&lives->slots[hash_of(lives, process, address) & lives->mask]);
}

void tide_lives_expect_entry(const struct tide_lives *lives, uint32_t process,
                             uint64_t address)
{
    const uint32_t hash = hash_of(lives, process, address);
    if (lives->list) /* while nothing has lived there is none */
        __builtin_prefetch(&lives->list[lives->slots[hash & lives->mask].entry]);
}

const char *tide_life_kind(const struct tide_life *life)
{
    return life->space == TIDE_IN_HEAP ? tide_alloc_kind_name(life->kind)
                                       : tide_map_call_name(life->kind);
}
