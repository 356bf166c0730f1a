/* tests/programs/step.h - an allocation at every instruction of what is being run.
 *
 * Between step_begin() and step_end() a signal comes after each instruction of this
 * thread, and its handler makes and frees a block: a walk that starts in it meets the
 * interrupted code at every place where it can be.  Nothing that is stepped may allocate.
 */
#ifndef TIDE_PROGRAMS_STEP_H
#define TIDE_PROGRAMS_STEP_H

#include <signal.h>
#include <stdlib.h>
#include <ucontext.h>

enum { STEP_TRAP_FLAG = 0x100 };

static volatile unsigned long step_count;

__attribute__((noinline)) static void *step_make(void)
{
    void *volatile block = malloc(24);
    return block;
}

static void step_trap(int number, siginfo_t *info, void *context)
{
    (void)number;
    (void)info;
    (void)context;
    step_count++;
    free(step_make());
}

/* The flag is turned in the registers that the kernel gives back. */
static void step_turn(int number, siginfo_t *info, void *context)
{
    (void)number;
    (void)info;
    ((ucontext_t *)context)->uc_mcontext.gregs[REG_EFL] ^= STEP_TRAP_FLAG;
}

static void step_begin(void)
{
    struct sigaction action = {.sa_sigaction = step_trap, .sa_flags = SA_SIGINFO};
    sigaction(SIGTRAP, &action, NULL);
    action.sa_sigaction = step_turn;
    sigaction(SIGUSR1, &action, NULL);
    free(step_make()); /* what is bound at the first call is bound */
    raise(SIGUSR1);
}

static void step_end(void)
{
    raise(SIGUSR1);
}

#endif
