/* tests/programs/phases.c - threads that allocate in regions, name blocks and free each
 * other's.
 *
 * Prints, as JSON, what it made and still holds: by region, label and thread.  The thread
 * "maker" makes blocks that main frees.  One region has a name that a terminal would obey.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tidemark/tidemark.h>

enum { HANDED_OVER = 25, BATCH = 100 };

#define NASTY "bad\033[2J,\"name\""

static void *handed[HANDED_OVER];
static void *volatile kept[4 * BATCH]; /* what stays until the end */
static size_t kept_count;

__attribute__((noinline)) static void keep(size_t size, const char *label)
{
    void *block = malloc(size);
    if (label)
        tide_label(block, label, size);
    kept[kept_count++] = block;
}

static void *make(void *unused)
{
    (void)unused;
    pthread_setname_np(pthread_self(), "maker");
    tide_region_begin("produce");
    for (int i = 0; i < HANDED_OVER; i++)
        handed[i] = malloc(1000);
    tide_region_end("produce");
    return NULL;
}

__attribute__((noinline)) static void churn(void)
{
    for (int i = 0; i < BATCH; i++) {
        void *volatile block = malloc(64);
        free(block);
    }
}

int main(void)
{
    pthread_t maker;
    tide_region_begin("main");
    keep(5000, NULL);
    tide_region_begin("solve");
    for (int i = 0; i < BATCH; i++)
        keep(200, "row");
    keep(7000, "matrix");
    churn();
    tide_region_end("solve");
    tide_region_begin(NASTY);
    keep(300, NASTY);
    tide_region_end(NASTY);
    tide_region_end("main");
    tide_region_end("main"); /* one too many */
    if (pthread_create(&maker, NULL, make, NULL))
        return 1;
    pthread_join(maker, NULL);
    for (int i = 0; i < HANDED_OVER; i++)
        free(handed[i]);
    printf("{\"main\": 5000, \"main/solve\": %d, \"row\": %d, \"matrix\": 7000,"
           " \"nasty\": 300, \"produce\": %d, \"handed\": %d, \"churn\": %d}\n",
           200 * BATCH + 7000, 200 * BATCH, 1000 * HANDED_OVER, HANDED_OVER, BATCH);
    return 0;
}
