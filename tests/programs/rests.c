/* tests/programs/rests.c - large blocks that live for some milliseconds each.
 *
 * Nothing else happens meanwhile.  Prints each block's size and how long it lived, in ns.
 * Then one of 64 MiB lives while children run that allocate a little.
 */
#include <stdint.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "say.h"

enum { TIMES = 10, SIZE = 1000000, CHILDREN = 5, MOST = 64 << 20 };

static int64_t now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

int main(void)
{
    for (int i = 0; i < TIMES; i++) {
        const struct timespec rest = {.tv_nsec = (i + 1) * 700000L};
        void *volatile block = malloc((size_t)SIZE + i);
        const int64_t born = now();
        nanosleep(&rest, NULL);
        const int64_t died = now();
        free(block);
        say("%d %lld\n", SIZE + i, (long long)(died - born));
    }
    void *volatile most = malloc(MOST);
    for (int i = 0; i < CHILDREN; i++) {
        if (fork() == 0) {
            execlp("sh", "sh", "-c", "true", (char *)NULL);
            _exit(1);
        }
        wait(NULL);
    }
    free(most);
    return 0;
}
