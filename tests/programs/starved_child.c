/* tests/programs/starved_child.c - one of five children has no room for anything new.
 *
 * They begin by the bare system call, so that nothing is prepared for them.  Each makes 10
 * blocks in the heap that it has inherited; the second one under a limit of address space.
 */
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "say.h"

enum { CHILDREN = 5, IN_CHILD = 10 };

__attribute__((noinline)) static void *child_makes(size_t size)
{
    void *volatile block = malloc(size);
    return block;
}

static void be_child(int number)
{
    const struct rlimit nothing = {4096, 4096};
    if (number == 1)
        setrlimit(RLIMIT_AS, &nothing);
    for (int i = 0; i < IN_CHILD; i++)
        if (!child_makes(100))
            _exit(9);
    _exit(5);
}

int main(void)
{
    int bad = 0;
    void *volatile first = malloc(100); /* so that there is a heap to inherit */
    free(first);
    for (int i = 0; i < CHILDREN; i++) {
        int status = -1;
        const pid_t child = (pid_t)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);
        if (child == 0)
            be_child(i);
        bad += waitpid(child, &status, 0) != child || !WIFEXITED(status) ||
               WEXITSTATUS(status) != 5;
    }
    say("{\"bad\": %d, \"child\": %d}\n", bad, (CHILDREN - 1) * IN_CHILD);
    return bad != 0;
}
