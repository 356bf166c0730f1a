/* tests/programs/children_keep.c - children that end without giving back what they hold.
 *
 * One after the other: each makes and frees many blocks and keeps two, at another time of
 * its life than the one before.  Nothing grows.
 */
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CHILDREN = 32, ROUNDS = 320, BYTES = 4000 };

static void *kept[2];
static void *volatile passing;

__attribute__((noinline)) static void *take(void)
{
    return malloc(BYTES);
}

static void live(int child)
{
    const int first = child * (ROUNDS / CHILDREN);
    for (int i = 0; i < ROUNDS; i++) {
        void *const one = take();
        passing = take(); /* two at once: neither is temporary */
        free(one);
        free(passing);
        if (i == first || i == first + 5)
            kept[i != first] = take();
    }
}

int main(void)
{
    for (int child = 0; child < CHILDREN; child++) {
        const pid_t pid = fork();
        if (pid == 0) {
            live(child);
            _exit(kept[0] == NULL);
        }
        if (pid < 0 || waitpid(pid, NULL, 0) != pid)
            return 1;
    }
    return 0;
}
