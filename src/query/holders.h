/* query/holders.h - which block holds an address.
 *
 * For: query/.  Blocks are sorted by the power of two that holds their size, and there by
 * where they begin in steps of it: whoever holds an address begins in the step of that
 * address or in the one before.  So a look takes two places for each power that is in
 * use, and never more blocks than fit there.
 */
#ifndef TIDE_QUERY_HOLDERS_H
#define TIDE_QUERY_HOLDERS_H

#include <stdint.h>

#include <tidemark/status.h>

#include "model/life_table.h"
#include "model/pairs.h"

enum { TIDE_HOLDER_CLASSES = 64 };

struct tide_holder_link {
    uint32_t entry; /* of the lives */
    uint32_t next;  /* link of the same place; 0: none */
};

/* All zeros is ready for use. */
struct tide_holders {
    struct tide_pairs places; /* (process << 8 | power, step) */
    uint32_t *first;          /* owned: of each place, a link; 0: none */
    size_t first_capacity;
    struct tide_holder_link *links; /* owned; 0 is nobody */
    size_t link_count, link_capacity;
    uint32_t spare; /* links that are free */
    uint64_t living[TIDE_HOLDER_CLASSES];
};

void tide_holders_release(struct tide_holders *holders);
/* LIFE, an entry of LIVES, holds its addresses from here on; or no more. */
enum tide_status tide_holders_add(struct tide_holders *holders,
                                  const struct tide_lives *lives,
                                  const struct tide_life *life);
void tide_holders_remove(struct tide_holders *holders, const struct tide_lives *lives,
                         const struct tide_life *life);
/* The smallest block of LIVES that holds ADDRESS of PROCESS; NULL: none does. */
const struct tide_life *tide_holders_find(const struct tide_holders *holders,
                                          const struct tide_lives *lives,
                                          uint32_t process, uint64_t address);

#endif
