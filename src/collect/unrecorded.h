/* collect/unrecorded.h - the account of programs that were not recorded, though they should be.
 *
 * For: collect/, tests/.  Used by the control thread; while the drain thread does not run, by
 * the caller.  Two sources:
 *
 * Recorded processes tell of each program that they execute or start: see tide_exec_slot in
 * trace/ring.h.  Who is recorded says hello soon after; who never does was not.  These are all
 * that recorded programs start through libc, so they can be counted.
 *
 * What such a program starts itself nobody tells.  Whoever lives long enough is seen in /proc
 * (strangers.c); then the number is a least one.
 */
#ifndef TIDE_COLLECT_UNRECORDED_H
#define TIDE_COLLECT_UNRECORDED_H

#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"
#include "trace/list.h"
#include "trace/ring.h"

struct tide_collector;

enum { TIDE_HEARD_KEPT = 1024 };

/* A call of exec, as a process has told it. */
struct tide_exec_news {
    uint32_t pid; /* 0: not known */
    uint32_t flags;
    uint64_t pid_space; /* as of a share */
    uint64_t ticks;
    char name[TIDE_EXEC_NAME_BYTES];
};

/* One whose end, or whose hello, is waited for. */
struct tide_open_program {
    uint32_t pid;
    uint32_t flags;
    uint64_t pid_space;
    uint64_t begin, end; /* ticks; 0: not known */
    double started;      /* as /proc has it; negative: not known yet */
    bool awaited;        /* it may still say hello */
    bool seen_only;      /* nobody told of it */
    bool watched;        /* it is looked at in /proc until it has ended */
    bool gone;           /* it has ended, and is to be settled */
    char *name;          /* owned */
    const char *reason;  /* static; NULL: not known yet */
};

/* All of one name and reason. */
struct tide_unrecorded_row {
    char *name;         /* owned */
    const char *reason; /* static */
    uint32_t count;
    uint64_t shortest, longest; /* lives in ticks; longest 0: none is known */
};

struct tide_heard {
    uint32_t pid;
    uint64_t pid_space, ticks;
    uint64_t device, inode; /* of its program; 0: not known */
};

struct tide_unrecorded {
    struct tide_list open; /* struct tide_open_program */
    struct tide_list rows; /* struct tide_unrecorded_row, of those who are settled */
    uint32_t count;        /* settled */
    bool at_least;         /* there may be more than were counted */
    struct tide_heard heard[TIDE_HEARD_KEPT]; /* the last hellos */
    uint32_t heard_count;                     /* ever */
    uint64_t changed_ns, next_look_ns;
};

void tide_unrecorded_init(struct tide_unrecorded *account);
void tide_unrecorded_release(struct tide_unrecorded *account);

/* Take what processes have told; look who has ended.  Lowers *NEXT_NS to when there is
 * something to look at again. */
void tide_unrecorded_catch_up(struct tide_collector *collector, uint64_t *next_ns);

/* PID has said hello: the program that it began is known. */
void tide_unrecorded_heard(struct tide_unrecorded *account, uint32_t pid,
                           uint64_t pid_space);

/* PID runs the program that said hello: whatever seems to keep it from doing so, as a change of
 * its user, is of the next one that it executes. */
bool tide_unrecorded_is_heard(const struct tide_unrecorded *account, uint32_t pid);

/* PID was seen to run the program NAME, which does not load the recorder for REASON. */
void tide_unrecorded_seen(struct tide_collector *collector, uint32_t pid,
                          const char *name, const char *reason);

/* Catch up, and settle whoever is open; who lives and may still say hello only when ALL. */
void tide_unrecorded_settle(struct tide_collector *collector, bool all);

/* One line that counts and names the settled ones; nothing when there are none.  RATE is in
 * ticks per second; KEPT: --keep-preload was given. */
void tide_unrecorded_tell(struct tide_unrecorded *account, double rate, bool kept,
                          struct tide_text *out);

/* --- Inside collect/ ---------------------------------------------------------------- */

/* Add one of NAME and REASON with a life of so many TICKS (0: not known). */
void tide_unrecorded_count(struct tide_unrecorded *account, const char *name,
                           const char *reason, uint64_t ticks);

#endif
