/* model/account_evidence.c - the books, when it matters how things came about.
 *
 * Nothing here is called for single events: see survivors.h and holdings.h.
 */
#include <pthread.h>
#include <stdlib.h>

#include "model/account.h"
#include "model/account_evidence.h"

enum tide_status tide_account_evidence_begin(struct tide_account *account)
{
    const struct tide_account_setup *const setup = &account->setup;
    /* What is live at a moment, or counts only in part, is no evidence. */
    if (!setup->evidence || setup->select || setup->stop_ticks != UINT64_MAX)
        return TIDE_OK;
    account->evidence = calloc(1, sizeof(*account->evidence));
    return account->evidence ? TIDE_OK : TIDE_ENOMEM;
}

void tide_account_evidence_release(struct tide_account *account)
{
    if (!account->evidence)
        return;
    tide_survivors_release(&account->evidence->survivors);
    tide_holdings_release(&account->evidence->holdings);
    free(account->evidence);
    account->evidence = NULL;
}

enum tide_status tide_account_evidence_pass(struct tide_account *account,
                                            uint64_t ticks, uint32_t stretch)
{
    struct tide_evidence *const evidence = account->evidence;
    const struct tide_watermark *const water = &account->water[TIDE_IN_HEAP];
    tide_survivors_note(&evidence->survivors, water->births, ticks);
    return tide_holdings_pass(&evidence->holdings, &account->keys, water, stretch);
}

/* --- What is left -------------------------------------------------------------------- */

/* The life of PROCESS, which ends at TICKS. */
static struct tide_life_span span_of(const struct tide_account *account,
                                     uint32_t process, uint64_t ticks)
{
    const struct tide_process_book *const book = &account->processes[process];
    return (struct tide_life_span){
        .births = {book->births_before, account->water[TIDE_IN_HEAP].births},
        .ticks = {book->first_ticks, ticks},
    };
}

static enum tide_status add_block(struct tide_account *account,
                                  const struct tide_block *block)
{
    return tide_survivors_add(&account->evidence->survivors, block->key - 1,
                              block->born, block->size);
}

static enum tide_status add_moves(struct tide_account *account, uint32_t process)
{
    enum tide_status status = TIDE_OK;
    uint32_t at = account->processes[process].first_lane;
    for (; at && !status; at = account->lanes[at - 1].next_lane) {
        const struct tide_lane_book *const lane = &account->lanes[at - 1];
        for (size_t i = 0; i < lane->move_count && !status; i++)
            if (lane->moves[i].key)
                status = add_block(account, &lane->moves[i]);
    }
    return status;
}

static enum tide_status add_young(struct tide_account *account,
                                  const struct tide_live *live)
{
    const size_t places = live->young ? live->young_mask + 1 : 0;
    enum tide_status status = TIDE_OK;
    for (size_t i = 0; i < places && !status; i++) {
        const struct tide_young *const young = &live->young[i];
        if (!young->block.what)
            continue;
        const struct tide_block block = tide_block_unpack(young->block, young->address);
        status = add_block(account, &block);
    }
    return status;
}

/* Part of the blocks that are not young, and where they are added. */
struct part {
    const struct tide_live_store *store;
    const struct tide_pages *pages;
    struct tide_pages_walk walk;
    struct tide_survivors *survivors;
    enum tide_status status;
};

static void *add_part(void *argument)
{
    struct part *const part = argument;
    while (!part->status && tide_pages_walk_on(part->store, part->pages, &part->walk))
        part->status = tide_survivors_add_packed(part->survivors, part->store,
                                                 part->walk.entry, part->walk.left);
    return NULL;
}

/* Add WHOLE in two halves at the same time. */
static enum tide_status add_halves(const struct part *whole)
{
    pthread_t thread;
    struct part first = *whole, second = *whole;
    first.walk.ordered = second.walk.page = whole->walk.ordered / 2;
    second.survivors = tide_survivors_beside(whole->survivors);
    if (!second.survivors)
        return TIDE_ENOMEM;
    const bool beside = pthread_create(&thread, NULL, add_part, &second) == 0;
    add_part(&first);
    if (beside)
        pthread_join(thread, NULL);
    else
        add_part(&second);
    tide_survivors_end(second.survivors);
    const bool joined = tide_survivors_join(whole->survivors, second.survivors);
    return first.status ? first.status : joined ? second.status : TIDE_ENOMEM;
}

static enum tide_status add_elders(struct tide_account *account,
                                   const struct tide_pages *pages)
{
    struct part all = {.store = &account->store,
                       .pages = pages,
                       .survivors = &account->evidence->survivors};
    tide_pages_walk_by_leaf(&account->store, pages, &all.walk);
    if (all.walk.order && account->setup.helped)
        all.status = add_halves(&all);
    else
        add_part(&all);
    tide_pages_walk_end(&all.walk);
    return all.status;
}

enum tide_status tide_account_remains(struct tide_account *account, uint32_t process,
                                      uint64_t ticks)
{
    const struct tide_live *const live = &account->processes[process].live;
    const struct tide_life_span span = span_of(account, process, ticks);
    tide_survivors_begin(&account->evidence->survivors, &span);
    enum tide_status status = add_moves(account, process);
    if (!status)
        status = add_young(account, live);
    if (!status)
        status = add_elders(account, &live->pages);
    tide_survivors_end(&account->evidence->survivors);
    return status;
}

enum tide_status tide_account_evidence_finish(struct tide_account *account)
{
    const struct tide_account_setup *const setup = &account->setup;
    const struct tide_watermark *const water = &account->water[TIDE_IN_HEAP];
    enum tide_status status = TIDE_OK;
    if (account->stopped)
        return TIDE_OK; /* what is live may be freed yet */
    tide_survivors_note(&account->evidence->survivors, water->births, water->now);
    for (uint32_t i = 0; i < account->process_capacity && !status; i++) {
        if (!account->processes[i].known)
            continue;
        uint64_t end = water->now;
        if (i < setup->process_count && setup->processes[i].end_ticks)
            end = setup->processes[i].end_ticks;
        status = tide_account_remains(account, i, end);
    }
    return status;
}
