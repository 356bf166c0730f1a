/* capture/lifecycle.h - beginnings and ends: threads and their streams.
 *
 * For: capture/.
 */
#ifndef TIDE_CAPTURE_LIFECYCLE_H
#define TIDE_CAPTURE_LIFECYCLE_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "capture/stream.h"

/* Arrange for the end of the calling thread to be noticed; it has STREAM, or NULL. */
void tide_thread_watch(struct tide_stream *stream);

/* Start recording, unless that was done. */
void tide_recording_start(void) TIDE_COLD;

/* This process is about to end: let the collector know when. */
void tide_recording_ends(void) TIDE_COLD;

/* THREAD of this process has been given a NAME. */
void tide_thread_named(pthread_t thread, const char *name) TIDE_COLD;

/* A second thread is about to exist: start to count slots. */
void tide_threads_begin(void);

/* A fork, perhaps by a signal handler that interrupted a hook: then do what that takes
 * and return true.  See tide_stream_tear(). */
enum tide_fork_moment { TIDE_FORK_BEFORE, TIDE_FORK_PARENT, TIDE_FORK_CHILD };
bool tide_fork_in_hook(enum tide_fork_moment moment) TIDE_COLD;

/* enum tide_space_bit: what is recorded. */
extern uint32_t tide_spaces;
extern bool tide_heap_ignored; /* heap is not among them */
extern bool tide_as_usual;     /* recording, the heap, deaths without stacks */

#endif
