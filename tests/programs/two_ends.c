/* tests/programs/two_ends.c - blocks whose ends are known: where made, where freed.
 *
 * Two makers, two takers, in shares of their own; a realloc that moves, one that stays
 * and one of nothing left; a block freed by a thread; what is kept.  The program counts
 * each pair itself, and says so.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

#include "say.h"

enum { ROUNDS = 40, STEP = 16, LARGE = 1 << 20 };

struct pair {
    long blocks, bytes;
};
static struct pair a_x, a_y, b_x, grown_x, grown_gone, b_thread;

__attribute__((noinline)) static void *make_a(size_t size)
{
    void *volatile block = malloc(size);
    return block;
}

__attribute__((noinline)) static void *make_b(size_t size)
{
    void *volatile block = calloc(1, size);
    return block;
}

__attribute__((noinline)) static void *grow(void *old, size_t size)
{
    void *volatile block = realloc(old, size);
    return block;
}

static void count(struct pair *pair, size_t size)
{
    pair->blocks++;
    pair->bytes += (long)size;
}

__attribute__((noinline)) static void take_x(void *block, struct pair *pair,
                                             size_t size)
{
    free(block);
    count(pair, size);
}

__attribute__((noinline)) static void take_y(void *block, struct pair *pair,
                                             size_t size)
{
    free(block);
    count(pair, size);
}

/* realloc(p, 0) frees in this C library. */
__attribute__((noinline)) static void take_by_realloc(void *block, struct pair *pair,
                                                      size_t size)
{
    volatile size_t nothing = 0;
    if (realloc(block, nothing))
        exit(3);
    count(pair, size);
}

static void *take_in_thread(void *block)
{
    take_y(block, &b_thread, STEP);
    return NULL;
}

/* A chain of reallocs: the first stays where it is or not, the last one moves. */
__attribute__((noinline)) static void *chain(void)
{
    void *block = grow(make_a(STEP), STEP + 1);
    make_b(STEP); /* kept: nothing can grow over it */
    const uintptr_t before = (uintptr_t)block;
    block = grow(block, LARGE);
    if ((uintptr_t)block == before)
        exit(4);
    return block;
}

int main(void)
{
    pthread_t thread;
    for (size_t i = 0; i < ROUNDS; i++) {
        const size_t size = STEP + i;
        if (i % 4 == 0)
            take_y(make_a(size), &a_y, size);
        else
            take_x(make_a(size), &a_x, size);
        take_x(make_b(2 * size), &b_x, 2 * size);
    }
    take_x(chain(), &grown_x, LARGE);
    take_by_realloc(chain(), &grown_gone, LARGE);
    if (pthread_create(&thread, NULL, take_in_thread, make_b(STEP)) != 0)
        return 2;
    pthread_join(thread, NULL);
    say("{\"make_a take_x\": [%ld, %ld], \"make_a take_y\": [%ld, %ld], "
        "\"make_b take_x\": [%ld, %ld], \"grow take_x\": [%ld, %ld], "
        "\"grow take_by_realloc\": [%ld, %ld], \"make_b take_y\": [%ld, %ld]}\n",
        a_x.blocks, a_x.bytes, a_y.blocks, a_y.bytes, b_x.blocks, b_x.bytes,
        grown_x.blocks, grown_x.bytes, grown_gone.blocks, grown_gone.bytes,
        b_thread.blocks, b_thread.bytes);
    return 0;
}
