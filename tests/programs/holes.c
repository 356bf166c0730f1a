/* tests/programs/holes.c - places that a program made and gave back are still free later.
 *
 * Usage: holes EVENT.  Some places are reserved and given back; what EVENT says happens; then
 * they are mapped again, where nothing may be mapped yet.  The program itself maps nothing in
 * between: its threads have stacks and a heap of their own, its libraries are loaded before.
 * Says which places were still free.
 *
 * chain DEPTH: a chain of forks, each child of which makes threads; the first and the last one
 * compare what is mapped.
 */
#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <tidemark/tidemark.h>

#include "say.h"

#ifndef MAP_FIXED_NOREPLACE
#    define MAP_FIXED_NOREPLACE 0x100000
#endif

enum { THREADS = 200, STACK = 64 << 10, HOLES = 4 };

static const size_t sizes[HOLES] = {4096, 64 << 10, 600 << 10, 24 << 20};
static char *holes[HOLES];
static _Alignas(4096) char stacks[THREADS][STACK];
static pthread_barrier_t all_there;

/* Between two that stay, so that each hole is as large as it was made. */
static void make_holes(void)
{
    for (int i = 0; i < HOLES; i++) {
        char *const all =
            mmap(NULL, sizes[i] + 8192, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (all == MAP_FAILED || munmap(all + 4096, sizes[i]) != 0)
            exit(2);
        holes[i] = all + 4096;
    }
}

static void use(char *at, size_t bytes, int flags)
{
    if (mmap(at, bytes, PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | flags, -1, 0) != at) {
        say("%zu KiB: %s\n", bytes / 1024, strerrorname_np(errno));
        return;
    }
    memset(at, 0xee, bytes);
    say("%zu KiB: free\n", bytes / 1024);
}

static void use_holes(const char *who, int flags)
{
    say("%s\n", who);
    for (int i = 0; i < HOLES; i++)
        use(holes[i], sizes[i], flags);
}

__attribute__((noinline)) static void *make(size_t size)
{
    void *volatile block = malloc(size);
    return block;
}

static void churn(int rounds)
{
    for (int i = 0; i < rounds; i++)
        free(make((size_t)(i % 500)));
}

static void *allocate(void *argument)
{
    churn(20);
    tide_region_begin("a region");
    churn(20);
    tide_region_end("a region");
    if (argument)
        pthread_barrier_wait(&all_there);
    return NULL;
}

static void threads(int count)
{
    static pthread_t ids[THREADS];
    pthread_attr_t attributes;
    pthread_barrier_init(&all_there, NULL, (unsigned)count);
    pthread_attr_init(&attributes);
    for (int i = 0; i < count; i++) {
        pthread_attr_setstack(&attributes, stacks[i], STACK);
        if (pthread_create(&ids[i], &attributes, allocate, ids) != 0)
            exit(3);
    }
    for (int i = 0; i < count; i++)
        pthread_join(ids[i], NULL);
    pthread_attr_destroy(&attributes);
}

/* --- Events --------------------------------------------------------------------------- */

static void one_thread(void)
{
    threads(1);
}

static void many_threads(void)
{
    threads(THREADS);
}

/* As programs do it that know what is theirs: what is there goes. */
static void thread_and_replace(void)
{
    threads(1);
    use_holes("replaced", MAP_FIXED);
    threads(8);
}

static void fork_once(void)
{
    const pid_t child = fork();
    if (child == 0) {
        churn(100);
        threads(2);
        use_holes("child", MAP_FIXED_NOREPLACE);
        churn(100);
        _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    say("status %d\n", status);
}

static void hot(void)
{
    churn(200000);
}

static void told(void)
{
    static char names[500][16];
    static void *blocks[2000];
    for (int i = 0; i < 500; i++) {
        struct tide_stats stats;
        snprintf(names[i], sizeof(names[i]), "name %d", i);
        const tide_handle window = tide_window_start(names[i], TIDE_SCOPE_THREAD);
        tide_region_begin(names[i]);
        tide_set_int(names[i], i);
        churn(3);
        tide_region_end(names[i]);
        tide_stop(window, &stats);
    }
    for (int i = 0; i < 2000; i++) {
        blocks[i] = make(500);
        tide_label(blocks[i], names[i % 500], 500);
    }
    for (int i = 0; i < 2000; i++) {
        struct tide_found_block found;
        tide_find(blocks[i], &found);
        free(blocks[i]);
    }
}

static const struct {
    const char *name;
    void (*happens)(void);
} events[] = {
    {"thread", one_thread},
    {"threads", many_threads},
    {"replace", thread_and_replace},
    {"fork", fork_once},
    {"hot", hot},
    {"told", told},
};

/* --- A chain of forks ----------------------------------------------------------------- */

struct mapped {
    long lines, kib;
};

/* Private memory: what is shared with others who live is as much as they are. */
static struct mapped what_is_mapped(void)
{
    static char line[8192];
    struct mapped mapped = {0};
    FILE *const maps = fopen("/proc/self/maps", "r");
    unsigned long from, to;
    char kind;
    while (maps && fgets(line, sizeof(line), maps))
        if (sscanf(line, "%lx-%lx %*3s%c", &from, &to, &kind) == 3 && kind == 'p') {
            mapped.lines++;
            mapped.kib += (long)((to - from) / 1024);
        }
    if (maps)
        fclose(maps);
    return mapped;
}

/* Whoever is in the middle of the chain goes on as it is when its child comes back. */
static void chain(int depth)
{
    static struct mapped first, now;
    for (int left = depth; left > 0; left--) {
        const pid_t child = fork();
        if (child != 0) {
            int status = 1;
            waitpid(child, &status, 0);
            _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 9);
        }
        churn(10);
        threads(3);
        now = what_is_mapped();
        if (left == depth)
            first = now;
    }
    const bool as_much = now.kib <= first.kib + 1024 && now.lines <= first.lines + 2;
    say("%s\n", as_much ? "as much as at first" : "more");
    if (!as_much)
        say("%ld lines, %ld KiB after %ld lines, %ld KiB\n", now.lines, now.kib,
            first.lines, first.kib);
    _exit(7);
}

/* The heap grows where it is, by brk, and threads share it. */
static void settle(void)
{
    mallopt(M_ARENA_MAX, 1);
    mallopt(M_MMAP_THRESHOLD, 1 << 30);
    free(make(4 << 20));
}

int main(int argc, char **argv)
{
    settle();
    if (argc == 3 && strcmp(argv[1], "chain") == 0)
        chain(atoi(argv[2]));
    for (size_t i = 0; i < sizeof(events) / sizeof(*events); i++) {
        if (argc < 2 || strcmp(argv[1], events[i].name) != 0)
            continue;
        make_holes();
        events[i].happens();
        use_holes("after", MAP_FIXED_NOREPLACE);
        return 7;
    }
    return 2;
}
