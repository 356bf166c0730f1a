/* collect/privileges.h - does a program start with more rights than its caller has?
 *
 * For: collect/, tests/.
 */
#ifndef TIDE_COLLECT_PRIVILEGES_H
#define TIDE_COLLECT_PRIVILEGES_H

#include <stdbool.h>

#include "collect/checks.h"

/* Will the kernel tell the loader of PATH to distrust its environment (AT_SECURE)?  Then
 * it ignores LD_PRELOAD, and OUT gets a refusal. */
void tide_privileges_check(const char *path, struct tide_checks *out);

#endif
