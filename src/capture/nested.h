/* capture/nested.h - events that cannot be recorded the usual way.
 *
 * For: capture/.
 */
#ifndef TIDE_CAPTURE_NESTED_H
#define TIDE_CAPTURE_NESTED_H

#include <stdbool.h>

#include "capture/stream.h"

/* Deal with EVENT of a thread that is early, quiet, off, ended, nested, or has no stream
 * yet.  True: done.  False: the thread now has an idle stream, record it the usual
 * way. */
bool tide_bare(struct tide_caller caller,
               const struct tide_bare_event *event) TIDE_COLD;

/* Busy is set: did a longjmp leave the hook that set it?  Then its frame is not among
 * the callers, the stream starts over with a reset, and true is returned. */
bool tide_unstick(struct tide_self *self, struct tide_caller caller) TIDE_COLD;

/* Quiet is set: is CALLER a call inside the one that set it?  No when a handler has
 * interrupted that one; and no when a longjmp has left it, then quiet is cleared. */
bool tide_still_quiet(struct tide_self *self, struct tide_caller caller) TIDE_COLD;

/* Keep EVENT until recording starts.  True: it is time for that. */
bool tide_early_keep(const struct tide_bare_event *event);
/* Recording has started in this thread: write what was kept. */
void tide_early_flush(struct tide_stream *stream);

#endif
