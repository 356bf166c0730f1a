/* tests/programs/no_clock.c - forbid itself the time-stamp counter, then allocate and fork.
 *
 * From then on reading it is SIGSEGV, in children as well.
 */
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "say.h"

__attribute__((noinline)) static void *make(size_t size)
{
    void *volatile block = malloc(size);
    return block;
}

int main(void)
{
    free(make(100));
    if (prctl(PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0) != 0)
        return 3;
    for (size_t i = 0; i < 1000; i++)
        free(make(100000 + i)); /* large ones are stamped each */
    const pid_t child = fork();
    if (child == 0) {
        free(make(10));
        _exit(7);
    }
    int status = 0;
    waitpid(child, &status, 0);
    say("child ended with status %d\n", WIFEXITED(status) ? WEXITSTATUS(status) : -1);
    return 7;
}
