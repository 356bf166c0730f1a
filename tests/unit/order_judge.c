/* unit/order_judge.c - hold what a reader says against what really happened. */
#include <stdlib.h>

#include "order_model.h"
#include "trace/event.h"
#include "trace_walk.h"

/* A block, where the reader says it lives. */
struct living {
    uint32_t block;
    uint64_t address;
};

/* What lives where, as the reader's events say, and what is last on each slot. */
struct court {
    const struct tide_history *history;
    struct tide_verdict *verdict;
    size_t at[TIDE_MODEL_LANES]; /* next event of each lane */
    struct living live[TIDE_MODEL_ADDRESSES];
    size_t live_count;
    struct {
        uint32_t slot;
        uint64_t moment;
    } slots[TIDE_MODEL_ADDRESSES + 1];
    size_t slot_count;
};

static struct living *find_live(struct court *court, uint64_t address)
{
    for (size_t i = 0; i < court->live_count; i++)
        if (court->live[i].address == address)
            return &court->live[i];
    return NULL;
}

static void judge_birth(struct court *court, const struct tide_truth *truth)
{
    struct living *live = find_live(court, truth->address);
    if (live || court->live_count == TIDE_MODEL_ADDRESSES) {
        court->verdict->wrong_pairs++;
        if (live)
            live->block = truth->block;
        return;
    }
    court->live[court->live_count++] =
        (struct living){.block = truth->block, .address = truth->address};
}

static void judge_death(struct court *court, const struct tide_truth *truth)
{
    struct living *live = find_live(court, truth->address);
    court->verdict->wrong_pairs += !live || live->block != truth->block;
    if (live)
        *live = court->live[--court->live_count];
}

static void judge_slot(struct court *court, const struct tide_truth *truth)
{
    if (!truth->on_slot)
        return;
    const uint32_t slot =
        truth->kind == TIDE_EVENT_MAP ? TIDE_SLOT_MAP : tide_slot_of(truth->address);
    size_t i = 0;
    while (i < court->slot_count && court->slots[i].slot != slot)
        i++;
    if (i == court->slot_count)
        court->slots[court->slot_count++].slot = slot;
    else
        court->verdict->wrong_slot += truth->moment < court->slots[i].moment;
    court->slots[i].moment = truth->moment;
}

static void judge_event(struct court *court, const struct tide_walked *walked,
                        const struct tide_event *event)
{
    const uint32_t lane = walked->trace->lanes[event->lane].number;
    const struct tide_truths *truths = &court->history->lanes[lane];
    if (lane > 0 && court->at[0] < court->history->before_gate)
        court->verdict->wrong_gate++;
    if (court->at[lane] == truths->count) {
        court->verdict->wrong_lane++;
        return;
    }
    const struct tide_truth *truth = &truths->items[court->at[lane]++];
    court->verdict->wrong_lane +=
        event->kind != truth->kind || event->address != truth->address;
    judge_slot(court, truth);
    if (truth->kind == TIDE_EVENT_ALLOC || truth->kind == TIDE_EVENT_MOVE_END ||
        truth->kind == TIDE_EVENT_MOVE_BACK)
        judge_birth(court, truth);
    else if (truth->kind == TIDE_EVENT_FREE || truth->kind == TIDE_EVENT_MOVE_BEGIN)
        judge_death(court, truth);
}

void tide_history_judge(const struct tide_history *history, struct tide_verdict *out)
{
    struct tide_walked walked;
    struct court *court = calloc(1, sizeof(*court));
    *out = (struct tide_verdict){0};
    if (!court || tide_walk(tide_builder_fd(history->builder), 50, &walked) != TIDE_OK)
        abort();
    court->history = history;
    court->verdict = out;
    for (size_t i = 0; i < walked.count; i++)
        if (walked.events[i].kind <= TIDE_EVENT_MAP)
            judge_event(court, &walked, &walked.events[i]);
    out->missing = history->events - (size_t)walked.counts.events;
    out->reordered = walked.counts.reordered;
    out->lost = walked.counts.lost_records;
    tide_walk_release(&walked);
    free(court);
}
