/* tests/programs/short_children.c - very many children that hardly live: short_children
 * COUNT WAVE.
 *
 * WAVE at a time; each makes 3 blocks, frees one and ends.
 */
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "say.h"

enum { IN_CHILD = 3 };

__attribute__((noinline)) static void *child_makes(size_t size)
{
    void *volatile block = malloc(size);
    return block;
}

static void be_child(void)
{
    void *first = NULL;
    for (int i = 0; i < IN_CHILD; i++)
        first = child_makes(90);
    free(first);
    _exit(5);
}

int main(int argc, char **argv)
{
    const int count = argc > 1 ? atoi(argv[1]) : 100;
    const int wave = argc > 2 ? atoi(argv[2]) : 20;
    int bad = 0, started = 0;
    while (started < count) {
        int running = 0, status;
        for (; running < wave && started < count; running++, started++) {
            const pid_t child = fork();
            if (child == 0)
                be_child();
            bad += child < 0;
        }
        for (; running > 0; running--)
            bad += wait(&status) < 0 || !WIFEXITED(status) || WEXITSTATUS(status) != 5;
    }
    say("{\"bad\": %d, \"child\": %d}\n", bad, count * IN_CHILD);
    return bad != 0;
}
