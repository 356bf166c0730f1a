/* base/raw/ticks.h - the clock that time stamps are made of.
 *
 * For: everybody, the recorder too: nothing here allocates, locks or fails.
 *
 * Ticks are the processor's time stamp counter where it runs at one speed whatever the
 * core sleeps or hurries (10 ns to read), else nanoseconds of CLOCK_MONOTONIC (23 ns).
 * All processes of a run must read the same clock: the collector decides and says so in
 * the session page (see trace/ring.h), targets take what it says.
 */
#ifndef TIDE_BASE_RAW_TICKS_H
#define TIDE_BASE_RAW_TICKS_H

#include <stdint.h>
#include <time.h>

enum tide_ticks_kind {
    TIDE_TICKS_UNDECIDED = 0, /* reads as MONOTONIC */
    TIDE_TICKS_COUNTER = 1,   /* the processor's counter */
    TIDE_TICKS_MONOTONIC = 2, /* nanoseconds */
};

/* enum tide_ticks_kind.  Set once, before a second thread looks. */
extern uint32_t tide_ticks_kind __attribute__((visibility("hidden")));

/* The best kind that this processor has, never UNDECIDED. */
uint32_t tide_ticks_best(void);

/* Read the clock of KIND from here on; UNDECIDED takes the best. */
void tide_ticks_init(uint32_t kind);

#if defined(__x86_64__)
static inline uint64_t tide_ticks_counter(void)
{
    return __builtin_ia32_rdtsc();
}
#elif defined(__aarch64__)
static inline uint64_t tide_ticks_counter(void)
{
    uint64_t ticks;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
    return ticks;
}
#else
static inline uint64_t tide_ticks_counter(void)
{
    return 0;
}
#endif

static inline uint64_t tide_ticks_monotonic(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static inline uint64_t tide_ticks(void)
{
    if (__builtin_expect(tide_ticks_kind == TIDE_TICKS_COUNTER, 1))
        return tide_ticks_counter();
    return tide_ticks_monotonic();
}

#endif
