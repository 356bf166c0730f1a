/* unit/fake_producer.h - a target's end of the shared memory, for tests of collect/.
 *
 * Written from trace/ring.h and row.h alone; it shares no code with the recorder.  Its rows are
 * SYNC, and EXTRA of a kind that nobody knows, with a counter in it: so whoever reads the
 * trace can tell whether all came, once and in order.
 */
#ifndef TIDE_UNIT_FAKE_PRODUCER_H
#define TIDE_UNIT_FAKE_PRODUCER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/ring.h"

enum {
    TIDE_FAKE_EXTRA = 1000,              /* kind of its records */
    TIDE_FAKE_RECORD_MAX = 2048,         /* bytes of the longest row */
    TIDE_FAKE_MAPPED = 256 * 1024 * 1024 /* so much of the segment can be reached */
};

struct tide_fake {
    struct tide_session_page *page; /* NULL: the collector's futex is nobody's */
    struct tide_segment *segment;
    uint32_t pid;
    uint64_t birth;
};

struct tide_fake_lane {
    struct tide_fake *fake;
    struct tide_lane_shared *shared;
    uint8_t *ring;
    uint32_t ring_bytes;
    uint32_t pos;             /* offset of the next byte */
    uint64_t base, last_base; /* position of offset 0, in this lap and the last */
    uint64_t counter;         /* of the next record */
    uint64_t reset_at;        /* position of the last reset */
    uint64_t sync_every;      /* bytes between resets */
};

/* Map the segment of descriptor FD. */
bool tide_fake_map(struct tide_fake *fake, int fd);
/* Say hello in DIRECTORY and map what is given.  The fake's pid is the caller's. */
bool tide_fake_connect(struct tide_fake *fake, const char *directory);

/* Take a lane. */
bool tide_fake_claim(struct tide_fake *fake, struct tide_fake_lane *lane, uint32_t use,
                     uint32_t number);

/* Publish LENGTH bytes, a whole record or note.  Waits for room; false when the
 * collector gives no sign of life for five seconds. */
bool tide_fake_put(struct tide_fake_lane *lane, const void *bytes, size_t length);
/* The next row with values of PAYLOAD bytes (at least 8: the counter), after a
 * reset if one is due or was asked for. */
bool tide_fake_record(struct tide_fake_lane *lane, size_t payload);
bool tide_fake_reset(struct tide_fake_lane *lane);

/* Move to a new ring of BYTES once the old one is empty. */
bool tide_fake_move(struct tide_fake_lane *lane, uint32_t bytes);

/* Offset of BYTES of the segment, asked for if need be; 0: refused. */
uint64_t tide_fake_take(struct tide_fake *fake, uint64_t bytes);

/* Room for LENGTH bytes in one piece is there, or can be had, without waiting? */
bool tide_fake_has_room(struct tide_fake_lane *lane, size_t length);

#endif
