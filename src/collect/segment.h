/* collect/segment.h - the collector's side of one segment of shared memory.
 *
 * For: collect/, tests/.  The memory may be written by a target at any moment, and with
 * anything: whoever reads it keeps bounds of his own.  See trace/ring.h.
 *
 * Owned by the drain thread once it has been handed over.
 */
#ifndef TIDE_COLLECT_SEGMENT_H
#define TIDE_COLLECT_SEGMENT_H

#include <stdbool.h>
#include <stdint.h>

#include <tidemark/status.h>

#include "collect/notes_out.h"
#include "trace/ring.h"

struct tide_lane_copy; /* see collect/lanes.h */

struct tide_share {
    struct tide_share *next;
    struct tide_segment *shared; /* mapped: `bytes` of it */
    uint64_t bytes;
    int fd;               /* owned */
    bool by_file;         /* read rings through it: then their pages are not ours */
    bool tells_holders;   /* tide_share_held() knows */
    uint32_t pid;         /* of the process that asked for it, as it says itself */
    uint64_t pid_space;   /* which other pid namespace its processes live in; 0: ours */
    uint32_t serial;      /* later ones are higher */
    uint64_t hello_ticks; /* when it was asked for */
    double session_began; /* see tide_clock_began() */
    struct tide_image image;

    struct tide_lane_copy **lanes; /* owned, by directory entry; NULL: not seen yet */
    uint32_t lane_count;

    uint32_t processes;     /* known ones in it */
    uint32_t unwatched;     /* those of them whose end nobody tells us */
    bool had_process;       /* there was one, ever */
    uint32_t tries;         /* passes it was kept for what we had no memory for */
    bool given_up;          /* a target closed it: it could not go on */
    bool unheld;            /* nobody maps it any more: what is in it is final */
    uint32_t execs_taken;   /* of what it tells of exec */
    uint64_t empty_ns;      /* since when there is no process */
    uint64_t next_check_ns; /* when to ask again who holds it */
};

enum tide_held {
    TIDE_HELD_NO = 0,
    TIDE_HELD_YES = 1,
    TIDE_HELD_UNKNOWN = 2,
};

/* A new segment, and in *PEER_FD (owned by the caller) the descriptor to give away.  On
 * failure errno says more. */
enum tide_status tide_share_create(struct tide_share **out, int *peer_fd);
/* Unmap, close and free.  NULL is fine. */
void tide_share_free(struct tide_share *share);

/* The lane header at OFFSET, or NULL when no such place can hold one. */
struct tide_lane_shared *tide_share_lane(const struct tide_share *share,
                                         uint64_t offset);
/* BYTES at OFFSET, or NULL when they are not all inside. */
const uint8_t *tide_share_at(const struct tide_share *share, uint64_t offset,
                             uint64_t bytes);

/* Map the page of the lane header at OFFSET, which lies inside.  Where the first look does
 * that (before Linux 5.14), it maps what the targets have touched around it as well. */
void tide_share_meet(const struct tide_share *share, uint64_t offset);
/* Copy BYTES at OFFSET to TO; false when they are not all inside. */
bool tide_share_read(const struct tide_share *share, uint64_t offset, uint64_t bytes,
                     void *to);

/* Give the targets the memory they ask for.  True when anything was answered. */
bool tide_share_grow(struct tide_share *share);

/* Is the segment mapped by anybody but us? */
enum tide_held tide_share_held(const struct tide_share *share);

/* A memfd of BYTES that cannot shrink under our feet; -1 on failure. */
int tide_memory_file(const char *name, uint64_t bytes);

/* Words for PROBLEM, an errno of making shared memory or a session folder. */
const char *tide_memory_problem(int problem);

#endif
