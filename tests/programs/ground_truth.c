/* tests/programs/ground_truth.c - 100 000 allocations that know themselves.
 *
 * Ten sites allocate in turn with pseudo-random sizes and lifetimes by malloc, calloc,
 * realloc and aligned_alloc.  The program keeps its own books and prints them as JSON:
 * totals, per-site counts and bytes, what lives at exit, the peak, what each site held
 * then, and when it was.
 */
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

#include "say.h"

enum { SITES = 10, ROUNDS = 100000, SLOTS = 4096 };

struct book {
    uint64_t calls, bytes, live_blocks, live_bytes, peak_bytes;
};

static struct book books[SITES];
static struct {
    void *block;
    size_t size;
    int site;
} slots[SLOTS];

static uint64_t calls, frees, bytes, live, peak, peak_with_realloc, reallocs;
static uint64_t random_state = 12345;
static double peak_unix_s;

static uint64_t random_number(void)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return random_state >> 33;
}

static void note_peak(void)
{
    if (live <= peak)
        return;
    peak = live;
    for (int i = 0; i < SITES; i++)
        books[i].peak_bytes = books[i].live_bytes;
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    peak_unix_s = (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void count_birth(int site, size_t size)
{
    calls++;
    bytes += size;
    books[site].calls++;
    books[site].bytes += size;
    books[site].live_blocks++;
    books[site].live_bytes += size;
    live += size;
    if (live > peak_with_realloc)
        peak_with_realloc = live;
}

static void count_death(int site, size_t size)
{
    frees++;
    books[site].live_blocks--;
    books[site].live_bytes -= size;
    live -= size;
}

#define SITE(n, call)                                            \
    __attribute__((noinline)) static void *site_##n(size_t size) \
    {                                                            \
        void *volatile block = call;                             \
        return block;                                            \
    }
SITE(0, malloc(size))
SITE(1, malloc(size))
SITE(2, calloc(1, size))
SITE(3, malloc(size))
SITE(4, calloc(size, 1))
SITE(5, malloc(size))
SITE(6, aligned_alloc(64, size))
SITE(7, malloc(size))
SITE(8, realloc(NULL, size))

__attribute__((noinline)) static void *site_9(void *old, size_t size)
{
    void *volatile block = realloc(old, size);
    return block;
}

static void *(*const sites[])(size_t) = {site_0, site_1, site_2, site_3, site_4,
                                         site_5, site_6, site_7, site_8};

static void release(int slot)
{
    if (!slots[slot].block)
        return;
    count_death(slots[slot].site, slots[slot].size);
    free(slots[slot].block);
    slots[slot].block = NULL;
}

static void fill(int slot, size_t size)
{
    const int site = (int)(random_number() % 9);
    slots[slot].block = sites[site](size);
    slots[slot].size = size;
    slots[slot].site = site;
    count_birth(site, size);
    note_peak();
}

/* realloc: the new half belongs to site 9; old and new stand side by side for a moment */
static void resize(int slot, size_t size)
{
    slots[slot].block = site_9(slots[slot].block, size);
    count_birth(9, size);
    count_death(slots[slot].site, slots[slot].size);
    note_peak();
    slots[slot].size = size;
    slots[slot].site = 9;
    reallocs++;
}

static void tell(void)
{
    say("{\"alloc_calls\": %lu, \"free_calls\": %lu, \"realloc_calls\": %lu, "
        "\"allocated_bytes\": %lu, \"peak_bytes\": %lu, "
        "\"peak_with_realloc_bytes\": %lu, \"live_bytes\": %lu, \"peak_unix_s\": %.6f, "
        "\"sites\": {",
        calls, frees, reallocs, bytes, peak, peak_with_realloc, live, peak_unix_s);
    for (int i = 0; i < SITES; i++)
        say("%s\"site_%d\": {\"calls\": %lu, \"bytes\": %lu, \"live_blocks\": %lu, "
            "\"live_bytes\": %lu, \"peak_bytes\": %lu}",
            i ? ", " : "", i, books[i].calls, books[i].bytes, books[i].live_blocks,
            books[i].live_bytes, books[i].peak_bytes);
    say("}}\n");
}

int main(void)
{
    for (int i = 0; calls < ROUNDS; i++) {
        const int slot = (int)(random_number() % SLOTS);
        const size_t limit = random_number() % 100 == 0 ? 300000 : 2000;
        const size_t size = random_number() % limit;
        if (slots[slot].block && random_number() % 4 == 0 && size > 0)
            resize(slot, size);
        else if (slots[slot].block && random_number() % 2 == 0)
            release(slot);
        else if (!slots[slot].block)
            fill(slot, size);
        if (i == 60000) /* a valley, so that the peak is not near the end by nature */
            for (int s = 0; s < SLOTS; s += 2)
                release(s);
    }
    for (int s = 0; s < SLOTS; s++)
        if (s % 8)
            release(s);
    tell();
    return 0;
}
