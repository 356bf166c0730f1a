/* tests/programs/finds.c - asks which block holds an address, and knows the answer.
 *
 * Prints how often each part asked, and how often the answer was wrong.  Without the table
 * of live blocks: only what tide_find() says then.
 */
#include <inttypes.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <tidemark/tidemark.h>

enum { BLOCKS = 300000, MOVES = 2000, THREADS = 8, ROUNDS = 20000, KEPT = 64 };

static _Atomic long asked, wrong;

static void expect(int right)
{
    asked++;
    if (!right)
        wrong++;
}

static void say(const char *part)
{
    printf("\"%s\": [%ld, %ld], ", part, asked, wrong);
    asked = wrong = 0;
}

static uint32_t dice(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

/* At OFFSET into BLOCK there is BLOCK of BYTES, called LABEL; its uid. */
static uint64_t holds(const char *block, size_t offset, size_t bytes, const char *label)
{
    struct tide_found_block found;
    const int answer = tide_find(block + offset, &found);
    expect(answer == TIDE_DONE && found.address == (uintptr_t)block &&
           found.bytes == bytes && found.offset == offset &&
           found.used_bytes >= bytes && strcmp(found.label, label) == 0);
    return found.uid;
}

static void is_nowhere(const void *address)
{
    struct tide_found_block found;
    expect(tide_find(address, &found) == TIDE_UNKNOWN && found.address == 0);
}

/* Freed, it is nowhere; gcc need not know what is looked for. */
static void free_and_look(char *block, size_t offset)
{
    char *volatile freed = block;
    free(block);
    is_nowhere(freed + offset);
}

/* --- Many ------------------------------------------------------------------------------ */

static char *blocks[BLOCKS];
static size_t sizes[BLOCKS];
static unsigned char seen[4 * BLOCKS];

static void find_many(void)
{
    uint32_t state = 1;
    for (int i = 0; i < BLOCKS; i++) {
        sizes[i] = dice(&state) % 200 + (i % 1000 == 0 ? 500000 : 0);
        blocks[i] = malloc(sizes[i]);
    }
    for (int i = 0; i < BLOCKS; i++) {
        const size_t used = malloc_usable_size(blocks[i]);
        const uint64_t uid = holds(blocks[i], 0, sizes[i], "");
        holds(blocks[i], used - 1, sizes[i], "");
        if (sizes[i])
            holds(blocks[i], dice(&state) % sizes[i], sizes[i], "");
        expect(uid < sizeof(seen) && !seen[uid]++);
        struct tide_found_block
            found; /* the allocator's own bytes, or the next one's */
        expect(tide_find(blocks[i] + used, &found) != TIDE_DONE ||
               found.address != (uintptr_t)blocks[i]);
    }
    say("many");
    for (int i = 0; i < BLOCKS; i += 3)
        free(blocks[i]);
    for (int i = 0; i < BLOCKS; i++)
        if (i % 3 == 0)
            is_nowhere(blocks[i]);
        else
            holds(blocks[i], 0, sizes[i], "");
    for (int i = 0; i < BLOCKS; i++)
        if (i % 3 != 0)
            free(blocks[i]);
    is_nowhere(blocks[1]);
    is_nowhere(&state);
    is_nowhere(NULL);
    say("freed");
}

/* --- Names ----------------------------------------------------------------------------- */

static void find_moved(void)
{
    for (int i = 0; i < MOVES; i++) {
        char name[32];
        const size_t more = (size_t)i * 100 + 5000;
        char *block = malloc(100);
        (void)snprintf(name, sizeof(name), "array %d", i);
        tide_label(block, name, 100);
        const uint64_t uid = holds(block, 99, 100, name);
        char *const other = i % 2 ? malloc(50) : NULL; /* in the way */
        block = realloc(block, more);
        expect(holds(block, more - 1, more, name) == uid);
        block = realloc(block, 30);
        expect(holds(block, 29, 30, name) == uid);
        tide_unlabel(block);
        holds(block, 0, 30, "");
        free(other);
        free_and_look(block, 0);
    }
    say("moved");
}

static void find_elements(void)
{
    enum { X = 4, Y = 5, Z = 6 };
    double *const cube = malloc(sizeof(double) * X * Y * Z);
    tide_label_shape(cube, "cube", sizeof(double), (const size_t[]){X, Y, Z}, 3);
    for (size_t byte = 0; byte < sizeof(double) * X * Y * Z; byte++) {
        struct tide_found_block found;
        const size_t index = byte / sizeof(double);
        tide_find((char *)cube + byte, &found);
        expect(found.index == index && found.dimensions == 3 &&
               found.element_bytes == sizeof(double) &&
               found.position[0] == index / (Y * Z) &&
               found.position[1] == index / Z % Y && found.position[2] == index % Z);
    }
    tide_label(cube, "flat", 8); /* another name has no shape */
    struct tide_found_block found;
    tide_find((char *)cube + 17, &found);
    expect(found.dimensions == 0 && found.index == 17 &&
           strcmp(found.label, "flat") == 0);
    free(cube);
    say("elements");
}

/* --- Inside ---------------------------------------------------------------------------- */

static void find_in_pools(void)
{
    struct tide_found_block found;
    char *const arena = malloc(100000);
    tide_label(arena, "arena", 100000);
    for (size_t i = 0; i < 100; i++)
        tide_pool_alloc("pool", arena + i * 1000, 900, i % 2 ? "odd" : NULL);
    for (size_t i = 0; i < 100; i++) {
        holds(arena + i * 1000, 899, 900, i % 2 ? "odd" : "");
        tide_find(arena + i * 1000 + 5, &found);
        expect(strcmp(found.pool, "pool") == 0 && found.holder == (uintptr_t)arena);
        holds(arena, i * 1000 + 900, 100000, "arena"); /* between two of them */
    }
    tide_pool_free("pool", arena + 3000);
    holds(arena, 3001, 100000, "arena");
    tide_label(arena + 3003, "part", 10);
    holds(arena + 3003, 9, 10, "part");
    tide_label(arena + 5000, "even", 900);
    holds(arena + 5000, 1, 900, "even");
    tide_unlabel(arena + 3003);
    holds(arena, 3004, 100000, "arena");
    char *volatile before = arena;
    free_and_look(arena, 2001);
    char *const again = malloc(100000);
    if (again == before) /* nothing of it is left */
        holds(again, 2001, 100000, "");
    free(again);
    say("inside");
}

/* Who names what is freed names a place: until a block takes it. */
static void find_freed_with_a_name(void)
{
    char *volatile gone = malloc(1000);
    char *const address = gone;
    free(gone);
    gone = address;
    tide_label(gone, "gone", 1000);
    holds(gone, 999, 1000, "gone");
    char *const next = malloc(1000);
    expect(next == gone); /* or this asks nothing */
    holds(next, 500, 1000, "");
    tide_label(next, "next", 1000);
    holds(next, 500, 1000, "next");
    free(next);
    is_nowhere(gone + 500);
    say("named late");
}

static void find_mapped(void)
{
    enum { PAGES = 8 * 4096 };
    char *const map =
        mmap(NULL, PAGES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    char *const room =
        mmap(NULL, 2 * PAGES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    tide_label(map, "mapped", PAGES);
    holds(map, PAGES - 1, PAGES, "mapped");
    char *const moved =
        mremap(map, PAGES, PAGES, MREMAP_MAYMOVE | MREMAP_FIXED, room + PAGES);
    holds(moved, 4096, PAGES, "mapped");
    is_nowhere(map + 4096);
    munmap(moved, PAGES);
    is_nowhere(moved);
    munmap(room, PAGES);
    say("mapped");
}

static char *map_pages(size_t bytes)
{
    return mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
                0);
}

/* What lies in a part that goes, goes; what reaches into it is shorter. */
static void find_remapped(void)
{
    enum { PAGE = 4096, PAGES = 8 * PAGE };
    char *const map = map_pages(PAGES);
    tide_label(map, "first", 6 * PAGE);
    tide_label(map + 6 * PAGE, "last", PAGE);
    if (munmap(map + 1, PAGES) == 0 || munmap(map, 0) == 0)
        abort();
    holds(map, PAGE, 6 * PAGE, "first");
    holds(map + 6 * PAGE, 10, PAGE, "last");
    if (mremap(map, PAGES, 4 * PAGE, 0) != map)
        abort();
    holds(map, 4 * PAGE - 1, 4 * PAGE, "first");
    is_nowhere(map + 5 * PAGE);
    is_nowhere(map + 6 * PAGE);
    tide_label(map + 3 * PAGE, "fourth", PAGE);
    holds(map + 3 * PAGE, 0, PAGE, "fourth");
    if (mmap(map + 2 * PAGE, 2 * PAGE, PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED)
        abort();
    is_nowhere(map + 3 * PAGE);
    holds(map, 2 * PAGE - 1, 2 * PAGE, "first");
    tide_label(map + 3 * PAGE, "fifth", PAGE);
    char *const room = map_pages(PAGES);
    tide_label(room, "under", PAGE);
    if (mremap(map, 4 * PAGE, 3 * PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, room) != room)
        abort();
    holds(room, 100, 2 * PAGE, "first");
    is_nowhere(room + 3 * PAGE);
    is_nowhere(map + 3 * PAGE);
    is_nowhere(map);
    munmap(room + PAGE, PAGES - PAGE);
    holds(room, 100, PAGE, "first");
    munmap(room, PAGE);
    is_nowhere(room);
    say("remapped");
}

/* --- At once --------------------------------------------------------------------------- */

static _Atomic(char *) gift; /* freed by whoever takes it */

static void *find_in_thread(void *number)
{
    uint32_t state = (uint32_t)(uintptr_t)number;
    char *own[KEPT] = {0};
    size_t bytes[KEPT] = {0};
    for (int i = 0; i < ROUNDS; i++) {
        const uint32_t which = dice(&state) % KEPT;
        const size_t size = dice(&state) % 3000 + 1;
        if (!own[which]) {
            own[which] = malloc(size);
        } else if (i % 5 == 0) {
            free(atomic_exchange(&gift, own[which]));
            own[which] = NULL;
        } else {
            own[which] = realloc(own[which], size);
        }
        bytes[which] = size;
        if (own[which])
            holds(own[which], size - 1, size, "");
        const uint32_t other = dice(&state) % KEPT;
        if (own[other])
            holds(own[other], bytes[other] / 2, bytes[other], "");
    }
    for (int i = 0; i < KEPT; i++)
        free(own[i]);
    return NULL;
}

static void find_in_threads(void)
{
    pthread_t threads[THREADS];
    for (uintptr_t i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, find_in_thread, (void *)(i + 1));
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    free(atomic_exchange(&gift, NULL));
    say("threads");
}

/* Only what may be done in a handler that interrupts malloc: look. */
static char *known;
static void handler(int number)
{
    (void)number;
    holds(known, 7, 1234, "known");
}

static void find_in_handler(void)
{
    const struct itimerval often = {{0, 500}, {0, 500}};
    const struct itimerval never = {{0, 0}, {0, 0}};
    known = malloc(1234);
    tide_label(known, "known", 1234);
    signal(SIGPROF, handler);
    setitimer(ITIMER_PROF, &often, NULL);
    while (asked < 30)
        for (int i = 0; i < 1000; i++)
            free(realloc(malloc(100), 5000));
    setitimer(ITIMER_PROF, &never, NULL);
    say("handler");
    if (fork() == 0) {
        holds(known, 7, 1234, "known");
        char *const own = malloc(77);
        holds(own, 76, 77, "");
        free_and_look(own, 0);
        _exit((int)wrong);
    }
    int status;
    wait(&status);
    expect(status == 0);
    say("fork");
    free(known);
}

static void allocated(size_t requested, size_t used, const void *block, void *user)
{
    (void)used;
    (void)user;
    holds(block, 0, requested, "");
    char *const inner = malloc(55); /* told to nobody, but it is there */
    holds(inner, 54, 55, "");
    free_and_look(inner, 0);
}

static void find_in_callback(void)
{
    tide_handle monitor;
    tide_monitor_add(allocated, NULL, NULL, &monitor);
    void *const block = calloc(3, 100);
    tide_monitor_remove(monitor);
    tide_pause(TIDE_SCOPE_PROCESS);
    void *const unseen = malloc(444);
    free_and_look(block, 0);
    tide_resume(TIDE_SCOPE_PROCESS);
    is_nowhere(unseen);
    tide_label(unseen, "unseen", 444);
    holds(unseen, 443, 444, "unseen");
    free_and_look(unseen, 443);
    say("callback");
}

int main(void)
{
    struct tide_recorder_counters counters;
    struct tide_found_block found;
    char *const block = malloc(10);
    const int answer = tide_find(block, &found);
    printf("{");
    if (answer == TIDE_DONE) {
        find_many();
        find_moved();
        find_elements();
        find_in_pools();
        find_freed_with_a_name();
        find_mapped();
        find_remapped();
        find_in_threads();
        find_in_handler();
        find_in_callback();
    }
    tide_counters(&counters);
    printf("\"answer\": %d, \"recorder_bytes\": %" PRIu64 "}\n", answer,
           counters.recorder_bytes);
    free(block);
    return 0;
}
