/* collect/hands.c - threads that lend the drain thread a hand. */
#include "collect/hands.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "trace/packer.h"

#define TIDE_CRAMPED (1ull << 30) /* bytes of address space */

enum {
    TIDE_HAND_STACK = 256 * 1024,
    TIDE_CORES_A_HAND = 4, /* the program has first claim on them */
};

struct hand {
    struct tide_hands *all;
    struct tide_packer *packer; /* owned */
    pthread_t thread;
};

struct tide_hands {
    uint32_t count; /* at most */
    uint32_t ready; /* that have a thread */
    bool tried;     /* to start them */
    struct hand hand[TIDE_HANDS_MOST];

    pthread_mutex_t lock;
    pthread_cond_t call; /* there is work, or the end */
    pthread_cond_t done;
    bool open;        /* Guarded by lock: there may be parts that nobody has begun */
    uint32_t at_work; /* Guarded by lock: hands that look for some */
    bool ends;        /* Guarded by lock */

    /* The present piece of work: set with the lock held, while nobody is at work. */
    void (*what)(void *context, uint32_t i, struct tide_packer *packer);
    void *context;
    uint32_t parts;
    _Atomic uint32_t next; /* part that nobody has begun */
};

/* A thread takes 64 MiB of addresses for what it allocates. */
static bool is_cramped(void)
{
    struct rlimit limit;
    return getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur < TIDE_CRAMPED;
}

uint32_t tide_hands_to_spare(void)
{
    cpu_set_t cores;
    if (is_cramped())
        return 0;
    if (sched_getaffinity(0, sizeof(cores), &cores) != 0)
        return TIDE_HANDS_MOST; /* more than the set can tell */
    const uint32_t spare = (uint32_t)CPU_COUNT(&cores) / TIDE_CORES_A_HAND;
    return spare < TIDE_HANDS_MOST ? spare : TIDE_HANDS_MOST;
}

struct tide_hands *tide_hands_new(uint32_t count)
{
    struct tide_hands *const hands = calloc(1, sizeof(*hands));
    if (!hands)
        return NULL;
    hands->count = count < TIDE_HANDS_MOST ? count : TIDE_HANDS_MOST;
    (void)pthread_mutex_init(&hands->lock, NULL);
    (void)pthread_cond_init(&hands->call, NULL);
    (void)pthread_cond_init(&hands->done, NULL);
    return hands;
}

/* Parts of the present work, as long as there are any. */
static void do_parts(struct tide_hands *hands, struct tide_packer *packer)
{
    uint32_t i;
    while ((i = atomic_fetch_add(&hands->next, 1)) < hands->parts)
        hands->what(hands->context, i, packer);
}

static void *lend(void *argument)
{
    struct hand *const hand = argument;
    struct tide_hands *const all = hand->all;
    pthread_mutex_lock(&all->lock);
    while (!all->ends) {
        if (!all->open) {
            pthread_cond_wait(&all->call, &all->lock);
            continue;
        }
        all->at_work++;
        pthread_mutex_unlock(&all->lock);
        do_parts(all, hand->packer);
        pthread_mutex_lock(&all->lock);
        all->open = false;
        if (--all->at_work == 0)
            pthread_cond_signal(&all->done);
    }
    pthread_mutex_unlock(&all->lock);
    return NULL;
}

/* Signals are for others; the usual stack may be more than a limit leaves us. */
static bool start_hand(struct hand *hand)
{
    pthread_attr_t small;
    sigset_t all, before;
    hand->packer = tide_packer_new();
    if (!hand->packer)
        return false;
    bool started = false;
    (void)sigfillset(&all);
    if (pthread_attr_init(&small) == 0) {
        (void)pthread_attr_setstacksize(&small, TIDE_HAND_STACK);
        (void)pthread_sigmask(SIG_SETMASK, &all, &before);
        started = pthread_create(&hand->thread, &small, lend, hand) == 0;
        (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
        (void)pthread_attr_destroy(&small);
    }
    if (!started)
        tide_packer_free(hand->packer);
    return started;
}

static void start_all(struct tide_hands *hands)
{
    hands->tried = true;
    while (hands->ready < hands->count) {
        struct hand *const hand = &hands->hand[hands->ready];
        *hand = (struct hand){.all = hands};
        if (!start_hand(hand))
            return;
        hands->ready++;
    }
}

bool tide_hands_any(struct tide_hands *hands)
{
    if (!hands->tried)
        start_all(hands);
    return hands->ready > 0;
}

void tide_hands_do(struct tide_hands *hands, uint32_t count,
                   void (*what)(void *context, uint32_t i, struct tide_packer *packer),
                   void *context, struct tide_packer *own)
{
    (void)tide_hands_any(hands);
    pthread_mutex_lock(&hands->lock);
    hands->what = what;
    hands->context = context;
    hands->parts = count;
    atomic_store(&hands->next, 0);
    hands->open = true;
    /* The caller does one part: no more hands are woken than there are others. */
    for (uint32_t i = 1; i < count && i <= hands->ready; i++)
        pthread_cond_signal(&hands->call);
    pthread_mutex_unlock(&hands->lock);

    do_parts(hands, own);
    pthread_mutex_lock(&hands->lock);
    hands->open = false; /* who comes late has missed nothing */
    while (hands->at_work > 0)
        pthread_cond_wait(&hands->done, &hands->lock);
    pthread_mutex_unlock(&hands->lock);
}

void tide_hands_free(struct tide_hands *hands)
{
    if (!hands)
        return;
    pthread_mutex_lock(&hands->lock);
    hands->ends = true;
    pthread_cond_broadcast(&hands->call);
    pthread_mutex_unlock(&hands->lock);
    for (uint32_t i = 0; i < hands->ready; i++) {
        (void)pthread_join(hands->hand[i].thread, NULL);
        tide_packer_free(hands->hand[i].packer);
    }
    (void)pthread_cond_destroy(&hands->call);
    (void)pthread_cond_destroy(&hands->done);
    (void)pthread_mutex_destroy(&hands->lock);
    free(hands);
}
