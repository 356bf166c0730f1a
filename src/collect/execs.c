/* collect/execs.c - what processes tell of programs that they execute, as the drain thread takes it.
 *
 * A target may have written anything there: names are cut and cleaned, and more than
 * TIDE_NEWS_MOST wait for nobody.
 */
#include <string.h>

#include "collect/collector.h"

enum { TIDE_NEWS_MOST = 8192 };

static void copy_name(char *out, const char *name)
{
    memcpy(out, name, TIDE_EXEC_NAME_BYTES);
    out[TIDE_EXEC_NAME_BYTES - 1] = '\0';
    for (; *out; out++) {
        if ((unsigned char)*out < ' ' || *out == 0x7f)
            *out = '?';
    }
}

/* What is in SLOT, given back; false: nothing. */
static bool take_slot(struct tide_exec_slot *slot, struct tide_exec_news *out)
{
    uint32_t state = TIDE_EXEC_POSTED;
    if (!atomic_compare_exchange_strong(&slot->state, &state, TIDE_EXEC_CLAIMED))
        return false;
    *out = (struct tide_exec_news){
        .pid = slot->pid, .flags = slot->flags, .ticks = slot->ticks};
    copy_name(out->name, slot->name);
    atomic_store(&slot->state, TIDE_EXEC_FREE);
    return true;
}

static void pass_on(struct tide_collector *collector, const struct tide_exec_news *news)
{
    pthread_mutex_lock(&collector->lock);
    struct tide_exec_news *const added = collector->execs.count < TIDE_NEWS_MOST
                                             ? tide_list_add(&collector->execs)
                                             : NULL;
    if (added)
        *added = *news;
    else
        collector->execs_lost = true;
    pthread_mutex_unlock(&collector->lock);
    tide_collector_tell(collector);
}

void tide_execs_take(struct tide_collector *collector, struct tide_share *share)
{
    struct tide_exec_news news;
    const uint32_t ever = atomic_load(&share->shared->execs_posted);
    if (ever == share->execs_taken)
        return;
    share->execs_taken = ever;
    if (atomic_load(&share->shared->execs_lost) > 0)
        collector->execs_lost = true;
    for (size_t i = 0; i < TIDE_EXEC_SLOTS; i++) {
        if (!take_slot(&share->shared->exec_slots[i], &news))
            continue;
        news.pid_space = share->pid_space;
        pass_on(collector, &news);
    }
}
