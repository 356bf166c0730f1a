/* tests/programs/one_place.h - coroutines whose frames stand at one place, on two stacks.
 *
 * Their stacks have changing sizes at one place, and what is not used of it may not be read:
 * with a large one, blocks are made under a frame of 200 KiB; then with a small one at the
 * very same place of the stack, in the same function, but with nothing above it.
 */
#ifndef TIDE_TESTS_ONE_PLACE_H
#define TIDE_TESTS_ONE_PLACE_H

#include <stdint.h>
#include <stdlib.h>
#include <ucontext.h>

#include "say.h"

enum { TIMES = 20, LARGE = 256 << 10, SMALL = 40 << 10, PAGE = 4096 };

static ucontext_t here, there;
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

/* Where the frame of make() was, on a stack of BYTES at PLACE. */
static uintptr_t run(char *place, void (*coroutine)(void), size_t bytes)
{
    getcontext(&there);
    there.uc_stack.ss_sp = place;
    there.uc_stack.ss_size = bytes;
    there.uc_link = &here;
    makecontext(&there, coroutine, 0);
    swapcontext(&here, &there);
    return frame;
}

/* Both, at PLACE; what is not used of it any more is taken AWAY. */
static void use_place(char *place, void (*away)(char *from, size_t bytes))
{
    const uintptr_t wanted = run(place, in_large, LARGE);
    quiet = 1;
    const size_t bytes = SMALL + (wanted - run(place, in_small, SMALL));
    quiet = 0;
    const size_t used = (bytes + PAGE - 1) / PAGE * PAGE;
    away(place + used, LARGE - used);
    say(run(place, in_small, bytes) == wanted ? "same place\n" : "another place\n");
}

#endif
