/* tests/programs/near_coroutines.c - coroutines on stacks that are mapped near the main one.
 * Usage: near_coroutines BELOW, in MiB.
 *
 * Their stacks have changing sizes at one place, and what is not used of it may not be read:
 * with a large one, blocks are made under a frame of 200 KiB; then with a small one at the
 * very same place of the stack, in the same function, but with nothing above it.
 */
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <ucontext.h>

#include "say.h"

enum {
    TIMES = 20,
    LARGE = 256 << 10,
    SMALL = 40 << 10,
    PAGE = 4096,
};

static ucontext_t here, there;
static char *room;
static volatile int quiet;
static volatile uintptr_t frame;
static volatile int sum;

__attribute__((noinline)) static void make(void)
{
    frame = (uintptr_t)__builtin_frame_address(0);
    if (!quiet) {
        void *volatile block = malloc(50);
        free(block);
    }
    sum++;
}

__attribute__((noinline)) static void make_another(void)
{
    void *volatile block = malloc(60);
    free(block);
    sum++;
}

__attribute__((noinline)) static void make_far_in(void)
{
    volatile char array[200 << 10];
    array[0] = 1;
    make();
    sum += array[0];
}

static void in_large(void)
{
    for (int i = 0; i < TIMES; i++) {
        make_another();
        make_far_in();
    }
    make_another();
}

static void in_small(void)
{
    make();
    sum++;
}

/* Where the frame of make() was. */
static uintptr_t run(void (*coroutine)(void), size_t bytes)
{
    getcontext(&there);
    there.uc_stack.ss_sp = room;
    there.uc_stack.ss_size = bytes;
    there.uc_link = &here;
    makecontext(&there, coroutine, 0);
    swapcontext(&here, &there);
    return frame;
}

int main(int argc, char **argv)
{
    const uintptr_t below = (uintptr_t)(argc > 1 ? atoi(argv[1]) : 32) << 20;
    void *const place = (void *)(((uintptr_t)&argc - below) & ~(uintptr_t)(PAGE - 1));
    make_another();
    room =
        mmap(place, LARGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (room != place)
        return 1;
    const uintptr_t wanted = run(in_large, LARGE);
    quiet = 1;
    const size_t bytes = SMALL + (wanted - run(in_small, SMALL));
    quiet = 0;
    const size_t used = (bytes + PAGE - 1) / PAGE * PAGE;
    munmap(room + used, LARGE - used);
    say(run(in_small, bytes) == wanted ? "same place\n" : "another place\n");
    return 0;
}
