/* tests/programs/fork_tree.c - a storm of forks: every process has two children, DEPTH
 * generations: fork_tree DEPTH.
 *
 * Each of the 2^(DEPTH + 1) - 1 processes makes 5 blocks, before and after it forks, and
 * frees one that it has inherited.
 */
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "say.h"

static void *inherited;

__attribute__((noinline)) static void *make(size_t size)
{
    void *volatile block = malloc(size);
    return block;
}

/* The number of processes below and with this one that went wrong. */
static int grow(int depth)
{
    pid_t children[2] = {-1, -1};
    int bad = 0;
    free(inherited);
    inherited = make(1000);
    make(20);
    for (int i = 0; i < 2 && depth > 0; i++) {
        children[i] = fork();
        if (children[i] == 0)
            _exit(grow(depth - 1));
    }
    for (int i = 0; i < 3; i++)
        make(30);
    for (int i = 0; i < 2 && depth > 0; i++) {
        int status = -1;
        bad += waitpid(children[i], &status, 0) == children[i] && WIFEXITED(status)
                   ? WEXITSTATUS(status)
                   : 1;
    }
    return bad;
}

int main(int argc, char **argv)
{
    const int depth = argc > 1 ? atoi(argv[1]) : 3;
    const int bad = grow(depth);
    say("{\"bad\": %d, \"made\": %d}\n", bad, 5 * ((2 << depth) - 1));
    return bad != 0;
}
