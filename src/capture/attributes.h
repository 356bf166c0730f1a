/* capture/attributes.h - values that the program sets by name, for queries to show.
 *
 * For: capture/.  They belong to a thread, and are written when they change.  The trail of
 * the thread remembers those that it has, so that a lane that begins later, as that of a
 * child of fork does, can be told of them.
 */
#ifndef TIDE_CAPTURE_ATTRIBUTES_H
#define TIDE_CAPTURE_ATTRIBUTES_H

struct tide_stream;

/* Write the values that this thread has to STREAM, whose busy is set. */
void tide_attributes_tell(struct tide_stream *stream) __attribute__((cold));

#endif
