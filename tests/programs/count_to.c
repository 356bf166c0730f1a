/* tests/programs/count_to.c - make so many blocks of sizes that do not compress.
 *
 * Usage: count_to CALLS.  The trace grows by about 3 bytes a call.
 */
#include <stdint.h>
#include <stdlib.h>

#include "say.h"

static uint64_t dice = 88172645463325252ull;

static uint64_t next(void)
{
    dice ^= dice << 13;
    dice ^= dice >> 7;
    dice ^= dice << 17;
    return dice;
}

__attribute__((noinline)) static void *make(size_t size)
{
    void *volatile block = malloc(size);
    return block;
}

int main(int argc, char **argv)
{
    enum { KEPT = 256 };
    void *kept[KEPT] = {NULL};
    const long calls = argc > 1 ? atol(argv[1]) : 1000;
    for (long i = 0; i < calls; i++) {
        const unsigned at = next() % KEPT;
        free(kept[at]);
        kept[at] = make(next() % 20000);
    }
    say("made %ld\n", calls);
    return 7;
}
