/* collect/outlet.c - from the lanes' buffers to the file.
 *
 * Large pieces go out when they are there, small ones when they are old: what a target
 * recorded a second ago is in the file, so that killing target and collector together
 * loses no more than that.  Before a piece is old its owner is asked for a reset, so that
 * the next chunk can be decoded alone.
 *
 * Notes go before events, and the notes lanes were taken after the events lanes: what an
 * event refers to stands in the file before it.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "collect/collector.h"
#include "collect/notes_out.h"
#include "trace/format.h"

#define TIDE_ASK_NS    (350ull * 1000 * 1000)  /* age at which a reset is asked for */
#define TIDE_OLD_NS    (500ull * 1000 * 1000)  /* age at which everything goes out */
#define TIDE_REST_NS   (2000ull * 1000 * 1000) /* a lane idle so long gives its buffer */
#define TIDE_POOL_MOST (24ull << 20) /* bytes in all buffers: more is written */

/* The file takes no more (disk full, limit): let the targets know and say so. */
static void stop_recording(struct tide_collector *collector)
{
    if (collector->stopped)
        return;
    collector->stopped = true;
    atomic_store(&collector->page->stopped, 1);
    char buffer[128], line[256];
    const int errno_of_file = tide_writer_problem(collector->writer);
    const int problem = errno_of_file ? errno_of_file : ENOMEM; /* the file is well */
    (void)snprintf(
        line, sizeof(line),
        "the trace could not be written further: %s; what came later is lost",
        strerror_r(problem, buffer, sizeof(buffer)));
    tide_collector_trouble(collector, line);
}

static void write_chunk(struct tide_collector *collector,
                        const struct tide_chunk_label *label, const void *bytes,
                        size_t length)
{
    atomic_store(&collector->writing, 1);
    const enum tide_status status =
        tide_writer_chunk(collector->writer, label, bytes, length);
    atomic_store(&collector->writing, 0);
    if (status)
        stop_recording(collector);
}

/* The rows of LANE up to CUT.  Returns how far they are done with: when they make no sense
 * nothing after them does. */
static uint64_t write_rows(struct tide_collector *collector,
                           const struct tide_chunk_label *label,
                           struct tide_lane_copy *lane, uint64_t cut)
{
    atomic_store(&collector->writing, 1);
    const enum tide_status status =
        tide_writer_rows(collector->writer, label, &lane->coding, lane->bytes,
                         (size_t)(cut - lane->start));
    atomic_store(&collector->writing, 0);
    if (status == TIDE_ECORRUPT || status == TIDE_ENOMEM) {
        lane->broken = status == TIDE_ENOMEM ? "there was no memory for it"
                                             : "its records make no sense";
        tide_collector_say_broken(collector, lane);
        return lane->end;
    }
    if (status)
        stop_recording(collector);
    return cut;
}

/* --- The collector's own notes ------------------------------------------------------ */

static void write_notes(struct tide_collector *collector)
{
    pthread_mutex_lock(&collector->lock);
    struct tide_text notes = collector->notes;
    collector->notes = (struct tide_text){0};
    pthread_mutex_unlock(&collector->lock);
    if (notes.failed) {
        notes.failed = false;
        tide_notes_out_trouble(&notes, "the collector had no memory for its notes: "
                                       "names or processes are missing");
    }

    const struct tide_chunk_label label = {
        .kind = TIDE_CHUNK_RUN,
        .process = TIDE_NO_PROCESS,
        .first_ticks = collector->notes_ticks,
        .last_ticks = collector->looks.now_ticks,
    };
    size_t at = 0;
    while (at < notes.length) {
        const size_t bytes = tide_notes_out_chunk(notes.bytes + at, notes.length - at);
        if (bytes == 0)
            break;
        write_chunk(collector, &label, notes.bytes + at, bytes);
        at += bytes;
    }
    tide_text_release(&notes);
    collector->notes_ns = collector->looks.now_ns;
    collector->notes_ticks = collector->looks.now_ticks;
}

/* --- Lanes -------------------------------------------------------------------------- */

static uint64_t lower(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static struct tide_chunk_label label_of(const struct tide_lane_copy *lane, uint64_t cut)
{
    struct tide_chunk_label label = {
        .kind = TIDE_CHUNK_NOTES,
        .process = lane->owner->index,
        .first_ticks = lane->first_ticks,
        .last_ticks = cut <= lane->fresh ? lane->before_ticks : lane->last_ticks,
    };
    if (lane->use == TIDE_LANE_NOTES)
        return label;
    label.kind = TIDE_CHUNK_EVENTS;
    label.lane = lane->number;
    label.sequence = lane->sequence;
    uint64_t ticks;
    if (tide_lane_at_reset(lane, &ticks)) {
        label.flags = TIDE_CHUNK_RESET;
        label.first_ticks = lower(label.first_ticks, ticks);
    }
    return label;
}

static void write_lane(struct tide_collector *collector, struct tide_lane_copy *lane,
                       enum tide_cut_wish wish)
{
    uint64_t cut;
    while ((cut = tide_lane_cut(lane, wish)) > lane->start) {
        if (!collector->stopped) {
            const struct tide_chunk_label label = label_of(lane, cut);
            if (lane->use == TIDE_LANE_NOTES)
                write_chunk(collector, &label, lane->bytes,
                            (size_t)(cut - lane->start));
            else
                cut = write_rows(collector, &label, lane, cut);
        }
        tide_lane_drop(lane, cut);
    }
}

static uint64_t age_of(const struct tide_collector *collector,
                       const struct tide_lane_copy *lane)
{
    return lane->end == lane->start ? 0 : collector->looks.now_ns - lane->born_ns;
}

static bool is_old(const struct tide_collector *collector,
                   const struct tide_lane_copy *lane)
{
    return age_of(collector, lane) >= TIDE_OLD_NS || collector->stopped;
}

/* Cuts that cost nothing: what follows begins with a reset. */
static enum tide_cut_wish good_cut(const struct tide_lane_copy *lane)
{
    return lane->asked_ns ? TIDE_CUT_RESET : TIDE_CUT_LARGE;
}

static bool is_due(const struct tide_collector *collector,
                   const struct tide_lane_copy *lane)
{
    if (!lane->owner || lane->end == lane->start)
        return false;
    return is_old(collector, lane) || tide_lane_cut(lane, good_cut(lane)) > lane->start;
}

/* What one walk over all lanes found out. */
struct survey {
    bool due;
    uint64_t pool_bytes;
};

static void look_over(const struct tide_collector *collector, struct survey *survey)
{
    for (const struct tide_share *s = collector->shares; s; s = s->next) {
        for (uint32_t i = 0; i < s->lane_count; i++) {
            const struct tide_lane_copy *const lane = s->lanes[i];
            if (!lane)
                continue;
            survey->due |= is_due(collector, lane);
            survey->pool_bytes += lane->capacity;
        }
    }
}

/* The reset asked for comes with the owner's next record: if that is soon, the cut will
 * be there; if not, it is where this chunk ends. */
static void ask_for_reset(const struct tide_collector *collector,
                          const struct tide_share *share, struct tide_lane_copy *lane)
{
    if (lane->asked_ns || lane->use == TIDE_LANE_NOTES)
        return;
    tide_lane_ask(lane, share, TIDE_ATTENTION_SYNC);
    lane->asked_ns = collector->looks.now_ns;
}

static void serve_lane(struct tide_collector *collector, const struct tide_share *share,
                       struct tide_lane_copy *lane, bool all)
{
    write_lane(collector, lane, good_cut(lane));
    if (age_of(collector, lane) >= TIDE_ASK_NS)
        ask_for_reset(collector, share, lane);
    if (all || is_old(collector, lane))
        write_lane(collector, lane, TIDE_CUT_ALL);
}

static void serve_lanes(struct tide_collector *collector, uint32_t use, bool all)
{
    for (const struct tide_share *s = collector->shares; s; s = s->next) {
        for (uint32_t i = 0; i < s->lane_count; i++) {
            struct tide_lane_copy *const lane = s->lanes[i];
            if (lane && lane->owner && lane->use == use)
                serve_lane(collector, s, lane, all);
        }
    }
}

/* Lanes that have not been written for long, or all when memory is short, give their
 * buffers back. */
static void rest_lanes(const struct tide_collector *collector, bool all)
{
    for (const struct tide_share *s = collector->shares; s; s = s->next) {
        for (uint32_t i = 0; i < s->lane_count; i++) {
            struct tide_lane_copy *const lane = s->lanes[i];
            if (lane && lane->capacity &&
                (all || collector->looks.now_ns - lane->fresh_ns > TIDE_REST_NS))
                (void)tide_lane_rest(lane);
        }
    }
}

void tide_outlet_write(struct tide_collector *collector, bool all)
{
    struct survey survey = {0};
    look_over(collector, &survey);
    const bool crowded = survey.pool_bytes > TIDE_POOL_MOST;
    const bool events = all || crowded || survey.due;
    if (events || collector->looks.now_ns - collector->notes_ns >= TIDE_OLD_NS)
        write_notes(collector);
    if (events)
        serve_lanes(collector, TIDE_LANE_NOTES, true);
    serve_lanes(collector, TIDE_LANE_EVENTS, all || crowded);
    rest_lanes(collector, crowded);
}

static void flush_use(struct tide_collector *collector,
                      const struct tide_target *target, uint32_t use)
{
    const struct tide_share *const share = target->share;
    for (uint32_t i = 0; i < share->lane_count; i++) {
        struct tide_lane_copy *const lane = share->lanes[i];
        if (lane && lane->owner == target && lane->use == use)
            write_lane(collector, lane, TIDE_CUT_ALL);
    }
}

void tide_outlet_flush(struct tide_collector *collector,
                       const struct tide_target *target)
{
    write_notes(collector);
    flush_use(collector, target, TIDE_LANE_NOTES);
    flush_use(collector, target, TIDE_LANE_EVENTS);
}
