/* tests/programs/tallied.c - threads that allocate in regions and loops, counted by hand.
 *
 * Usage: tallied THREADS.  Prints, as JSON, what the built-in monitors should say: nothing
 * else allocates between its first and last count but what it takes to make threads.
 */
#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <tidemark/tidemark.h>

enum { ROUNDS = 200, BINS = 65 };

static atomic_long requested, used, freed, allocs, frees, loop_allocs, loop_requested;
static atomic_long bins[3][BINS];
static atomic_long inner_allocs, inner_requested, inner_max;

static size_t count;

static int bin(size_t size)
{
    return size ? 64 - __builtin_clzll(size) : 0;
}

static void *make(size_t size)
{
    void *block = malloc(size);
    const size_t usable = malloc_usable_size(block);
    requested += (long)size;
    used += (long)usable;
    allocs++;
    bins[0][bin(size)]++;
    bins[1][bin(usable)]++;
    return block;
}

static void drop(void *block)
{
    const size_t usable = malloc_usable_size(block);
    freed += (long)usable;
    frees++;
    bins[2][bin(usable)]++;
    free(block);
}

static void *work(void *argument)
{
    const size_t self = (size_t)argument;
    tide_hush(0);
    for (size_t i = 0; i < ROUNDS; i++) {
        void *kept = make(i * 17 % 5000);
        tide_region_begin("inner");
        void *inside = make(1 + self);
        inner_allocs++;
        if (self + 1 == count)
            inner_max = (long)malloc_usable_size(inside);
        inner_requested += (long)(1 + self);
        drop(inside);
        tide_region_end("inner");
        drop(kept);
    }
    tide_hush(1);
    return NULL;
}

int main(int argc, char **argv)
{
    count = argc > 1 ? (size_t)atol(argv[1]) : 4;
    pthread_t threads[count];
    static char buffer[65536];
    setvbuf(stdout, buffer, _IOFBF, sizeof(buffer));
    tide_region_begin("outer");
    void *first = make(100000), *left = make(12345);
    drop(first);
    tide_loop_begin("cycle");
    const long before = allocs, bytes_before = requested;
    tide_hush(1);
    for (size_t i = 0; i < count; i++)
        pthread_create(&threads[i], NULL, work, (void *)i);
    for (size_t i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
    tide_hush(0);
    loop_allocs = allocs - before;
    loop_requested = requested - bytes_before;
    tide_loop_end("cycle");
    tide_region_end("outer");
    (void)left;
    tide_hush(1);
    printf(
        "{\"total_requested_bytes\": %ld, \"live_bytes\": %ld, \"alloc_calls\": %ld,"
        " \"free_calls\": %ld, \"loop_allocs\": %ld, \"loop_requested\": %ld,"
        " \"inner_max\": %ld, \"inner_allocs\": %ld, \"inner_requested\": %ld, \"bins\": {",
        (long)requested, (long)(used - freed), (long)allocs, (long)frees,
        (long)loop_allocs, (long)loop_requested, (long)inner_max, (long)inner_allocs,
        (long)inner_requested);
    const char *comma = "";
    for (int i = 0; i < BINS; i++) {
        if (!bins[0][i] && !bins[1][i] && !bins[2][i])
            continue;
        printf("%s\"%llu\": [%ld, %ld, %ld]", comma, i ? 1ull << (i - 1) : 0,
               (long)bins[0][i], (long)bins[1][i], (long)bins[2][i]);
        comma = ", ";
    }
    puts("}}");
    return 0;
}
