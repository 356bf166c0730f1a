/* tests/programs/keeps_many.c - keep many small blocks until the end.
 *
 * Usage: keeps_many COUNT.  Says on stdout where the first and the last one are.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "say.h"

__attribute__((noinline)) static void *make(size_t size)
{
    void *volatile block = malloc(size);
    return block;
}

int main(int argc, char **argv)
{
    const long count = argc > 1 ? atol(argv[1]) : 1000;
    void *first = NULL, *last = NULL;
    for (long i = 0; i < count; i++) {
        last = make((size_t)(16 + i % 3));
        if (!first)
            first = last;
    }
    say("{\"count\": %ld, \"first\": %" PRIuPTR ", \"last\": %" PRIuPTR "}\n", count,
        (uintptr_t)first, (uintptr_t)last);
    return 0;
}
