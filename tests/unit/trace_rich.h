/* unit/trace_rich.h - a small trace that has a bit of everything. */
#ifndef TIDE_UNIT_TRACE_RICH_H
#define TIDE_UNIT_TRACE_RICH_H

#include <stdbool.h>

#include "trace_builder.h"

enum { TIDE_RICH_EVENTS = 173 }; /* on addresses: all but SPAN and EXTRA */

/* Three processes, the first with three lanes and numbers, the second forked.  PLAIN:
 * chunks are not compressed.  The caller frees it. */
struct tide_builder *tide_rich_trace(bool plain);

#endif
