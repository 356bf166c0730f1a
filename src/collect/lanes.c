/* collect/lanes.c - the consumer's end of one lane: take bytes out, cut them in chunks.
 *
 * The shared header is read into locals once and checked there; a target that lies can
 * spoil its own lane, nothing else.
 */
#include "collect/lanes.h"

#include <limits.h>
#include <linux/futex.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/raw/ticks.h"
#include "collect/desks.h"
#include "trace/row.h"

enum {
    /* Rows for a chunk that needs no more, and of one that may end at a reset. */
    TIDE_CHUNK_AIM = 1024 * 1024,
    TIDE_CHUNK_LEAST = 128 * 1024,
    TIDE_BUFFER_LEAST = 2 * 1024,
    TIDE_RING_LEAST = 1024,
    TIDE_WRAP_TRIES = 64,
    TIDE_RELIEF_PARTS = 4, /* a ring needs relief when such a part of it is full */
};

/* Head and wrap of one moment. */
struct look {
    uint64_t head, wrap;
};

struct tide_lane_copy *tide_lane_new(uint64_t header)
{
    struct tide_lane_copy *const lane = calloc(1, sizeof(*lane));
    if (lane)
        lane->header = header;
    return lane;
}

void tide_lane_free(struct tide_lane_copy *lane)
{
    if (!lane)
        return;
    tide_desk_leave(lane);
    free(lane->bytes);
    free(lane);
}

void tide_lane_adopt(struct tide_lane_copy *lane, const struct tide_lane_shared *shared,
                     struct tide_target *owner, uint64_t first_ticks)
{
    const uint64_t position = atomic_load_explicit(&shared->tail, memory_order_relaxed);
    *lane = (struct tide_lane_copy){
        .header = lane->header,
        .owner = owner,
        .use = shared->use,
        .number = shared->number,
        .start = position,
        .coded = position,
        .fresh = position,
        .end = position,
        .bytes = lane->bytes,
        .capacity = lane->capacity,
        .first_ticks = first_ticks,
    };
    if (lane->use > TIDE_LANE_NOTES)
        lane->broken = "its use is unknown";
    if (position > INT64_MAX) /* so that positions never begin anew */
        lane->broken = "its position makes no sense";
}

/* --- Taking ------------------------------------------------------------------------ */

/* Wrap only rises, so when it is the same before and after the head was read, it was so
 * at that moment.  The owner stores wrap (release) when head stands there, so the head
 * read after it (acquire) is not below it, and the bytes below the head are visible. */
static bool look_at(const struct tide_lane_shared *shared, struct look *look)
{
    for (int i = 0; i < TIDE_WRAP_TRIES; i++) {
        look->wrap = atomic_load_explicit(&shared->wrap, memory_order_acquire);
        look->head = atomic_load_explicit(&shared->head, memory_order_acquire);
        if (atomic_load_explicit(&shared->wrap, memory_order_relaxed) == look->wrap)
            return true;
    }
    return false;
}

/* The ring moves only while it is empty, so with bytes to take its place is settled;
 * the acquire of head made it visible. */
static const char *check_ring(struct tide_lane_copy *lane,
                              const struct tide_share *share,
                              const struct tide_lane_shared *shared)
{
    const uint32_t changes =
        atomic_load_explicit(&shared->ring_changes, memory_order_relaxed);
    if (lane->ring_known && changes == lane->ring_changes)
        return NULL;
    lane->ring_at = atomic_load_explicit(&shared->ring_offset, memory_order_relaxed);
    lane->ring_bytes = atomic_load_explicit(&shared->ring_bytes, memory_order_relaxed);
    lane->ring_changes = changes;
    lane->ring_known = true;
    lane->ring_next = 0;
    if (lane->ring_bytes < TIDE_RING_LEAST || lane->ring_bytes > TIDE_ROWS_MAX)
        return "its ring has no sensible size";
    if (!tide_share_at(share, lane->ring_at, lane->ring_bytes))
        return "its ring lies outside the segment";
    return NULL;
}

static bool make_room(struct tide_lane_copy *lane, size_t bytes)
{
    if (bytes <= lane->capacity)
        return true;
    size_t wider = lane->capacity ? lane->capacity : TIDE_BUFFER_LEAST;
    while (wider < bytes)
        wider *= 2;
    uint8_t *const moved = realloc(lane->bytes, wider);
    if (!moved)
        return false;
    lane->bytes = moved;
    lane->capacity = wider;
    return true;
}

/* COUNT bytes of the ring from ring_next on, to position `end`. */
static const char *copy_piece(struct tide_lane_copy *lane,
                              const struct tide_share *share, uint64_t count)
{
    if (count > lane->ring_bytes - lane->ring_next)
        return "it wrote past the end of its ring";
    if (!tide_share_read(share, lane->ring_at + lane->ring_next, count,
                         lane->bytes + (lane->end - lane->coded)))
        return "its ring lies outside the segment";
    lane->ring_next += count;
    lane->end += count;
    return NULL;
}

/* Everything from `end` to the head, around the end of the ring if need be. */
static const char *copy_new(struct tide_lane_copy *lane, const struct tide_share *share,
                            const struct look *look)
{
    const uint64_t count = look->head - lane->end;
    const uint64_t to_wrap = look->wrap - lane->end;
    if (to_wrap > count) /* the last wrap is behind us */
        return copy_piece(lane, share, count);
    const char *const trouble = copy_piece(lane, share, to_wrap);
    if (trouble)
        return trouble;
    lane->ring_next = 0;
    return copy_piece(lane, share, count - to_wrap);
}

static void add_cut(struct tide_lane_copy *lane, uint64_t position)
{
    const uint64_t above =
        lane->cut_count ? lane->cuts[lane->cut_count - 1] : lane->start;
    if (position <= above || position - lane->start > 4ull * TIDE_ROWS_MAX)
        return;
    if (lane->cut_count == TIDE_CUTS_KEPT) {
        memmove(lane->cuts, lane->cuts + 1,
                (TIDE_CUTS_KEPT - 1) * sizeof(lane->cuts[0]));
        lane->cut_count--;
    }
    lane->cuts[lane->cut_count++] = position;
}

/* Learn where resets are.  The owner stores reset_at[k], then resets = k + 1 (release).
 * While we read he may be writing entry `after`, in place of entry after - KEPT. */
static void find_cuts(struct tide_lane_copy *lane,
                      const struct tide_lane_shared *shared)
{
    const uint32_t before = atomic_load_explicit(&shared->resets, memory_order_acquire);
    if (before == lane->resets_seen)
        return;
    uint64_t at[TIDE_SYNC_KEPT];
    for (uint32_t i = 0; i < TIDE_SYNC_KEPT; i++)
        at[i] = atomic_load_explicit(&shared->reset_at[i], memory_order_acquire);
    const uint32_t after = atomic_load_explicit(&shared->resets, memory_order_relaxed);
    const uint32_t valid = after < TIDE_SYNC_KEPT ? 0 : after - (TIDE_SYNC_KEPT - 1);
    uint32_t k = lane->resets_seen > valid ? lane->resets_seen : valid;
    if (before > TIDE_SYNC_KEPT && k < before - TIDE_SYNC_KEPT)
        k = before - TIDE_SYNC_KEPT;
    for (; k < before; k++)
        add_cut(lane, at[k % TIDE_SYNC_KEPT]);
    lane->resets_seen = before;
}

static const char *take(struct tide_lane_copy *lane, const struct tide_share *share,
                        const struct tide_lane_shared *shared, const struct look *look)
{
    const uint64_t count = look->head - lane->end;
    const char *const trouble = check_ring(lane, share, shared);
    if (trouble)
        return trouble;
    if (count > lane->ring_bytes)
        return "its head makes no sense";
    if (!make_room(lane, (size_t)(lane->end - lane->coded + count)))
        return "the collector had no memory (is there a limit, as of ulimit -v?)";
    return copy_new(lane, share, look);
}

/* Tell the owner what was taken.  He stores waiting, then looks at tail again; we store
 * tail, then look at waiting: with all four seq_cst one of us sees the other. */
static void release_ring(struct tide_lane_shared *shared, uint64_t position)
{
    atomic_store(&shared->tail, position);
    if (!atomic_load(&shared->waiting))
        return;
    atomic_store(&shared->waiting, 0);
    atomic_fetch_add(&shared->drained, 1);
    (void)syscall(SYS_futex, &shared->drained, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

/* Take what LOOK has seen; false: the lane is broken. */
static bool take_all(struct tide_lane_copy *lane, const struct tide_share *share,
                     struct tide_lane_shared *shared, const struct look *look)
{
    const uint64_t before = lane->end;
    lane->broken = take(lane, share, shared, look);
    if (lane->broken) {
        lane->end = before;
        release_ring(shared, look->head);
        return false;
    }
    find_cuts(lane, shared);
    release_ring(shared, lane->end);
    return true;
}

static void note_times(struct tide_lane_copy *lane, const struct tide_looks *looks)
{
    const bool first_take = lane->last_ticks == 0;
    lane->fresh_ticks = first_take ? lane->first_ticks : looks->last_ticks;
    lane->fresh_ns = looks->last_ns;
    lane->before_ticks = lane->last_ticks;
    if (lane->fresh == lane->start) {
        lane->first_ticks = lane->fresh_ticks;
        lane->born_ns = lane->fresh_ns;
        lane->asked_ns = 0;
    }
    lane->last_ticks = tide_ticks(); /* later than the head that was read */
}

size_t tide_lane_take(struct tide_lane_copy *lane, const struct tide_share *share,
                      const struct tide_looks *looks)
{
    struct tide_lane_shared *const shared = tide_share_lane(share, lane->header);
    struct look look;
    if (!shared)
        return 0;
    if (!look_at(shared, &look) && !lane->broken)
        lane->broken = "its wrap does not stand still";
    if (lane->broken) {
        release_ring(shared, look.head);
        return 0;
    }
    if (look.head == lane->end) {
        /* Nothing new; a waiting owner has not seen our last step yet. */
        if (atomic_load(&shared->waiting))
            release_ring(shared, look.head);
        return 0;
    }
    const uint64_t before = lane->end;
    if (!take_all(lane, share, shared, &look))
        return 0;
    lane->fresh = before;
    note_times(lane, looks);
    return (size_t)(lane->end - before);
}

size_t tide_lane_relieve(struct tide_lane_copy *lane, const struct tide_share *share,
                         const struct tide_looks *looks)
{
    struct tide_lane_shared *const shared = tide_share_lane(share, lane->header);
    struct look look;
    if (!shared || lane->broken || !look_at(shared, &look))
        return 0;
    /* What is there counts, not the ring as we know it: it may have moved since. */
    const uint64_t before = lane->end, unread = look.head - before;
    if (unread == 0 || unread < lane->ring_bytes / TIDE_RELIEF_PARTS ||
        look.head - lane->start > TIDE_ROWS_MAX)
        return 0;
    if (lane->start == before)
        return tide_lane_take(lane, share, looks);
    if (!take_all(lane, share, shared, &look))
        return 0;
    lane->last_ticks = tide_ticks();
    return (size_t)(lane->end - before);
}

/* --- Cutting ----------------------------------------------------------------------- */

static uint64_t newest_reset(const struct tide_lane_copy *lane)
{
    uint64_t best = lane->start;
    for (uint32_t i = 0; i < lane->cut_count; i++) {
        const uint64_t cut = lane->cuts[i];
        if (cut >= lane->coded && cut <= lane->end &&
            cut - lane->start <= TIDE_ROWS_MAX)
            best = cut;
    }
    return best;
}

uint64_t tide_lane_cut(const struct tide_lane_copy *lane, enum tide_cut_wish wish)
{
    const uint64_t pending = lane->end - lane->start;
    const bool fits = pending <= TIDE_ROWS_MAX;
    if (pending == 0)
        return lane->start;
    if (wish == TIDE_CUT_ALL && fits)
        return lane->end;
    if (wish == TIDE_CUT_LARGE && pending < TIDE_CHUNK_LEAST)
        return lane->start;
    if (lane->use == TIDE_LANE_NOTES && fits)
        return lane->end; /* notes know no resets and need none */

    const uint64_t reset = newest_reset(lane);
    if (reset > lane->start)
        return reset;
    if (pending >= TIDE_CHUNK_AIM && fits)
        return lane->end;
    return fits ? lane->start : lane->fresh;
}

void tide_lane_code(struct tide_lane_copy *lane, uint64_t up_to)
{
    const size_t kept = (size_t)(lane->end - up_to);
    if (kept > 0)
        memmove(lane->bytes, lane->bytes + (up_to - lane->coded), kept);
    lane->coded = up_to;
}

void tide_lane_drop(struct tide_lane_copy *lane, uint64_t cut)
{
    tide_lane_code(lane, cut);
    if (cut >= lane->fresh) {
        lane->first_ticks = lane->fresh_ticks;
        lane->born_ns = lane->fresh_ns;
    }
    lane->asked_ns = 0;
    lane->start = cut;
    if (lane->fresh < cut)
        lane->fresh = cut;
    lane->sequence++;

    uint32_t past = 0;
    while (past < lane->cut_count && lane->cuts[past] <= cut)
        past++;
    lane->cut_count -= past;
    memmove(lane->cuts, lane->cuts + past, lane->cut_count * sizeof(lane->cuts[0]));
}

void tide_lane_rest(struct tide_lane_copy *lane)
{
    const size_t rows = (size_t)(lane->end - lane->coded);
    if (rows == 0) {
        free(lane->bytes);
        lane->bytes = NULL;
        lane->capacity = 0;
    } else if (rows < lane->capacity / 2 && lane->capacity > TIDE_BUFFER_LEAST) {
        const size_t enough = rows < TIDE_BUFFER_LEAST ? TIDE_BUFFER_LEAST : rows;
        uint8_t *const moved = realloc(lane->bytes, enough);
        if (moved) {
            lane->bytes = moved;
            lane->capacity = enough;
        }
    }
}

bool tide_lane_at_reset(const struct tide_lane_copy *lane, uint64_t *ticks)
{
    /* Chunks begin where a row begins. */
    uint64_t row[2];
    if (lane->end - lane->coded < sizeof(row))
        return false;
    memcpy(row, lane->bytes, sizeof(row));
    *ticks = row[1];
    return TIDE_TAG_OP(TIDE_ROW_TAG(row[0])) == TIDE_OP_SYNC;
}

void tide_lane_ask(const struct tide_lane_copy *lane, const struct tide_share *share,
                   uint32_t bits)
{
    struct tide_lane_shared *const shared = tide_share_lane(share, lane->header);
    if (!shared)
        return;
    /* Only a hint: the bytes that follow it are ordered by head. */
    const uint32_t now = atomic_load_explicit(&shared->attention, memory_order_relaxed);
    if ((now & bits) != bits)
        (void)atomic_fetch_or_explicit(&shared->attention, bits, memory_order_relaxed);
}

void tide_lane_give_back(struct tide_lane_copy *lane, const struct tide_share *share)
{
    struct tide_lane_shared *const shared = tide_share_lane(share, lane->header);
    const bool usable = !lane->broken;
    tide_desk_leave(lane);
    lane->owner = NULL;
    lane->broken = NULL;
    if (!shared)
        return;
    atomic_store_explicit(&shared->head, 0, memory_order_relaxed);
    atomic_store_explicit(&shared->wrap, 0, memory_order_relaxed);
    atomic_store_explicit(&shared->resets, 0, memory_order_relaxed);
    atomic_store_explicit(&shared->dropped, 0, memory_order_relaxed);
    for (size_t i = 0; i < TIDE_DROPS; i++)
        atomic_store_explicit(&shared->drops[i], 0, memory_order_relaxed);
    atomic_store_explicit(&shared->tail, 0, memory_order_relaxed);
    atomic_store_explicit(&shared->waiting, 0, memory_order_relaxed);
    atomic_store_explicit(&shared->attention, 0, memory_order_relaxed);
    atomic_store_explicit(&shared->left, 0, memory_order_relaxed);
    /* Release: whoever claims it finds the zeros.  What made no sense is not used
     * again. */
    atomic_store_explicit(&shared->state, usable ? TIDE_LANE_FREE : TIDE_LANE_CLAIMED,
                          memory_order_release);
}
