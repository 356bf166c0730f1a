/* collect/file_facts.c - what files are now, where a file system may not answer. */
#include "collect/file_facts.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

enum {
    TIDE_LOOK_STACK = 64 * 1024,
    TIDE_LOOK_STEP_NS = 20000000, /* how often the one who waits is asked */
};

/* Belongs to both threads; the last of them frees it. */
struct looking {
    pthread_mutex_t lock;
    pthread_cond_t progress;
    struct tide_file_fact *facts; /* owned; the first DONE are known */
    char **paths;                 /* owned, each */
    size_t count;
    size_t done;  /* Guarded by lock */
    int partners; /* Guarded by lock */
};

static void look_at(struct tide_file_fact *fact)
{
    struct stat about;
    fact->look = TIDE_FILE_NONE;
    if (!fact->path || stat(fact->path, &about) != 0 || !S_ISREG(about.st_mode))
        return;
    fact->look = TIDE_FILE_THERE;
    fact->bytes = (uint64_t)about.st_size;
    fact->mtime_ns =
        (uint64_t)about.st_mtim.tv_sec * 1000000000 + (uint64_t)about.st_mtim.tv_nsec;
}

/* --- What both have --------------------------------------------------------------- */

static void free_looking(struct looking *looking)
{
    for (size_t i = 0; i < looking->count && looking->paths; i++)
        free(looking->paths[i]);
    free(looking->paths);
    free(looking->facts);
    (void)pthread_cond_destroy(&looking->progress);
    (void)pthread_mutex_destroy(&looking->lock);
    free(looking);
}

static struct looking *new_looking(const struct tide_file_fact *facts, size_t count)
{
    struct looking *const looking = calloc(1, sizeof(*looking));
    if (!looking)
        return NULL;
    (void)pthread_mutex_init(&looking->lock, NULL);
    (void)pthread_cond_init(&looking->progress, NULL);
    looking->partners = 2;
    looking->count = count;
    looking->facts = calloc(count + 1, sizeof(*facts));
    looking->paths = calloc(count + 1, sizeof(*looking->paths));
    bool failed = !looking->facts || !looking->paths;
    for (size_t i = 0; i < count && !failed; i++) {
        if (!facts[i].path)
            continue;
        looking->facts[i].path = looking->paths[i] = strdup(facts[i].path);
        failed = !looking->paths[i];
    }
    if (!failed)
        return looking;
    free_looking(looking);
    return NULL;
}

/* One of both needs it no more. */
static void leave(struct looking *looking)
{
    (void)pthread_mutex_lock(&looking->lock);
    const bool last = --looking->partners == 0;
    (void)pthread_mutex_unlock(&looking->lock);
    if (last)
        free_looking(looking);
}

/* --- The thread that looks -------------------------------------------------------- */

static void *look_at_all(void *argument)
{
    struct looking *const looking = argument;
    bool alone = false;
    for (size_t i = 0; i < looking->count && !alone; i++) {
        look_at(&looking->facts[i]);
        (void)pthread_mutex_lock(&looking->lock);
        looking->done = i + 1;
        alone = looking->partners == 1;
        if (looking->done == looking->count)
            (void)pthread_cond_signal(&looking->progress);
        (void)pthread_mutex_unlock(&looking->lock);
    }
    leave(looking);
    return NULL;
}

static bool start_to_look(struct looking *looking)
{
    pthread_t thread;
    pthread_attr_t small;
    if (pthread_attr_init(&small))
        return false;
    (void)pthread_attr_setstacksize(&small, TIDE_LOOK_STACK);
    (void)pthread_attr_setdetachstate(&small, PTHREAD_CREATE_DETACHED);
    const bool started = pthread_create(&thread, &small, look_at_all, looking) == 0;
    (void)pthread_attr_destroy(&small);
    return started;
}

/* --- The one who waits ------------------------------------------------------------ */

static uint64_t nanoseconds(const struct timespec *time)
{
    return (uint64_t)time->tv_sec * 1000000000 + (uint64_t)time->tv_nsec;
}

/* Until the next step; false: nobody waits any longer. */
static bool wait_a_step(struct looking *looking, const struct tide_file_wait *wait)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    if ((wait->until_ns && nanoseconds(&now) >= wait->until_ns) ||
        (wait->cancelled && wait->cancelled(wait->context)))
        return false;
    const uint64_t next = nanoseconds(&now) + TIDE_LOOK_STEP_NS;
    const struct timespec until = {.tv_sec = (time_t)(next / 1000000000),
                                   .tv_nsec = (long)(next % 1000000000)};
    (void)pthread_cond_clockwait(&looking->progress, &looking->lock, CLOCK_MONOTONIC,
                                 &until);
    return true;
}

static void take_what_is_known(struct looking *looking, struct tide_file_fact *facts,
                               const struct tide_file_wait *wait)
{
    (void)pthread_mutex_lock(&looking->lock);
    while (looking->done < looking->count && wait_a_step(looking, wait))
        continue;
    for (size_t i = 0; i < looking->done; i++) {
        const char *const path = facts[i].path;
        facts[i] = looking->facts[i];
        facts[i].path = path;
    }
    (void)pthread_mutex_unlock(&looking->lock);
}

void tide_file_facts_find(struct tide_file_fact *facts, size_t count,
                          const struct tide_file_wait *wait)
{
    struct looking *const looking = new_looking(facts, count);
    const bool started = looking && start_to_look(looking);
    for (size_t i = 0; i < count; i++) {
        facts[i].look = TIDE_FILE_UNKNOWN;
        if (!started)
            look_at(&facts[i]);
    }
    if (started) {
        take_what_is_known(looking, facts, wait);
        leave(looking);
    } else if (looking) {
        free_looking(looking);
    }
}
