/* tests/programs/count_in_page.c - allocate until killed, counting in a shared file.
 *
 * Usage: count_in_page FILE [THREADS] [CALLS_A_SECOND].  FILE is mapped; thread t counts
 * its finished malloc calls in word 2t and its finished free calls in word 2t+1, word 511
 * holds nanoseconds of CLOCK_MONOTONIC at the last count of thread 0 that was a multiple
 * of 16, and words 256.. keep a log of (time, count) of thread 0 every 16 calls.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { WORDS = 512, LOG = 256, LOG_ENTRIES = 120, RING = 1024 };

static _Atomic uint64_t *page;
static uint64_t pause_ns;

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* A ring of the newest (time, count) pairs: the test looks for what is a second old. */
static void log_count(uint64_t count)
{
    const uint64_t entry = count / 16 % LOG_ENTRIES;
    atomic_store(&page[LOG + 2 * entry], 0);
    atomic_store(&page[LOG + 2 * entry + 1], count);
    atomic_store(&page[LOG + 2 * entry], now_ns());
}

__attribute__((noinline)) static void *make(size_t size)
{
    void *volatile block = malloc(size);
    return block;
}

static void *work(void *argument)
{
    const uintptr_t thread = (uintptr_t)argument;
    void *ring[RING] = {NULL};
    for (uint64_t i = 0;; i++) {
        const unsigned at = (unsigned)(i * 7 % RING);
        if (ring[at]) {
            free(ring[at]);
            atomic_fetch_add(&page[2 * thread + 1], 1);
        }
        ring[at] = make(16 + i % 1000);
        const uint64_t count = atomic_fetch_add(&page[2 * thread], 1) + 1;
        if (thread == 0 && count % 16 == 0 && pause_ns)
            log_count(count);
        if (pause_ns) {
            const struct timespec nap = {.tv_nsec = (long)pause_ns};
            nanosleep(&nap, NULL);
        }
    }
    return NULL;
}

int main(int argc, char **argv)
{
    const int fd = argc > 1 ? open(argv[1], O_RDWR | O_CREAT, 0600) : -1;
    const int threads = argc > 2 ? atoi(argv[2]) : 1;
    if (fd < 0 || ftruncate(fd, WORDS * 8) != 0)
        return 2;
    if (argc > 3)
        pause_ns = 1000000000u / strtoull(argv[3], NULL, 10);
    page = mmap(NULL, WORDS * 8, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (page == MAP_FAILED)
        return 2;
    for (int i = 1; i < threads; i++) {
        pthread_t id;
        pthread_create(&id, NULL, work, (void *)(intptr_t)i);
    }
    work(NULL);
    return 0;
}
