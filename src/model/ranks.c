/* model/ranks.c - what each MPI rank of a run held, by itself.
 *
 * The margins are found as that of the run is (see peak.h and account_end.c), with a
 * watermark and an envelope for each rank that has several lanes.
 */
#include "model/ranks.h"

#include <stdlib.h>

#include "model/block_stream.h"
#include "model/envelope.h"
#include "model/model_state.h"
#include "model/peak.h"
#include "model/process_ends.h"

/* What is known of a rank during the walk. */
struct book {
    struct tide_watermark water;
    struct tide_envelope envelope; /* of those with several lanes */
    uint32_t lanes;
    uint32_t first_process; /* index + 1 */
};

struct lane {
    struct tide_stretch stretch;
    uint32_t next; /* of its process, index + 1 */
};

struct process {
    uint32_t rank;       /* index of the list */
    uint32_t next;       /* of its rank, index + 1 */
    uint32_t first_lane; /* index + 1 */
    uint64_t bytes;      /* standing */
    uint32_t lanes, notes;
    bool over;
};

struct ending {
    uint64_t ticks;
    uint32_t process;
};

struct walk {
    const struct tide_trace *trace;
    struct tide_ranks *ranks;
    struct book *books;        /* owned, per rank */
    struct lane *lanes;        /* owned, per lane of the trace */
    struct process *processes; /* owned, per process of the trace */
    struct ending *ends;       /* owned; in their order */
    size_t end_count, next_end;
    bool *hidden; /* owned, per node of stacks: its blocks do not count as left */
    size_t hidden_count;
};

uint64_t tide_rank_value(const struct tide_rank *rank, enum tide_rank_measure measure)
{
    const uint64_t values[TIDE_RANK_MEASURES] = {
        [TIDE_RANK_PEAK] = rank->peak_bytes,
        [TIDE_RANK_LIVE] = rank->live_bytes,
        [TIDE_RANK_ALLOCATED] = rank->allocated_bytes,
        [TIDE_RANK_CALLS] = rank->alloc_calls,
        [TIDE_RANK_RSS] = rank->rss_peak_bytes,
    };
    return values[measure];
}

int tide_ranks_up_to_two(const struct tide_trace *trace)
{
    const struct tide_process *first = NULL;
    for (size_t i = 0; i < trace->process_count; i++) {
        const struct tide_process *const process = &trace->processes[i];
        if (!process->ranked)
            continue;
        if (first && first->rank != process->rank)
            return 2;
        first = process;
    }
    return first ? 1 : 0;
}

bool tide_ranks_known(const struct tide_trace *trace)
{
    return tide_ranks_up_to_two(trace) > 0;
}

/* --- Which ranks --------------------------------------------------------------------- */

static int by_rank(const void *one, const void *other)
{
    const struct tide_rank *const a = one;
    const struct tide_rank *const b = other;
    if (a->ranked != b->ranked)
        return a->ranked ? -1 : 1;
    return (a->rank > b->rank) - (a->rank < b->rank);
}

/* List each rank once, in order; the processes' ranks are found there later. */
static enum tide_status list_ranks(const struct tide_trace *trace,
                                   struct tide_ranks *ranks)
{
    size_t count = 0;
    ranks->list = calloc(trace->process_count + 1, sizeof(*ranks->list));
    if (!ranks->list)
        return TIDE_ENOMEM;
    for (size_t i = 0; i < trace->process_count; i++)
        ranks->list[i] = (struct tide_rank){.trace = trace,
                                            .ranked = trace->processes[i].ranked,
                                            .rank = trace->processes[i].rank};
    qsort(ranks->list, trace->process_count, sizeof(*ranks->list), by_rank);
    for (size_t i = 0; i < trace->process_count; i++)
        if (i == 0 || by_rank(&ranks->list[count - 1], &ranks->list[i]) != 0)
            ranks->list[count++] = ranks->list[i];
    ranks->count = count;
    for (size_t i = 0; i < count; i++)
        ranks->ranked += ranks->list[i].ranked;
    return TIDE_OK;
}

static uint32_t find_rank(const struct tide_ranks *ranks,
                          const struct tide_process *process)
{
    const struct tide_rank wanted = {.ranked = process->ranked, .rank = process->rank};
    const struct tide_rank *const found =
        bsearch(&wanted, ranks->list, ranks->count, sizeof(*ranks->list), by_rank);
    return (uint32_t)(found - ranks->list);
}

static int by_ticks(const void *one, const void *other)
{
    const struct ending *const a = one;
    const struct ending *const b = other;
    return (a->ticks > b->ticks) - (a->ticks < b->ticks);
}

/* Is PROCESS the one whose end is RANK's? */
static bool ends_rank(const struct tide_rank *rank, const struct tide_process *process)
{
    const bool broke_off = tide_process_broke_off(process);
    if (!rank->last || broke_off != rank->broke_off)
        return !rank->last || broke_off;
    return broke_off ? process->end_ticks < rank->last->end_ticks
                     : process->end_ticks > rank->last->end_ticks;
}

static void add_processes(struct walk *walk)
{
    const struct tide_trace *const trace = walk->trace;
    for (size_t i = 0; i < trace->process_count; i++) {
        const struct tide_process *const process = &trace->processes[i];
        struct process *const book = &walk->processes[i];
        book->rank = find_rank(walk->ranks, process);
        book->next = walk->books[book->rank].first_process;
        walk->books[book->rank].first_process = (uint32_t)i + 1;
        struct tide_rank *const rank = &walk->ranks->list[book->rank];
        rank->processes++;
        if (ends_rank(rank, process)) {
            rank->last = process;
            rank->broke_off = tide_process_broke_off(process);
        }
        rank->rss_peak_bytes += process->rss_peak;
        if (process->ended && process->end_ticks)
            walk->ends[walk->end_count++] =
                (struct ending){.ticks = process->end_ticks, .process = (uint32_t)i};
    }
    if (walk->end_count)
        qsort(walk->ends, walk->end_count, sizeof(*walk->ends), by_ticks);
}

/* As those of the run are counted: see model_facts.c. */
static enum tide_status count_threads(struct walk *walk)
{
    const struct tide_trace *const trace = walk->trace;
    struct tide_thread *const sorted = calloc(trace->thread_count + 1, sizeof(*sorted));
    if (!sorted)
        return TIDE_ENOMEM;
    for (size_t i = 0; i < trace->thread_count; i++)
        sorted[i] = trace->threads[i];
    qsort(sorted, trace->thread_count, sizeof(*sorted), tide_thread_order);
    for (size_t i = 0; i < trace->thread_count; i++)
        if (sorted[i].process < trace->process_count &&
            (i == 0 || tide_thread_order(&sorted[i - 1], &sorted[i]) != 0))
            walk->processes[sorted[i].process].notes++;
    for (size_t i = 0; i < trace->process_count; i++) {
        const struct process *const process = &walk->processes[i];
        walk->ranks->list[process->rank].threads +=
            process->notes > process->lanes ? process->notes : process->lanes;
    }
    free(sorted);
    return TIDE_OK;
}

static enum tide_status begin(struct walk *walk)
{
    const struct tide_trace *const trace = walk->trace;
    enum tide_status status = list_ranks(trace, walk->ranks);
    walk->books = calloc(walk->ranks->count + 1, sizeof(*walk->books));
    walk->lanes = calloc(trace->lane_count + 1, sizeof(*walk->lanes));
    walk->processes = calloc(trace->process_count + 1, sizeof(*walk->processes));
    walk->ends = calloc(trace->process_count + 1, sizeof(*walk->ends));
    if (status || !walk->books || !walk->lanes || !walk->processes || !walk->ends)
        return TIDE_ENOMEM;
    add_processes(walk);
    for (size_t i = 0; i < trace->lane_count; i++) {
        if (trace->lanes[i].process >= trace->process_count)
            return TIDE_ECORRUPT;
        struct process *const process = &walk->processes[trace->lanes[i].process];
        struct book *const book = &walk->books[process->rank];
        tide_stretch_begin(&walk->lanes[i].stretch, &book->water);
        walk->lanes[i].next = process->first_lane;
        process->first_lane = (uint32_t)i + 1;
        book->lanes++;
        process->lanes++;
    }
    if (!status)
        status = count_threads(walk);
    for (size_t i = 0; i < walk->ranks->count && !status; i++)
        if (walk->books[i].lanes > 1)
            status = tide_envelope_init(&walk->books[i].envelope);
    return status;
}

static void release(struct walk *walk)
{
    for (size_t i = 0; walk->books && i < walk->ranks->count; i++)
        tide_envelope_release(&walk->books[i].envelope);
    free(walk->books);
    free(walk->lanes);
    free(walk->processes);
    free(walk->ends);
    free(walk->hidden);
}

/* --- The walk ------------------------------------------------------------------------ */

static struct tide_stretches stretches_of(const struct walk *walk)
{
    return (struct tide_stretches){&walk->lanes[0].stretch, sizeof(struct lane)};
}

/* PROCESS ended at TICKS: what it held is gone at once. */
static void end_process(struct walk *walk, uint32_t number, uint64_t ticks)
{
    struct process *const process = &walk->processes[number];
    struct book *const book = &walk->books[process->rank];
    const struct tide_stretches all = stretches_of(walk);
    const bool own = book->water.peaks &&
                     walk->trace->lanes[book->water.peak_lane].process == number;
    uint64_t height = 0;
    process->over = true;
    book->water.bytes -= process->bytes;
    for (uint32_t at = process->first_lane; at && book->envelope.moments;
         at = walk->lanes[at - 1].next) {
        struct tide_stretch *const stretch = &walk->lanes[at - 1].stretch;
        tide_stretch_settle(stretch, &book->water, ticks);
        tide_envelope_close(&book->envelope, all, at - 1);
        tide_stretch_empty(stretch, ticks, !own);
        height += (uint64_t)tide_envelope_leave(all, at - 1);
    }
    if (book->envelope.moments)
        tide_envelope_drop(&book->envelope, all, (int64_t)height, ticks);
}

static void end_until(struct walk *walk, uint64_t ticks)
{
    while (walk->next_end < walk->end_count &&
           walk->ends[walk->next_end].ticks < ticks) {
        const struct ending *const end = &walk->ends[walk->next_end++];
        end_process(walk, end->process, end->ticks);
    }
}

static enum tide_status on_birth(void *user, struct tide_life *life, uint32_t number)
{
    struct walk *const walk = user;
    if (life->space != TIDE_IN_HEAP)
        return TIDE_OK;
    end_until(walk, life->birth_ticks);
    struct process *const process = &walk->processes[life->process];
    struct book *const book = &walk->books[process->rank];
    struct tide_rank *const rank = &walk->ranks->list[process->rank];
    struct lane *const lane = &walk->lanes[number];
    rank->allocated_bytes += life->size;
    rank->alloc_calls++;
    if (process->over)
        return TIDE_OK;
    process->bytes += life->size;
    book->water.bytes += life->size;
    tide_stretch_touch(&lane->stretch, &book->water);
    tide_stretch_rise(&lane->stretch, life->size);
    if (tide_water_check(&book->water, life->birth_ticks)) {
        book->water.peak_until = lane->stretch.until;
        book->water.peak_lane = number;
    }
    return TIDE_OK;
}

static enum tide_status on_block(void *user, const struct tide_life *life,
                                 const struct tide_death *death)
{
    struct walk *const walk = user;
    struct process *const process = &walk->processes[life->process];
    struct book *const book = &walk->books[process->rank];
    if (life->space != TIDE_IN_HEAP)
        return TIDE_OK;
    if (!death && life->stack < walk->hidden_count && walk->hidden[life->stack])
        return TIDE_OK;
    if (!death) {
        walk->ranks->list[process->rank].live_bytes += life->size;
        walk->ranks->list[process->rank].live_blocks++;
        return TIDE_OK;
    }
    end_until(walk, death->ticks);
    if (process->over)
        return TIDE_OK;
    struct lane *const lane = &walk->lanes[death->lane];
    process->bytes -= life->size;
    book->water.bytes -= life->size;
    tide_stretch_touch(&lane->stretch, &book->water);
    tide_stretch_fall(&lane->stretch, life->size);
    return TIDE_OK;
}

/* A lane's next stretch begins. */
static enum tide_status on_span(void *user, const struct tide_event *event)
{
    struct walk *const walk = user;
    const struct tide_process *const about = &walk->trace->processes[event->process];
    struct book *const book = &walk->books[walk->processes[event->process].rank];
    struct tide_stretch *const stretch = &walk->lanes[event->lane].stretch;
    const struct tide_stretches all = stretches_of(walk);
    if (!book->envelope.moments)
        return TIDE_OK;
    end_until(walk, event->ticks);
    if (walk->processes[event->process].over)
        return TIDE_OK;
    if (event->ticks > book->water.now)
        book->water.now = event->ticks;
    tide_stretch_settle(stretch, &book->water, event->ticks);
    tide_envelope_close(&book->envelope, all, event->lane);
    const bool ends =
        about->ended && about->end_ticks && about->end_ticks < event->usable;
    tide_stretch_next(stretch, (struct tide_span){
                                   .from = event->ticks,
                                   .until = ends ? about->end_ticks : event->usable,
                                   .promised = event->size,
                               });
    tide_envelope_open(&book->envelope, all, event->lane);
    return TIDE_OK;
}

/* --- The end ------------------------------------------------------------------------- */

/* The most that a process of RANK held that has one lane, whose order is exact. */
static uint64_t sure_height(const struct walk *walk, uint32_t rank)
{
    int64_t sure = 0;
    for (uint32_t at = walk->books[rank].first_process; at;
         at = walk->processes[at - 1].next) {
        const struct process *const process = &walk->processes[at - 1];
        if (!process->first_lane || walk->lanes[process->first_lane - 1].next)
            continue;
        const int64_t highest =
            tide_stretch_highest(&walk->lanes[process->first_lane - 1].stretch);
        sure = highest > sure ? highest : sure;
    }
    return (uint64_t)sure;
}

static uint64_t lesser(uint64_t one, uint64_t other)
{
    return one < other ? one : other;
}

/* As that of the run is found: see account_end.c. */
static uint64_t margin_of(struct walk *walk, uint32_t rank)
{
    struct book *const book = &walk->books[rank];
    const struct tide_watermark *const water = &book->water;
    uint64_t near = 0, far = 0;
    if (!book->envelope.moments)
        return 0;
    for (uint32_t at = book->first_process; at; at = walk->processes[at - 1].next) {
        uint32_t lane = walk->processes[at - 1].first_lane;
        for (; lane; lane = walk->lanes[lane - 1].next) {
            near += tide_stretch_near(&walk->lanes[lane - 1].stretch, water);
            if (lane - 1 != water->peak_lane)
                far += tide_stretch_far(&walk->lanes[lane - 1].stretch, water);
        }
    }
    const uint64_t unsure =
        water->peak_bytes - lesser(sure_height(walk, rank), water->peak_bytes);
    const uint64_t below = lesser(unsure, lesser(near, far));
    const uint64_t most = tide_envelope_finish(&book->envelope, stretches_of(walk));
    const uint64_t above = most > water->peak_bytes ? most - water->peak_bytes : 0;
    return above > below ? above : below;
}

static int ascending(const void *one, const void *other)
{
    const uint64_t a = *(const uint64_t *)one, b = *(const uint64_t *)other;
    return (a > b) - (a < b);
}

/* The rank that is farthest above the median of MEASURE, if it is farther than *OUT. */
static void compare(const struct tide_ranks *ranks, enum tide_rank_measure measure,
                    uint64_t *values, struct tide_rank_spread *out)
{
    const struct tide_rank *most = &ranks->list[0];
    for (size_t i = 0; i < ranks->ranked; i++) {
        values[i] = tide_rank_value(&ranks->list[i], measure);
        if (values[i] > tide_rank_value(most, measure))
            most = &ranks->list[i];
    }
    qsort(values, ranks->ranked, sizeof(*values), ascending);
    const size_t middle = ranks->ranked / 2;
    const double median =
        ranks->ranked % 2 ? (double)values[middle]
                          : ((double)values[middle - 1] + (double)values[middle]) / 2;
    if (median <= 0)
        return;
    const double times = (double)tide_rank_value(most, measure) / median;
    if (times > out->times)
        *out = (struct tide_rank_spread){measure, most->rank, times};
}

static enum tide_status find_widest(struct tide_ranks *ranks)
{
    uint64_t *const values = calloc(ranks->ranked + 1, sizeof(*values));
    if (!values)
        return TIDE_ENOMEM;
    for (int i = 0; i < TIDE_RANK_MEASURES && ranks->ranked > 1; i++)
        compare(ranks, (enum tide_rank_measure)i, values, &ranks->widest);
    free(values);
    return TIDE_OK;
}

static void finish(struct walk *walk)
{
    end_until(walk, UINT64_MAX);
    for (uint32_t i = 0; i < walk->ranks->count; i++) {
        struct tide_rank *const rank = &walk->ranks->list[i];
        rank->peak_bytes = walk->books[i].water.peak_bytes;
        rank->peak_ticks = walk->books[i].water.peak_ticks;
        rank->peak_margin_bytes = margin_of(walk, i);
    }
}

enum tide_status tide_ranks_find(struct tide_model *model,
                                 const struct tide_suppressions *suppressed,
                                 struct tide_ranks *out)
{
    struct walk walk = {.trace = model->trace, .ranks = out};
    const struct tide_block_watch watch = {
        .user = &walk, .birth = on_birth, .block = on_block, .span = on_span};
    *out = (struct tide_ranks){0};
    enum tide_status status = begin(&walk);
    if (!status)
        status =
            tide_suppressed_stacks(model, suppressed, &walk.hidden, &walk.hidden_count);
    if (!status)
        status = tide_block_stream(model, &watch, NULL);
    if (!status) {
        finish(&walk);
        status = find_widest(out);
    }
    release(&walk);
    return status;
}

enum tide_status tide_ranks_join(struct tide_ranks *ranks,
                                 const struct tide_ranks *other)
{
    const size_t count = ranks->count + other->count;
    struct tide_rank *const list = realloc(ranks->list, (count + 1) * sizeof(*list));
    if (!list)
        return TIDE_ENOMEM;
    for (size_t i = 0; i < other->count; i++)
        list[ranks->count + i] = other->list[i];
    if (count)
        qsort(list, count, sizeof(*list), by_rank);
    *ranks = (struct tide_ranks){
        .list = list, .count = count, .ranked = ranks->ranked + other->ranked};
    return find_widest(ranks);
}

void tide_ranks_release(struct tide_ranks *ranks)
{
    free(ranks->list);
    *ranks = (struct tide_ranks){0};
}
