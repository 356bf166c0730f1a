/* tests/programs/paths.h - 64 ways to the same place.
 *
 * For: ring.c, bench/loads/exchange.c.  first[] goes one of them, by the lowest six bits of
 * PATH, to turn_over(), which the program has.
 */
#ifndef TIDE_TESTS_PATHS_H
#define TIDE_TESTS_PATHS_H

#include <stdint.h>

void turn_over(uint32_t at);

/* What comes after a call keeps its frame. */
#define STAY(value) __asm__ volatile("" : : "r"(value))

#define STEP(n, below)                                                         \
    __attribute__((noinline)) static void step_##n(uint32_t path, uint32_t at) \
    {                                                                          \
        below;                                                                 \
        STAY(path);                                                            \
    }
STEP(0, turn_over(at))
STEP(1, turn_over(at))
STEP(2, turn_over(at))
STEP(3, turn_over(at))
static void (*const last[])(uint32_t, uint32_t) = {step_0, step_1, step_2, step_3};
STEP(4, last[path & 3](path >> 2, at))
STEP(5, last[path & 3](path >> 2, at))
STEP(6, last[path & 3](path >> 2, at))
STEP(7, last[path & 3](path >> 2, at))
static void (*const middle[])(uint32_t, uint32_t) = {step_4, step_5, step_6, step_7};
STEP(8, middle[path & 3](path >> 2, at))
STEP(9, middle[path & 3](path >> 2, at))
STEP(10, middle[path & 3](path >> 2, at))
STEP(11, middle[path & 3](path >> 2, at))
static void (*const first[])(uint32_t, uint32_t) = {step_8, step_9, step_10, step_11};

#endif
