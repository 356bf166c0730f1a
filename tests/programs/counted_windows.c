/* tests/programs/counted_windows.c - counting windows against the program's own count.
 *
 * Each case does what it does between a start and a stop, and counts for itself.  Prints a
 * line for each number that is not as it should be, and "ok" when there was none.
 */
#include <errno.h>
#include <malloc.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <tidemark/tidemark.h>
#include <unistd.h>

enum { THREADS = 64, ROUNDS = 500 };

static int wrong;

static void check(const char *what, double is, double should)
{
    if (is == should)
        return;
    wrong++;
    printf("%s: %.17g, should be %.17g\n", what, is, should);
}

/* What a window should say. */
struct own {
    double requested, used, freed, allocs, frees, failed, peak, smallest, largest;
    double squares;
};

static void own_alloc(struct own *own, void *block, size_t size)
{
    own->requested += (double)size;
    own->squares += (double)size * (double)size;
    own->used += (double)malloc_usable_size(block);
    if (!own->allocs || own->smallest > (double)size)
        own->smallest = (double)size;
    if (own->largest < (double)size)
        own->largest = (double)size;
    own->allocs++;
    if (own->used - own->freed > own->peak)
        own->peak = own->used - own->freed;
}

static void own_free(struct own *own, size_t used)
{
    own->freed += (double)used;
    own->frees++;
}

static void compare(const char *name, const struct tide_stats *is,
                    const struct own *own)
{
    char what[100];
#define CHECK(field, should)                               \
    do {                                                   \
        snprintf(what, sizeof(what), "%s: " #field, name); \
        check(what, (double)is->field, should);            \
    } while (0)
    CHECK(requested_bytes, own->requested);
    CHECK(used_bytes, own->used);
    CHECK(freed_bytes, own->freed);
    CHECK(alloc_calls, own->allocs);
    CHECK(free_calls, own->frees);
    CHECK(failed_calls, own->failed);
    CHECK(live_bytes, own->used - own->freed);
    CHECK(peak_bytes, own->peak);
    CHECK(smallest_bytes, own->smallest);
    CHECK(largest_bytes, own->largest);
    CHECK(mean_bytes, own->allocs ? own->requested / own->allocs : 0);
    const double n = own->allocs;
    const double spread =
        n > 1 ? sqrt((own->squares - own->requested * own->requested / n) / (n - 1))
              : 0;
    snprintf(what, sizeof(what), "%s: stddev_bytes", name);
    if (fabs(is->stddev_bytes - spread) > 1e-9 * (spread + 1))
        check(what, is->stddev_bytes, spread);
}

/* --- One thread ----------------------------------------------------------------------- */

static void *make(struct own *own, size_t size)
{
    void *volatile block = malloc(size);
    own_alloc(own, block, size);
    return block;
}

static void drop(struct own *own, void *block)
{
    own_free(own, malloc_usable_size(block));
    free(block);
}

static void plain(void)
{
    struct own own = {0};
    struct tide_stats stats;
    void *before = malloc(5000), *blocks[10];
    const tide_handle window = tide_start();
    for (size_t i = 0; i < 10; i++)
        blocks[i] = make(&own, 10 + 100 * i);
    for (size_t i = 0; i < 10; i += 2)
        drop(&own, blocks[i]);
    free(NULL);
    drop(&own, before); /* made before the window: it falls below its beginning */
    drop(&own, make(&own, 1));
    check("plain: peek", tide_peek(window, &stats), TIDE_DONE);
    compare("peek", &stats, &own);
    check("plain: stop", tide_stop(window, &stats), TIDE_DONE);
    free(malloc(77777)); /* not counted */
    compare("plain", &stats, &own);
    check("plain: again", tide_stop(window, &stats), TIDE_UNKNOWN);
    compare("again", &stats, &(struct own){0});
    for (size_t i = 1; i < 10; i += 2)
        free(blocks[i]);
}

static void odd(void)
{
    struct own own = {0};
    struct tide_stats stats;
    void *volatile block;
    const tide_handle window = tide_start();
    block = calloc(10, 0);
    own_alloc(&own, block, 0);
    drop(&own, block);
    block = malloc(0);
    own_alloc(&own, block, 0);
    drop(&own, block);
    block = calloc(7, 9);
    own_alloc(&own, block, 63);
    drop(&own, block);
    block = malloc(3ull << 30);
    own_alloc(&own, block, 3ull << 30);
    void *volatile second = malloc((3ull << 30) + 1);
    own_alloc(&own, second, (3ull << 30) + 1);
    drop(&own, second);
    drop(&own, block);
    errno = 0;
    block = malloc(SIZE_MAX / 2);
    check("odd: errno", errno, ENOMEM);
    own.failed += block == NULL;
    volatile size_t many = SIZE_MAX / 2;
    block = calloc(many, 3);
    own.failed += block == NULL;
    block = reallocarray(NULL, many, 3);
    own.failed += block == NULL;
    block = aligned_alloc(4096, 8192);
    own_alloc(&own, block, 8192);
    drop(&own, block);
    if (posix_memalign((void **)&second, 64, 100) == 0)
        own_alloc(&own, second, 100);
    drop(&own, second);
    tide_stop(window, &stats);
    compare("odd", &stats, &own);
}

static void moves(void)
{
    struct own own = {0};
    struct tide_stats stats;
    const tide_handle window = tide_start();
    char *volatile block = realloc(NULL, 100);
    own_alloc(&own, block, 100);
    char *volatile stands_behind = make(&own, 100);
    for (size_t size = 200; size < 2000000; size *= 3) {
        const size_t before = malloc_usable_size(block);
        char *volatile moved = realloc(block, size);
        if (moved != block) { /* both stood while it was copied */
            own_alloc(&own, moved, size);
            own_free(&own, before);
        } else {
            own_free(&own, before);
            own_alloc(&own, moved, size);
        }
        block = moved;
    }
    own.failed += realloc(block, SIZE_MAX / 2) == NULL;
    own_free(&own, malloc_usable_size(block));
    void *volatile gone = realloc(block, 0);
    check("moves: realloc to 0", gone != NULL, 0);
    drop(&own, stands_behind);
    tide_stop(window, &stats);
    compare("moves", &stats, &own);
}

static void overlapping(void)
{
    struct own first = {0}, second = {0}, third = {0};
    struct tide_stats stats;
    const tide_handle one = tide_start();
    void *a = make(&first, 100);
    const tide_handle two = tide_window_start("two", TIDE_SCOPE_THREAD);
    void *b = make(&first, 200);
    own_alloc(&second, b, 200);
    const tide_handle three = tide_start();
    tide_stop(one, &stats);
    compare("first", &stats, &first);
    void *c = make(&second, 300);
    own_alloc(&third, c, 300);
    tide_stop(two, &stats);
    compare("second", &stats, &second);
    drop(&third, a);
    drop(&third, c);
    drop(&third, b);
    tide_stop(three, &stats);
    compare("third", &stats, &third);
    check("never", tide_stop(UINT64_MAX, &stats), TIDE_UNKNOWN);
    check("nothing", tide_stop(TIDE_NOTHING, NULL), TIDE_UNKNOWN);
}

/* As reference/timemory's example does it: register, then start inside. */
static void registered(void)
{
    struct own all = {0}, inner = {0};
    struct tide_stats stats;
    struct tide_recorder_counters counters;
    check("register", tide_register(), TIDE_DONE);
    check("register again", tide_register(), TIDE_DONE);
    drop(&all, make(&all, 1000));
    const tide_handle window = tide_start();
    void *block = make(&all, 500);
    own_alloc(&inner, block, 500);
    tide_stop(window, &stats);
    compare("inner", &stats, &inner);
    check("deregister", tide_deregister(NULL), TIDE_DONE);
    drop(&all, block);
    tide_counters(&counters);
    check("counting", counters.counting, 1);
    compare("counters", &counters.total, &all);
    check("deregister", tide_deregister(&stats), TIDE_DONE);
    free(malloc(5));
    compare("all", &stats, &all);
    check("once too often", tide_deregister(&stats), TIDE_UNKNOWN);
    tide_counters(&counters);
    check("not counting", counters.counting, 0);
    check("no windows", (double)counters.windows, 0);
}

static void pauses(void)
{
    struct own own = {0};
    struct tide_stats stats;
    const tide_handle window = tide_start();
    drop(&own, make(&own, 10));
    tide_pause(TIDE_SCOPE_THREAD);
    tide_pause(TIDE_SCOPE_PROCESS);
    free(malloc(123456));
    tide_resume(TIDE_SCOPE_THREAD);
    free(malloc(123456));
    tide_resume(TIDE_SCOPE_PROCESS);
    tide_resume(TIDE_SCOPE_PROCESS); /* one too many */
    const int before = tide_hush(1);
    free(malloc(123456));
    tide_hush(before);
    drop(&own, make(&own, 20));
    tide_stop(window, &stats);
    compare("pauses", &stats, &own);
}

/* --- Many ----------------------------------------------------------------------------- */

static void *_Atomic handed[THREADS];
static struct own owns[THREADS];
static struct tide_stats thread_stats[THREADS];

/* Make blocks, hand each to the next thread, free what comes from the one before. */
static void *work(void *argument)
{
    const size_t self = (size_t)(uintptr_t)argument;
    struct own *const own = &owns[self];
    const tide_handle window = tide_window_start(NULL, TIDE_SCOPE_THREAD);
    for (size_t i = 0; i < ROUNDS; i++) {
        const size_t size = 1 + (i * 37 + self * 11) % 3000;
        void *block = malloc(size);
        own_alloc(own, block, size);
        block = atomic_exchange(&handed[(self + 1) % THREADS], block);
        if (block) {
            own_free(own, malloc_usable_size(block));
            free(block);
        }
    }
    tide_stop(window, &thread_stats[self]);
    return NULL;
}

static void add(struct own *sum, const struct own *own)
{
    sum->requested += own->requested;
    sum->squares += own->squares;
    sum->used += own->used;
    sum->freed += own->freed;
    sum->allocs += own->allocs;
    sum->frees += own->frees;
    if (own->largest > sum->largest)
        sum->largest = own->largest;
    if (sum->smallest == 0 || own->smallest < sum->smallest)
        sum->smallest = own->smallest;
}

static void threads(void)
{
    pthread_t ids[THREADS];
    struct own sum = {0};
    struct tide_stats stats;
    tide_pause(TIDE_SCOPE_THREAD); /* what it takes to make threads */
    const tide_handle window = tide_window_start("threads", TIDE_SCOPE_PROCESS);
    for (size_t i = 0; i < THREADS; i++)
        pthread_create(&ids[i], NULL, work, (void *)(uintptr_t)i);
    for (size_t i = 0; i < THREADS; i++)
        pthread_join(ids[i], NULL);
    tide_stop(window, &stats);
    tide_resume(TIDE_SCOPE_THREAD);
    for (size_t i = 0; i < THREADS; i++) {
        struct own one = owns[i];
        add(&sum, &one);
        one.peak = (double)thread_stats[i].peak_bytes; /* below: bounds */
        compare("a thread", &thread_stats[i], &one);
        if (one.peak < one.used - one.freed || one.peak > one.used)
            check("peak of a thread", one.peak, one.used - one.freed);
    }
    /* The peak lies between what is left and what was ever made. */
    if ((double)stats.peak_bytes < sum.used - sum.freed ||
        (double)stats.peak_bytes > sum.used)
        check("peak of threads", (double)stats.peak_bytes, sum.used - sum.freed);
    sum.peak = (double)stats.peak_bytes;
    compare("threads", &stats, &sum);
    for (size_t i = 0; i < THREADS; i++)
        free(handed[i]);
}

/* The child goes on with the window of its parent, and stops its own copy. */
static void forks(void)
{
    struct own own = {0};
    struct tide_stats stats;
    int status;
    const tide_handle window = tide_start();
    drop(&own, make(&own, 50));
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        drop(&own, make(&own, 60));
        wrong = 0;
        tide_stop(window, &stats);
        compare("child", &stats, &own);
        fflush(stdout);
        _exit(wrong != 0);
    }
    waitpid(child, &status, 0);
    check("child", status, 0);
    tide_stop(window, &stats);
    compare("parent", &stats, &own);
}

int main(void)
{
    static char buffer[65536];
    setvbuf(stdout, buffer, _IOFBF, sizeof(buffer));
    free(malloc(1));
    plain();
    odd();
    moves();
    overlapping();
    registered();
    pauses();
    forks();
    threads();
    puts(wrong ? "wrong" : "ok");
    return wrong != 0;
}
