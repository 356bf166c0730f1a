/* tests/programs/labels.c - named blocks: one that moves, a mapping, one named inside; and
 * a mapping with a hole.  A little is kept as well.
 *
 * Says where they are.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include <tidemark/tidemark.h>

enum { FIRST = 1000, MOVED = 500000, MAPPED = 1 << 20, INSIDE = 8192 };

static char *map(void)
{
    return mmap(NULL, MAPPED, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
                0);
}

static void *volatile little;

__attribute__((noinline)) static void keep_little(void)
{
    little = malloc(16);
}

int main(void)
{
    keep_little();
    char *const first = malloc(FIRST);
    tide_label(first, "moved", FIRST);
    char *const moved = realloc(first, MOVED);
    char *const mapped = map();
    tide_label(mapped, "mapped", MAPPED);
    char *const inside = map();
    tide_label(inside + INSIDE, "inside", 1);
    char *const holed = map();
    printf("{\"moved\": %" PRIuPTR ", \"mapped\": %" PRIuPTR ", \"inside\": %" PRIuPTR
           ", \"holed\": %" PRIuPTR "}\n",
           (uintptr_t)moved, (uintptr_t)mapped, (uintptr_t)inside, (uintptr_t)holed);
    tide_snapshot("whole");
    return munmap(holed + INSIDE, INSIDE);
}
