/* capture/sandbox.h - the recorder keeps to the system calls that the program may make.
 *
 * For: capture/.  All of the recorder's own calls of syscall() come to sandbox.c (the
 * linker sees to it: --wrap in cmake/recorder.cmake), which makes those only that every
 * seccomp filter of the program lets through.  The others fail with EPERM, so whoever
 * calls must be able to do without.  What a hook calls on behalf of the program goes to
 * the kernel as it is: tide_program_call().
 */
#ifndef TIDE_CAPTURE_SANDBOX_H
#define TIDE_CAPTURE_SANDBOX_H

#include <linux/filter.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "capture/self.h"

/* A call that the program makes, as syscall(): whatever comes of it is its own affair. */
long tide_program_call(long number, ...);

/* Would a call of the recorder's that cannot be made by syscall() pass?  A clone() that goes
 * on elsewhere, say. */
bool tide_sandbox_lets(long number, long first_argument) TIDE_COLD;

/* A filter is about to be set: the recorder makes no call until it is known... */
void tide_sandbox_begin(void) TIDE_COLD;
/* ...that it is FILTER, or that it was not taken (NULL).  Keeps errno. */
void tide_sandbox_end(const struct sock_fprog *filter) TIDE_COLD;

/* Wait until *WORD is not SEEN any more, for 20 ms at most, by futex or without. */
void tide_wait_while(_Atomic uint32_t *word, uint32_t seen) TIDE_COLD;

#endif
