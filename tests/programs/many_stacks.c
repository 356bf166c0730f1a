/* tests/programs/many_stacks.c - as many different stacks as asked for.
 *
 * Usage: many_stacks N [keep].  Walks down all paths of N steps to the left or to the
 * right and makes one block at the end of each: 2 to the power of N stacks.  With "keep"
 * the blocks stay, else each is freed before the next is made.  Prints what it made.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "say.h"

static bool keep;
static unsigned long made, bytes;
void *volatile last;

void left(unsigned steps);
void right(unsigned steps);

static void make(void)
{
    const size_t size = 16 + made % 64;
    last = malloc(size);
    made++;
    bytes += size;
    if (!keep)
        free(last);
}

__attribute__((noinline)) void left(unsigned steps)
{
    if (steps == 0) {
        make();
    } else {
        left(steps - 1);
        right(steps - 1);
    }
    __asm__ volatile("");
}

__attribute__((noinline)) void right(unsigned steps)
{
    if (steps == 0) {
        make();
    } else {
        left(steps - 1);
        right(steps - 1);
    }
    __asm__ volatile("");
}

int main(int argc, char **argv)
{
    const unsigned steps = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 4;
    if (steps == 0 || steps > 24)
        return 2;
    keep = argc > 2 && strcmp(argv[2], "keep") == 0;
    left(steps - 1);
    right(steps - 1);
    say("{\"blocks\": %lu, \"bytes\": %lu}\n", made, bytes);
    return 0;
}
