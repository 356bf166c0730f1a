/* tests/programs/equals.c - twenty functions that keep as much each.
 *
 * Usage: equals SIZE.  Each keeps a block of SIZE bytes, 0: none.
 */
#include <stdlib.h>

static void *volatile kept;

#define KEEP(NAME)                                          \
    __attribute__((noinline)) static void NAME(size_t size) \
    {                                                       \
        if (size)                                           \
            kept = malloc(size);                            \
    }

KEEP(keep_00)
KEEP(keep_01)
KEEP(keep_02)
KEEP(keep_03)
KEEP(keep_04)
KEEP(keep_05)
KEEP(keep_06)
KEEP(keep_07)
KEEP(keep_08)
KEEP(keep_09)
KEEP(keep_10)
KEEP(keep_11)
KEEP(keep_12)
KEEP(keep_13)
KEEP(keep_14)
KEEP(keep_15)
KEEP(keep_16)
KEEP(keep_17)
KEEP(keep_18)
KEEP(keep_19)

int main(int argc, char **argv)
{
    static void (*const ALL[])(size_t) = {keep_00, keep_01, keep_02, keep_03, keep_04,
                                          keep_05, keep_06, keep_07, keep_08, keep_09,
                                          keep_10, keep_11, keep_12, keep_13, keep_14,
                                          keep_15, keep_16, keep_17, keep_18, keep_19};
    const size_t size = argc > 1 ? (size_t)atol(argv[1]) : 0;
    for (size_t i = 0; i < sizeof(ALL) / sizeof(ALL[0]); i++)
        ALL[i](size);
    return 0;
}
