/* model/account_moves.c - realloc in the books: a block leaves, and comes back changed.
 */
#include "model/account_enter.h"

enum { TIDE_CREEP_PARTS = 16 };

/* Put a block that was moving back where it was. */
static enum tide_status put_back(const struct tide_entry *entry,
                                 const struct tide_block *block)
{
    return block->key ? tide_entry_put(entry, block) : TIDE_OK;
}

static enum tide_status on_move_begin(const struct tide_entry *entry)
{
    struct tide_lane_book *const lane = entry->lane;
    if (lane->move_count == TIDE_MOVES_OPEN) {
        const enum tide_status status = put_back(entry, &lane->moves[0]);
        if (status)
            return status;
        lane->move_count--;
        for (size_t i = 0; i < lane->move_count; i++)
            lane->moves[i] = lane->moves[i + 1];
    }
    struct tide_block *const block = &lane->moves[lane->move_count++];
    *block = (struct tide_block){.address = entry->event->address};
    tide_live_take(&entry->account->store, &entry->process->live, block->address,
                   block);
    return TIDE_OK;
}

/* The lane's move of the block at OLD ends: *OUT is that block, with key 0 when nothing
 * is known of it; false when no such move is under way.  Moves that began later are
 * abandoned. */
static bool end_move(const struct tide_entry *entry, uint64_t old,
                     struct tide_block *out, enum tide_status *status)
{
    struct tide_lane_book *const lane = entry->lane;
    size_t at = lane->move_count;
    while (at && lane->moves[at - 1].address != old)
        at--;
    if (!at)
        return false;
    while (lane->move_count > at && !*status)
        *status = put_back(entry, &lane->moves[--lane->move_count]);
    *out = lane->moves[--lane->move_count];
    return true;
}

/* The block goes on as one of another size: the new one's context in *CONTEXT, with the
 * label of the old one. */
static enum tide_status keep_label(const struct tide_entry *entry,
                                   const struct tide_block *old, uint32_t *context)
{
    struct tide_account *const account = entry->account;
    const uint32_t before = account->keys.list[old->key - 1].context;
    if (!tide_context_of(&account->contexts, before).label)
        return TIDE_OK;
    enum tide_status status = TIDE_OK;
    if (*context == TIDE_NO_CONTEXT) {
        status = tide_account_locate(account, entry->event, TIDE_IN_HEAP);
        *context = entry->lane->where.context[TIDE_IN_HEAP];
    }
    return status ? status
                  : tide_context_like(&account->contexts, *context, before, context);
}

/* Has glibc mapped BLOCK for itself?  Then it fills pages behind 16 bytes of its own, and
 * realloc has the system move the pages. */
static bool is_mapped(const struct tide_block *block)
{
    const uint64_t page = 4096, head = 16;
    return block->address % page == head &&
           (block->size + block->slack + head) % page == 0;
}

/* BLOCK has become one of SIZE bytes at ADDRESS. */
static void count_growth(struct tide_key_more *more, const struct tide_block *block,
                         uint64_t address, uint64_t size)
{
    const uint64_t grown = size - block->size;
    more->grown_bytes += grown;
    /* Who doubles a block copies about as much as it grows by, who adds an eighth to it
     * eight times as much. */
    if (grown >= block->size / TIDE_CREEP_PARTS)
        return;
    more->crept_calls++;
    more->crept_bytes += grown;
    if (address == block->address || is_mapped(block))
        return;
    more->copied_calls++;
    more->copied_bytes += block->size;
}

/* The key that the block of this MOVE_END was born to has got it from OLD. */
static enum tide_status count_move(const struct tide_entry *entry,
                                   const struct tide_block *old)
{
    struct tide_keys *const keys = &entry->account->keys;
    const uint32_t key = tide_keys_last(keys, entry->event->stack) - 1;
    struct tide_key_more *const more = tide_keys_more(keys, key);
    if (!more)
        return TIDE_ENOMEM;
    more->moved_calls++;
    if (entry->event->size > old->size)
        count_growth(more, old, entry->event->address, entry->event->size);
    return TIDE_OK;
}

static enum tide_status on_move_end(const struct tide_entry *entry)
{
    struct tide_watermark *const water = entry->water;
    const struct tide_event *const event = entry->event;
    struct tide_block old = {0};
    uint32_t context = entry->lane->where.context[TIDE_IN_HEAP];
    enum tide_status status = TIDE_OK;
    entry->account->realloc_calls++;
    end_move(entry, event->value, &old, &status);
    if (status)
        return status;
    if (!old.key) {
        tide_entry_unknown_free(entry);
        return tide_entry_birth(entry, context);
    }
    const uint64_t both = water->bytes + event->size;
    if (old.address != event->address && both > water->peak_with_realloc)
        water->peak_with_realloc = both;
    status = keep_label(entry, &old, &context);
    tide_entry_give_up(entry, &old);
    if (!status)
        status = tide_entry_birth(entry, context);
    return status ? status : count_move(entry, &old);
}

static enum tide_status on_move_back(const struct tide_entry *entry)
{
    struct tide_block old;
    enum tide_status status = TIDE_OK;
    if (end_move(entry, entry->event->address, &old, &status) && !status)
        status = put_back(entry, &old);
    return status;
}

static enum tide_status on_move_gone(const struct tide_entry *entry)
{
    struct tide_block old;
    enum tide_status status = TIDE_OK;
    entry->account->realloc_calls++;
    if (!end_move(entry, entry->event->address, &old, &status))
        return tide_entry_free(entry); /* its MOVE_BEGIN was lost */
    if (!status && old.key)
        return tide_entry_bury(entry, &old);
    if (!old.key)
        tide_entry_unknown_free(entry);
    return status;
}

enum tide_status tide_entry_move(const struct tide_entry *entry)
{
    switch (entry->event->kind) {
    case TIDE_EVENT_MOVE_BEGIN:
        return on_move_begin(entry);
    case TIDE_EVENT_MOVE_END:
        return on_move_end(entry);
    case TIDE_EVENT_MOVE_BACK:
        return on_move_back(entry);
    default:
        return on_move_gone(entry);
    }
}
