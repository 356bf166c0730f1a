/* tests/programs/crowd.c - many threads at once; each frees what its neighbour made.
 *
 * Usage: crowd THREADS [DEPTH].  Says on stdout what it made and freed, and on stderr how much
 * memory it had when all of them stood at the barrier.  With DEPTH the last thread makes and frees
 * one block more, that deep in calls.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "say.h"

enum { MOST = 4096, EACH = 3, STACK = 64 * 1024, DEEP_STACK = 512 * 1024 };

static pthread_barrier_t made, seen;
static void *blocks[MOST][EACH];
static int threads, depth;

__attribute__((noinline)) static void *make(size_t size)
{
    void *volatile block = malloc(size);
    return block;
}

__attribute__((noinline)) static void *make_deep(int left)
{
    void *volatile block = left > 0 ? make_deep(left - 1) : malloc(1000);
    return block;
}

static void *work(void *argument)
{
    const int own = (int)(intptr_t)argument;
    if (depth && own == threads - 1)
        free(make_deep(depth));
    for (int i = 0; i < EACH; i++)
        blocks[own][i] = make((size_t)(100 + own % 50));
    pthread_barrier_wait(&made);
    pthread_barrier_wait(&seen);
    for (int i = 0; i < EACH; i++)
        free(blocks[(own + 1) % threads][i]);
    return NULL;
}

static long field_kb(const char *text, const char *word)
{
    const char *at = strstr(text, word);
    return at ? strtol(at + strlen(word), NULL, 10) : 0;
}

/* What the kernel says this process holds in memory. */
static void say_memory(void)
{
    static char text[8192], line[256];
    const int fd = open("/proc/self/smaps_rollup", O_RDONLY);
    const ssize_t got = read(fd, text, sizeof(text) - 1);
    close(fd);
    if (got <= 0)
        exit(3);
    const int length = snprintf(
        line, sizeof(line), "{\"rss\": %ld, \"private\": %ld}\n",
        field_kb(text, "\nRss:") * 1024,
        (field_kb(text, "\nPrivate_Clean:") + field_kb(text, "\nPrivate_Dirty:")) *
            1024);
    if (write(2, line, (size_t)length) != length)
        exit(3);
}

int main(int argc, char **argv)
{
    static pthread_t ids[MOST];
    pthread_attr_t attributes;
    threads = argc > 1 ? atoi(argv[1]) : 10;
    depth = argc > 2 ? atoi(argv[2]) : 0;
    if (threads < 1 || threads > MOST)
        return 2;
    pthread_barrier_init(&made, NULL, (unsigned)threads + 1);
    pthread_barrier_init(&seen, NULL, (unsigned)threads + 1);
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, depth ? DEEP_STACK : STACK);
    for (int i = 0; i < threads; i++)
        if (pthread_create(&ids[i], &attributes, work, (void *)(intptr_t)i) != 0)
            return 4;
    pthread_barrier_wait(&made);
    say_memory();
    pthread_barrier_wait(&seen);
    long bytes = 0;
    for (int i = 0; i < threads; i++) {
        pthread_join(ids[i], NULL);
        bytes += EACH * (100 + i % 50);
    }
    say("{\"make\": [%d, %ld, 0], \"make_deep\": [%d, %d, 0]}\n", threads * EACH, bytes,
        depth > 0, depth > 0 ? 1000 : 0);
    return 0;
}
