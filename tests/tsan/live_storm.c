/* tests/tsan/live_storm.c - the table of live blocks under ThreadSanitizer.
 *
 * Threads make, name, move and end blocks, each in addresses of its own, as an allocator
 * would give them out, and ask for their own, which must be right, and for those of others,
 * where there may be nothing or a block, but never pieces of two: its name and its size
 * tell its address.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "capture/live_table.h"
#include "capture/process.h"
#include "capture/watch.h"

enum { THREADS = 16, ROUNDS = 20000, PLACES = 64, PLACE = 4096 };

/* --- What the table needs of the recorder ---------------------------------------------- */

void *tide_lasting_memory(uint64_t bytes)
{
    return calloc(1, bytes);
}

void tide_lasting_release(void *memory, uint64_t bytes)
{
    (void)bytes;
    free(memory);
}

void tide_attend(int more)
{
    (void)more;
}

/* --- The storm ------------------------------------------------------------------------- */

static struct tide_name *names[THREADS * PLACES];
static atomic_long answered, nothing;

/* Places lie mixed, so that threads meet in words and leaves. */
static uint64_t address_of(uint64_t thread, uint64_t place)
{
    return 0x500000000000 + (place * THREADS + thread) * PLACE;
}

static void fail(const char *what, uint64_t address)
{
    (void)fprintf(stderr, "%s at %llx\n", what, (unsigned long long)address);
    abort();
}

static void look(uint64_t thread, uint64_t place, bool own)
{
    struct tide_found_block found;
    const uint64_t start = address_of(thread, place);
    const uint64_t at = start + 8 * place + 7;
    found = (struct tide_found_block){0};
    if (tide_live_find((void *)(uintptr_t)at, &found) != TIDE_DONE) {
        atomic_fetch_add(&nothing, 1);
        if (own)
            fail("its own block is not found", at);
        return;
    }
    atomic_fetch_add(&answered, 1);
    const unsigned long name = found.label[0] ? strtoul(found.label, NULL, 10) : 0;
    if (found.address != start || found.offset != at - start ||
        (found.bytes != PLACE && found.bytes != PLACE / 2) ||
        (found.label[0] && name != thread * PLACES + place) ||
        (found.label[0] && found.element_bytes != place + 1))
        fail("pieces of two blocks", at);
}

static void *storm(void *argument)
{
    const uint64_t thread = (uintptr_t)argument;
    uint32_t state = (uint32_t)thread + 1;
    bool there[PLACES] = {false};
    for (int i = 0; i < ROUNDS; i++) {
        state = state * 1664525u + 1013904223u;
        const uint32_t place = state >> 8 & (PLACES - 1);
        const uint32_t what = state >> 24 & 3;
        void *const block = (void *)(uintptr_t)address_of(thread, place);
        const size_t extents[] = {PLACE / (place + 1)};
        const struct tide_live_shape shape = {place + 1, extents, 1};
        if (!there[place])
            tide_live_born(block, (struct tide_live_size){PLACE, PLACE});
        else if (what == 0)
            tide_live_dies(block);
        else if (what == 1)
            tide_live_set_down(tide_live_lift(block), block,
                               (struct tide_live_size){PLACE / 2, PLACE});
        else
            tide_live_label(block, names[thread * PLACES + place], PLACE, &shape);
        there[place] = !there[place] || what != 0;
        if (there[place])
            look(thread, place, true);
        look((thread + what + 1) % THREADS, state >> 16 & (PLACES - 1), false);
    }
    return NULL;
}

int main(void)
{
    pthread_t threads[THREADS];
    for (uint32_t i = 0; i < THREADS * PLACES; i++) {
        names[i] = calloc(1, sizeof(*names[i]) + 16);
        names[i]->length = (uint32_t)snprintf(names[i]->text, 16, "%u", i);
    }
    tide_live_begin();
    for (uintptr_t i = 0; i < THREADS; i++)
        if (pthread_create(&threads[i], NULL, storm, (void *)i))
            return 2;
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    printf("%ld answers, %ld times nothing\n", answered, nothing);
    return answered > 0 && nothing > 0 ? 0 : 1;
}
