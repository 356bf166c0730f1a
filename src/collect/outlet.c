/* collect/outlet.c - from the lanes' buffers to the file.
 *
 * Large pieces go out when they are there, small ones when they are old: what a target
 * recorded a second ago is in the file, so that killing target and collector together
 * loses no more than that.  Before a piece is old its owner is asked for a reset, so that
 * the next chunk can be decoded alone.
 *
 * Rows are coded soon after they were taken, and not when their chunk is complete: they are
 * still in the cache, and the work is never much at a time.
 *
 * Notes go before events, and the notes lanes were taken after the events lanes: what an
 * event refers to stands in the file before it.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "collect/desks.h"
#include "collect/notes_out.h"
#include "collect/outlet.h"
#include "trace/format.h"

#define TIDE_ASK_NS          (350ull * 1000 * 1000) /* age at which a reset is asked for */
#define TIDE_OLD_NS          (500ull * 1000 * 1000) /* age at which everything goes out */
#define TIDE_REST_NS         (2000ull * 1000 * 1000) /* a lane idle so long gives its buffer */
/* Of stamps that are a tenth of a millisecond apart or less, some are left out. */
#define TIDE_STAMPS_A_SECOND 10000u

void tide_outlet_stop(struct tide_collector *collector)
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
        tide_outlet_stop(collector);
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
    return (struct tide_chunk_label){
        .kind = TIDE_CHUNK_NOTES,
        .process = lane->owner->index,
        .first_ticks = lane->first_ticks,
        .last_ticks = cut <= lane->fresh ? lane->before_ticks : lane->last_ticks,
    };
}

static void write_notes_lane(struct tide_collector *collector,
                             struct tide_lane_copy *lane)
{
    uint64_t cut;
    while ((cut = tide_lane_cut(lane, TIDE_CUT_ALL)) > lane->start) {
        const struct tide_chunk_label label = label_of(lane, cut);
        if (!collector->stopped)
            write_chunk(collector, &label, lane->bytes, (size_t)(cut - lane->start));
        tide_lane_drop(lane, cut);
    }
}

static void write_notes_lanes(struct tide_collector *collector)
{
    for (const struct tide_share *s = collector->shares; s; s = s->next) {
        for (uint32_t i = 0; i < s->lane_count; i++) {
            struct tide_lane_copy *const lane = s->lanes[i];
            if (lane && lane->owner && lane->use == TIDE_LANE_NOTES)
                write_notes_lane(collector, lane);
        }
    }
}

void tide_outlet_notes_first(struct tide_collector *collector)
{
    if (collector->noted)
        return;
    if (collector->ahead)
        (void)tide_drain_take_notes(collector);
    collector->noted = true;
    write_notes(collector);
    write_notes_lanes(collector);
}

/* --- Chunks of events ------------------------------------------------------------------ */

struct tide_chunk_label tide_outlet_label(const struct tide_lane_copy *lane,
                                          uint64_t cut)
{
    struct tide_chunk_label label = label_of(lane, cut);
    label.kind = TIDE_CHUNK_EVENTS;
    label.lane = lane->number;
    label.sequence = lane->sequence;
    if (lane->from_reset)
        label.flags = TIDE_CHUNK_RESET;
    else if (lane->coding.goes_on)
        label.flags = TIDE_CHUNK_GOES_ON;
    return label;
}

/* What LANE has begun at its desk is a chunk: write it. */
static void write_begun(struct tide_collector *collector, struct tide_lane_copy *lane)
{
    const struct tide_chunk_label label = tide_outlet_label(lane, lane->coded);
    tide_outlet_notes_first(collector);
    struct tide_column_bytes columns[TIDE_COLUMNS];
    tide_encoder_columns(lane->desk->encoder, columns);
    if (!collector->stopped) {
        atomic_store(&collector->writing, 1);
        if (tide_writer_events(collector->writer, &label, columns))
            tide_outlet_stop(collector);
        atomic_store(&collector->writing, 0);
    }
    tide_lane_drop(lane, lane->coded);
}

struct tide_desk *tide_outlet_desk(struct tide_collector *collector,
                                   const struct tide_lane_copy *lane)
{
    struct tide_desks *const desks = &collector->desks;
    if (!desks->stamp_ticks && !collector->exact_times)
        desks->stamp_ticks = tide_clock_rate(&collector->clock) / TIDE_STAMPS_A_SECOND;
    return tide_desk_for(desks, lane);
}

/* The same; whoever leaves it has his chunk written. */
static struct tide_desk *sit_down(struct tide_collector *collector,
                                  struct tide_lane_copy *lane)
{
    struct tide_desk *const desk = tide_outlet_desk(collector, lane);
    if (!desk)
        return NULL;
    struct tide_lane_copy *const other = desk->lane;
    if (other && other != lane) {
        if (other->coded > other->start)
            write_begun(collector, other);
        tide_desk_leave(other);
    }
    tide_desk_take(&collector->desks, desk, lane);
    return desk;
}

void tide_outlet_begin(struct tide_lane_copy *lane)
{
    uint64_t ticks;
    lane->from_reset = tide_lane_at_reset(lane, &ticks);
    if (lane->from_reset)
        lane->first_ticks = lower(lane->first_ticks, ticks);
    lane->coding.process = lane->owner->index;
    tide_encoder_begin(lane->desk->encoder, &lane->coding);
}

/* Nothing after these rows makes sense. */
static void give_up(struct tide_collector *collector, struct tide_lane_copy *lane,
                    const char *why)
{
    if (lane->coded > lane->start)
        write_begun(collector, lane);
    lane->broken = why;
    tide_collector_say_broken(collector, lane);
    tide_lane_drop(lane, lane->end);
}

void tide_outlet_coded(struct tide_collector *collector, struct tide_lane_copy *lane,
                       uint64_t up_to, enum tide_status status)
{
    if (status == TIDE_ENOMEM) {
        give_up(collector, lane,
                "the collector had no memory (is there a limit, as of ulimit -v?)");
        return;
    }
    tide_lane_code(lane, up_to);
    if (status)
        give_up(collector, lane, "its records make no sense");
}

/* The rows of LANE up to UP_TO become part of its chunk. */
static void code_rows(struct tide_collector *collector, struct tide_lane_copy *lane,
                      uint64_t up_to)
{
    if (collector->stopped) {
        tide_lane_drop(lane, up_to);
        return;
    }
    if (up_to == lane->coded)
        return;
    enum tide_status status = TIDE_ENOMEM;
    if (sit_down(collector, lane)) {
        if (lane->coded == lane->start)
            tide_outlet_begin(lane);
        status = tide_encoder_add(lane->desk->encoder, &lane->coding,
                                  (const uint64_t *)(const void *)lane->bytes,
                                  (size_t)(up_to - lane->coded));
    }
    tide_outlet_coded(collector, lane, up_to, status);
    tide_drain_relieve(collector);
}

static void write_events(struct tide_collector *collector, struct tide_lane_copy *lane,
                         enum tide_cut_wish wish)
{
    /* More may come meanwhile: that is for later. */
    const uint64_t end = lane->end;
    uint64_t cut;
    while (lane->start < end && (cut = tide_lane_cut(lane, wish)) > lane->start) {
        code_rows(collector, lane, cut);
        if (lane->coded > lane->start)
            write_begun(collector, lane);
    }
}

/* What has been taken of LANE becomes part of its chunk, unless that would be too large. */
static void code_taken(struct tide_collector *collector, struct tide_lane_copy *lane)
{
    if (lane->end - lane->start <= TIDE_ROWS_MAX)
        code_rows(collector, lane, lane->end);
}

/* Rows of LANE that can go into its chunk at once. */
static void code_early(struct tide_collector *collector, struct tide_lane_copy *lane)
{
    const uint64_t rows = lane->end - lane->coded;
    if (rows < TIDE_CODE_AIM)
        return;
    if (rows >= TIDE_MOVE_AIM || tide_desk_is_free(&collector->desks, lane))
        code_taken(collector, lane);
}

/* --- What is due ----------------------------------------------------------------------- */

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

/* Are there notes to be written?  The buffers are counted by the way. */
static bool look_over(struct tide_collector *collector)
{
    bool notes_due = false;
    collector->pool_bytes = 0;
    for (const struct tide_share *s = collector->shares; s; s = s->next) {
        for (uint32_t i = 0; i < s->lane_count; i++) {
            const struct tide_lane_copy *const lane = s->lanes[i];
            if (!lane)
                continue;
            collector->pool_bytes += lane->capacity;
            if (lane->owner && lane->use == TIDE_LANE_NOTES)
                notes_due |= is_old(collector, lane) ||
                             tide_lane_cut(lane, TIDE_CUT_LARGE) > lane->start;
        }
    }
    return notes_due;
}

/* The reset asked for comes with the owner's next record: if that is soon, the cut will
 * be there; if not, it is where this chunk ends. */
static void ask_for_reset(const struct tide_collector *collector,
                          const struct tide_share *share, struct tide_lane_copy *lane)
{
    if (lane->asked_ns)
        return;
    tide_lane_ask(lane, share, TIDE_ATTENTION_SYNC);
    lane->asked_ns = collector->looks.now_ns;
}

static void serve_lane(struct tide_collector *collector, const struct tide_share *share,
                       struct tide_lane_copy *lane, bool all)
{
    write_events(collector, lane, tide_outlet_wish(lane));
    if (age_of(collector, lane) >= TIDE_ASK_NS)
        ask_for_reset(collector, share, lane);
    if (all || is_old(collector, lane))
        write_events(collector, lane, TIDE_CUT_ALL);
    code_early(collector, lane);
}

static void serve_lanes(struct tide_collector *collector, bool all)
{
    for (const struct tide_share *s = collector->shares; s; s = s->next) {
        for (uint32_t i = 0; i < s->lane_count; i++) {
            struct tide_lane_copy *const lane = s->lanes[i];
            if (lane && lane->owner && lane->use == TIDE_LANE_EVENTS)
                serve_lane(collector, s, lane, all);
        }
    }
}

static void rest_lane(struct tide_collector *collector, struct tide_lane_copy *lane)
{
    collector->pool_bytes -= lane->capacity;
    tide_lane_rest(lane);
    collector->pool_bytes += lane->capacity;
}

/* Lanes that have not been written for long, or all when memory is short, give back what
 * they do not need of their buffers. */
static void rest_lanes(struct tide_collector *collector, bool all)
{
    for (const struct tide_share *s = collector->shares; s; s = s->next) {
        for (uint32_t i = 0; i < s->lane_count; i++) {
            struct tide_lane_copy *const lane = s->lanes[i];
            if (lane && lane->capacity &&
                (all || collector->looks.now_ns - lane->fresh_ns > TIDE_REST_NS))
                rest_lane(collector, lane);
        }
    }
}

void tide_outlet_write(struct tide_collector *collector, bool all)
{
    const bool notes_due = look_over(collector);
    collector->noted = false;
    if (all || notes_due)
        tide_outlet_notes_first(collector);
    tide_round_serve(collector, 0);
    serve_lanes(collector, all);
    if (!collector->noted &&
        collector->looks.now_ns - collector->notes_ns >= TIDE_OLD_NS)
        write_notes(collector);
    rest_lanes(collector, false);
}

/* --- When memory is short --------------------------------------------------------------- */

static uint64_t rows_of(const struct tide_lane_copy *lane)
{
    const bool has_events = lane && lane->owner && lane->use == TIDE_LANE_EVENTS;
    return has_events ? lane->end - lane->coded : 0;
}

/* Half of what the lanes that have rows have on average: those that have no more have no
 * more than half of all rows. */
static uint64_t half_of_average(const struct tide_collector *collector)
{
    uint64_t rows = 0, lanes = 0;
    for (const struct tide_share *s = collector->shares; s; s = s->next) {
        for (uint32_t i = 0; i < s->lane_count; i++) {
            rows += rows_of(s->lanes[i]);
            lanes += rows_of(s->lanes[i]) > 0;
        }
    }
    return lanes ? rows / lanes / 2 : 0;
}

void tide_outlet_ease(struct tide_collector *collector)
{
    const uint64_t half = half_of_average(collector);
    (void)atomic_fetch_add(&collector->page->heartbeat, 1);
    collector->noted = false;
    collector->ahead = true;
    tide_round_serve(collector, half);
    for (const struct tide_share *s = collector->shares; s; s = s->next) {
        for (uint32_t i = 0; i < s->lane_count; i++) {
            struct tide_lane_copy *const lane = s->lanes[i];
            if (rows_of(lane) <= half)
                continue;
            write_events(collector, lane, tide_outlet_wish(lane));
            code_taken(collector, lane);
        }
    }
    rest_lanes(collector, true);
}

void tide_outlet_flush(struct tide_collector *collector,
                       const struct tide_target *target)
{
    const struct tide_share *const share = target->share;
    collector->noted = false;
    tide_outlet_notes_first(collector);
    for (uint32_t i = 0; i < share->lane_count; i++) {
        struct tide_lane_copy *const lane = share->lanes[i];
        if (lane && lane->owner == target && lane->use == TIDE_LANE_EVENTS)
            write_events(collector, lane, TIDE_CUT_ALL);
    }
}
