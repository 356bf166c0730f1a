/* tests/programs/coroutines.c - many stacks in one thread, each of which allocates.
 *
 * Usage: coroutines ROUNDS.  Coroutines on mapped stacks of their own call themselves to
 * some depth and give the turn away from there, so that the stack under a call changes from
 * one call to the next; now and then one ends, and its stack is unmapped and mapped anew.
 */
#include <stdlib.h>
#include <sys/mman.h>
#include <ucontext.h>

#include "say.h"

enum { COUNT = 6, STACK_BYTES = 64 * 1024 };

static struct coroutine {
    ucontext_t context;
    void *stack; /* NULL: it has not begun, or has ended */
} all[COUNT];
static ucontext_t scheduler;
static int current, over;
static unsigned state = 1;
static volatile unsigned long sum;

static unsigned dice(unsigned sides)
{
    state = state * 1664525u + 1013904223u;
    return (state >> 8) % sides;
}

__attribute__((noinline)) static void make(void)
{
    void *volatile block = malloc(1 + dice(100));
    free(block);
    sum++;
}

__attribute__((noinline)) static void descend(unsigned depth)
{
    make();
    if (depth == 0)
        swapcontext(&all[current].context, &scheduler);
    else
        descend(depth - 1);
    make();
    sum++;
}

static void run(void)
{
    for (unsigned turns = 1 + dice(20); turns > 0 && !over; turns--)
        descend(dice(12));
    all[current].stack = NULL;
}

static int begin(struct coroutine *one)
{
    one->stack = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (one->stack == MAP_FAILED || getcontext(&one->context) != 0)
        return 0;
    one->context.uc_stack.ss_sp = one->stack;
    one->context.uc_stack.ss_size = STACK_BYTES;
    one->context.uc_link = &scheduler;
    makecontext(&one->context, run, 0);
    return 1;
}

/* Give the turn to the current one until it gives it back. */
static int turn(void)
{
    struct coroutine *const one = &all[current];
    if (!one->stack && (over || !begin(one)))
        return over;
    void *const stack = one->stack;
    swapcontext(&scheduler, &one->context);
    if (!one->stack)
        munmap(stack, STACK_BYTES);
    return 1;
}

int main(int argc, char **argv)
{
    const int rounds = argc > 1 ? atoi(argv[1]) : 100;
    for (int i = 0; i < rounds; i++) {
        current = (int)dice(COUNT);
        if (!turn())
            return 1;
        make();
    }
    over = 1;
    for (current = 0; current < COUNT; current++)
        while (all[current].stack)
            turn();
    say("%lu\n", sum);
    return 0;
}
