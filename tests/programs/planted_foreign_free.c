/* tests/programs/planted_foreign_free.c - one thread makes, another one frees. */
#include <pthread.h>

#include "planted.h"

enum { BATCHES = 2000, BATCH = 100 };

static void *volatile batch[BATCH];
static pthread_barrier_t full, empty;
static uint64_t bytes;

APART static void *make_message(unsigned number)
{
    const size_t size = 100 + number % 100;
    bytes += size;
    return malloc(size);
}

static void *consume(void *unused)
{
    for (int i = 0; i < BATCHES; i++) {
        pthread_barrier_wait(&full);
        for (int k = 0; k < BATCH; k++)
            free(batch[k]);
        pthread_barrier_wait(&empty);
    }
    return unused;
}

int main(void)
{
    pthread_t consumer;
    for (unsigned i = 0; i < 10; i++)
        honest_work(i);
    pthread_barrier_init(&full, NULL, 2);
    pthread_barrier_init(&empty, NULL, 2);
    if (pthread_create(&consumer, NULL, consume, NULL) != 0)
        return 1;
    for (unsigned i = 0; i < BATCHES; i++) {
        for (unsigned k = 0; k < BATCH; k++)
            batch[k] = make_message(i + k);
        pthread_barrier_wait(&full);
        pthread_barrier_wait(&empty);
    }
    pthread_join(consumer, NULL);
    confess("foreign_free", "make_message", bytes, (uint64_t)BATCHES * BATCH);
    return 0;
}
