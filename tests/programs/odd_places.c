/* tests/programs/odd_places.c - allocate in and under code that is nobody's function.
 *
 * Usage: odd_places WHERE.
 *   resolver  in an ifunc resolver (of lib_ifunc.so), which the loader calls while it binds
 *             the function at its first call
 *   vdso      after each instruction of clock_gettime and its like, in the kernel's code
 *   plt       after each instruction of two calls of a function, the first of which the
 *             loader has to bind
 *   signal    after each instruction of raising a signal whose handler runs on another stack
 *   jit       under code that was written at run time and has no tables
 *   register  under a function that keeps its return address in a register and writes
 *             something else where it stood
 * Linked to bind late, whatever the compiler's habit.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "say.h"
#include "step.h"

int chosen(void);
int ifunc_blocks(void);

static volatile long sum;
static char alternate[1 << 16];

static void resolver(void)
{
    sum += chosen() + ifunc_blocks();
}

static void vdso(void)
{
    struct timespec now;
    struct timeval then;
    step_begin();
    clock_gettime(CLOCK_MONOTONIC, &now);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    gettimeofday(&then, NULL);
    step_end();
}

static void plt(void)
{
    step_begin();
    sum += getppid();
    sum += getppid();
    step_end();
}

static void count(int number)
{
    sum += number;
}

static void signals(void)
{
    const stack_t stack = {.ss_sp = alternate, .ss_size = sizeof(alternate)};
    const struct sigaction action = {.sa_handler = count, .sa_flags = SA_ONSTACK};
    sigaltstack(&stack, NULL);
    sigaction(SIGUSR2, &action, NULL);
    step_begin();
    raise(SIGUSR2);
    step_end();
}

__attribute__((noinline)) static void make(void)
{
    for (int i = 0; i < 50; i++) {
        void *volatile block = malloc(60);
        free(block);
    }
    sum++;
}

/* Code that keeps a register and calls what it is given. */
static void jit(void)
{
    static const unsigned char code[] = {
        0x53,       /* push rbx */
        0xff, 0xd7, /* call rdi */
        0x5b,       /* pop rbx */
        0xc3,       /* ret */
    };
    void *const page = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
                            MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    void (*call)(void (*)(void));
    if (page == MAP_FAILED)
        return;
    memcpy(page, code, sizeof(code));
    memcpy(&call, &page, sizeof(call));
    call(make);
    sum++;
}

void keeps_return_address(void (*call)(void));
__asm__(".pushsection .text\n"
        "keeps_return_address:\n"
        "    .cfi_startproc\n"
        "    pushq %rbx\n"
        "    .cfi_adjust_cfa_offset 8\n"
        "    .cfi_rel_offset %rbx, 0\n"
        "    movq 8(%rsp), %rbx\n"
        "    .cfi_register %rip, %rbx\n"
        "    movq $4369, 8(%rsp)\n"
        "    call *%rdi\n"
        "    movq %rbx, 8(%rsp)\n"
        "    .cfi_offset %rip, -8\n"
        "    popq %rbx\n"
        "    .cfi_adjust_cfa_offset -8\n"
        "    ret\n"
        "    .cfi_endproc\n"
        ".popsection\n");

int main(int argc, char **argv)
{
    const char *const where = argc > 1 ? argv[1] : "";
    if (strcmp(where, "resolver") == 0)
        resolver();
    else if (strcmp(where, "vdso") == 0)
        vdso();
    else if (strcmp(where, "plt") == 0)
        plt();
    else if (strcmp(where, "signal") == 0)
        signals();
    else if (strcmp(where, "jit") == 0)
        jit();
    else if (strcmp(where, "register") == 0)
        keeps_return_address(make);
    else
        return 2;
    say("%lu steps\n", step_count);
    return 0;
}
