/* tests/programs/past_main.c - threads that allocate while the process ends.
 *
 * Usage: past_main HOW FILE.  FILE is mapped: thread t counts in word 2t the calls that
 * it is about to make, in word 2t+1 those that have come back.  HOW main ends:
 *   return, exit, _exit, quick_exit, exec   the threads are still at it
 *   pthread_exit                            the threads end by themselves
 * Exit handlers allocate too, and wait until the threads have gone on for a while.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { THREADS = 4, ENOUGH = 2000, AT_EXIT = 300, WORDS = 512 };

static _Atomic uint64_t *page;
static int endless;

__attribute__((noinline)) static void *make(size_t size)
{
    void *volatile block = malloc(size);
    return block;
}

static void *work(void *argument)
{
    const uintptr_t own = (uintptr_t)argument;
    for (uint64_t i = 0; endless || i < ENOUGH; i++) {
        atomic_fetch_add(&page[2 * own], 1);
        void *block = make(24);
        atomic_fetch_add(&page[2 * own + 1], 1);
        free(block);
    }
    return NULL;
}

static uint64_t slowest(void)
{
    uint64_t least = UINT64_MAX;
    for (int i = 0; i < THREADS; i++) {
        const uint64_t count = atomic_load(&page[2 * i + 1]);
        least = count < least ? count : least;
    }
    return least;
}

static void wait_for(uint64_t calls)
{
    const struct timespec nap = {.tv_nsec = 1000000};
    while (slowest() < calls)
        nanosleep(&nap, NULL);
}

__attribute__((noinline)) static void *make_at_exit(size_t size)
{
    void *volatile block = malloc(size);
    return block;
}

static void at_exit(void)
{
    for (int i = 0; i < AT_EXIT; i++)
        make_at_exit(32);
    wait_for(slowest() + 100);
}

static void *replace(void *unused)
{
    (void)unused;
    execl("/bin/sh", "sh", "-c", "exit 35", (char *)NULL);
    return NULL;
}

static int end(const char *how)
{
    pthread_t id;
    if (strcmp(how, "exit") == 0)
        exit(31);
    if (strcmp(how, "_exit") == 0)
        _exit(32);
    if (strcmp(how, "quick_exit") == 0)
        quick_exit(33);
    if (strcmp(how, "pthread_exit") == 0)
        pthread_exit(NULL);
    if (strcmp(how, "exec") == 0 && pthread_create(&id, NULL, replace, NULL) == 0)
        pthread_join(id, NULL);
    return 34;
}

int main(int argc, char **argv)
{
    const int fd = argc > 2 ? open(argv[2], O_RDWR | O_CREAT, 0600) : -1;
    if (fd < 0 || ftruncate(fd, WORDS * 8) != 0)
        return 2;
    page = mmap(NULL, WORDS * 8, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    endless = strcmp(argv[1], "pthread_exit") != 0;
    if (endless && (atexit(at_exit) != 0 || at_quick_exit(at_exit) != 0))
        return 2;
    for (intptr_t i = 0; i < THREADS; i++) {
        pthread_t id;
        if (pthread_create(&id, NULL, work, (void *)i) != 0 || pthread_detach(id) != 0)
            return 3;
    }
    wait_for(200);
    return end(argv[1]);
}
