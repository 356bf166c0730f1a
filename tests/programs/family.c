/* tests/programs/family.c - fork, exec and frees of inherited blocks, with known totals.
 *
 * The parent makes 10 blocks of 1000 bytes; the child frees 4 of them, makes 5 of 200,
 * then runs this program again, which makes 3 of 30 and ends.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void *blocks[10];

__attribute__((noinline)) static void *parent_makes(size_t size)
{
    void *volatile block = malloc(size);
    return block;
}

__attribute__((noinline)) static void *child_makes(size_t size)
{
    void *volatile block = malloc(size);
    return block;
}

__attribute__((noinline)) static void *second_image_makes(size_t size)
{
    void *volatile block = malloc(size);
    return block;
}

int main(int argc, char **argv)
{
    if (argc > 1) {
        for (int i = 0; i < 3; i++)
            second_image_makes(30);
        return 7;
    }
    for (int i = 0; i < 10; i++)
        blocks[i] = parent_makes(1000);
    const pid_t child = fork();
    if (child == 0) {
        for (int i = 0; i < 4; i++)
            free(blocks[i]);
        for (int i = 0; i < 5; i++)
            child_makes(200);
        execl("/proc/self/exe", argv[0], "again", (char *)NULL);
        _exit(9);
    }
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
