/* tests/programs/daemon.c - fork twice, begin a session, close everything, outlive the
 * starter: daemon GO COUNT.
 *
 * The daemon makes COUNT blocks, waits until the file GO exists (a minute at most), makes
 * COUNT more and removes the file.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

__attribute__((noinline)) static void *early_makes(size_t size)
{
    void *volatile block = malloc(size);
    return block;
}

__attribute__((noinline)) static void *late_makes(size_t size)
{
    void *volatile block = malloc(size);
    return block;
}

int main(int argc, char **argv)
{
    if (argc < 3)
        return 2;
    const int count = atoi(argv[2]);
    const pid_t first = fork();
    if (first > 0)
        return waitpid(first, NULL, 0) == first ? 5 : 9;
    setsid();
    if (fork() > 0)
        _exit(0);
    for (int fd = 0; fd < 4096; fd++)
        close(fd);
    for (int i = 0; i < count; i++)
        early_makes(70);
    for (int i = 0; i < 6000 && access(argv[1], F_OK) != 0; i++)
        usleep(10000);
    for (int i = 0; i < count; i++)
        late_makes(80);
    unlink(argv[1]);
    _exit(0);
}
