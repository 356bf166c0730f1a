/* tests/programs/equals.c - twenty functions that keep as much each.
 *
 * Usage: equals SIZE.  Each keeps a block of SIZE bytes, 0: none.
 */
#include <stdlib.h>

static void *volatile kept;

#define EACH(DO)                                                                 \
    DO(00)                                                                       \
    DO(01)                                                                       \
    DO(02) DO(03) DO(04) DO(05) DO(06) DO(07) DO(08) DO(09) DO(10) DO(11) DO(12) \
        DO(13) DO(14) DO(15) DO(16) DO(17) DO(18) DO(19)

#define KEEP(NUMBER)                                                 \
    __attribute__((noinline)) static void keep_##NUMBER(size_t size) \
    {                                                                \
        if (size)                                                    \
            kept = malloc(size);                                     \
    }
#define CALL(NUMBER) keep_##NUMBER(size);

EACH(KEEP)

int main(int argc, char **argv)
{
    const size_t size = argc > 1 ? (size_t)atol(argv[1]) : 0;
    EACH(CALL)
    return 0;
}
