/* tests/bench/loads/timed.c - run a program and say what it took: timed FILE PROG ARG...
 *
 * Linked statically and small, so that its own memory does not show in the child's peak,
 * and no preloaded library comes into it.  FILE gets one line: wall ns, CPU ns, peak KiB.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int64_t wall_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static int64_t ns_of(struct timeval time)
{
    return (int64_t)time.tv_sec * 1000000000 + (int64_t)time.tv_usec * 1000;
}

int main(int argc, char **argv)
{
    if (argc < 3)
        return 2;
    const int64_t start = wall_ns();
    const pid_t child = vfork();
    if (child == 0) {
        execvp(argv[2], argv + 2);
        _exit(127);
    }
    int status = 0;
    struct rusage usage;
    if (child < 0 || wait4(child, &status, 0, &usage) != child)
        return 126;
    const int64_t wall = wall_ns() - start;
    const int64_t cpu = ns_of(usage.ru_utime) + ns_of(usage.ru_stime);
    const int fd = open(argv[1], O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (fd >= 0)
        dprintf(fd, "%lld %lld %ld\n", (long long)wall, (long long)cpu,
                usage.ru_maxrss);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
