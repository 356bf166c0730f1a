/* capture/first_errors.h - standard error, as it was when the program started.
 *
 * For: monitors.  A program may close it before its end, as coreutils do in their last
 * handlers, or open a file of its own in its place: what we say belongs in neither.
 */
#ifndef TIDE_CAPTURE_FIRST_ERRORS_H
#define TIDE_CAPTURE_FIRST_ERRORS_H

#include "capture/self.h"

/* Remember which file it is; KEEP: with a descriptor of our own. */
void tide_first_errors_begin(bool keep) TIDE_COLD;

/* Where it can be written to now; -1: nowhere. */
int tide_first_errors(void) TIDE_COLD;

/* A forked child begins. */
void tide_first_errors_after_fork(void) TIDE_COLD;

#endif
