/* model/feed.c - the events of a trace, run by run, decoded ahead.
 *
 * Batches are filled and emptied in turn, in a ring.  Those from `first` on, `filled` of
 * them, are the reader's, all others the thread's; who changes that holds the lock.
 * Without a thread the reader fills the one that it has just emptied.
 *
 * Who waits for the other is woken when half of the batches are filled: one by one, where
 * there is no idle core, they would take turns with every batch.
 *
 * Whether a mapping's caller counts is decided here, where the stacks can be looked at.
 */
#include "model/feed.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "model/mapped.h"

enum {
    TIDE_BATCHES = 8,
    TIDE_BATCHES_WOKEN = TIDE_BATCHES / 2,
    TIDE_BATCH_EVENTS = 2048,
    TIDE_BATCH_RUNS = 512,
    TIDE_RUN_MOST = 512, /* events asked of the replay at once */
    /* Of a trace: events go from core to core, which takes a tenth to a third more CPU
     * time. */
    TIDE_WORTH_BYTES = 4u << 20,
};

struct batch {
    size_t count, runs;
    const struct tide_event *given; /* borrowed from the replay: its one run; or NULL */
    uint16_t lengths[TIDE_BATCH_RUNS];
    enum tide_status status; /* after its last run */
    bool ends;               /* there is none behind it */
    bool rests;
    struct tide_replay_counts
        counts[TIDE_BATCH_RUNS + 1]; /* behind each run, at its end */
    struct tide_event events[TIDE_BATCH_EVENTS];
};

struct tide_feed {
    struct tide_feed_setup setup;
    bool *quiet; /* owned: for each module, are its mappings not counted? */
    size_t quiet_count;

    /* The reader's place in the batch `first`. */
    size_t run, event;
    bool reading; /* it has that batch in hand */
    struct tide_replay_counts counts;

    bool has_thread;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    size_t first, filled; /* under the lock */
    bool resting, closing;
    struct batch *batches; /* owned: TIDE_BATCHES, or one when nobody reads ahead */
};

/* --- Batches ------------------------------------------------------------------------- */

static bool is_quiet(const struct tide_feed *feed, uint32_t stack)
{
    const struct tide_stacks *const stacks = feed->setup.stacks;
    if (stack == 0 || stack >= stacks->node_count)
        return false;
    const uint32_t frame = stacks->nodes[stack].frame;
    if (frame >= stacks->frame_count)
        return false;
    const uint32_t module = stacks->frames[frame].module;
    return module < feed->quiet_count && feed->quiet[module];
}

/* Add COUNT events to BATCH. */
static void add_run(const struct tide_feed *feed, struct batch *batch,
                    const struct tide_event *events, size_t count)
{
    struct tide_event *const to = batch->events + batch->count;
    const bool usual = tide_replay_usual(feed->setup.replay);
    const bool borrowed = usual && !feed->setup.ahead;
    batch->lengths[batch->runs++] = (uint16_t)count;
    batch->given = borrowed ? events : NULL;
    if (borrowed)
        return;
    memcpy(to, events, count * sizeof(*to));
    for (size_t i = 0; i < count && !usual; i++)
        if (to[i].kind == TIDE_EVENT_MAP)
            to[i].quiet = is_quiet(feed, to[i].stack);
    batch->count += count;
}

static void fill(const struct tide_feed *feed, struct batch *batch)
{
    struct tide_replay *const replay = feed->setup.replay;
    const struct tide_replay_counts *const counts = tide_replay_counts(replay);
    const uint64_t rest_at = feed->setup.rest_at;
    batch->count = batch->runs = 0;
    batch->given = NULL;
    batch->rests = batch->ends = false;
    /* Without a thread there is one run: what the replay gives is good till the next. */
    bool more = true;
    while (more) {
        const struct tide_event *events;
        size_t count;
        batch->status = tide_replay_run(replay, TIDE_RUN_MOST, &events, &count);
        batch->counts[batch->runs] = *counts;
        batch->ends = batch->status || !count;
        if (batch->ends)
            break;
        add_run(feed, batch, events, count);
        batch->rests = rest_at && counts->bytes_read >= rest_at;
        more = feed->setup.ahead && batch->runs < TIDE_BATCH_RUNS && !batch->rests &&
               batch->count + TIDE_RUN_MOST <= TIDE_BATCH_EVENTS;
    }
}

/* --- The thread ------------------------------------------------------------------------ */

static void *work(void *argument)
{
    struct tide_feed *const feed = argument;
    bool ends = false;
    pthread_mutex_lock(&feed->lock);
    while (!ends) {
        while ((feed->filled == TIDE_BATCHES || feed->resting) && !feed->closing)
            pthread_cond_wait(&feed->changed, &feed->lock);
        if (feed->closing)
            break;
        struct batch *const batch =
            &feed->batches[(feed->first + feed->filled) % TIDE_BATCHES];
        pthread_mutex_unlock(&feed->lock);
        fill(feed, batch);
        pthread_mutex_lock(&feed->lock);
        ends = batch->ends;
        feed->resting = batch->rests;
        feed->filled++;
        if (feed->filled == TIDE_BATCHES_WOKEN || ends || batch->rests)
            pthread_cond_signal(&feed->changed);
    }
    pthread_mutex_unlock(&feed->lock);
    return NULL;
}

bool tide_feed_pays(uint64_t bytes)
{
    cpu_set_t cores;
    return bytes >= TIDE_WORTH_BYTES &&
           (sched_getaffinity(0, sizeof(cores), &cores) != 0 || CPU_COUNT(&cores) > 1);
}

/* --- The reader --------------------------------------------------------------------------- */

/* Take the next batch in hand; the one before is the thread's again. */
static void next_batch(struct tide_feed *feed)
{
    if (!feed->has_thread) {
        fill(feed, &feed->batches[feed->first]);
    } else {
        pthread_mutex_lock(&feed->lock);
        if (feed->reading) {
            feed->first = (feed->first + 1) % TIDE_BATCHES;
            feed->filled--;
            if (feed->filled == TIDE_BATCHES_WOKEN)
                pthread_cond_signal(&feed->changed);
        }
        while (!feed->filled)
            pthread_cond_wait(&feed->changed, &feed->lock);
        pthread_mutex_unlock(&feed->lock);
    }
    feed->reading = true;
    feed->run = feed->event = 0;
}

enum tide_status tide_feed_next(struct tide_feed *feed, struct tide_run *out)
{
    struct batch *batch = &feed->batches[feed->first];
    if (!feed->reading || (feed->run == batch->runs && !batch->ends)) {
        next_batch(feed);
        batch = &feed->batches[feed->first];
    }
    *out = (struct tide_run){.events = batch->given ? batch->given
                                                    : batch->events + feed->event};
    feed->counts = batch->counts[feed->run];
    if (feed->run == batch->runs)
        return batch->status;
    out->count = batch->lengths[feed->run++];
    out->rests = batch->rests && feed->run == batch->runs;
    feed->event += out->count;
    return TIDE_OK;
}

const struct tide_replay_counts *tide_feed_counts(const struct tide_feed *feed)
{
    return &feed->counts;
}

void tide_feed_go_on(struct tide_feed *feed, uint64_t rest_at)
{
    pthread_mutex_lock(&feed->lock);
    feed->setup.rest_at = rest_at;
    feed->resting = false;
    pthread_cond_signal(&feed->changed);
    pthread_mutex_unlock(&feed->lock);
}

/* --- Life ----------------------------------------------------------------------------- */

enum tide_status tide_feed_open(const struct tide_feed_setup *setup,
                                struct tide_feed **out)
{
    const struct tide_trace *const trace = tide_replay_trace(setup->replay);
    struct tide_feed *const feed = *out = calloc(1, sizeof(*feed));
    if (!feed)
        return TIDE_ENOMEM;
    feed->setup = *setup;
    feed->quiet = calloc(trace->module_count + 1, sizeof(*feed->quiet));
    feed->quiet_count = trace->module_count;
    feed->batches = malloc((setup->ahead ? TIDE_BATCHES : 1) * sizeof(*feed->batches));
    pthread_mutex_init(&feed->lock, NULL);
    pthread_cond_init(&feed->changed, NULL);
    if (!feed->quiet || !feed->batches) {
        tide_feed_close(feed);
        *out = NULL;
        return TIDE_ENOMEM;
    }
    for (size_t i = 0; i < trace->module_count; i++)
        feed->quiet[i] = tide_maps_quiet_module(trace->modules[i].path);
    feed->has_thread =
        setup->ahead && pthread_create(&feed->thread, NULL, work, feed) == 0;
    return TIDE_OK;
}

void tide_feed_close(struct tide_feed *feed)
{
    if (!feed)
        return;
    if (feed->has_thread) {
        pthread_mutex_lock(&feed->lock);
        feed->closing = true;
        pthread_cond_signal(&feed->changed);
        pthread_mutex_unlock(&feed->lock);
        pthread_join(feed->thread, NULL);
    }
    pthread_cond_destroy(&feed->changed);
    pthread_mutex_destroy(&feed->lock);
    free(feed->batches);
    free(feed->quiet);
    free(feed);
}
