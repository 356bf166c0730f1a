/* collect/preloads.h - what else is preloaded into programs.
 *
 * For: collect/, cli/, tests/.
 */
#ifndef TIDE_COLLECT_PRELOADS_H
#define TIDE_COLLECT_PRELOADS_H

#include "collect/checks.h"

/* Judge the libraries named in VALUE, that of LD_PRELOAD (NULL: there are none). */
void tide_preloads_check(const char *value, struct tide_checks *out);

#endif
