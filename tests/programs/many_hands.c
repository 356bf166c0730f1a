/* tests/programs/many_hands.c - many threads with regions and labels, freeing each other's.
 *
 * Usage: many_hands [THREADS [ROUNDS]].  In the region "make" a thread makes a block and gives
 * it a label, in "grow" inside of it realloc makes it larger, in "pass" it changes it for one
 * that stands in a shared slot, and frees that.  What stands in the slots at the end is left.
 * Prints calls and bytes by region, label and thread, and what is left by label.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <tidemark/tidemark.h>

enum { SLOTS = 97, LABELS = 3, MOST_THREADS = 256 };

struct sum {
    _Atomic uint64_t calls, bytes;
};

static const char *const LABEL[LABELS] = {"flux", "energy", "mass"};
static struct sum makes, grows, labels[LABELS], threads[MOST_THREADS];
static _Atomic(uint32_t *)
    slots[SLOTS]; /* a block begins with its label and its size */
static uint64_t rounds = 300;

static void count(struct sum *sum, uint64_t bytes)
{
    atomic_fetch_add(&sum->calls, 1);
    atomic_fetch_add(&sum->bytes, bytes);
}

static uint32_t *make(uint64_t thread, uint32_t label, uint32_t bytes)
{
    tide_region_begin("make");
    uint32_t *block = malloc(bytes);
    tide_label(block, LABEL[label], bytes);
    count(&makes, bytes);
    tide_region_begin("grow");
    block = realloc(block, 2ul * bytes);
    count(&grows, 2ul * bytes);
    tide_region_end("grow");
    tide_region_end("make");
    count(&labels[label], bytes);
    count(&labels[label], 2ul * bytes);
    count(&threads[thread], bytes);
    count(&threads[thread], 2ul * bytes);
    block[0] = label;
    block[1] = 2 * bytes;
    return block;
}

static void *work(void *argument)
{
    const uint64_t thread = (uintptr_t)argument;
    for (uint64_t i = 0; i < rounds; i++) {
        uint32_t *const block = make(thread, (uint32_t)((thread + i) % LABELS),
                                     (uint32_t)(16 + (thread * 31 + i * 7) % 900));
        tide_region_begin("pass");
        free(atomic_exchange(&slots[(thread * 13 + i) % SLOTS], block));
        tide_region_end("pass");
    }
    return NULL;
}

static void print_left(void)
{
    uint64_t blocks[LABELS] = {0}, bytes[LABELS] = {0};
    for (int i = 0; i < SLOTS; i++) {
        const uint32_t *const block = atomic_load(&slots[i]);
        if (!block)
            continue;
        blocks[block[0]]++;
        bytes[block[0]] += block[1];
    }
    for (int i = 0; i < LABELS; i++)
        printf("%s\"%s\": [%ju, %ju]", i ? ", " : "", LABEL[i], (uintmax_t)blocks[i],
               (uintmax_t)bytes[i]);
}

int main(int argc, char **argv)
{
    const uint64_t all = argc > 1 ? strtoull(argv[1], NULL, 10) : 64;
    static pthread_t ids[MOST_THREADS];
    rounds = argc > 2 ? strtoull(argv[2], NULL, 10) : rounds;
    for (uint64_t i = 0; i < all && i < MOST_THREADS; i++)
        pthread_create(&ids[i], NULL, work, (void *)(uintptr_t)i);
    for (uint64_t i = 0; i < all && i < MOST_THREADS; i++)
        pthread_join(ids[i], NULL);
    printf(
        "{\"regions\": {\"make\": [%ju, %ju], \"make/grow\": [%ju, %ju]}, \"labels\": {",
        makes.calls, makes.bytes, grows.calls, grows.bytes);
    for (int i = 0; i < LABELS; i++)
        printf("%s\"%s\": [%ju, %ju]", i ? ", " : "", LABEL[i], labels[i].calls,
               labels[i].bytes);
    printf("}, \"threads\": [");
    for (uint64_t i = 0; i < all; i++)
        printf("%s[%ju, %ju]", i ? ", " : "", threads[i].calls, threads[i].bytes);
    printf("], \"left\": {");
    print_left();
    printf("}}\n");
    return 0;
}
