/* capture/session.h - the shared memory of this run, as the target maps it.
 *
 * For: capture/.  Connecting happens once per program image; forked children use what
 * their parent mapped.  No descriptor is kept.
 */
#ifndef TIDE_CAPTURE_SESSION_H
#define TIDE_CAPTURE_SESSION_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/ring.h"

extern struct tide_session_page *tide_session; /* NULL: not recorded */
extern struct tide_segment *tide_shared_segment;
extern bool tide_session_silent; /* the collector gave no answer when it was asked */
extern uint32_t
    tide_session_mortal; /* pid of a collector that may be killed when we end; or 0 */

/* Meet the collector in DIRECTORY.  Called once, from the constructor. */
bool tide_session_connect(const char *directory);

/* Let go of the shared memory, so that the collector does not take this process for one of
 * his.  Where it was there are zeros now: a hook that was interrupted may still write. */
void tide_session_leave(void);

/* The name of the trace goes to PATH, without a zero behind it; its length, below 1: not
 * known. */
long tide_session_trace(char *path, size_t size);
/* Have all that was recorded so far written to it, and wait for that.  False: there is no word
 * from the collector for two seconds. */
bool tide_session_flush(void);

/* Wake the collector if it sleeps. */
void tide_session_wake(void);

/* BYTES of the segment that are reserved and mapped; 0 when there are none to be had.
 * Call with the process lock held. */
uint64_t tide_segment_take(uint32_t bytes);
/* Where OFFSET of the segment is mapped here; NULL when it cannot be. */
void *tide_segment_at(uint64_t offset, uint32_t bytes);

/* How large a ring may become that is to grow, of BYTES now, by what all rings of the segment
 * have already; 0: it stays as it is. */
uint32_t tide_segment_ring_after(uint32_t bytes);

/* A lane nobody uses, in state CLAIMED, its ring fields set, the ring not smaller than LEAST;
 * NULL when there is none.  Call with the process lock held. */
struct tide_lane_shared *tide_lane_claim(uint32_t least);

#endif
