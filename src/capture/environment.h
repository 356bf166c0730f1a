/* capture/environment.h - set a variable of the program without its heap.
 *
 * For: lifecycle.c, monitor_*.c.  setenv() would take memory from the heap before
 * recording starts; a program that clears its environment frees it later, and would be
 * seen to free a block that was never allocated.
 */
#ifndef TIDE_CAPTURE_ENVIRONMENT_H
#define TIDE_CAPTURE_ENVIRONMENT_H

#include <stdbool.h>

/* Set NAME to VALUE, as setenv() does.  Call at the start, before the program's main().
 * False: there is no memory. */
bool tide_environment_set(const char *name, const char *value);

#endif
