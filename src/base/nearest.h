/* base/nearest.h - what was probably meant.
 *
 * For: everything but capture/.
 */
#ifndef TIDE_BASE_NEAREST_H
#define TIDE_BASE_NEAREST_H

#include <stdbool.h>
#include <stddef.h>

/* The one of COUNT names most like WORD, or NULL when none is like it. */
const char *tide_nearest(const char *word, const char *const *names, size_t count);

/* Is NAME, which tide_nearest() found for WORD, so near that WORD is hardly a name of its
 * own?  lief may be one beside leaf. */
bool tide_surely(const char *word, const char *name);

/* Is WORD the name NAME, but for one letter or two that changed places? */
bool tide_nearly(const char *word, const char *name);

#endif
