/* collect/collector.c - the collector: its parts, and the control thread's turn. */
#include "collect/collector.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/raw/ticks.h"
#include "collect/hands.h"
#include "collect/notes_out.h"
#include "collect/procfs.h"
#include "collect/segment_users.h"
#include "collect/session_folder.h"
#include "collect/write_names.h"
#include "trace/format.h"

#define TIDE_RATE_NS (100ull * 1000 * 1000) /* the first good rate of the clock */
enum {
    TIDE_EVENTS_AT_ONCE = 32,
    TIDE_DRAIN_STACK = 512 * 1024,
    TIDE_TURN_MS = 1000, /* well below what a target takes for the collector's death */
};

/* --- Open and close ------------------------------------------------------------------ */

static bool make_page(struct tide_collector *collector,
                      const struct tide_wishes *wishes)
{
    collector->page_fd = tide_memory_file("tidemark-session", TIDE_PAGE);
    if (collector->page_fd < 0)
        return false;
    void *const page = mmap(NULL, TIDE_PAGE, PROT_READ | PROT_WRITE, MAP_SHARED,
                            collector->page_fd, 0);
    if (page == MAP_FAILED)
        return false;
    collector->page = page;
    collector->page->magic = TIDE_SESSION_MAGIC;
    collector->page->version = TIDE_RING_VERSION;
    collector->page->unwind = wishes->unwind;
    collector->page->depth_limit = wishes->depth_limit;
    collector->page->spaces = wishes->spaces;
    collector->page->free_stacks = wishes->free_stacks;
    collector->page->live_table = wishes->live_table;
    collector->page->exact_times = wishes->exact_times;
    collector->exact_times = wishes->exact_times;
    collector->page->follow = wishes->follow;
    collector->page->keep_preload = wishes->keep_preload;
    collector->page->reserved[0] = tide_ticks_kind;
    return true;
}

static bool add_source(const struct tide_collector *collector, int fd, uint64_t source)
{
    struct epoll_event event = {.events = EPOLLIN, .data.u64 = source};
    return epoll_ctl(collector->epoll, EPOLL_CTL_ADD, fd, &event) == 0;
}

static bool make_epoll(struct tide_collector *collector)
{
    collector->epoll = epoll_create1(EPOLL_CLOEXEC);
    collector->kick_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    return collector->epoll >= 0 && collector->kick_fd >= 0 &&
           add_source(collector, collector->listener, TIDE_SOURCE_LISTENER) &&
           add_source(collector, collector->kick_fd, TIDE_SOURCE_KICK);
}

enum tide_status tide_collector_open(const struct tide_wishes *wishes,
                                     struct tide_collector **out)
{
    *out = NULL;
    struct tide_collector *const collector = calloc(1, sizeof(*collector));
    if (!collector)
        return TIDE_ENOMEM;
    collector->connections.item_bytes = sizeof(int);
    collector->moved.item_bytes = sizeof(uint32_t);
    collector->execs.item_bytes = sizeof(struct tide_exec_news);
    tide_unrecorded_init(&collector->unrecorded);
    collector->left.item_bytes = collector->leaving.item_bytes =
        sizeof(struct tide_left);
    collector->listener = collector->page_fd = -1;
    collector->epoll = collector->kick_fd = -1;
    (void)pthread_mutex_init(&collector->lock, NULL);
    collector->choice.follow = wishes->follow;
    collector->choice.targets = wishes->targets;
    collector->naming_ms = wishes->naming_ms;
    collector->hands_wanted =
        wishes->drains ? wishes->drains - 1 : tide_hands_to_spare();
    tide_clock_start(&collector->clock);
    collector->directory = tide_session_folder_make();
    if (!collector->directory || !make_page(collector, wishes))
        goto fail;
    collector->listener = tide_handshake_listen(collector->directory);
    if (collector->listener < 0 || !make_epoll(collector))
        goto fail;
    *out = collector;
    return TIDE_OK;

fail:
    tide_collector_close(collector);
    return TIDE_ESYSTEM;
}

static void close_fd(int fd)
{
    if (fd >= 0)
        (void)close(fd);
}

static void free_lists(struct tide_collector *collector)
{
    struct tide_share *next_share;
    for (struct tide_share *s = collector->shares; s; s = next_share) {
        next_share = s->next;
        tide_share_free(s);
    }
    for (struct tide_share *s = collector->new_shares; s; s = next_share) {
        next_share = s->next;
        tide_share_free(s);
    }
    struct tide_target *next;
    for (struct tide_target *t = collector->targets; t; t = next) {
        next = t->next;
        tide_target_free(t);
    }
    free(collector->left.items);
    free(collector->moved.items);
    free(collector->execs.items);
    free(collector->leaving.items);
}

void tide_collector_abandon(struct tide_collector *collector)
{
    if (!collector)
        return;
    tide_hands_free(collector->hands);
    free_lists(collector);
    tide_desks_release(&collector->desks);
    tide_handshake_release(collector);
    tide_unrecorded_release(&collector->unrecorded);
    tide_writer_close(collector->writer);
    if (collector->page)
        (void)munmap(collector->page, TIDE_PAGE);
    close_fd(collector->listener);
    close_fd(collector->page_fd);
    close_fd(collector->epoll);
    close_fd(collector->kick_fd);
    tide_text_release(&collector->notes);
    (void)pthread_mutex_destroy(&collector->lock);
    free(collector->directory);
    free(collector);
}

void tide_collector_close(struct tide_collector *collector)
{
    if (!collector)
        return;
    const int kept = errno;
    if (collector->page)
        atomic_store(&collector->page->stopped, 1);
    for (struct tide_share *s = collector->shares; s; s = s->next)
        atomic_store(&s->shared->closed, 1);
    if (collector->directory)
        tide_session_folder_remove(collector->directory);
    tide_collector_abandon(collector);
    errno = kept;
}

/* --- Begin, start, stop ---------------------------------------------------------------- */

static void between_columns(void *context)
{
    tide_drain_relieve(context);
}

enum tide_status tide_collector_begin(struct tide_collector *collector,
                                      struct tide_writer *writer,
                                      const struct tide_run_facts *facts)
{
    const struct tide_clock *const clock = &collector->clock;
    collector->writer = writer;
    tide_writer_set_between(writer, between_columns, collector);
    collector->looks.now_ticks = collector->notes_ticks = clock->start_ticks;
    collector->looks.now_ns = collector->calm_ns = clock->start_ns;
    collector->next_rate_ns = clock->start_ns + TIDE_RATE_NS;
    tide_notes_out_run(&collector->notes, facts);
    tide_notes_out_clock(&collector->notes, clock->start_ticks, clock->start_unix_ns);
    collector->next_clock_ns = clock->start_ns + 10ull * 1000 * 1000 * 1000;
    tide_outlet_write(collector, true);
    tide_session_folder_link(collector->directory, writer);
    return tide_writer_problem(writer) ? TIDE_EIO : TIDE_OK;
}

static void free_hands(struct tide_collector *collector)
{
    tide_hands_free(collector->hands);
    collector->hands = NULL;
}

enum tide_status tide_collector_start(struct tide_collector *collector)
{
    sigset_t all, before;
    pthread_attr_t small; /* its usual stack may be more than a limit leaves us */
    (void)sigfillset(&all);
    atomic_store(&collector->stopping, 0);
    int problem = pthread_attr_init(&small);
    if (problem)
        return TIDE_ESYSTEM;
    (void)pthread_attr_setstacksize(&small, TIDE_DRAIN_STACK);
    if (collector->hands_wanted > 0)
        collector->hands = tide_hands_new(collector->hands_wanted);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    problem =
        pthread_create(&collector->drain_thread, &small, tide_drain_run, collector);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    (void)pthread_attr_destroy(&small);
    collector->draining = problem == 0;
    if (problem)
        free_hands(collector);
    return problem ? TIDE_ESYSTEM : TIDE_OK;
}

void tide_collector_stop(struct tide_collector *collector)
{
    if (!collector->draining)
        return;
    pthread_mutex_lock(&collector->lock);
    tide_targets_look(collector->targets);
    pthread_mutex_unlock(&collector->lock);
    atomic_store(&collector->stopping, 1);
    tide_collector_kick(collector);
    (void)pthread_join(collector->drain_thread, NULL);
    free_hands(collector);
    collector->draining = false;
}

enum tide_status tide_collector_renew(struct tide_collector *collector)
{
    close_fd(collector->epoll);
    close_fd(collector->kick_fd);
    if (!make_epoll(collector) || !tide_handshake_renew(collector))
        return TIDE_ESYSTEM;
    for (const struct tide_target *t = collector->targets; t; t = t->next) {
        struct epoll_event event = {.events = EPOLLIN | EPOLLONESHOT,
                                    .data.u64 = TIDE_SOURCE_TARGET | t->index};
        if (t->pidfd >= 0)
            (void)epoll_ctl(collector->epoll, EPOLL_CTL_ADD, t->pidfd, &event);
    }
    return TIDE_OK;
}

/* --- The control thread ---------------------------------------------------------------- */

enum tide_status tide_collector_watch(struct tide_collector *collector, int fd)
{
    return add_source(collector, fd, TIDE_SOURCE_WATCHED | (uint32_t)fd) ? TIDE_OK
                                                                         : TIDE_ESYSTEM;
}

void tide_collector_tell(const struct tide_collector *collector)
{
    (void)eventfd_write(collector->kick_fd, 1);
}

static void bury(struct tide_collector *collector, uint32_t index)
{
    pthread_mutex_lock(&collector->lock);
    for (struct tide_target *t = collector->targets; t; t = t->next) {
        if (t->index == index)
            t->gone = true;
    }
    pthread_mutex_unlock(&collector->lock);
    tide_collector_kick(collector);
}

/* True: the event is about a watched descriptor. */
static bool serve(struct tide_collector *collector, uint64_t source)
{
    const uint32_t value = (uint32_t)source;
    eventfd_t news;
    switch (source & ~(uint64_t)UINT32_MAX) {
    case TIDE_SOURCE_LISTENER:
        tide_handshake_accept(collector);
        return false;
    case TIDE_SOURCE_CONNECTION:
        tide_handshake_answer(collector, (int)value);
        return false;
    case TIDE_SOURCE_TARGET:
        bury(collector, value);
        return false;
    case TIDE_SOURCE_KICK:
        (void)eventfd_read(collector->kick_fd, &news);
        return false;
    default:
        return true;
    }
}

bool tide_collector_turn(struct tide_collector *collector, int timeout_ms)
{
    struct epoll_event events[TIDE_EVENTS_AT_ONCE];
    /* A slow disk is no dead collector: the targets shall wait. */
    if (atomic_load(&collector->writing))
        (void)atomic_fetch_add(&collector->page->heartbeat, 1);
    const int next_ms = tide_samples_take(collector);
    int wait_ms = timeout_ms < 0 || next_ms < timeout_ms ? next_ms : timeout_ms;
    if (wait_ms > TIDE_TURN_MS)
        wait_ms = TIDE_TURN_MS;
    const int count =
        epoll_wait(collector->epoll, events, TIDE_EVENTS_AT_ONCE, wait_ms);
    bool watched = false;
    for (int i = 0; i < count; i++)
        watched |= serve(collector, events[i].data.u64);
    return watched;
}

void tide_collector_main_ended(struct tide_collector *collector, int status,
                               uint64_t peak_rss)
{
    pthread_mutex_lock(&collector->lock);
    collector->main_ended = true;
    collector->main_end_ticks = tide_ticks();
    collector->main_status = status;
    collector->main_peak_rss = peak_rss;
    pthread_mutex_unlock(&collector->lock);
    tide_collector_kick(collector);
}

/* --- The end ----------------------------------------------------------------------------- */

static bool is_used(const struct tide_share *share)
{
    return share->processes > share->unwatched ||
           (tide_share_held(share) == TIDE_HELD_YES && tide_share_is_mapped(share));
}

bool tide_collector_busy(struct tide_collector *collector)
{
    /* Nobody else is recorded, and of one who was reaped everything is known. */
    if (collector->page->follow != TIDE_FOLLOW_ALL && collector->main_ended)
        return false;
    if (collector->new_shares || collector->connections.count > 0)
        return true;
    for (const struct tide_share *s = collector->shares; s; s = s->next) {
        if (is_used(s))
            return true;
    }
    /* Somebody may have been started and not have knocked yet. */
    return tide_procfs_any_with(TIDE_SESSION_ENV, collector->directory,
                                tide_clock_began(&collector->clock), 0);
}

/* A child that was forked and has not taken a lane yet is somebody else, too. */
bool tide_collector_has_only(struct tide_collector *collector, uint32_t pid)
{
    if (collector->new_shares || collector->connections.count > 0)
        return false;
    for (const struct tide_target *t = collector->targets; t; t = t->next) {
        if (t->pid != pid && tide_procfs_lives(t->pid))
            return false;
    }
    for (const struct tide_share *s = collector->shares; s; s = s->next) {
        if (atomic_load(&s->shared->forks) > atomic_load(&s->shared->births))
            return false;
    }
    return !tide_farewell_unmet(collector) &&
           !tide_procfs_any_with(TIDE_SESSION_ENV, collector->directory,
                                 tide_clock_began(&collector->clock), pid);
}

bool tide_collector_has_met_one(struct tide_collector *collector)
{
    pthread_mutex_lock(&collector->lock);
    const bool met = collector->new_shares || collector->targets ||
                     collector->process_count > 0 || collector->refused_errno;
    pthread_mutex_unlock(&collector->lock);
    return met || atomic_load(&collector->in_hand) > 0;
}

bool tide_collector_has_targets(struct tide_collector *collector)
{
    pthread_mutex_lock(&collector->lock);
    const bool any = collector->new_shares || collector->targets;
    pthread_mutex_unlock(&collector->lock);
    return any || collector->connections.count > 0 ||
           atomic_load(&collector->in_hand) > 0;
}

static void end_rest(struct tide_collector *collector)
{
    while (collector->targets) {
        struct tide_target *const target = collector->targets;
        const bool lives = target->watch == TIDE_WATCH_PIDFD && !target->gone;
        target->reason = lives || (target->watch == TIDE_WATCH_SEGMENT &&
                                   tide_share_held(target->share) != TIDE_HELD_NO)
                             ? TIDE_END_LOST
                             : TIDE_END_EXITED;
        tide_target_end(collector, target);
    }
}

static void write_end(struct tide_collector *collector)
{
    uint64_t bytes, peak = 0;
    (void)tide_procfs_rss((uint32_t)getpid(), &bytes, &peak);
    const struct tide_finish_facts facts = {
        .ticks = collector->looks.now_ticks, /* names came later */
        .chunks = tide_writer_chunks(collector->writer),
        .peak_rss = peak,
        .status = collector->main_status,
        .processes = collector->process_count,
    };
    struct tide_text note = {0};
    tide_notes_out_finish(&note, &facts);
    const struct tide_chunk_label label = {
        .kind = TIDE_CHUNK_END,
        .process = TIDE_NO_PROCESS,
        .first_ticks = facts.ticks,
        .last_ticks = facts.ticks,
    };
    if (!note.failed)
        (void)tide_writer_chunk(collector->writer, &label, note.bytes, note.length);
    tide_text_release(&note);
}

/* All events are encoded: how many they are. */
static void note_totals(struct tide_collector *collector)
{
    struct tide_totals sum = {0};
    for (uint32_t i = 0; i < collector->desks.count; i++)
        tide_totals_add(&sum, tide_encoder_totals(collector->desks.all[i].encoder));
    tide_notes_out_totals(&collector->notes, &sum);
}

static void tell_unrecorded(struct tide_collector *collector)
{
    struct tide_text line = {0};
    tide_collector_unrecorded(collector, true, &line);
    if (line.bytes)
        tide_collector_trouble(collector, line.bytes);
    tide_text_release(&line);
}

static void tell_starved(struct tide_collector *collector)
{
    uint64_t count = collector->starved;
    for (const struct tide_share *s = collector->shares; s; s = s->next)
        count += atomic_load(&s->shared->starved);
    if (count == 0)
        return;
    char line[128];
    (void)snprintf(line, sizeof(line),
                   "%" PRIu64 " process%s not recorded: no room for the shared memory "
                   "(is there a limit?)",
                   count, count == 1 ? " was" : "es were");
    tide_collector_trouble(collector, line);
}

void tide_collector_finish(struct tide_collector *collector,
                           bool (*cancelled)(void *context), void *context)
{
    const struct tide_naming naming = {collector->naming_ms, cancelled, context};
    tide_farewell_rest(collector);
    atomic_store(&collector->page->stopped, 1);
    end_rest(collector);
    tide_farewell_main(collector);
    tell_unrecorded(collector);
    tell_starved(collector);
    const struct tide_clock_point now = tide_clock_now();
    tide_notes_out_clock(&collector->notes, now.ticks,
                         tide_clock_unix_ns(&collector->clock, &now));
    collector->looks.now_ticks = now.ticks;
    tide_outlet_write(collector, true);
    if (collector->stopped)
        return; /* the trace is not complete, and does not say that it is */
    note_totals(collector);
    tide_outlet_write(collector, true);
    (void)tide_writer_set_rate(collector->writer, tide_clock_rate(&collector->clock));
    tide_collector_write_names(collector, &naming);
    write_end(collector);
}

void tide_collector_unrecorded(struct tide_collector *collector, bool all,
                               struct tide_text *line)
{
    tide_unrecorded_settle(collector, all);
    tide_unrecorded_tell(&collector->unrecorded,
                         (double)tide_clock_rate(&collector->clock),
                         collector->page->keep_preload, line);
}

void tide_collector_trouble(struct tide_collector *collector, const char *line)
{
    pthread_mutex_lock(&collector->lock);
    tide_notes_out_trouble(&collector->notes, line);
    pthread_mutex_unlock(&collector->lock);
}
