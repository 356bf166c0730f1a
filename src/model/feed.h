/* model/feed.h - the events of a trace, run by run, decoded ahead.
 *
 * For: model/, tests/.  Decoding takes about as long as what is done with the events, so a
 * thread does it, a few batches ahead.  Of the replay, and of the stacks it adds to,
 * nobody may touch anything meanwhile but while the feed rests, or after its end.
 */
#ifndef TIDE_MODEL_FEED_H
#define TIDE_MODEL_FEED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tidemark/status.h>

#include "trace/event.h"
#include "trace/trace.h"

struct tide_feed;

struct tide_feed_setup {
    struct tide_replay *replay;       /* borrowed */
    const struct tide_stacks *stacks; /* borrowed: what the replay adds to */
    bool ahead;                       /* by a thread; where there is none, without it */
    uint64_t rest_at; /* bytes of the trace: rest when they are read; 0: never */
};

/* Events of one lane. */
struct tide_run {
    const struct tide_event *events; /* until the next call */
    size_t count;                    /* 0: there are no more */
    bool rests; /* the replay stands behind these events till tide_feed_go_on() */
};

/* Is a trace of BYTES worth a thread, on this machine? */
bool tide_feed_pays(uint64_t bytes);

enum tide_status tide_feed_open(const struct tide_feed_setup *setup,
                                struct tide_feed **out);
/* The next run.  After a failure, or no more, only close it. */
enum tide_status tide_feed_next(struct tide_feed *feed, struct tide_run *out);
/* What the replay had counted behind the run that was given last. */
const struct tide_replay_counts *tide_feed_counts(const struct tide_feed *feed);
/* It has rested: go on till REST_AT bytes are read; 0: till the end. */
void tide_feed_go_on(struct tide_feed *feed, uint64_t rest_at);
/* Whatever the thread was doing, it has ended. */
void tide_feed_close(struct tide_feed *feed);

#endif
