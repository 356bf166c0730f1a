/* query/holders.c - which block holds an address. */
#include "query/holders.h"

#include <stdlib.h>

#include "model/grow.h"

void tide_holders_release(struct tide_holders *holders)
{
    tide_pairs_release(&holders->places);
    free(holders->first);
    free(holders->links);
    *holders = (struct tide_holders){0};
}

/* The power of two that BYTES fit in; a block without any has its first address. */
static unsigned power_of(uint64_t bytes)
{
    unsigned power = 0;
    while (power < TIDE_HOLDER_CLASSES - 1 && bytes > 1ull << power)
        power++;
    return power;
}

static struct tide_pair place_of(uint32_t process, unsigned power, uint64_t step)
{
    return (struct tide_pair){(uint64_t)process << 8 | power, step};
}

/* A link that is free; 0 without memory. */
static uint32_t take_link(struct tide_holders *holders)
{
    const uint32_t spare = holders->spare;
    if (spare) {
        holders->spare = holders->links[spare].next;
        return spare;
    }
    if (!holders->link_count)
        holders->link_count = 1;
    struct tide_holder_link *const links =
        tide_grown(holders->links, &holders->link_capacity, holders->link_count + 1,
                   sizeof(*links));
    if (!links || holders->link_count > UINT32_MAX)
        return 0;
    holders->links = links;
    return (uint32_t)holders->link_count++;
}

enum tide_status tide_holders_add(struct tide_holders *holders,
                                  const struct tide_lives *lives,
                                  const struct tide_life *life)
{
    const unsigned power = power_of(life->size);
    uint32_t place;
    if (tide_pairs_find(&holders->places,
                        place_of(life->process, power, life->address >> power), &place))
        return TIDE_ENOMEM;
    uint32_t *const first = tide_grown(holders->first, &holders->first_capacity,
                                       (size_t)place + 1, sizeof(*first));
    if (!first)
        return TIDE_ENOMEM;
    holders->first = first;
    const uint32_t link = take_link(holders);
    if (!link)
        return TIDE_ENOMEM;
    holders->links[link] =
        (struct tide_holder_link){(uint32_t)(life - lives->list), first[place]};
    first[place] = link;
    holders->living[power]++;
    return TIDE_OK;
}

void tide_holders_remove(struct tide_holders *holders, const struct tide_lives *lives,
                         const struct tide_life *life)
{
    const unsigned power = power_of(life->size);
    const uint32_t entry = (uint32_t)(life - lives->list);
    const uint32_t known = tide_pairs_known(
        &holders->places, place_of(life->process, power, life->address >> power));
    uint32_t *at = known ? &holders->first[known - 1] : NULL;
    while (at && *at && holders->links[*at].entry != entry)
        at = &holders->links[*at].next;
    if (!at || !*at)
        return;
    const uint32_t link = *at;
    *at = holders->links[link].next;
    holders->links[link].next = holders->spare;
    holders->spare = link;
    holders->living[power]--;
}

/* Who holds ADDRESS among those that begin in STEP. */
static const struct tide_life *look(const struct tide_holders *holders,
                                    const struct tide_lives *lives,
                                    struct tide_pair step, uint64_t address)
{
    const uint32_t known = tide_pairs_known(&holders->places, step);
    uint32_t link = known ? holders->first[known - 1] : 0;
    for (; link; link = holders->links[link].next) {
        const struct tide_life *const life = &lives->list[holders->links[link].entry];
        const uint64_t bytes = life->size ? life->size : 1;
        if (address >= life->address && address - life->address < bytes)
            return life;
    }
    return NULL;
}

const struct tide_life *tide_holders_find(const struct tide_holders *holders,
                                          const struct tide_lives *lives,
                                          uint32_t process, uint64_t address)
{
    const struct tide_life *found = NULL;
    for (unsigned power = 0; power < TIDE_HOLDER_CLASSES && !found; power++) {
        const uint64_t step = address >> power;
        if (!holders->living[power])
            continue;
        found = look(holders, lives, place_of(process, power, step), address);
        if (!found && step)
            found = look(holders, lives, place_of(process, power, step - 1), address);
    }
    return found;
}
