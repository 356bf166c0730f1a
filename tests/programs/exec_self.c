/* tests/programs/exec_self.c - a program that executes itself: exec_self COUNT.
 *
 * Makes 10 blocks each time; COUNT + 1 programs in one process.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "say.h"

__attribute__((noinline)) static void *make(size_t size)
{
    void *volatile block = malloc(size);
    return block;
}

int main(int argc, char **argv)
{
    const int left = argc > 1 ? atoi(argv[1]) : 0;
    char word[16];
    char *const words[] = {argv[0], word, NULL};
    for (int i = 0; i < 10; i++)
        make(25);
    snprintf(word, sizeof(word), "%d", left - 1);
    if (left > 0)
        execv("/proc/self/exe", words);
    say("pid %d\n", (int)getpid());
    return left == 0 ? 5 : 9;
}
