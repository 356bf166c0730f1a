/* capture/cautions.h - what passes the recorder by is said.
 *
 * For: capture/.
 */
#ifndef TIDE_CAPTURE_CAUTIONS_H
#define TIDE_CAPTURE_CAUTIONS_H

#include "capture/self.h"

/* Recording has begun: is there a malloc in front of ours? */
void tide_cautions_start(void) TIDE_COLD;

/* FILE is about to be loaded so that its calls do not reach us. */
void tide_caution_bypass(const char *file) TIDE_COLD;

/* No system call and no look at the clock will be allowed from now on: recording ends. */
void tide_caution_end(void) TIDE_COLD;

/* What the program's sandbox makes of recording: there is no more memory, or none of what
 * the program executes can be recorded. */
enum tide_sandbox_loss { TIDE_SANDBOX_MEMORY, TIDE_SANDBOX_EXEC };
void tide_caution_sandbox(enum tide_sandbox_loss loss) TIDE_COLD;

/* The program has arenas of jemalloc of its own. */
void tide_caution_arenas(void) TIDE_COLD;

/* There is no room for another name. */
void tide_caution_names(void) TIDE_COLD;

/* The program calls CALL of another system, which does nothing here. */
void tide_caution_idle(const char *call) TIDE_COLD;

/* There is no order table.  Call with busy set. */
void tide_caution_unordered(void) TIDE_COLD;

#endif
