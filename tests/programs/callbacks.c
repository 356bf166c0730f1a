/* tests/programs/callbacks.c - callbacks on every allocation and free.
 *
 * Prints a line for each thing that is not as it should be, and "ok" when there was none.
 * With an argument: only that case.
 */
#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tidemark/tidemark.h>
#include <unistd.h>

enum { THREADS = 300, ROUNDS = 40 };

static int wrong;

#define CHECK(is, should)                                                     \
    do {                                                                      \
        const long is_ = (long)(is), should_ = (long)(should);                \
        if (is_ != should_) {                                                 \
            wrong++;                                                          \
            printf("line %d: " #is " is %ld, should be %ld\n", __LINE__, is_, \
                   should_);                                                  \
        }                                                                     \
    } while (0)

struct counts {
    atomic_long allocs, frees, requested, used, freed;
    const void *_Atomic last_alloc, *_Atomic last_free;
};

static void count_alloc(size_t requested, size_t used, const void *block, void *user)
{
    struct counts *const counts = user;
    void *volatile own = malloc(100); /* causes no call */
    counts->allocs++;
    counts->requested += (long)requested;
    counts->used += (long)used;
    counts->last_alloc = block;
    free(own);
}

static void count_free(size_t used, const void *block, void *user)
{
    struct counts *const counts = user;
    counts->frees++;
    counts->freed += (long)used;
    counts->last_free = block;
    free(malloc(10));
}

static void plain(void)
{
    struct counts counts = {0};
    tide_handle monitor;
    CHECK(tide_monitor_add(NULL, NULL, NULL, &monitor), TIDE_REFUSED);
    CHECK(tide_monitor_add(count_alloc, count_free, &counts, &monitor), TIDE_DONE);
    char *volatile block = malloc(1000);
    const long used = (long)malloc_usable_size(block);
    CHECK(counts.allocs, 1);
    CHECK(counts.requested, 1000);
    CHECK(counts.used, used);
    CHECK(counts.last_alloc == block, 1);
    char *volatile moved = realloc(block, 1000000);
    CHECK(counts.allocs, 2);
    CHECK(counts.frees, 1);
    CHECK(counts.freed, used);
    CHECK(counts.requested, 1001000);
    const long more = (long)malloc_usable_size(moved);
    CHECK(realloc(moved, SIZE_MAX / 2) == NULL, 1); /* there and back again */
    CHECK(counts.used - counts.freed, more);
    CHECK(counts.last_alloc == moved, 1);
    free(moved);
    CHECK(counts.used, counts.freed);
    CHECK(counts.last_free == moved, 1);
    const long allocs = counts.allocs;
    void *volatile failed = malloc(SIZE_MAX / 2);
    CHECK(failed == NULL, 1);
    free(NULL);
    CHECK(counts.allocs, allocs);
    CHECK(tide_monitor_remove(monitor), TIDE_DONE);
    CHECK(tide_monitor_remove(monitor), TIDE_UNKNOWN);
    free(malloc(5));
    CHECK(counts.allocs, allocs);
}

/* --- Adding and removing in callbacks -------------------------------------------------- */

static tide_handle order[3];
static int calls[3];
static char said[32];

static void first(size_t a, size_t b, const void *c, void *d)
{
    (void)a, (void)b, (void)c, (void)d;
    strcat(said, "1");
    if (++calls[0] == 2)
        CHECK(tide_monitor_remove(order[1]), TIDE_DONE);
}

static void second(size_t a, size_t b, const void *c, void *d)
{
    (void)a, (void)b, (void)c, (void)d;
    strcat(said, "2");
}

static void third(size_t a, size_t b, const void *c, void *d)
{
    (void)a, (void)b, (void)c, (void)d;
    strcat(said, "3");
    if (++calls[2] == 3) {
        CHECK(tide_monitor_remove(order[2]), TIDE_DONE);
        CHECK(tide_monitor_add(second, NULL, NULL, &order[1]), TIDE_DONE);
    }
}

static void in_callbacks(void)
{
    CHECK(tide_monitor_add(first, NULL, NULL, &order[0]), TIDE_DONE);
    CHECK(tide_monitor_add(second, NULL, NULL, &order[1]), TIDE_DONE);
    CHECK(tide_monitor_add(third, NULL, NULL, &order[2]), TIDE_DONE);
    for (int i = 0; i < 5; i++) {
        free(malloc(1));
        strcat(said, " ");
    }
    /* The second is gone from the second call on, at once; the third after the third,
     * whose successor is called from the fourth on. */
    CHECK(strcmp(said, "123 13 13 12 12 "), 0);
    CHECK(tide_monitor_remove(order[0]), TIDE_DONE);
    CHECK(tide_monitor_remove(order[1]), TIDE_DONE);
    struct tide_recorder_counters counters;
    tide_counters(&counters);
    CHECK(counters.monitors, 0);
}

/* --- A thread that is cancelled in a callback --------------------------------------------- */

static _Thread_local int naps;
static atomic_int napping, woken, past;

static void nap(size_t a, size_t b, const void *c, void *d)
{
    (void)a, (void)b, (void)c, (void)d;
    if (!naps)
        return;
    napping = 1;
    while (!woken)
        usleep(1000); /* a place to be cancelled in, elsewhere */
}

static void *nap_once(void *unused)
{
    naps = 1;
    free(malloc(1));
    past = 1;
    pause();
    return unused;
}

/* Else it would be a reader for ever, and whoever removes something would wait for it. */
static void cancelled(void)
{
    pthread_t thread;
    tide_handle monitor;
    void *result;
    CHECK(tide_monitor_add(nap, NULL, NULL, &monitor), TIDE_DONE);
    CHECK(pthread_create(&thread, NULL, nap_once, NULL), 0);
    while (!napping)
        usleep(1000);
    CHECK(pthread_cancel(thread), 0);
    woken = 1;
    pthread_join(thread, &result);
    CHECK(result == PTHREAD_CANCELED, 1);
    CHECK(past, 1);
    CHECK(tide_monitor_remove(monitor), TIDE_DONE);
}

/* --- A callback that asks, while somebody waits for it ---------------------------------- */

static _Thread_local int asks;
static atomic_int asking;
static int asked = -1;

static void ask(size_t a, size_t b, const void *c, void *d)
{
    (void)a, (void)b, (void)c, (void)d;
    if (!asks)
        return;
    asking = 1;
    usleep(100000); /* the other one is waiting by now */
    asked = tide_deregister(NULL);
}

static void *ask_once(void *unused)
{
    free(malloc(1)); /* the thread has what it needs */
    asks = 1;
    free(malloc(1));
    return unused;
}

static unsigned long recorder_bytes(void)
{
    struct tide_recorder_counters counters;
    tide_counters(&counters);
    return counters.recorder_bytes;
}

/* Who ends the count of the process waits for callbacks, but not so that these wait for
 * him: then nobody could be waited for, and memory would be lost. */
static void asked_amid(void)
{
    pthread_t thread;
    tide_handle monitor;
    struct tide_stats stats;
    CHECK(tide_register(), TIDE_DONE); /* makes what stays for ever */
    CHECK(tide_deregister(NULL), TIDE_DONE);
    CHECK(tide_monitor_add(ask, NULL, NULL, &monitor), TIDE_DONE);
    CHECK(pthread_create(&thread, NULL, ask_once, NULL), 0);
    while (!asking)
        usleep(1000);
    const unsigned long before = recorder_bytes();
    CHECK(tide_register(), TIDE_DONE);
    CHECK(tide_deregister(&stats), TIDE_DONE);
    CHECK(recorder_bytes() <= before, 1);
    pthread_join(thread, NULL);
    CHECK(asked, TIDE_UNKNOWN);
    CHECK(tide_monitor_remove(monitor), TIDE_DONE);
}

/* --- Many threads ---------------------------------------------------------------------- */

/* Each thread's monitor counts only what its own thread does, by a mark in TLS, and lives
 * on its stack: a call after its removal would find rubbish. */
static _Thread_local long own_allocs, own_frees;
struct local {
    pthread_t thread;
    long allocs, frees;
    unsigned alive;
};
static struct counts everything;

static void local_alloc(size_t requested, size_t used, const void *block, void *user)
{
    struct local *const local = user;
    (void)requested, (void)used, (void)block;
    if (local->alive != 0x5a5a5a5a)
        abort();
    if (pthread_equal(local->thread, pthread_self()))
        local->allocs++;
}

static void local_free(size_t used, const void *block, void *user)
{
    struct local *const local = user;
    (void)used, (void)block;
    if (local->alive != 0x5a5a5a5a)
        abort();
    if (pthread_equal(local->thread, pthread_self()))
        local->frees++;
}

static void round_of(void)
{
    struct local local = {.thread = pthread_self(), .alive = 0x5a5a5a5a};
    tide_handle monitor;
    if (tide_monitor_add(local_alloc, local_free, &local, &monitor) != TIDE_DONE)
        abort();
    for (int i = 0; i < 10; i++) {
        free(malloc(50));
        own_allocs++;
        own_frees++;
    }
    tide_monitor_remove(monitor);
    if (local.allocs != 10 || local.frees != 10)
        abort();
    local.alive = 0;
}

static atomic_long all_allocs;

static void *work(void *unused)
{
    for (int i = 0; i < ROUNDS; i++)
        round_of();
    all_allocs += own_allocs;
    return unused;
}

static void many(void)
{
    pthread_t threads[THREADS];
    tide_handle monitor;
    tide_hush(1); /* what it takes to make threads is not counted */
    CHECK(tide_monitor_add(count_alloc, count_free, &everything, &monitor), TIDE_DONE);
    int made = 0;
    while (made < THREADS && pthread_create(&threads[made], NULL, work, NULL) == 0)
        made++;
    for (int i = 0; i < made; i++)
        pthread_join(threads[i], NULL);
    CHECK(tide_monitor_remove(monitor), TIDE_DONE);
    tide_hush(0);
    CHECK(made, THREADS);
    CHECK(all_allocs, (long)THREADS * ROUNDS * 10);
    CHECK(everything.allocs, all_allocs);
    CHECK(everything.frees, all_allocs);
    CHECK(everything.requested, all_allocs * 50);
}

int main(int argc, char **argv)
{
    static char buffer[65536];
    setvbuf(stdout, buffer, _IOFBF, sizeof(buffer));
    free(malloc(1));
    tide_handle none;
    if (tide_monitor_add(count_alloc, count_free, NULL, &none) == TIDE_ABSENT) {
        puts("absent");
        return none != TIDE_NOTHING;
    }
    tide_monitor_remove(none);
    if (argc < 2 || strcmp(argv[1], "many") != 0) {
        plain();
        in_callbacks();
        asked_amid();
        cancelled();
    }
    if (argc < 2 || strcmp(argv[1], "many") == 0)
        many();
    puts(wrong ? "wrong" : "ok");
    return wrong != 0;
}
