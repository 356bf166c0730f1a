/* collect/drain.c - the drain thread: pass, sleep, pass.
 *
 * It naps for 10 ms while anything happens and sleeps longer when nothing does.  Targets
 * wake it when a ring is half full, and from the longer sleep at the first event of any
 * lane that was asked for something; the control thread wakes it for news.  Even without
 * any waking, what was written stands in the file within a second.
 */
#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/raw/ticks.h"
#include "collect/collector.h"

#define TIDE_MS (1000ull * 1000)

enum {
    TIDE_NAP = 1, /* what `sleeping` says: see trace/ring.h */
    TIDE_DEEP = 2,
};

struct rest {
    uint32_t depth; /* TIDE_NAP or TIDE_DEEP */
    uint64_t ns;
};

/* Wakes every 50 ms until what was taken last is old enough to be written. */
static struct rest choose_rest(const struct tide_collector *collector)
{
    const uint64_t calm = tide_ticks_monotonic() - collector->calm_ns;
    if (calm < 50 * TIDE_MS)
        return (struct rest){TIDE_NAP, 10 * TIDE_MS};
    if (calm < 700 * TIDE_MS)
        return (struct rest){TIDE_DEEP, 50 * TIDE_MS};
    return (struct rest){TIDE_DEEP, 400 * TIDE_MS};
}

/* Ask all lanes for the time, so that their next events wake us. */
static void ask_all(const struct tide_collector *collector)
{
    for (const struct tide_share *s = collector->shares; s; s = s->next) {
        for (uint32_t i = 0; i < s->lane_count; i++) {
            if (s->lanes[i] && s->lanes[i]->owner)
                tide_lane_ask(s->lanes[i], s, TIDE_ATTENTION_TICK);
        }
    }
}

/* Is there work in LANE that must not wait for the end of the rest? */
static bool presses(const struct tide_share *share, const struct tide_lane_copy *lane,
                    uint32_t depth)
{
    const struct tide_lane_shared *const shared = tide_share_lane(share, lane->header);
    if (!shared)
        return false;
    const uint64_t unread = atomic_load(&shared->head) - lane->end;
    if (lane->broken)
        return atomic_load(&shared->waiting);
    return atomic_load(&shared->waiting) || unread > lane->ring_bytes / 2 ||
           (depth == TIDE_DEEP && unread > 0);
}

static bool share_presses(const struct tide_share *share, uint32_t depth)
{
    const struct tide_segment *const shared = share->shared;
    if (atomic_load(&shared->wanted) > share->bytes && !atomic_load(&shared->refused))
        return true;
    for (uint32_t i = 0; i < share->lane_count; i++) {
        const struct tide_lane_copy *const lane = share->lanes[i];
        if (lane && lane->owner && presses(share, lane, depth))
            return true;
    }
    return false;
}

/* `sleeping` is set (seq_cst) before we look, and targets look at it after they have
 * published or asked (seq_cst): one of us sees the other. */
static bool work_presses(const struct tide_collector *collector, uint32_t depth)
{
    if (atomic_load(&collector->kicked) || atomic_load(&collector->stopping) ||
        atomic_load(&collector->page->flush_wanted) !=
            atomic_load(&collector->page->flushed))
        return true;
    for (const struct tide_share *s = collector->shares; s; s = s->next) {
        if (share_presses(s, depth))
            return true;
    }
    return false;
}

static void rest(struct tide_collector *collector)
{
    const struct rest choice = choose_rest(collector);
    const struct timespec patience = {.tv_nsec = (long)choice.ns};
    _Atomic uint32_t *const sleeping = &collector->page->sleeping;
    if (choice.depth == TIDE_DEEP)
        ask_all(collector);
    atomic_store(sleeping, choice.depth);
    if (!work_presses(collector, choice.depth))
        (void)syscall(SYS_futex, sleeping, FUTEX_WAIT, choice.depth, &patience, NULL,
                      0);
    atomic_store(sleeping, 0);
    atomic_store(&collector->kicked, 0);
}

/* Of a process that was met in this pass, some lanes may have come after we had looked. */
static bool pass_meets_somebody(struct tide_collector *collector)
{
    const uint32_t known = collector->process_count;
    (void)tide_drain_pass(collector);
    return collector->process_count != known;
}

/* WANTED was asked for before the last pass: what that took goes to the file. */
static void flush(struct tide_collector *collector, uint32_t wanted)
{
    _Atomic uint32_t *const flushed = &collector->page->flushed;
    if (atomic_load(flushed) == wanted)
        return;
    tide_outlet_write(collector, true);
    atomic_store(flushed, wanted);
    (void)syscall(SYS_futex, flushed, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

void *tide_drain_run(void *argument)
{
    struct tide_collector *const collector = argument;
    for (;;) {
        const bool last = atomic_load(&collector->stopping);
        const uint32_t wanted = atomic_load(&collector->page->flush_wanted);
        const bool met = pass_meets_somebody(collector);
        if (last && (met || tide_farewell_unmet(collector)))
            (void)tide_drain_pass(collector);
        if (last)
            break;
        flush(collector, wanted);
        if (atomic_load(&collector->page->farewell) !=
            atomic_load(&collector->page->written))
            tide_collector_tell(collector); /* somebody waits for us, about to end */
        rest(collector);
    }
    tide_outlet_write(collector, true);
    return NULL;
}

void tide_collector_kick(struct tide_collector *collector)
{
    _Atomic uint32_t *const sleeping = &collector->page->sleeping;
    atomic_store(&collector->kicked, 1);
    if (atomic_exchange(sleeping, 0))
        (void)syscall(SYS_futex, sleeping, FUTEX_WAKE, 1, NULL, NULL, 0);
}
