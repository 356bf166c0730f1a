/* view/cycle.c - recursion in a list of calls. */
#include "view/cycle.h"

size_t tide_cycle_turns(const uint32_t *functions, size_t count, size_t period)
{
    size_t same = 0;
    while (period + same < count && functions[same] == functions[period + same] &&
           functions[same] != TIDE_NO_CALL)
        same++;
    return same / period + 1;
}

struct tide_cycle tide_cycle_find(const uint32_t *functions, size_t count)
{
    struct tide_cycle best = {1, tide_cycle_turns(functions, count, 1)};
    if (best.turns > 1)
        return best;
    for (size_t period = 2; period <= TIDE_PERIOD_MOST; period++) {
        const size_t turns = tide_cycle_turns(functions, count, period);
        if (turns > 1 && period * turns > best.period * best.turns)
            best = (struct tide_cycle){period, turns};
    }
    return best;
}
