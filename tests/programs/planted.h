/* tests/programs/planted.h - what the programs with one planted problem share.
 *
 * For: planted_*.  Each of them does a little honest work beside its problem, and says
 * in the end what was planted, where, and how much it is.
 */
#ifndef TIDE_PROGRAMS_PLANTED_H
#define TIDE_PROGRAMS_PLANTED_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "say.h"

#define APART __attribute__((noinline))

enum { WORK_BLOCKS = 500 };

#ifdef TIDE_INNOCENT
/* Fifty functions that nobody should complain of, each with a site of its own: a block, which
 * stays until the next call. */
static void *innocent_blocks[50];

__attribute__((destructor)) static void free_innocent_blocks(void)
{
    for (unsigned i = 0; i < 50; i++)
        free(innocent_blocks[i]);
}

#    define INNOCENT(tens, ones)                                                     \
        static APART void innocent_##tens##ones(unsigned round)                      \
        {                                                                            \
            free(innocent_blocks[tens * 10 + ones]);                                 \
            innocent_blocks[tens * 10 + ones] = malloc(24 + 90 * ones + round % 13); \
        }
#    define TEN(tens)     \
        INNOCENT(tens, 0) \
        INNOCENT(tens, 1) \
        INNOCENT(tens, 2) \
        INNOCENT(tens, 3) \
        INNOCENT(tens, 4) \
        INNOCENT(tens, 5) \
        INNOCENT(tens, 6) INNOCENT(tens, 7) INNOCENT(tens, 8) INNOCENT(tens, 9)
#    define CALL(tens)                                            \
        innocent_##tens##0(round), innocent_##tens##1(round),     \
            innocent_##tens##2(round), innocent_##tens##3(round), \
            innocent_##tens##4(round), innocent_##tens##5(round), \
            innocent_##tens##6(round), innocent_##tens##7(round), \
            innocent_##tens##8(round), innocent_##tens##9(round)
TEN(0)
TEN(1)
TEN(2)
TEN(3)
TEN(4)
static inline void innocent_work(unsigned round)
{
    for (unsigned i = 0; i < 5; i++, round++)
        CALL(0), CALL(1), CALL(2), CALL(3), CALL(4);
}
#else
static inline void innocent_work(unsigned round)
{
    (void)round;
}
#endif

/* Problems of that many times the size. */
#ifndef TIDE_SCALE
#    define TIDE_SCALE 1
#endif

/* Work that nobody should complain of: blocks of many sizes, all freed, some in the order
 * they came in, some not. */
static APART void honest_work(unsigned round)
{
    static void *kept[WORK_BLOCKS];
    innocent_work(round);
    for (unsigned i = 0; i < WORK_BLOCKS; i++) {
        const unsigned at = (i * 7 + round) % WORK_BLOCKS;
        kept[at] = malloc(40 + (i * 37 + round * 11) % 600);
        memset(kept[at], (int)i, 40);
    }
    for (unsigned i = 0; i < WORK_BLOCKS; i++)
        free(kept[i]);
}

static inline void rest(double seconds)
{
    const struct timespec time = {(time_t)seconds,
                                  (long)((seconds - (double)(time_t)seconds) * 1e9)};
    nanosleep(&time, NULL);
}

/* The program's own word on what a report should find. */
static inline void confess(const char *kind, const char *function, uint64_t bytes,
                           uint64_t calls)
{
    say("{\"kind\": \"%s\", \"function\": \"%s\", \"bytes\": %llu, \"calls\": %llu}\n",
        kind, function, (unsigned long long)bytes, (unsigned long long)calls);
}

#endif
