/* collect/targets.h - the processes of a run that are being recorded.
 *
 * For: collect/, tests/.  A process is named by pid and birth: after exec it is another
 * one.  The list is changed by the drain thread only, with the collector's lock held;
 * other threads read it with the lock held.
 */
#ifndef TIDE_COLLECT_TARGETS_H
#define TIDE_COLLECT_TARGETS_H

#include <stdbool.h>
#include <stdint.h>

#include "collect/notes_out.h"
#include "collect/segment.h"
#include "trace/format.h"

enum tide_watch {
    TIDE_WATCH_PIDFD,   /* the kernel tells when it ends */
    TIDE_WATCH_NONE,    /* there is no such pid: it has ended already */
    TIDE_WATCH_QUIET,   /* likewise, but the pid looks like one of another namespace; so
                           it must also be quiet for a while */
    TIDE_WATCH_SEGMENT, /* cannot be watched: ends when nobody holds its segment */
};

struct tide_target {
    struct tide_target *next;
    uint32_t index; /* in the trace */
    uint32_t pid;
    uint64_t birth;
    struct tide_share *share; /* borrowed: where its lanes are */
    enum tide_watch watch;
    int pidfd; /* owned; -1: none */

    /* Guarded by the collector's lock. */
    bool gone;            /* it has ended, its lanes are final */
    bool left;            /* its process runs another program */
    uint64_t next_rss_ns; /* when to look at its memory next */
    uint64_t rss;         /* bytes, as last seen */
    uint64_t rss_peak;    /* likewise */
    uint64_t lived_ticks; /* it had memory then */

    /* The drain thread's. */
    bool was_gone; /* before this pass began: all its lanes are known by now */
    bool was_left;
    enum tide_end reason; /* of its end */
    uint64_t end_ticks;   /* EXECED: it had ended by then; 0: not known */
    uint64_t seen_ns;     /* when it was seen first */
    uint64_t busy_ns;     /* when it wrote last */
};

/* A process now runs a program that is not recorded: what it was before has ended. */
struct tide_left {
    uint32_t pid;
    uint64_t pid_space; /* as of a share */
    uint64_t ticks;
};

/* The process PID that began at BIRTH, or NULL. */
struct tide_target *tide_target_find(struct tide_target *list, uint32_t pid,
                                     uint64_t birth);

/* A new one, with a watch on its life; NULL without memory. */
struct tide_target *tide_target_new(struct tide_share *share, uint32_t pid,
                                    uint64_t birth);
void tide_target_free(struct tide_target *target);

/* Ask the kernel which of LIST have ended: word of many that end at once comes bit by bit.  With
 * the collector's lock. */
void tide_targets_look(struct tide_target *list);

/* Its memory was SEEN at NOW_NS; while its peak rises it is to be looked at soon again. */
void tide_target_saw(struct tide_target *target, const struct tide_rss_facts *seen,
                     uint64_t now_ns);

#endif
