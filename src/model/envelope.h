/* model/envelope.h - the most that all lanes together can have held at one moment.
 *
 * For: model/, tests/.  See peak.h for the words.  A lane is as high as the highest
 * balance of the stretch it is in.  The envelope at a moment is the sum over lanes; its
 * highest value is no less than the true peak.
 *
 * How high a stretch is, is known when it ends.  So the steps at each moment (a time
 * stamp of any lane) are kept until no lane is in a stretch that began at it or before.
 * A lane that is idle for long would keep them all; when there is no more room, the
 * oldest stretch is taken to be as high as it could become, and to begin anew now.
 */
#ifndef TIDE_MODEL_ENVELOPE_H
#define TIDE_MODEL_ENVELOPE_H

#include <stddef.h>
#include <stdint.h>

#include <tidemark/status.h>

#include "model/peak.h"

enum { TIDE_MOMENTS = 1024 }; /* kept at most; a power of two */

/* Stamps that are equal may have come in either order, so at one moment all rises come
 * before all falls. */
struct tide_moment {
    int64_t rise, fall;
};

struct tide_envelope {
    struct tide_moment *moments; /* owned; ring: moment n at [n % TIDE_MOMENTS] */
    uint64_t first, last;        /* moments in it; those before first are summed up */
    uint64_t ticks;              /* of last */
    int64_t sum, highest;
    uint32_t oldest, newest; /* lanes that are in a stretch, index + 1 */
};

/* The stretches of all lanes, found by number: those of an array of lane books. */
struct tide_stretches {
    void *first;        /* borrowed: the stretch of lane 0 */
    size_t apart_bytes; /* from one to the next */
};

enum tide_status tide_envelope_init(struct tide_envelope *envelope);
void tide_envelope_release(struct tide_envelope *envelope);

/* LANE leaves its stretch, if it is in one; nothing is known of it until the next. */
void tide_envelope_close(struct tide_envelope *envelope, struct tide_stretches all,
                         uint32_t lane);
/* LANE, closed, has gone into a new stretch: tide_stretch_next() has been called. */
void tide_envelope_open(struct tide_envelope *envelope, struct tide_stretches all,
                        uint32_t lane);
/* LANE, closed, stands at nothing any more; it stood at what is returned. */
int64_t tide_envelope_leave(struct tide_stretches all, uint32_t lane);
/* From TICKS on HEIGHT is gone: that of all lanes of a process, which go at once.  One that
 * frees what others make stands below nothing; were it the first to go, the envelope would
 * rise by all that it ever freed. */
void tide_envelope_drop(struct tide_envelope *envelope, struct tide_stretches all,
                        int64_t height, uint64_t ticks);

/* Close all lanes; the highest that the envelope ever was. */
uint64_t tide_envelope_finish(struct tide_envelope *envelope,
                              struct tide_stretches all);

#endif
