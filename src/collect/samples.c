/* collect/samples.c - what is looked at from outside, now and then.
 *
 * The peak that the kernel keeps (VmHWM) is exact, but gone with the process; so it is
 * read often while a process is young or the peak rises, and seldom later.
 */
#include <stdlib.h>

#include "base/raw/ticks.h"
#include "collect/collector.h"
#include "collect/notes_out.h"
#include "collect/procfs.h"

#define TIDE_MS        (1000ull * 1000)
#define TIDE_YOUNG_NS  (3000 * TIDE_MS)
#define TIDE_OFTEN_NS  (100 * TIDE_MS)
#define TIDE_SELDOM_NS (1000 * TIDE_MS)
#define TIDE_CLOCK_NS  (10000 * TIDE_MS)
enum { TIDE_BATCH = 32 };

static void note_clock(struct tide_collector *collector)
{
    const struct tide_clock_point now = tide_clock_now();
    pthread_mutex_lock(&collector->lock);
    tide_notes_out_clock(&collector->notes, now.ticks,
                         tide_clock_unix_ns(&collector->clock, &now));
    pthread_mutex_unlock(&collector->lock);
}

/* Up to TIDE_BATCH processes whose time has come; sets when it comes again, and in *NEXT
 * when the first of all is due. */
static size_t find_due(struct tide_collector *collector, uint64_t now,
                       struct tide_look *due, uint64_t *next)
{
    size_t count = 0;
    pthread_mutex_lock(&collector->lock);
    for (struct tide_target *t = collector->targets; t; t = t->next) {
        if (t->watch != TIDE_WATCH_PIDFD)
            continue; /* not known by its pid */
        if (t->next_rss_ns <= now && count < TIDE_BATCH) {
            const struct tide_image *const image = &t->share->image;
            due[count++] =
                (struct tide_look){t->index, t->pid, image->device, image->inode};
            const bool young = now - t->seen_ns < TIDE_YOUNG_NS;
            t->next_rss_ns = now + (young ? TIDE_OFTEN_NS : TIDE_SELDOM_NS);
        }
        if (t->next_rss_ns < *next)
            *next = t->next_rss_ns;
    }
    pthread_mutex_unlock(&collector->lock);
    return count;
}

/* The time is one at which the process lived: from before the look.  Lowers *NEXT to when it
 * is due again. */
static void look_at_rss(struct tide_collector *collector, const struct tide_look *due,
                        uint64_t now, uint64_t *next)
{
    struct tide_rss_facts facts = {.process = due->process, .ticks = tide_ticks()};
    if (!tide_procfs_rss(due->pid, &facts.bytes, &facts.peak))
        return;
    facts.anonymous = tide_procfs_anonymous(due->pid);
    pthread_mutex_lock(&collector->lock);
    for (struct tide_target *t = collector->targets; t; t = t->next) {
        if (t->index != due->process)
            continue;
        tide_target_saw(t, &facts, now);
        *next = t->next_rss_ns < *next ? t->next_rss_ns : *next;
    }
    tide_notes_out_rss(&collector->notes, &facts);
    pthread_mutex_unlock(&collector->lock);
}

int tide_samples_take(struct tide_collector *collector)
{
    if (atomic_load(&collector->page->stopped))
        return 1000; /* nothing more goes to the file */
    uint64_t next = UINT64_MAX;
    tide_unrecorded_catch_up(collector, &next);
    tide_strangers_catch_up(collector);
    const uint64_t now = tide_ticks_monotonic();
    if (now >= collector->next_clock_ns) {
        collector->next_clock_ns = now + TIDE_CLOCK_NS;
        note_clock(collector);
    }
    if (collector->next_clock_ns < next)
        next = collector->next_clock_ns;
    struct tide_look due[TIDE_BATCH];
    const size_t count = find_due(collector, now, due, &next);
    for (size_t i = 0; i < count; i++) {
        look_at_rss(collector, &due[i], now, &next);
        tide_strangers_look(collector, &due[i]);
    }
    return next <= now ? 0 : (int)((next - now) / TIDE_MS) + 1;
}
