/* tests/programs/odd_arguments.c - calls with arguments that nobody should pass.
 *
 * Says for each what it returned, errno, and whether what must not change did; then its
 * own count.
 */
#include <errno.h>
#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "tally.h"

static const size_t odd[] = {0,
                             1,
                             3,
                             7,
                             8,
                             16,
                             24,
                             48,
                             64,
                             100,
                             4096,
                             1ul << 20,
                             (size_t)PTRDIFF_MAX + 1,
                             SIZE_MAX - 1,
                             SIZE_MAX};
enum { ODD = sizeof(odd) / sizeof(*odd) };

static void release(void *block)
{
    if (block)
        tally.frees++;
    free(block);
}

/* What a call gave, without its address. */
static void tell(const char *name, size_t a, size_t b, void *block, int value)
{
    const int problem = errno;
    const uintptr_t address = (uintptr_t)block;
    const int aligned = block && a && (a & (a - 1)) == 0 && address % a == 0;
    say("%s %zx %zx: %s %d %d %d\n", name, a, b, block ? "block" : "NULL", value,
        problem, aligned);
    if (block && b > 0)
        memset(block, 7, b);
    release(block);
    errno = 0;
}

static void aligned_calls(size_t alignment, size_t size)
{
    static char untouched;
    void *out = &untouched;
    errno = 0;
    tell("memalign", alignment, size, born(memalign(alignment, size), size), 0);
    tell("aligned_alloc", alignment, size, born(aligned_alloc(alignment, size), size),
         0);
    const int status = posix_memalign(&out, alignment, size);
    if (status != 0) {
        born(NULL, size);
        say("out %s\n", out == &untouched ? "untouched" : "CHANGED");
        out = NULL;
    } else {
        born(out, size);
    }
    tell("posix_memalign", alignment, size, out, status);
}

static void sized_calls(size_t size)
{
    errno = 0;
    tell("malloc", 0, size, born(malloc(size), size), 0);
    tell("realloc", 0, size, born(realloc(NULL, size), size), 0);
    tell("calloc", size, 1, born(calloc(size, 1), size), 0);
    tell("valloc", 0, size, born(valloc(size), size), 0);
    tell("pvalloc", 0, size, born(pvalloc(size), size), 0);
}

static void overflowing_calls(void)
{
    static const size_t pairs[][2] = {
        {SIZE_MAX, 2},          {2, SIZE_MAX},
        {1ul << 32, 1ul << 32}, {(1ul << 33) + 1, 1ul << 31},
        {SIZE_MAX / 2 + 1, 2},  {SIZE_MAX, SIZE_MAX}};
    char *volatile kept = born(malloc(40), 40);
    strcpy(kept, "here");
    for (int i = 0; i < 6; i++) {
        errno = 0;
        tell("calloc", pairs[i][0], pairs[i][1],
             born(calloc(pairs[i][0], pairs[i][1]), 0), 0);
        tell("reallocarray", pairs[i][0], pairs[i][1],
             born(reallocarray(NULL, pairs[i][0], pairs[i][1]), 0), 0);
        tell("reallocarray of a block", pairs[i][0], pairs[i][1],
             born(reallocarray(kept, pairs[i][0], pairs[i][1]), 0), 0);
    }
    say("kept %s\n", kept);
    release(kept);
}

static void moves(void)
{
    errno = 0;
    void *volatile block = born(malloc(100), 100);
    void *const failed = realloc(block, (size_t)PTRDIFF_MAX + 1);
    tally.failed++;
    say("failed realloc %p %d, %zu usable\n", failed, errno, malloc_usable_size(block));
    errno = 0;
    void *const gone = realloc(block, 0);
    tally.frees++;
    tally.reallocs++;
    say("realloc to 0 %p %d\n", gone, errno);
    block = born(realloc(NULL, 0), 0);
    say("realloc of nothing to 0 %s\n", block ? "block" : "NULL");
    release(block);

    char *aligned = born(memalign(4096, 5000), 5000);
    memset(aligned, 'x', 5000);
    aligned = born(realloc(aligned, 20000), 20000);
    tally.frees++;
    tally.reallocs++;
    say("moved %c%c\n", aligned[0], aligned[4999]);
    release(aligned);

    char *small = born(malloc(20), 20);
    const size_t usable = malloc_usable_size(small);
    memset(small, 'y', usable);
    char *const same = born(realloc(small, usable), usable);
    tally.frees++;
    tally.reallocs++;
    say("usable %zu, %s, %c\n", usable, same == small ? "stayed" : "moved",
        same[usable - 1]);
    release(same);
    say("nothing %zu\n", malloc_usable_size(NULL));
    free(NULL);
}

int main(void)
{
    static const size_t sizes[] = {0, 1, 100, 5000, (size_t)PTRDIFF_MAX + 1, SIZE_MAX};
    for (int i = 0; i < ODD; i++)
        for (int j = 0; j < 6; j++)
            aligned_calls(odd[i], sizes[j]);
    for (int j = 0; j < 6; j++)
        sized_calls(sizes[j]);
    overflowing_calls();
    moves();
    say_tally();
    return 0;
}
