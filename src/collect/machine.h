/* collect/machine.h - what recording needs of this machine, and whether it is there.
 *
 * For: cli/, tests/.
 */
#ifndef TIDE_COLLECT_MACHINE_H
#define TIDE_COLLECT_MACHINE_H

#include "collect/checks.h"

/* Try what a run would do before the program starts, and add what came of it to OUT.
 * Nothing is left behind.  The caller has one thread. */
void tide_machine_check(struct tide_checks *out);

#endif
