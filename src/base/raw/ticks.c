/* base/raw/ticks.c - decide which clock can be trusted.
 *
 * On x86 a counter that changes its speed or stops with the core is worse than none, so
 * the processor must promise that it does neither ("invariant TSC").  The counter of
 * aarch64 is a system clock by definition.
 */
#include "base/raw/ticks.h"

#if defined(__x86_64__)
#    include <cpuid.h>
#endif

uint32_t tide_ticks_kind;

#if defined(__x86_64__)
uint32_t tide_ticks_best(void)
{
    const unsigned leaf = 0x80000007u, invariant = 1u << 8;
    unsigned a = 0, b = 0, c = 0, d = 0;
    if (__get_cpuid(leaf, &a, &b, &c, &d) && (d & invariant))
        return TIDE_TICKS_COUNTER;
    return TIDE_TICKS_MONOTONIC;
}
#elif defined(__aarch64__)
uint32_t tide_ticks_best(void)
{
    return TIDE_TICKS_COUNTER;
}
#else
uint32_t tide_ticks_best(void)
{
    return TIDE_TICKS_MONOTONIC;
}
#endif

void tide_ticks_init(uint32_t kind)
{
    tide_ticks_kind = kind == TIDE_TICKS_UNDECIDED ? tide_ticks_best() : kind;
}
