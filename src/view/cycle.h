/* view/cycle.h - recursion in a list of calls.
 *
 * For: view/, tests/.
 */
#ifndef TIDE_VIEW_CYCLE_H
#define TIDE_VIEW_CYCLE_H

#include <stddef.h>
#include <stdint.h>

#define TIDE_NO_CALL UINT32_MAX /* in a list: in no cycle */

enum { TIDE_PERIOD_MOST = 8 }; /* functions that call each other in turn */

/* Functions that call each other in turn: how many, and how often. */
struct tide_cycle {
    size_t period, turns;
};

/* How often the PERIOD first of COUNT functions stand one after the other. */
size_t tide_cycle_turns(const uint32_t *functions, size_t count, size_t period);
/* The cycle that these begin with and that covers most; once the first alone when there
 * is none.  A function that calls itself goes before longer cycles. */
struct tide_cycle tide_cycle_find(const uint32_t *functions, size_t count);

#endif
