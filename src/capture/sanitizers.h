/* capture/sanitizers.h - programs that carry a sanitizer's runtime.
 *
 * For: capture/.
 */
#ifndef TIDE_CAPTURE_SANITIZERS_H
#define TIDE_CAPTURE_SANITIZERS_H

#include <stdbool.h>

#include "capture/self.h"

/* Is the runtime of a sanitizer that has an allocator of its own in this process?  May
 * be asked as soon as our relocations are done. */
bool tide_sanitized(void);

/* Recording has begun: let the trace know a runtime that makes blocks past us. */
void tide_sanitizer_see(void) TIDE_COLD;

#endif
