/* capture/registry.c - who listens to allocations and frees.
 *
 * Readers count themselves on one of two sides, per shard; `turn` says on which.  A grace
 * period turns to the other side and waits until the old one is empty, twice: a reader who
 * saw the old turn may count itself only after the first wait, but by then it finds the
 * new list; the second wait is for those who came so late in the period before.
 *
 * Counts are nameless, so whoever waited in vain cannot tell the reader that stays from
 * those that come and go beside it.  He leaves it alone: from then on readers count
 * themselves in a new hall.  What those in the old one may look at is never given back,
 * and nobody who removed something while that was the present hall can be certain.
 */
#include "capture/registry.h"

#include <stddef.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "capture/process.h"

enum { TIDE_NAP_NS = 200000 };

struct side {
    struct {
        _Alignas(64) _Atomic uint64_t readers;
    } shards[TIDE_SHARDS];
};

/* Where readers count themselves. */
struct hall {
    _Atomic uint32_t turn;
    struct side sides[2];
};

static _Atomic(struct tide_listener_list *) current;
static struct hall first_hall;
static _Atomic(struct hall *) present_hall = &first_hall;

static _Atomic uint32_t lock;       /* guards changes of current, and what is below */
static _Atomic uint32_t grace_lock; /* one grace period at a time */
static struct tide_listener_list *retired_lists;
static struct tide_listener *retired_listeners;
static uint64_t last_handle;
static _Atomic uint32_t generation; /* of processes, by fork */

/* --- Readers ------------------------------------------------------------------------- */

/* Looks twice at the hall: who counts himself in one that was left sees the old list. */
struct tide_reader tide_registry_enter(uint32_t shard)
{
    struct tide_reader reader = {
        .generation = atomic_load_explicit(&generation, memory_order_relaxed)};
    struct hall *hall = atomic_load(&present_hall);
    for (;;) {
        struct side *const side = &hall->sides[atomic_load(&hall->turn) & 1];
        reader.count = &side->shards[shard % TIDE_SHARDS].readers;
        atomic_fetch_add(reader.count, 1);
        reader.list = atomic_load(&current);
        struct hall *const now = atomic_load(&present_hall);
        if (TIDE_LIKELY(now == hall))
            return reader;
        tide_registry_leave(&reader);
        hall = now;
    }
}

void tide_registry_leave(const struct tide_reader *reader)
{
    if (reader->generation == atomic_load_explicit(&generation, memory_order_relaxed))
        atomic_fetch_sub(reader->count, 1);
}

/* --- Grace periods ------------------------------------------------------------------- */

static bool is_empty(const struct side *side)
{
    for (uint32_t i = 0; i < TIDE_SHARDS; i++)
        if (atomic_load(&side->shards[i].readers) != 0)
            return false;
    return true;
}

/* Those who come now count themselves on the other side, so this one empties. */
static bool wait_for(const struct side *side)
{
    const struct timespec nap = {.tv_nsec = TIDE_NAP_NS};
    struct timespec begun, now;
    clock_gettime(CLOCK_MONOTONIC, &begun);
    for (int i = 0; !is_empty(side); i++) {
        if (i < 64)
            syscall(SYS_sched_yield);
        else
            syscall(SYS_nanosleep, &nap, NULL);
        clock_gettime(CLOCK_MONOTONIC, &now);
        if (now.tv_sec - begun.tv_sec > TIDE_GRACE_SECONDS)
            return false;
    }
    return true;
}

/* Somebody stays.  What could be seen until the new hall is there must stay, too. */
static void leave_alone(void)
{
    struct hall *const hall = tide_lasting_memory(sizeof(*hall));
    if (!hall)
        return;
    tide_lock(&lock);
    atomic_store(&present_hall, hall);
    struct tide_listener_list *const list = atomic_load(&current);
    if (list)
        list->lasting = true;
    for (uint32_t i = 0; list && i < list->count; i++)
        list->list[i]->lasting = true;
    retired_lists = NULL;
    retired_listeners = NULL;
    tide_unlock(&lock);
}

static bool grace(struct hall *hall)
{
    for (int i = 0; i < 2; i++) {
        const uint32_t before = atomic_fetch_add(&hall->turn, 1) & 1;
        if (!wait_for(&hall->sides[before])) {
            leave_alone();
            return false;
        }
    }
    return true;
}

/* Wait until nobody looks at what was retired before, and give it back.  False: whoever
 * looks at what was retired when BEFORE was the present hall may still do so. */
static bool wait_and_clean(const struct hall *before)
{
    tide_lock(&grace_lock);
    struct hall *const hall = atomic_load(&present_hall);
    tide_lock(&lock);
    struct tide_listener_list *list = retired_lists;
    struct tide_listener *listener = retired_listeners;
    retired_lists = NULL;
    retired_listeners = NULL;
    tide_unlock(&lock);
    const bool clean = grace(hall);
    tide_unlock(&grace_lock);
    if (!clean)
        return false; /* somebody may look for ever */
    while (list) {
        struct tide_listener_list *const next = list->next_retired;
        if (!list->lasting)
            tide_lasting_release(list, list->bytes);
        list = next;
    }
    while (listener) {
        struct tide_listener *const next = listener->next_retired;
        if (!listener->lasting)
            tide_lasting_release(listener, sizeof(*listener));
        listener = next;
    }
    return hall == before;
}

/* --- Changes ------------------------------------------------------------------------- */

static uint32_t bytes_for(uint32_t count)
{
    const size_t bytes =
        sizeof(struct tide_listener_list) + count * sizeof(struct tide_listener *);
    return (uint32_t)(bytes + 4095) & ~4095u;
}

static struct tide_listener_list *new_list(uint32_t count)
{
    struct tide_listener_list *const list = tide_lasting_memory(bytes_for(count));
    if (list)
        list->bytes = bytes_for(count);
    return list;
}

/* The lock is held. */
static void put_in_place(struct tide_listener_list *list)
{
    struct tide_listener_list *const old = atomic_load(&current);
    atomic_store(&current, list);
    if (!old)
        return;
    old->next_retired = retired_lists;
    retired_lists = old;
}

static enum tide_answer add_locked(struct tide_listener *listener)
{
    const struct tide_listener_list *const old = atomic_load(&current);
    const uint32_t count = old ? old->count : 0;
    struct tide_listener_list *const list = new_list(count + 1);
    if (!list)
        return TIDE_FULL;
    for (uint32_t i = 0; i < count; i++)
        list->list[i] = old->list[i];
    list->list[count] = listener;
    list->count = count + 1;
    listener->handle = ++last_handle;
    put_in_place(list);
    return TIDE_DONE;
}

enum tide_answer tide_registry_add(const struct tide_listener *listener,
                                   tide_handle *handle)
{
    struct tide_listener *const kept = tide_lasting_memory(sizeof(*kept));
    *handle = TIDE_NOTHING;
    if (!kept)
        return TIDE_FULL;
    kept->alloc_called = listener->alloc_called;
    kept->free_called = listener->free_called;
    kept->user = listener->user;
    kept->alloc_heard = listener->alloc_heard;
    kept->free_heard = listener->free_heard;
    kept->thread = listener->thread;
    kept->kind = listener->kind;
    tide_lock(&lock);
    const enum tide_answer answer = add_locked(kept);
    if (answer == TIDE_DONE)
        *handle = kept->handle;
    tide_unlock(&lock);
    if (answer != TIDE_DONE)
        tide_lasting_release(kept, sizeof(*kept));
    return answer;
}

static struct tide_listener *find(const struct tide_listener_list *list,
                                  tide_handle handle, uint32_t kind, uint32_t *at)
{
    for (uint32_t i = 0; list && i < list->count; i++) {
        *at = i;
        if (list->list[i]->handle == handle && list->list[i]->kind == kind)
            return list->list[i];
    }
    return NULL;
}

/* Without memory for a shorter list it stays where it is, but is never called again. */
static enum tide_answer remove_locked(tide_handle handle, uint32_t kind, void **user,
                                      bool *lasting)
{
    const struct tide_listener_list *const old = atomic_load(&current);
    uint32_t at;
    struct tide_listener *const listener = find(old, handle, kind, &at);
    if (!listener || atomic_exchange(&listener->removed, 1))
        return TIDE_UNKNOWN;
    if (user)
        *user = listener->user;
    *lasting = listener->lasting;
    struct tide_listener_list *list = NULL;
    if (old->count > 1) {
        list = new_list(old->count - 1);
        if (!list)
            return TIDE_DONE;
        for (uint32_t i = 0; i < old->count; i++)
            if (i != at)
                list->list[list->count++] = old->list[i];
    }
    put_in_place(list);
    listener->next_retired = retired_listeners;
    retired_listeners = listener;
    return TIDE_DONE;
}

enum tide_answer tide_registry_remove(tide_handle handle, uint32_t kind, bool *wait,
                                      void **user)
{
    bool lasting = false;
    tide_lock(&lock);
    const enum tide_answer answer = remove_locked(handle, kind, user, &lasting);
    const struct hall *const hall = atomic_load(&present_hall);
    tide_unlock(&lock);
    if (answer == TIDE_DONE && *wait)
        *wait = wait_and_clean(hall) && !lasting;
    return answer;
}

void *tide_registry_find(tide_handle handle, uint32_t kind)
{
    uint32_t at;
    const struct tide_listener *const found =
        find(atomic_load(&current), handle, kind, &at);
    return found && !atomic_load(&found->removed) ? found->user : NULL;
}

uint32_t tide_registry_count(void)
{
    tide_lock(&lock);
    const struct tide_listener_list *const list = atomic_load(&current);
    const uint32_t count = list ? list->count : 0;
    tide_unlock(&lock);
    return count;
}

bool tide_registry_is_empty(void)
{
    return atomic_load_explicit(&current, memory_order_relaxed) == NULL;
}

void tide_registry_after_fork(void)
{
    atomic_fetch_add(&generation, 1);
    atomic_store(&lock, 0);
    atomic_store(&grace_lock, 0);
    struct hall *const hall = atomic_load(&present_hall);
    for (uint32_t i = 0; i < 2 * TIDE_SHARDS; i++)
        atomic_store(&hall->sides[i / TIDE_SHARDS].shards[i % TIDE_SHARDS].readers, 0);
}
