/* model/account_enter.h - how one event is entered: what the files of the books share.
 *
 * For: account.c, account_moves.c, account_extra.c.
 */
#ifndef TIDE_MODEL_ACCOUNT_ENTER_H
#define TIDE_MODEL_ACCOUNT_ENTER_H

#include "model/account.h"

/* One event with what its entry needs at hand. */
struct tide_entry {
    struct tide_account *account;
    const struct tide_event *event;
    struct tide_lane_book *lane;
    struct tide_process_book *process;
    struct tide_watermark *water; /* of the heap */
};

/* --- account.c --- */

/* A block is born of the event, in CONTEXT (TIDE_NO_CONTEXT: the lane's). */
enum tide_status tide_entry_birth(const struct tide_entry *entry, uint32_t context);
/* Put BLOCK in, whatever it is and whatever stands at its address: that one ends. */
enum tide_status tide_entry_put(const struct tide_entry *entry,
                                const struct tide_block *block);
/* BLOCK, which is not in the table, stands no more ... */
void tide_entry_give_up(const struct tide_entry *entry, const struct tide_block *block);
/* ... because the lane freed it. */
enum tide_status tide_entry_bury(const struct tide_entry *entry,
                                 const struct tide_block *block);
/* The event is a free. */
enum tide_status tide_entry_free(const struct tide_entry *entry);

/* The index of the key of the event's stack in CONTEXT, which was not the last one used
 * with that stack. */
enum tide_status tide_entry_key(const struct tide_entry *entry, uint32_t context,
                                uint32_t *out);

/* --- account_quick.c --- */

/* Enter births and deaths among EVENTS, COUNT of them and all of ENTRY's lane, up to the
 * first event that is not usual; *ENTERED says how many they were. */
enum tide_status tide_entry_quick(const struct tide_entry *entry,
                                  const struct tide_event *events, size_t count,
                                  size_t *entered);

/* --- account_detail.c: only when there is a detail --- */

/* CONTEXT (TIDE_NO_CONTEXT: the lane's) becomes the one that the event's block of SPACE
 * counts in. */
enum tide_status tide_entry_select(const struct tide_entry *entry,
                                   enum tide_space space, uint32_t *context);
/* The block of the event was born. */
void tide_entry_born(const struct tide_entry *entry);
/* BLOCK dies: the index of the key that it counts in. */
uint32_t tide_entry_dies(const struct tide_entry *entry,
                         const struct tide_block *block);

/* --- account_moves.c --- */

/* The event is a MOVE_*. */
enum tide_status tide_entry_move(const struct tide_entry *entry);

/* --- account_extra.c --- */

/* The event is any but a birth or a death. */
enum tide_status tide_entry_other(const struct tide_entry *entry);
/* A free of an address at which no block is known. */
void tide_entry_unknown_free(const struct tide_entry *entry);
/* The lane freed a block of BYTES that counts in KEY (an index), made in another context:
 * perhaps by another thread. */
enum tide_status tide_entry_flow(const struct tide_entry *entry, uint32_t key,
                                 uint64_t bytes);

#endif
