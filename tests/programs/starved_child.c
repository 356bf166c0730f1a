/* tests/programs/starved_child.c - one of five children has no room for anything new.
 *
 * Usage: starved_child OTHERS.  They begin by the bare system call, so that nothing is prepared
 * for them.  Each makes 10 blocks in the heap that it has inherited; the second one under a limit
 * of address space.  OTHERS more children live all the while: each uses a part of the shared
 * memory, so that with many of them a new child needs more of it than its parent has mapped.
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

static int told[2], over[2];

/* It ends when `over` does. */
static void begin_other(void)
{
    char byte = 0;
    if (syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL) == 0) {
        close(over[1]);
        void *volatile block = malloc(100);
        if (block && write(told[1], "x", 1) == 1 && read(over[0], &byte, 1) == 0)
            _exit(0);
        _exit(2);
    }
    if (read(told[0], &byte, 1) != 1)
        _exit(2);
}

static void end_others(void)
{
    close(over[1]);
    while (wait(NULL) > 0)
        ;
}

int main(int argc, char **argv)
{
    int bad = 0;
    void *volatile first = malloc(100); /* so that there is a heap to inherit */
    free(first);
    if (pipe(told) != 0 || pipe(over) != 0)
        return 2;
    for (int i = 0; argc > 1 && i < atoi(argv[1]); i++)
        begin_other();
    for (int i = 0; i < CHILDREN; i++) {
        int status = -1;
        const pid_t child = (pid_t)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);
        if (child == 0)
            be_child(i);
        bad += waitpid(child, &status, 0) != child || !WIFEXITED(status) ||
               WEXITSTATUS(status) != 5;
    }
    end_others();
    say("{\"bad\": %d, \"child\": %d}\n", bad, CHILDREN * IN_CHILD);
    return bad != 0;
}
