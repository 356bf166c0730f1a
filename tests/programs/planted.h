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

/* Work that nobody should complain of: blocks of many sizes, all freed, some in the order
 * they came in, some not. */
static APART void honest_work(unsigned round)
{
    static void *kept[WORK_BLOCKS];
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
