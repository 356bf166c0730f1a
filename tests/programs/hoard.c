/* tests/programs/hoard.c - many live blocks: hoard BLOCKS [TURNS].
 *
 * BLOCKS blocks of 16 to 79 bytes are made under 64 call paths and kept; then TURNS of
 * them, chosen at random, are freed and made anew.  It prints what is live at the end:
 * blocks and bytes asked for.
 */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

/* Not from malloc: the table itself is no load. */
struct kept {
    void *block;
    size_t size;
};

static uint64_t state = 1;
static volatile unsigned sink;

static uint32_t next(void)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(state >> 33);
}

__attribute__((noinline)) static void make(struct kept *kept)
{
    kept->size = 16 + next() % 64;
    kept->block = malloc(kept->size);
}

#define STEP(n, below)                                                               \
    __attribute__((noinline)) static void step_##n(uint32_t path, struct kept *kept) \
    {                                                                                \
        below;                                                                       \
        sink += path;                                                                \
    }
STEP(0, make(kept))
STEP(1, make(kept))
STEP(2, make(kept))
STEP(3, make(kept))
static void (*const last[])(uint32_t, struct kept *) = {step_0, step_1, step_2, step_3};
STEP(4, last[path & 3](path >> 2, kept))
STEP(5, last[path & 3](path >> 2, kept))
STEP(6, last[path & 3](path >> 2, kept))
STEP(7, last[path & 3](path >> 2, kept))
static void (*const middle[])(uint32_t, struct kept *) = {step_4, step_5, step_6,
                                                          step_7};
STEP(8, middle[path & 3](path >> 2, kept))
STEP(9, middle[path & 3](path >> 2, kept))
STEP(10, middle[path & 3](path >> 2, kept))
STEP(11, middle[path & 3](path >> 2, kept))
static void (*const first[])(uint32_t, struct kept *) = {step_8, step_9, step_10,
                                                         step_11};

static void make_by_some_path(struct kept *kept)
{
    const uint32_t path = next();
    first[path & 3](path >> 2, kept);
}

int main(int argc, char **argv)
{
    const uint64_t blocks = argc > 1 ? strtoull(argv[1], NULL, 10) : 100000;
    const uint64_t turns = argc > 2 ? strtoull(argv[2], NULL, 10) : 0;
    if (!blocks)
        return 2;
    struct kept *all = mmap(NULL, blocks * sizeof(*all), PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (all == MAP_FAILED)
        return 1;
    for (uint64_t i = 0; i < blocks; i++)
        make_by_some_path(&all[i]);
    for (uint64_t i = 0; i < turns; i++) {
        struct kept *kept = &all[next() % blocks];
        free(kept->block);
        make_by_some_path(kept);
    }
    uint64_t bytes = 0;
    for (uint64_t i = 0; i < blocks; i++)
        bytes += all[i].size;
    printf("%" PRIu64 " %" PRIu64 "\n", blocks, bytes);
    return 0;
}
