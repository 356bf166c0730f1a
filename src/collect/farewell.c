/* collect/farewell.c - processes end, and segments that nobody uses any more.
 *
 * Comes after the lanes were emptied in the same pass: whatever was known to be dead
 * before that has nothing left to say.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/raw/ticks.h"
#include "collect/collector.h"
#include "collect/notes_out.h"
#include "collect/procfs.h"

enum { TIDE_MEET_TRIES = 3 }; /* passes that a segment waits for memory of ours */
#define TIDE_QUIET_NS \
    (1000ull * 1000 * 1000) /* a process without pid is believed dead */

/* --- Processes ---------------------------------------------------------------------- */

/* A later program of the same process has said hello: this one was left by exec, at the
 * latest then.  All that it had written was there before, so it is known by now. */
static bool was_replaced(const struct tide_collector *collector,
                         struct tide_target *target)
{
    if (!collector->met_somebody)
        return false;
    for (const struct tide_share *s = collector->shares; s; s = s->next) {
        if (s->pid == target->pid && s->serial > target->share->serial &&
            s->pid_space == target->share->pid_space &&
            s->hello_ticks > target->birth) {
            target->end_ticks = s->hello_ticks;
            return true;
        }
    }
    return false;
}

/* Likewise, and that one is not recorded. */
static bool was_left(const struct tide_collector *collector,
                     const struct tide_target *target)
{
    if (target->was_left)
        return true;
    const struct tide_left *const list = collector->leaving.items;
    for (size_t i = 0; i < collector->leaving.count; i++) {
        if (list[i].pid == target->pid && list[i].ticks > target->birth &&
            list[i].pid_space == target->share->pid_space)
            return true;
    }
    return false;
}

/* Once reaped, its pid may be another's. */
static bool is_main(const struct tide_collector *collector,
                    const struct tide_target *target)
{
    return target->pid == collector->main_pid && !target->share->pid_space &&
           (!collector->main_gone || target->birth <= collector->main_end_ticks);
}

/* It lives and has left its segment: it runs another program, and not one of ours. */
static bool has_moved_on(struct tide_collector *collector,
                         const struct tide_target *target)
{
    if (!target->share->unheld || target->watch != TIDE_WATCH_PIDFD ||
        !tide_procfs_lives(target->pid))
        return false;
    pthread_mutex_lock(&collector->lock);
    uint32_t *const moved = tide_list_add(&collector->moved);
    if (moved)
        *moved = target->pid;
    pthread_mutex_unlock(&collector->lock);
    return true;
}

static bool is_dead(const struct tide_collector *collector,
                    const struct tide_target *target)
{
    const bool quiet = collector->looks.now_ns > target->busy_ns + TIDE_QUIET_NS;
    if (target->was_gone || target->share->unheld)
        return true;
    return target->watch == TIDE_WATCH_QUIET && quiet;
}

/* Has TARGET ended, and how? */
static bool judge(struct tide_collector *collector, struct tide_target *target)
{
    if (was_replaced(collector, target) || was_left(collector, target) ||
        has_moved_on(collector, target)) {
        target->reason = TIDE_END_EXECED;
        return true;
    }
    target->reason = TIDE_END_EXITED;
    if (is_main(collector, target)) /* not before we know its status */
        return collector->main_gone;
    return is_dead(collector, target);
}

/* Add what LANE had to drop to FACTS. */
static void count_drops(const struct tide_lane_shared *lane,
                        struct tide_end_facts *facts)
{
    facts->dropped += atomic_load_explicit(&lane->dropped, memory_order_relaxed);
    for (size_t i = 0; i < TIDE_DROPS; i++)
        facts->drops[i] += atomic_load_explicit(&lane->drops[i], memory_order_relaxed);
}

/* Give the lanes of TARGET back; the events that it had to drop go to FACTS. */
static void free_lanes(const struct tide_target *target, struct tide_end_facts *facts)
{
    const struct tide_share *const share = target->share;
    for (uint32_t i = 0; i < share->lane_count; i++) {
        struct tide_lane_copy *const lane = share->lanes[i];
        if (!lane || lane->owner != target)
            continue;
        const struct tide_lane_shared *const shared =
            tide_share_lane(share, lane->header);
        if (shared)
            count_drops(shared, facts);
        tide_lane_give_back(lane, share);
    }
}

static void forget(struct tide_collector *collector, struct tide_target *target)
{
    struct tide_share *const share = target->share;
    share->processes--;
    share->unwatched -= target->watch != TIDE_WATCH_PIDFD;
    share->empty_ns = collector->looks.now_ns;
    share->next_check_ns = 0;

    pthread_mutex_lock(&collector->lock);
    struct tide_target **link = &collector->targets;
    while (*link != target)
        link = &(*link)->next;
    *link = target->next;
    pthread_mutex_unlock(&collector->lock);
    tide_target_free(target);
}

/* wait4 knows the peak of the main process better than any sample.  Over exec it keeps the
 * highest, which then is said of the last program; but what its children had is in it too,
 * so with both nothing is said. */
static void note_main_peak(struct tide_collector *collector,
                           const struct tide_target *target)
{
    const uint64_t peak = collector->main_peak_rss;
    const uint32_t images = collector->choice.main_images;
    if (peak == 0 || (images > 1 && collector->process_count > images))
        return;
    const struct tide_rss_facts facts = {
        .process = target->index,
        .ticks = collector->main_end_ticks,
        .bytes = target->rss ? target->rss : peak,
        .peak = peak,
    };
    tide_notes_out_rss(&collector->notes, &facts);
}

/* When TARGET was about to end, as it said itself; 0: it did not. */
static uint64_t when_left(const struct tide_target *target)
{
    const struct tide_share *const share = target->share;
    uint64_t left = 0;
    for (uint32_t i = 0; i < share->lane_count; i++) {
        const struct tide_lane_copy *const lane = share->lanes[i];
        if (!lane || lane->owner != target || lane->use != TIDE_LANE_NOTES)
            continue;
        const struct tide_lane_shared *const shared =
            tide_share_lane(share, lane->header);
        left = shared ? atomic_load(&shared->left) : 0;
    }
    return left;
}

/* When its parent knew that it had ended; 0: nobody has said so.  In another namespace the
 * pid may be somebody else's. */
static uint64_t when_reaped(const struct tide_collector *collector,
                            const struct tide_target *target)
{
    if (target->watch != TIDE_WATCH_PIDFD && target->watch != TIDE_WATCH_NONE)
        return 0;
    const struct tide_reaped *const reaped =
        &collector->page->reaped[target->pid % TIDE_REAPED_KEPT];
    const bool known = atomic_load(&reaped->pid) == target->pid;
    return known ? atomic_load(&reaped->ticks) : 0;
}

/* The last time stamp of TARGET, all of whose events are written. */
static uint64_t last_stamp(const struct tide_target *target)
{
    const struct tide_share *const share = target->share;
    uint64_t last = target->birth;
    for (uint32_t i = 0; i < share->lane_count; i++) {
        const struct tide_lane_copy *const lane = share->lanes[i];
        if (lane && lane->owner == target && lane->coding.ticks > last)
            last = lane->coding.ticks;
    }
    return last;
}

/* TARGET had memory then, as seen from outside; who said that he ends may take his time. */
static uint64_t last_alive(struct tide_collector *collector,
                           const struct tide_target *target)
{
    pthread_mutex_lock(&collector->lock);
    const uint64_t ticks = target->lived_ticks + 1; /* that look counts as well */
    pthread_mutex_unlock(&collector->lock);
    return ticks;
}

/* When TARGET ended: as early as it can have been, since what others did behind its end must
 * not seem to be before it.  Now is later than that, and the beginning of the pass may be
 * earlier. */
static uint64_t when_ended(struct tide_collector *collector,
                           const struct tide_target *target)
{
    const bool replaced = target->reason == TIDE_END_EXECED;
    const uint64_t hints[] = {
        replaced ? target->end_ticks : when_left(target),
        replaced ? 0 : when_reaped(collector, target),
    };
    /* After an exec the memory may be the next program's. */
    const uint64_t alive = replaced ? 0 : last_alive(collector, target);
    const uint64_t stamp = last_stamp(target);
    const uint64_t last = alive > stamp ? alive : stamp;
    uint64_t ticks = tide_ticks();
    for (size_t i = 0; i < sizeof(hints) / sizeof(hints[0]); i++) {
        if (hints[i] > target->birth && hints[i] < ticks)
            ticks = hints[i] > last ? hints[i] : last;
    }
    return ticks;
}

void tide_target_end(struct tide_collector *collector, struct tide_target *target)
{
    tide_outlet_flush(collector, target);
    if (target->reason == TIDE_END_LOST && when_left(target) > target->birth)
        target->reason = TIDE_END_EXITED; /* it waits for us, about to end */
    const bool known = collector->main_gone && is_main(collector, target) &&
                       target->reason == TIDE_END_EXITED;
    const bool silent = !known && target->reason == TIDE_END_EXITED &&
                        when_left(target) <= target->birth;
    struct tide_end_facts facts = {
        .process = target->index,
        .ticks = known ? collector->main_end_ticks : when_ended(collector, target),
        .status_known = known,
        .status = known ? collector->main_status : 0,
        .reason = target->reason,
        .silent = silent,
    };
    free_lanes(target, &facts);
    pthread_mutex_lock(&collector->lock);
    if (known)
        note_main_peak(collector, target);
    tide_notes_out_end(&collector->notes, &facts);
    pthread_mutex_unlock(&collector->lock);
    if (is_main(collector, target)) {
        collector->main_went_on = target->reason == TIDE_END_EXECED;
        collector->main_execed = facts;
    }
    forget(collector, target);
    tide_collector_tell(collector);
}

/* The last program of the main process that was recorded has executed one that was not: now it is
 * known how that ended. */
void tide_farewell_main(struct tide_collector *collector)
{
    struct tide_end_facts *const facts = &collector->main_execed;
    if (!collector->main_ended || !collector->main_went_on)
        return;
    facts->status_known = true;
    facts->status = collector->main_status;
    tide_notes_out_end(&collector->notes, facts);
}

/* --- Segments ----------------------------------------------------------------------- */

/* Is there a lane in use that we could not take into our books: for want of memory? */
static bool has_unmet(const struct tide_share *share)
{
    uint32_t count = atomic_load(&share->shared->lanes);
    if (count > TIDE_LANES_MAX)
        count = TIDE_LANES_MAX;
    for (uint32_t i = 0; i < count; i++) {
        const struct tide_lane_copy *const lane =
            i < share->lane_count ? share->lanes[i] : NULL;
        const struct tide_lane_shared *const shared =
            tide_share_lane(share, atomic_load(&share->shared->directory[i]));
        if (shared && (!lane || !lane->owner) &&
            atomic_load(&shared->state) == TIDE_LANE_LIVE)
            return true;
    }
    return false;
}

bool tide_farewell_unmet(const struct tide_collector *collector)
{
    for (const struct tide_share *s = collector->shares; s; s = s->next) {
        if (has_unmet(s))
            return true;
    }
    return false;
}

/* Where the kernel does not tell who holds a segment, somebody may just have taken a
 * lane in it: he looked at `closed` before.  Then it is open again. */
static bool is_left(struct tide_share *share)
{
    if (has_unmet(share) && share->tries++ < TIDE_MEET_TRIES)
        return false;
    share->given_up |= atomic_exchange(&share->shared->closed, 1) != 0;
    if (share->tells_holders)
        return true;
    for (uint32_t i = 0; i < share->lane_count; i++) {
        const struct tide_lane_copy *const lane = share->lanes[i];
        const struct tide_lane_shared *const shared =
            lane ? tide_share_lane(share, lane->header) : NULL;
        if (shared && atomic_load(&shared->state) == TIDE_LANE_LIVE) {
            atomic_store(&share->shared->closed, share->given_up);
            share->unheld = false;
            return false;
        }
    }
    return true;
}

/* A segment is done with: how large it was, and what can be told from it about things
 * that are not in it.
 * One that was closed, and not by us: a process gave up waiting for us, and those it forked
 * later know.  One never written to: its process was killed as it began, or it has told us
 * already that it could not take what it needs. */
static void say_last(struct tide_collector *collector, const struct tide_share *share)
{
    char line[192];
    pthread_mutex_lock(&collector->lock);
    tide_notes_out_rings(&collector->notes, share->bytes);
    pthread_mutex_unlock(&collector->lock);
    if (has_unmet(share)) {
        tide_handshake_missed(
            collector, share->pid, &share->image,
            "not with all its processes: the collector had no memory");
    } else if (share->given_up && !collector->stopped) {
        (void)snprintf(line, sizeof(line),
                       "the program of pid %u gave up (no memory, or no word from the "
                       "collector for 2 s): what it forked later was not recorded",
                       share->pid);
        tide_collector_trouble(collector, line);
    }
}

void tide_farewell_rest(struct tide_collector *collector)
{
    for (struct tide_share *s = collector->shares; s; s = s->next) {
        s->given_up |= atomic_load(&s->shared->closed) != 0;
        say_last(collector, s);
    }
}

static void close_shares(struct tide_collector *collector)
{
    struct tide_share **link = &collector->shares;
    while (*link) {
        struct tide_share *const share = *link;
        if (share->unheld && share->processes == 0 && is_left(share)) {
            *link = share->next;
            say_last(collector, share);
            collector->starved += atomic_load(&share->shared->starved);
            tide_share_free(share);
            (void)atomic_fetch_sub(&collector->in_hand, 1);
            tide_collector_tell(collector);
        } else {
            link = &share->next;
        }
    }
}

void tide_farewell(struct tide_collector *collector)
{
    struct tide_target *next;
    for (struct tide_target *t = collector->targets; t; t = next) {
        next = t->next;
        if (judge(collector, t))
            tide_target_end(collector, t);
    }
    close_shares(collector);
}
