/* tests/programs/far_coroutine.c - a coroutine that allocates under a frame of 3 MiB. */
#include <stdlib.h>
#include <sys/mman.h>
#include <ucontext.h>

#include "other_stack.h"
#include "say.h"

enum { FRAME = 3 << 20, STACK = 16 << 20 };

static ucontext_t here, there;

__attribute__((noinline)) static void make_far_in(void)
{
    volatile char array[FRAME];
    array[0] = 1;
    make();
    sum += array[0];
}

static void coroutine(void)
{
    make_far_in();
    sum++;
}

int main(void)
{
    char *const stack =
        mmap(NULL, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (stack == MAP_FAILED || getcontext(&there) != 0)
        return 1;
    there.uc_stack.ss_sp = stack;
    there.uc_stack.ss_size = STACK;
    there.uc_link = &here;
    makecontext(&there, coroutine, 0);
    swapcontext(&here, &there);
    say("done\n");
    return 0;
}
