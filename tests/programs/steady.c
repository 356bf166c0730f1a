/* tests/programs/steady.c - a known number of blocks at a steady pace, then children.
 *
 * Usage: steady CALLS [PAUSE_US [CHILDREN]].  Makes CALLS blocks and frees all but every
 * tenth, with a pause after each 1000; then CHILDREN processes, one after the other, make
 * ten blocks each.  A call that fails ends it with status 3, as it would without us.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "say.h"

__attribute__((noinline)) static void *make(size_t size)
{
    char *const block = malloc(size);
    if (!block) {
        say("no memory\n");
        _exit(3);
    }
    memset(block, 1, size);
    return block;
}

__attribute__((noinline)) static void *child_makes(size_t size)
{
    void *volatile block = malloc(size);
    return block;
}

static void rest(long microseconds)
{
    const struct timespec nap = {.tv_sec = microseconds / 1000000,
                                 .tv_nsec = microseconds % 1000000 * 1000};
    if (microseconds)
        nanosleep(&nap, NULL);
}

static int have_child(void)
{
    const pid_t pid = fork();
    int status = 1;
    if (pid == 0) {
        for (int i = 0; i < 10; i++)
            child_makes(50);
        _exit(0);
    }
    return pid > 0 && waitpid(pid, &status, 0) == pid && status == 0;
}

int main(int argc, char **argv)
{
    const long calls = argc > 1 ? atol(argv[1]) : 1000;
    const long pause_us = argc > 2 ? atol(argv[2]) : 0;
    const long children = argc > 3 ? atol(argv[3]) : 0;
    long freed = 0, born = 0;
    for (long i = 0; i < calls; i++) {
        void *const block = make((size_t)(16 + i * 37 % 800));
        if (i % 10 != 0) {
            free(block);
            freed++;
        }
        if (i % 1000 == 999)
            rest(pause_us);
    }
    for (long i = 0; i < children; i++)
        born += have_child();
    say("made %ld freed %ld children %ld\n", calls, freed, born);
    return 7;
}
