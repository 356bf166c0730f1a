/* tests/programs/broken_pointer.c - the stack pointer leads nowhere, and a handler allocates.
 *
 * The handler of the fault runs on a stack of its own and makes a block, as those that print a
 * backtrace do.  What was interrupted has no frame that could be read.
 */
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "say.h"

enum { STACK = 65536 };

static char handler_stack[STACK];
static void *volatile block;

static void handle(int number)
{
    (void)number;
    block = malloc(100);
    say("handled\n");
    _exit(7);
}

int main(void)
{
    const stack_t stack = {.ss_sp = handler_stack, .ss_size = STACK};
    const struct sigaction action = {.sa_handler = handle, .sa_flags = SA_ONSTACK};
    char *const nowhere =
        mmap(NULL, STACK, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (nowhere == MAP_FAILED || sigaltstack(&stack, NULL) != 0 ||
        sigaction(SIGSEGV, &action, NULL) != 0)
        return 1;
    __asm__ volatile("movq %0, %%rsp\n\t"
                     "pushq %%rax"
                     :
                     : "r"(nowhere + STACK / 2 + 16)
                     : "memory");
    return 0;
}
