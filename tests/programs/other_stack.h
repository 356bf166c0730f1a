/* tests/programs/other_stack.h - 100 blocks, made on another stack than the thread's own.
 *
 * The frame tables of call_on() tell where it was called from as if the stack were still the
 * one before: they lead beyond the end of the other one.
 */
#ifndef TIDE_PROGRAMS_OTHER_STACK_H
#define TIDE_PROGRAMS_OTHER_STACK_H

#include <stdlib.h>

enum { TIMES = 100 };

static volatile int sum;

__attribute__((noinline)) static void make(void)
{
    for (int i = 0; i < TIMES; i++) {
        void *volatile block = malloc(50);
        free(block);
    }
    sum++;
}

__attribute__((noinline, unused)) static void call_on(char *top, void (*function)(void))
{
    __asm__ volatile("movq %%rsp, %%r12\n\t"
                     "movq %0, %%rsp\n\t"
                     "call *%1\n\t"
                     "movq %%r12, %%rsp"
                     :
                     : "r"(top), "r"(function)
                     : "r12", "rax", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10",
                       "r11", "memory", "cc");
}

#endif
