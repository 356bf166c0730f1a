/* tests/programs/endings.c - end in one of many ways, after a known number of calls.
 *
 * Usage: endings HOW.  Makes 1000 blocks, frees 400, and counts both in the file named by
 * $COUNTS (a page mapped shared) before it ends.
 */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static volatile uint64_t *counts;

__attribute__((noinline)) static void *make(size_t size)
{
    void *volatile block = malloc(size);
    counts[0]++;
    return block;
}

static void end_in_handler(int signal)
{
    (void)signal;
    make(10);
    _exit(21);
}

static void end_at_exit(void)
{
    make(10);
    _exit(22);
}

static void *end_in_thread(void *unused)
{
    (void)unused;
    make(10);
    exit(23);
}

static void *end_quickly(void *unused)
{
    make(10);
    return unused;
}

static int by_signal(const char *how)
{
    static const struct {
        const char *how;
        int number;
    } signals[] = {{"segv", SIGSEGV}, {"term", SIGTERM}, {"kill", SIGKILL},
                   {"fpe", SIGFPE},   {"bus", SIGBUS},   {"pipe", SIGPIPE}};
    for (unsigned i = 0; i < sizeof(signals) / sizeof(*signals); i++)
        if (strcmp(how, signals[i].how) == 0)
            return signals[i].number;
    return 0;
}

static void end(const char *how)
{
    pthread_t thread;
    if (by_signal(how))
        raise(by_signal(how));
    if (strcmp(how, "exit") == 0)
        exit(11);
    if (strcmp(how, "_exit") == 0)
        _exit(12);
    if (strcmp(how, "quick_exit") == 0)
        quick_exit(13);
    if (strcmp(how, "abort") == 0)
        abort();
    if (strcmp(how, "exit_group") == 0)
        syscall(SYS_exit_group, 14);
    if (strcmp(how, "null") == 0)
        *(volatile int *)(uintptr_t)(counts[0] - counts[0]) = 1;
    if (strcmp(how, "exec") == 0)
        execl("/bin/sh", "sh", "-c", "exit 15", (char *)NULL);
    if (strcmp(how, "handler") == 0) {
        signal(SIGUSR1, end_in_handler);
        raise(SIGUSR1);
    }
    if (strcmp(how, "atexit") == 0) {
        atexit(end_at_exit);
        exit(1);
    }
    if (strcmp(how, "thread") == 0) {
        pthread_create(&thread, NULL, end_in_thread, NULL);
        for (;;)
            pause();
    }
    if (strcmp(how, "pthread_exit") == 0) {
        pthread_create(&thread, NULL, end_quickly, NULL);
        pthread_exit(NULL);
    }
}

int main(int argc, char **argv)
{
    const char *path = getenv("COUNTS");
    const int fd = path ? open(path, O_RDWR | O_CREAT, 0600) : -1;
    if (argc < 2 || fd < 0 || ftruncate(fd, 4096) != 0)
        return 2;
    counts = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    void *blocks[1000];
    for (int i = 0; i < 1000; i++)
        blocks[i] = make(64);
    for (int i = 0; i < 400; i++) {
        free(blocks[i]);
        counts[1]++;
    }
    end(argv[1]);
    return 10;
}
