/* tests/programs/reads_all.c - read all memory that the process has, as some garbage collectors and
 * checkpoint tools do.
 *
 * Usage: reads_all THREADS.  That many threads allocate before, and live on.  Ends with 7.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PAGE = 4096, THREADS_MOST = 500 };
static const unsigned long large = 1ul << 30; /* more is only reserved */

static pthread_barrier_t all_are_there, may_go;

static void *allocate(void *unused)
{
    void *volatile block = malloc(100);
    (void)pthread_barrier_wait(&all_are_there);
    (void)pthread_barrier_wait(&may_go);
    free(block);
    return unused;
}

/* One byte of each page; the kernel's own are left alone. */
static void read_pages(const char *line)
{
    unsigned long begin, end;
    char rights[5];
    if (sscanf(line, "%lx-%lx %4s", &begin, &end, rights) != 3 || rights[0] != 'r' ||
        end - begin > large || strstr(line, "[v"))
        return;
    for (; begin < end; begin += PAGE)
        (void)*(const volatile char *)begin; /* NOLINT(performance-no-int-to-ptr) */
}

int main(int argc, char **argv)
{
    const int count = argc > 1 ? atoi(argv[1]) : 0;
    pthread_t threads[THREADS_MOST];
    char line[1024];
    if (count > THREADS_MOST ||
        pthread_barrier_init(&all_are_there, NULL, (unsigned)count + 1) != 0 ||
        pthread_barrier_init(&may_go, NULL, (unsigned)count + 1) != 0)
        return 1;
    for (int i = 0; i < count; i++)
        if (pthread_create(&threads[i], NULL, allocate, NULL) != 0)
            return 1;
    (void)pthread_barrier_wait(&all_are_there);
    FILE *const maps = fopen("/proc/self/maps", "re");
    while (maps && fgets(line, sizeof(line), maps))
        read_pages(line);
    (void)pthread_barrier_wait(&may_go);
    for (int i = 0; i < count; i++)
        (void)pthread_join(threads[i], NULL);
    return maps ? 7 : 1;
}
