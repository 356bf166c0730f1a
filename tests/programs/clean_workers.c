/* tests/programs/clean_workers.c - threads that work on parts and hand in one result each.
 *
 * Each worker has a scratch buffer for all its parts, and frees what it makes; what it
 * hands in is freed by who asked for it.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORKERS = 4, PARTS = 64, ROWS = 200 };

struct result {
    double sum;
    size_t rows;
};

static _Atomic unsigned next_part;
static struct result *results[PARTS];

/* A row of numbers as text, in SCRATCH. */
static double read_row(char *scratch, size_t size, unsigned part, unsigned row)
{
    (void)snprintf(scratch, size, "%u %u %u", part, row, part * row);
    char *at = scratch;
    double sum = 0;
    for (int i = 0; i < 3; i++)
        sum += strtod(at, &at);
    return sum;
}

static struct result *do_part(char *scratch, size_t size, unsigned part)
{
    double *rows[ROWS];
    struct result *const result = calloc(1, sizeof(*result));
    if (!result)
        abort();
    for (unsigned i = 0; i < ROWS; i++) {
        rows[i] = malloc((8 + (i * 5 + part) % 40) * sizeof(double));
        if (!rows[i])
            abort();
        rows[i][0] = read_row(scratch, size, part, i);
    }
    for (unsigned i = 0; i < ROWS; i++) {
        result->sum += rows[i][0];
        result->rows++;
        free(rows[i]);
    }
    return result;
}

static void *work(void *unused)
{
    char *const scratch = malloc(4096);
    if (!scratch)
        abort();
    for (unsigned part; (part = atomic_fetch_add(&next_part, 1)) < PARTS;)
        results[part] = do_part(scratch, 4096, part);
    free(scratch);
    return unused;
}

int main(void)
{
    pthread_t workers[WORKERS];
    double sum = 0;
    for (int i = 0; i < WORKERS; i++)
        if (pthread_create(&workers[i], NULL, work, NULL) != 0)
            return 1;
    for (int i = 0; i < WORKERS; i++)
        pthread_join(workers[i], NULL);
    for (int i = 0; i < PARTS; i++) {
        sum += results[i]->sum;
        free(results[i]);
    }
    printf("%.0f\n", sum);
    return 0;
}
