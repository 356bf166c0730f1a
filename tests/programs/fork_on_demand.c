/* tests/programs/fork_on_demand.c - wait for a line, then fork children that allocate.
 *
 * Usage: fork_on_demand CHILDREN.
 */
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "say.h"

int main(int argc, char **argv)
{
    const int children = argc > 1 ? atoi(argv[1]) : 10;
    char line;
    int good = 0;
    say("ready\n");
    if (read(0, &line, 1) != 1)
        return 2;
    for (int i = 0; i < children; i++) {
        int status = -1;
        const pid_t child = fork();
        if (child == 0) {
            for (size_t k = 0; k < 100; k++) {
                void *volatile block = malloc(k);
                free(block);
            }
            _exit(3);
        }
        good += waitpid(child, &status, 0) == child && WIFEXITED(status) &&
                WEXITSTATUS(status) == 3;
    }
    say("%d good\n", good);
    return 0;
}
