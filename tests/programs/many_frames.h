/* tests/programs/many_frames.h - allocate below the functions of lib_many_frames.c. */
#ifndef TIDE_PROGRAMS_MANY_FRAMES_H
#define TIDE_PROGRAMS_MANY_FRAMES_H

#include <stdint.h>
#include <stdlib.h>

enum { FUNCTIONS = 32768, FUNCTION_BYTES = 32 };

__attribute__((noinline)) static void inside(void)
{
    void *volatile block = malloc(24);
    free(block);
}

/* Below every STEP-th of those from FIRST on. */
static inline void call_many_frames(uintptr_t first, uint32_t step)
{
    for (uint32_t i = 0; i < FUNCTIONS; i += step) {
        /* All over the place, each one once: the factor is odd. */
        const uint32_t index = i * 10007 % FUNCTIONS;
        const uintptr_t at = first + index * FUNCTION_BYTES;
        ((void (*)(void (*)(void)))at)(inside);
    }
}

#endif
