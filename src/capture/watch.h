/* capture/watch.h - from the hooks to those who listen: windows and monitors.
 *
 * For: the hooks, api_count.c, monitors.  While nobody listens and nothing is paused the
 * hooks do not come here: tide_as_usual is what they look at anyway.
 */
#ifndef TIDE_CAPTURE_WATCH_H
#define TIDE_CAPTURE_WATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "capture/self.h"

/* Somebody listens, or something is paused: hooks take their longer way. */
extern bool tide_attended;

/* One more reason to take it, or one less. */
void tide_attend(int more) TIDE_COLD;
/* The recorder works as usual, as far as it is concerned. */
void tide_usual_begin(void) TIDE_COLD;

/* --- For the hooks, when tide_attended --- */

/* What this thread allocates now shall not be recorded. */
bool tide_is_paused(void);
void tide_watch_alloc(const void *block, size_t requested, size_t used);
void tide_watch_failed(size_t requested);
void tide_watch_free(const void *block, size_t used);
/* The same of a block that is not in the live table any more: it may be somebody else's. */
void tide_watch_freed(const void *block, size_t used);

/* realloc: before the call, and after it. */
struct tide_watch_move {
    const void *old, *block; /* NULL: it failed, or (gone) the old one was freed */
    size_t old_used, requested, used;
    bool gone;
    uint32_t lifted; /* from the live table */
};
void tide_watch_move_begin(struct tide_watch_move *move);
void tide_watch_move_end(const struct tide_watch_move *move);

/* --- For others --- */

/* This thread has jumped out of a listener, perhaps: who waits for all to have left need not
 * wait for itself. */
void tide_watch_leave_jumped(struct tide_caller caller) TIDE_COLD;

/* The number of this thread. */
uint64_t tide_thread_number(void);
/* A forked child begins. */
void tide_watch_after_fork(void) TIDE_COLD;
void tide_count_after_fork(void) TIDE_COLD; /* api_count.c */
/* One pause more of the whole process, or (-1) one less.  False: there is none. */
bool tide_pause_all(int more) TIDE_COLD;

#endif
