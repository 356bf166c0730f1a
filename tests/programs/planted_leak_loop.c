/* tests/programs/planted_leak_loop.c - much work at the start, then a loop that leaks a block
 * in each of a hundred steps, in less than a second. */
#include "planted.h"

enum { STEPS = 100, PLAN = 4700 };

static uint64_t lost, lost_bytes;

APART static char *plan_step(unsigned step)
{
    char *const plan = malloc(PLAN);
    plan[0] = (char)step;
    lost++;
    lost_bytes += PLAN;
    return plan;
}

int main(void)
{
    char *volatile plan;
    for (unsigned i = 0; i < 40; i++)
        honest_work(i);
    for (unsigned i = 0; i < STEPS; i++) {
        plan = plan_step(i);
        rest(0.004);
    }
    (void)plan;
    confess("leak_growing", "plan_step", lost_bytes, lost);
    return 0;
}
