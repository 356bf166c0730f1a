/* collect/collector.h - the collector: everything of a run that is being recorded.
 *
 * For: collect/, tests/.  Whoever wants to record a program calls collect/run.h.
 *
 * Two threads.  The control thread, the caller's, owns the socket and the clock of
 * samples, and learns of deaths.  The drain thread owns segments, lanes, targets and the
 * writer.  They meet in the few fields said to be guarded by the lock, and in `kicked`.
 * On larger machines the drain thread has hands that help it: see hands.h and round.c.
 * While the drain thread does not run, everything belongs to the caller.
 *
 * Life:  open, then begin (the file is there), then start; stop; and again start, in
 * this process or in a forked one; in the end stop, finish, close.
 */
#ifndef TIDE_COLLECT_COLLECTOR_H
#define TIDE_COLLECT_COLLECTOR_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <tidemark/status.h>

#include "base/text.h"
#include "collect/choice.h"
#include "collect/clock.h"
#include "collect/desks.h"
#include "collect/lanes.h"
#include "collect/segment.h"
#include "collect/strangers.h"
#include "collect/targets.h"
#include "collect/unrecorded.h"
#include "trace/list.h"
#include "trace/ring.h"
#include "trace/writer.h"

/* What the targets shall record: goes to the session page; and who takes it from them. */
struct tide_wishes {
    uint32_t unwind; /* enum tide_unwind */
    uint32_t depth_limit;
    uint32_t spaces; /* enum tide_space_bit */
    bool free_stacks;
    bool exact_times;    /* a stamp for every event, and none left out */
    bool live_table;     /* in the process, for tide_find() */
    uint32_t follow;     /* enum tide_follow */
    const char *targets; /* borrowed for the life of the collector: see choice.h */
    bool keep_preload;   /* exec hooks put LD_PRELOAD back where it was removed */
    uint32_t naming_ms;  /* see write_names.h */
    uint32_t drains; /* threads that code and compress; 0: as the machine has cores */
};

struct tide_collector {
    /* Set by open, then constant. */
    char *directory; /* owned: the session's */
    int listener;    /* owned */
    int page_fd;     /* owned */
    int epoll;       /* owned */
    int kick_fd;     /* owned eventfd: the drain thread has news */
    struct tide_session_page *page;
    bool exact_times; /* as the wishes had it: others can write to the page */
    struct tide_clock clock;

    pthread_mutex_t lock;
    struct tide_choice choice;     /* Guarded by lock */
    struct tide_share *new_shares; /* Guarded by lock: newest last */
    struct tide_list left;         /* Guarded by lock: struct tide_left, news */
    struct tide_list
        moved; /* Guarded by lock: uint32_t, pids that the drain thread found
                               to run another program */
    struct tide_list execs;      /* Guarded by lock: struct tide_exec_news */
    _Atomic bool execs_lost;     /* there were more */
    struct tide_text notes;      /* Guarded by lock: for RUN chunks */
    struct tide_target *targets; /* Guarded by lock: see targets.h */
    _Atomic uint32_t kicked;     /* the control thread has news */
    _Atomic uint32_t writing;    /* the drain thread may be waiting for the disk */
    _Atomic uint32_t missed;     /* processes that said hello and were not recorded */
    _Atomic uint32_t in_hand;    /* segments that the drain thread serves */
    _Atomic uint32_t stopping;   /* the drain thread shall end after one more pass */
    bool draining;               /* the drain thread runs */
    pthread_t drain_thread;
    uint32_t naming_ms;    /* for the names at the end: see write_names.h */
    uint32_t hands_wanted; /* beside the drain thread; set before start */

    /* The drain thread's. */
    struct tide_writer *writer; /* owned */
    struct tide_hands *hands;   /* owned; NULL: there are none */
    struct tide_share *shares;
    uint32_t share_count;     /* ever */
    bool met_somebody;        /* there are new segments in this pass */
    struct tide_list leaving; /* who has left, as of this pass */
    uint32_t process_count;   /* ever */
    uint64_t starved; /* processes that got no lane, in segments that are closed */
    struct tide_looks looks;
    struct tide_desks desks;
    uint64_t pool_bytes; /* in all buffers of lanes */
    bool noted;          /* all notes that have been taken are written */
    bool ahead;          /* events were taken after the notes */
    uint64_t notes_ns;   /* when RUN notes were written last */
    uint64_t notes_ticks;
    uint64_t calm_ns;      /* since when nothing was taken */
    uint64_t next_rate_ns; /* when the file header gets a better rate */
    uint32_t troubles;     /* lines said about lanes that make no sense */
    bool stopped;          /* the file takes no more */

    /* The main program.  The pid is set before start, the rest with the lock held. */
    uint32_t main_pid;
    bool main_ended;         /* reaped */
    bool main_gone;          /* the drain thread's copy, as of its present pass */
    uint64_t main_end_ticks; /* its pid may be another's later */
    int main_status;
    uint64_t main_peak_rss; /* 0: not known */
    /* The drain thread's: how the last program of its pid ended, if it executed another. */
    struct tide_end_facts main_execed;
    bool main_went_on;

    /* The control thread's. */
    struct tide_list connections; /* int: who has knocked and not said hello yet */
    uint64_t next_clock_ns;
    struct tide_unrecorded unrecorded;
    int refused_errno; /* why somebody who said hello got no segment; 0: nobody */
};

/* Make the session: directory, socket, session page. */
enum tide_status tide_collector_open(const struct tide_wishes *wishes,
                                     struct tide_collector **out);
/* Remove the session.  What is not written by then is lost.  NULL is fine. */
void tide_collector_close(struct tide_collector *collector);
/* The same without a trace in the file system: another process goes on with it. */
void tide_collector_abandon(struct tide_collector *collector);

/* Write to WRITER (owned by the collector from here on, failure or not). */
enum tide_status tide_collector_begin(struct tide_collector *collector,
                                      struct tide_writer *writer,
                                      const struct tide_run_facts *facts);

enum tide_status tide_collector_start(struct tide_collector *collector);
/* Take what has been recorded up to now, write all of it, end the drain thread. */
void tide_collector_stop(struct tide_collector *collector);
/* After fork, in the child, before start: make anew what a fork does not copy well. */
enum tide_status tide_collector_renew(struct tide_collector *collector);

/* Also watch FD: tide_collector_turn() tells when it is readable. */
enum tide_status tide_collector_watch(struct tide_collector *collector, int fd);
/* Wait at most TIMEOUT_MS for something to do and do it.  True: a watched descriptor is
 * readable. */
bool tide_collector_turn(struct tide_collector *collector, int timeout_ms);

/* The main program was reaped.  PEAK_RSS in bytes, 0 when it is not known. */
void tide_collector_main_ended(struct tide_collector *collector, int status,
                               uint64_t peak_rss);

/* Is there anything left that can still be recorded?  Needs no running drain thread;
 * looks at /proc when nothing else shows that there is. */
bool tide_collector_busy(struct tide_collector *collector);
/* Is nobody but PID recorded, and will be?  Needs no running drain thread, either. */
bool tide_collector_has_only(struct tide_collector *collector, uint32_t pid);

/* Has a process come to be recorded, or been refused?  Who only looks whether somebody listens
 * (session_folder.c) is no process of the run. */
bool tide_collector_has_met_one(struct tide_collector *collector);
/* Is there any process or segment that the drain thread has in hand? */
bool tide_collector_has_targets(struct tide_collector *collector);

/* Close the trace: last notes, names, END.  The drain thread must be stopped.  CANCELLED (or
 * NULL) is asked with CONTEXT now and then whether the names shall be left. */
void tide_collector_finish(struct tide_collector *collector,
                           bool (*cancelled)(void *context), void *context);

/* One line about the programs that were not recorded, as far as is known; ALL: also about those
 * who may still be heard of.  Nothing when there are none.  The drain thread must be stopped. */
void tide_collector_unrecorded(struct tide_collector *collector, bool all,
                               struct tide_text *line);

/* Add a line to the trace's honesty section. */
void tide_collector_trouble(struct tide_collector *collector, const char *line);
/* LANE is broken: say so.  The first few times only. */
void tide_collector_say_broken(struct tide_collector *collector,
                               const struct tide_lane_copy *lane);

/* --- Inside collect/ ---------------------------------------------------------------- */

/* What an event of collector->epoll is about: the source, and a number below it. */
#define TIDE_SOURCE_LISTENER   (1ull << 32)
#define TIDE_SOURCE_CONNECTION (2ull << 32) /* descriptor */
#define TIDE_SOURCE_TARGET     (3ull << 32) /* process index */
#define TIDE_SOURCE_KICK       (4ull << 32)
#define TIDE_SOURCE_WATCHED    (5ull << 32) /* descriptor */

#define TIDE_POOL_MOST (12ull << 20) /* bytes in all buffers of lanes */

/* Wake the drain thread: there is news for it. */
void tide_collector_kick(struct tide_collector *collector);
/* Wake the control thread. */
void tide_collector_tell(const struct tide_collector *collector);
/* Accept whoever knocks; answer who has said hello on FD.  See handshake.c. */
int tide_handshake_listen(const char *directory);
void tide_handshake_accept(struct tide_collector *collector);
void tide_handshake_answer(struct tide_collector *collector, int fd);
/* Answer all who have said hello by now. */
void tide_handshake_hear_waiting(struct tide_collector *collector);
/* Who asked for SHARE was not recorded: say WHY in the trace. */
void tide_handshake_missed(struct tide_collector *collector, uint32_t pid,
                           const struct tide_image *image, const char *why);
/* Hear all who have knocked in the present collector->epoll. */
bool tide_handshake_renew(struct tide_collector *collector);
void tide_handshake_release(struct tide_collector *collector);
/* Sample what is due; milliseconds until the next sample.  See samples.c. */
int tide_samples_take(struct tide_collector *collector);
/* One look at everything, by the drain thread; see pass.c.  True: bytes were taken. */
bool tide_drain_pass(struct tide_collector *collector);
/* Amid a pass: empty the rings that would soon be full, of lanes that have a desk.  What they
 * had may need notes that are taken later. */
void tide_drain_relieve(struct tide_collector *collector);
/* Returns the bytes taken. */
size_t tide_drain_take_notes(struct tide_collector *collector);
/* The drain thread of the collector ARGUMENT; see drain.c. */
void *tide_drain_run(void *argument);
/* Take what processes of SHARE tell of programs that they execute; see execs.c. */
void tide_execs_take(struct tide_collector *collector, struct tide_share *share);
/* End the processes that are gone, close the segments that are left; see farewell.c. */
void tide_farewell(struct tide_collector *collector);
/* Is there anything to take that the last pass had no memory for? */
bool tide_farewell_unmet(const struct tide_collector *collector);
/* The run ends, and so did the main process: say how, if no process of the trace says it. */
void tide_farewell_main(struct tide_collector *collector);
/* The run ends: say which segments were never written to. */
void tide_farewell_rest(struct tide_collector *collector);
/* TARGET's lanes are empty: write the rest of it and forget it. */
void tide_target_end(struct tide_collector *collector, struct tide_target *target);
/* Write what is due, all of it when ALL; see outlet.c. */
void tide_outlet_write(struct tide_collector *collector, bool all);
/* Amid taking: lanes give back half of the memory that their buffers have, or more. */
void tide_outlet_ease(struct tide_collector *collector);
/* All events of one process. */
void tide_outlet_flush(struct tide_collector *collector,
                       const struct tide_target *target);

#endif
