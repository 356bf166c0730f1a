/* collect/inspect.h - can this program be recorded, and what will be missing?
 *
 * For: cli/, tests/.
 */
#ifndef TIDE_COLLECT_INSPECT_H
#define TIDE_COLLECT_INSPECT_H

#include <stdbool.h>

#include "collect/checks.h"

/* Look at the program NAME, found as exec finds it, and add what there is to say to OUT.
 * THOROUGH also looks through large symbol tables.  Returns 0, or the errno with which
 * exec would fail (ENOENT, EACCES, EISDIR...): then OUT says so as well. */
int tide_inspect(const char *name, bool thorough, struct tide_checks *out);

#endif
