/* examples/tide_pool.c - a small simulation that uses memory in every common way.
 *
 * A rock pool on the shore: water flows over a grid of cells, larvae drift through it,
 * and a logbook notes what is seen.  What a memory profiler should say about it:
 *
 *   build_pool    one large block that lives as long as the program
 *   spawn_larvae  an array that grows by realloc, twice as large each time
 *   describe      a temporary string per sighting: churn
 *   remember      a sketch of what is new, the old one forgotten: a leak
 *   high_tide     a second grid for a while: the peak
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    WIDTH = 512,
    HEIGHT = 512,
    LARVAE = 20000,
    STEPS = 40,
    HIGH_TIDE = 25, /* the step in which the water stands highest */
    SPECIES = 64,
};

struct cell {
    float depth, flow_x, flow_y, salt;
};

struct larva {
    float x, y;
    unsigned species;
};

/* A page of the logbook. */
struct sketch {
    char line[80];
    unsigned char pixels[24 * 8];
};

struct pool {
    struct cell *cells;
    struct larva *larvae;
    size_t larva_count, larva_room;
    struct sketch *sketches[SPECIES]; /* the latest of each species */
    unsigned long sightings;
};

/* The same numbers in every run: a report can be compared with the one before. */
static uint32_t dice(void)
{
    static uint32_t state = 2463534242u;
    state ^= state << 13;
    state ^= state >> 17;
    state ^= state << 5;
    return state;
}

static void *need(void *memory)
{
    if (!memory) {
        fputs("tide_pool: out of memory\n", stderr);
        exit(1);
    }
    return memory;
}

static void build_pool(struct pool *pool)
{
    pool->cells = need(calloc((size_t)WIDTH * HEIGHT, sizeof(*pool->cells)));
    for (size_t i = 0; i < (size_t)WIDTH * HEIGHT; i++) {
        pool->cells[i].depth = (float)(dice() % 100) / 100;
        pool->cells[i].flow_x = (float)(dice() % 3) - 1;
        pool->cells[i].flow_y = (float)(dice() % 3) - 1;
    }
}

static void add_larva(struct pool *pool, struct larva larva)
{
    if (pool->larva_count == pool->larva_room) {
        pool->larva_room = pool->larva_room ? pool->larva_room * 2 : 16;
        pool->larvae =
            need(realloc(pool->larvae, pool->larva_room * sizeof(*pool->larvae)));
    }
    pool->larvae[pool->larva_count++] = larva;
}

static void spawn_larvae(struct pool *pool)
{
    for (int i = 0; i < LARVAE; i++) {
        const struct larva larva = {(float)(dice() % WIDTH), (float)(dice() % HEIGHT),
                                    dice() % SPECIES};
        add_larva(pool, larva);
    }
}

static void drift(struct pool *pool)
{
    for (size_t i = 0; i < pool->larva_count; i++) {
        struct larva *const larva = &pool->larvae[i];
        const size_t column = (size_t)larva->x % WIDTH, row = (size_t)larva->y % HEIGHT;
        const struct cell *const cell = &pool->cells[row * WIDTH + column];
        larva->x += cell->flow_x + (larva->x < 1 ? WIDTH : 0);
        larva->y += cell->flow_y + (larva->y < 1 ? HEIGHT : 0);
    }
}

/* A line for the logbook; the caller frees it. */
static char *describe(const struct larva *larva)
{
    char *const line = need(malloc(80));
    snprintf(line, 80, "species %u at %.0f, %.0f", larva->species, (double)larva->x,
             (double)larva->y);
    return line;
}

/* The leak: a new sketch takes the place of the old one, which nobody gives back. */
static void remember(struct pool *pool, unsigned species, const char *line)
{
    if (pool->sketches[species] && pool->sightings % 16 != 0)
        return;
    struct sketch *const sketch = need(calloc(1, sizeof(*sketch)));
    snprintf(sketch->line, sizeof(sketch->line), "%s", line);
    pool->sketches[species] = sketch;
}

static void write_logbook(struct pool *pool)
{
    for (size_t i = 0; i < pool->larva_count; i += 10) {
        char *const line = describe(&pool->larvae[i]);
        remember(pool, pool->larvae[i].species, line);
        pool->sightings++;
        free(line);
    }
}

/* For one step the flow is computed from the grid and its past at the same time. */
static void high_tide(struct pool *pool)
{
    const size_t bytes = (size_t)WIDTH * HEIGHT * sizeof(*pool->cells);
    struct cell *const past = need(malloc(bytes));
    memcpy(past, pool->cells, bytes);
    for (size_t i = WIDTH; i < (size_t)WIDTH * HEIGHT; i++)
        pool->cells[i].depth = (past[i].depth + past[i - WIDTH].depth) / 2;
    write_logbook(pool);
    free(past);
}

int main(void)
{
    struct pool pool = {0};
    build_pool(&pool);
    spawn_larvae(&pool);
    for (int step = 0; step < STEPS; step++) {
        drift(&pool);
        if (step == HIGH_TIDE)
            high_tide(&pool);
        else
            write_logbook(&pool);
    }
    printf("%zu larvae, %lu sightings\n", pool.larva_count, pool.sightings);
    free(pool.larvae);
    free(pool.cells);
    return 0;
}
