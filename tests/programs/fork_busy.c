/* tests/programs/fork_busy.c - fork from a process whose other threads allocate all the
 * time: fork_busy COUNT.
 *
 * Each child makes 7 blocks and frees 3 of them; every second one then executes this
 * program again, which makes 2.  Exits with 0 when all children did as they should.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "say.h"

enum { THREADS = 3, IN_CHILD = 7, FREED = 3, IN_IMAGE = 2 };

static atomic_int stop;

__attribute__((noinline)) static void *child_makes(size_t size)
{
    void *volatile block = malloc(size);
    return block;
}

__attribute__((noinline)) static void *image_makes(size_t size)
{
    void *volatile block = malloc(size);
    return block;
}

static void *churn(void *unused)
{
    for (size_t i = 0; !atomic_load(&stop); i++) {
        void *volatile block = malloc(i % 3000);
        void *volatile moved = realloc(block, i % 5000 + 1);
        free(moved);
    }
    return unused;
}

static void be_child(char **argv, int number)
{
    void *blocks[IN_CHILD];
    char again[] = "again";
    char *const words[] = {argv[0], again, NULL};
    for (int i = 0; i < IN_CHILD; i++)
        blocks[i] = child_makes(100 + (size_t)i);
    for (int i = 0; i < FREED; i++)
        free(blocks[i]);
    if (number % 2)
        execv("/proc/self/exe", words);
    _exit(number % 2 ? 9 : 5);
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "again") == 0) {
        for (int i = 0; i < IN_IMAGE; i++)
            image_makes(50);
        return 5;
    }
    const int count = argc > 1 ? atoi(argv[1]) : 10;
    pthread_t threads[THREADS];
    int bad = 0;
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, churn, NULL);
    for (int i = 0; i < count; i++) {
        int status = -1;
        const pid_t child = fork();
        if (child == 0)
            be_child(argv, i);
        bad += waitpid(child, &status, 0) != child || !WIFEXITED(status) ||
               WEXITSTATUS(status) != 5;
    }
    atomic_store(&stop, 1);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    say("{\"bad\": %d, \"child\": %d, \"image\": %d}\n", bad, count * IN_CHILD,
        count / 2 * IN_IMAGE);
    return bad != 0;
}
