/* tests/programs/odd_numbers.c - ask the allocator about itself, and tune it.
 *
 * All that it says must be as without us: nothing of ours may come from its heap.
 */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>

#include "say.h"

static void *blocks[2000];

static void tell(const char *when)
{
    const struct mallinfo2 info = mallinfo2();
    say("%s: arena %zu ordblks %zu hblks %zu hblkhd %zu uordblks %zu fordblks %zu "
        "keepcost %zu\n",
        when, info.arena, info.ordblks, info.hblks, info.hblkhd, info.uordblks,
        info.fordblks, info.keepcost);
}

int main(void)
{
    tell("first");
    say("mallopt %d %d\n", mallopt(M_MMAP_THRESHOLD, 64 * 1024),
        mallopt(M_TOP_PAD, 4096));
    for (int i = 0; i < 2000; i++)
        blocks[i] = malloc((size_t)(10 + i * 7 % 3000));
    void *const mapped = malloc(100 * 1024);
    tell("made");
    for (int i = 0; i < 2000; i += 3)
        free(blocks[i]);
    tell("freed some");
    for (int i = 0; i < 2000; i++)
        if (i % 3 != 0)
            free(blocks[i]);
    free(mapped);
    tell("freed all");
    say("trim %d\n", malloc_trim(0));
    tell("trimmed");
    malloc_stats();
    malloc_info(0, stdout);
    fflush(stdout);
    return 0;
}
