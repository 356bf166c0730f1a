/* collect/pass.c - one look at everything that is shared with the targets.
 *
 * Order matters.  Who is dead, or has changed into another program, is asked first; then
 * the lanes are emptied, so that what is taken of the dead is all there was; compression
 * and writing come last, when no target waits for room any more, unless there is more to take
 * than buffers may hold.  They take longer than a ring lasts, so in between those that fill up
 * are emptied again.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>

#include "base/raw/ticks.h"
#include "collect/collector.h"
#include "collect/notes_out.h"

#define TIDE_TICK_NS  (2ull * 1000 * 1000)   /* a lane is not asked for the time more */
#define TIDE_CHECK_NS (50ull * 1000 * 1000)  /* between two looks at who holds */
#define TIDE_GRACE_NS (200ull * 1000 * 1000) /* for a child that was just forked */
#define TIDE_RSS_NS   (10ull * 1000 * 1000)  /* first look at a process's memory */
enum { TIDE_TROUBLES_MOST = 20 };
/* Bytes of all segments up to which rings are read in place. */
#define TIDE_MAPPED_MOST (8ull << 20)

/* --- Who is there ------------------------------------------------------------------- */

static void append_shares(struct tide_collector *collector, struct tide_share *list)
{
    struct tide_share **end = &collector->shares;
    while (*end)
        end = &(*end)->next;
    *end = list;
    for (; list; list = list->next) {
        list->serial = ++collector->share_count;
        (void)atomic_fetch_add(&collector->in_hand, 1);
    }
}

/* What the control thread knows, as of now. */
static void take_news(struct tide_collector *collector)
{
    pthread_mutex_lock(&collector->lock);
    collector->met_somebody = collector->new_shares != NULL;
    append_shares(collector, collector->new_shares);
    collector->new_shares = NULL;
    const struct tide_list taken = collector->left;
    collector->left = collector->leaving;
    collector->left.count = 0;
    collector->leaving = taken;
    for (struct tide_target *t = collector->targets; t; t = t->next) {
        t->was_gone = t->gone || t->watch == TIDE_WATCH_NONE;
        t->was_left = t->left;
    }
    collector->main_gone = collector->main_ended;
    pthread_mutex_unlock(&collector->lock);
}

/* Without the kernel's word: a segment is left when its processes are, give or take a
 * child that was forked and has not taken a lane yet. */
static bool seems_left(const struct tide_collector *collector,
                       const struct tide_share *share)
{
    if (share->processes > 0)
        return false;
    if (!share->had_process)
        return kill((pid_t)share->pid, 0) != 0 && errno == ESRCH;
    const bool unborn =
        atomic_load(&share->shared->forks) > atomic_load(&share->shared->births);
    return !unborn || collector->looks.now_ns - share->empty_ns > TIDE_GRACE_NS;
}

static void check_holders(const struct tide_collector *collector,
                          struct tide_share *share)
{
    if (share->processes > share->unwatched ||
        collector->looks.now_ns < share->next_check_ns)
        return;
    share->next_check_ns = collector->looks.now_ns + TIDE_CHECK_NS;
    switch (tide_share_held(share)) {
    case TIDE_HELD_NO:
        share->unheld = true;
        break;
    case TIDE_HELD_YES:
        break;
    case TIDE_HELD_UNKNOWN:
        share->unheld = seems_left(collector, share);
        break;
    }
}

/* Pages of rings that we touch count as ours.  Few may; to read the others from their file
 * takes a thirtieth more time. */
static void count_shares(const struct tide_collector *collector)
{
    uint64_t bytes = 0;
    for (const struct tide_share *s = collector->shares; s; s = s->next)
        bytes += s->bytes;
    for (struct tide_share *s = collector->shares; s; s = s->next)
        s->by_file = bytes > TIDE_MAPPED_MOST;
}

/* --- Lanes --------------------------------------------------------------------------- */

void tide_collector_say_broken(struct tide_collector *collector,
                               const struct tide_lane_copy *lane)
{
    if (collector->troubles++ >= TIDE_TROUBLES_MOST)
        return;
    char line[160];
    (void)snprintf(line, sizeof(line),
                   "a thread of pid %u was recorded no further: %s (lane %u)",
                   lane->owner->pid, lane->broken, lane->number);
    tide_collector_trouble(collector, line);
}

static void announce(struct tide_collector *collector, const struct tide_target *target)
{
    const struct tide_begin_facts facts = {
        .process = target->index,
        .pid = target->pid,
        .birth = target->birth,
        .ticks = collector->looks.now_ticks,
        .image = &target->share->image,
    };
    pthread_mutex_lock(&collector->lock);
    tide_notes_out_begin(&collector->notes, &facts);
    pthread_mutex_unlock(&collector->lock);
}

static struct tide_target *add_target(struct tide_collector *collector,
                                      struct tide_share *share, uint32_t pid,
                                      uint64_t birth)
{
    struct tide_target *const target = tide_target_new(share, pid, birth);
    if (!target)
        return NULL;
    target->index = collector->process_count++;
    target->seen_ns = target->busy_ns = collector->looks.now_ns;
    target->next_rss_ns = target->seen_ns + TIDE_RSS_NS;
    share->processes++;
    share->unwatched += target->watch != TIDE_WATCH_PIDFD;
    share->had_process = true;
    pthread_mutex_lock(&collector->lock);
    target->next = collector->targets;
    collector->targets = target;
    pthread_mutex_unlock(&collector->lock);

    struct epoll_event event = {.events = EPOLLIN | EPOLLONESHOT,
                                .data.u64 = TIDE_SOURCE_TARGET | target->index};
    if (target->pidfd >= 0)
        (void)epoll_ctl(collector->epoll, EPOLL_CTL_ADD, target->pidfd, &event);
    announce(collector, target);
    tide_collector_tell(collector);
    return target;
}

static bool is_second(const struct tide_share *share, const struct tide_lane_copy *lane)
{
    for (uint32_t i = 0; i < share->lane_count; i++) {
        const struct tide_lane_copy *const other = share->lanes[i];
        if (other && other != lane && other->owner == lane->owner &&
            other->number == lane->number && other->use == lane->use)
            return true;
    }
    return false;
}

/* A lane of nobody that says LIVE: the acquire makes its identity visible. */
static void adopt(struct tide_collector *collector, struct tide_share *share,
                  struct tide_lane_copy *lane)
{
    const struct tide_lane_shared *const shared = tide_share_lane(share, lane->header);
    if (!shared ||
        atomic_load_explicit(&shared->state, memory_order_acquire) != TIDE_LANE_LIVE)
        return;
    const uint32_t pid = shared->pid;
    const uint64_t birth = shared->birth;
    struct tide_target *target = tide_target_find(collector->targets, pid, birth);
    if (!target)
        target = add_target(collector, share, pid, birth);
    if (!target || target->share != share)
        return;
    const uint64_t last = collector->looks.last_ticks;
    tide_lane_adopt(lane, shared, target, birth < last ? birth : last);
    if (lane->use == TIDE_LANE_EVENTS && is_second(share, lane))
        lane->broken = "its number is another's";
    if (lane->broken)
        tide_collector_say_broken(collector, lane);
}

/* Make room to remember COUNT directory entries. */
static bool know_lanes(struct tide_share *share, uint32_t count)
{
    if (count <= share->lane_count)
        return true;
    struct tide_lane_copy **const lanes =
        realloc(share->lanes, count * sizeof(struct tide_lane_copy *));
    if (!lanes)
        return false;
    for (uint32_t i = share->lane_count; i < count; i++)
        lanes[i] = NULL;
    share->lanes = lanes;
    share->lane_count = count;
    return true;
}

/* Learn of new lanes, and whose they are. */
static void meet_lanes(struct tide_collector *collector, struct tide_share *share)
{
    uint32_t count = atomic_load_explicit(&share->shared->lanes, memory_order_acquire);
    if (count > TIDE_LANES_MAX)
        count = TIDE_LANES_MAX;
    (void)know_lanes(share, count);
    for (uint32_t i = 0; i < share->lane_count; i++) {
        if (!share->lanes[i]) {
            const uint64_t offset = atomic_load_explicit(&share->shared->directory[i],
                                                         memory_order_acquire);
            if (!offset || !tide_share_lane(share, offset))
                continue;
            tide_share_meet(share, offset);
            share->lanes[i] = tide_lane_new(offset);
        }
        if (share->lanes[i] && !share->lanes[i]->owner)
            adopt(collector, share, share->lanes[i]);
    }
}

static size_t take_lane(struct tide_collector *collector,
                        const struct tide_share *share, struct tide_lane_copy *lane)
{
    const bool sound = !lane->broken;
    const size_t capacity = lane->capacity;
    const size_t taken = tide_lane_take(lane, share, &collector->looks);
    const uint64_t now = collector->looks.now_ns;
    collector->pool_bytes += lane->capacity - capacity;
    if (sound && lane->broken)
        tide_collector_say_broken(collector, lane);
    if (taken == 0)
        return 0;
    lane->owner->busy_ns = now;
    if (now - lane->tick_ns >= TIDE_TICK_NS) {
        lane->tick_ns = now;
        tide_lane_ask(lane, share, TIDE_ATTENTION_TICK);
    }
    return taken;
}

static size_t take_all(struct tide_collector *collector, uint32_t use)
{
    size_t taken = 0;
    for (const struct tide_share *s = collector->shares; s; s = s->next) {
        for (uint32_t i = 0; i < s->lane_count; i++) {
            struct tide_lane_copy *const lane = s->lanes[i];
            if (!lane || !lane->owner || lane->use != use)
                continue;
            taken += take_lane(collector, s, lane);
            if (use == TIDE_LANE_EVENTS && collector->pool_bytes > TIDE_POOL_MOST)
                tide_outlet_ease(collector);
        }
    }
    return taken;
}

size_t tide_drain_take_notes(struct tide_collector *collector)
{
    collector->ahead = false;
    return take_all(collector, TIDE_LANE_NOTES);
}

void tide_drain_relieve(struct tide_collector *collector)
{
    if (atomic_load(&collector->stopping))
        return; /* of nobody is anything written that is newer than the last pass */
    /* When there are more lanes than desks, their buffers shall not grow by this. */
    const bool crowded = collector->desks.count == TIDE_DESKS;
    for (uint32_t i = 0; i < collector->desks.count; i++) {
        struct tide_lane_copy *const lane = collector->desks.all[i].lane;
        if (!lane || lane->broken || lane->in_round ||
            (crowded && lane->end > lane->coded))
            continue;
        if (collector->pool_bytes > TIDE_POOL_MOST)
            return;
        const size_t capacity = lane->capacity;
        if (tide_lane_relieve(lane, lane->owner->share, &collector->looks) > 0) {
            lane->owner->busy_ns = tide_ticks_monotonic(); /* later than the look */
            collector->noted = false;
            collector->ahead = true;
        }
        collector->pool_bytes += lane->capacity - capacity;
        if (lane->broken)
            tide_collector_say_broken(collector, lane);
    }
}

/* --- The pass ------------------------------------------------------------------------ */

static void look_up(struct tide_collector *collector)
{
    struct tide_looks *const looks = &collector->looks;
    looks->last_ticks = looks->now_ticks;
    looks->last_ns = looks->now_ns;
    looks->now_ticks = tide_ticks();
    looks->now_ns = tide_ticks_monotonic();
}

/* The longer the run, the better the clock's rate is known: 0.1, 1, 10, 100... s. */
static void refine_rate(struct tide_collector *collector)
{
    const uint64_t now = collector->looks.now_ns;
    if (now < collector->next_rate_ns || collector->stopped)
        return;
    (void)tide_writer_set_rate(collector->writer, tide_clock_rate(&collector->clock));
    collector->next_rate_ns = now + 9 * (now - collector->clock.start_ns);
}

bool tide_drain_pass(struct tide_collector *collector)
{
    (void)atomic_fetch_add(&collector->page->heartbeat, 1);
    look_up(collector);
    take_news(collector);
    for (struct tide_share *s = collector->shares; s; s = s->next) {
        check_holders(collector, s);
        (void)tide_share_grow(s);
        meet_lanes(collector, s);
        tide_execs_take(collector, s);
    }
    count_shares(collector);
    /* What an event refers to is noted before it, so take the notes last. */
    size_t taken = take_all(collector, TIDE_LANE_EVENTS);
    taken += tide_drain_take_notes(collector);
    if (taken > 0)
        collector->calm_ns = collector->looks.now_ns;
    tide_outlet_write(collector, false);
    tide_farewell(collector);
    refine_rate(collector);
    return taken > 0;
}
