/* trace/thread_names.c - threads that were renamed count once.
 *
 * A thread is known by process, lane, and when it took the lane; whoever renames it
 * leaves the same note with another name.  There may be very many, so they are sorted.
 */
#include "trace/thread_names.h"

#include <stdlib.h>

#include "trace/trace.h"

/* A note, where it stands. */
struct place {
    struct tide_thread *thread;
};

static int by_thread(const struct tide_thread *a, const struct tide_thread *b)
{
    if (a->process != b->process)
        return a->process > b->process ? 1 : -1;
    if (a->lane_number != b->lane_number)
        return a->lane_number > b->lane_number ? 1 : -1;
    if (a->tid != b->tid)
        return a->tid > b->tid ? 1 : -1;
    return (a->ticks > b->ticks) - (a->ticks < b->ticks);
}

/* Notes of one thread stay in the order in which they came. */
static int by_thread_and_place(const void *one, const void *other)
{
    const struct tide_thread *const a = ((const struct place *)one)->thread;
    const struct tide_thread *const b = ((const struct place *)other)->thread;
    const int order = by_thread(a, b);
    return order ? order : (a > b) - (a < b);
}

/* Give the first of each group the last name, and take it from the others. */
static void name_first(const struct place *sorted, size_t count)
{
    for (size_t i = 0, next; i < count; i = next) {
        for (next = i + 1;
             next < count && by_thread(sorted[i].thread, sorted[next].thread) == 0;
             next++) {
            sorted[i].thread->name = sorted[next].thread->name;
            sorted[next].thread->name = NULL;
        }
    }
}

enum tide_status tide_threads_settle(struct tide_list *threads)
{
    struct tide_thread *const items = threads->items;
    const size_t count = threads->count;
    if (count < 2)
        return TIDE_OK;
    struct place *const sorted = calloc(count, sizeof(*sorted));
    if (!sorted)
        return TIDE_ENOMEM;
    for (size_t i = 0; i < count; i++)
        sorted[i].thread = &items[i];
    qsort(sorted, count, sizeof(*sorted), by_thread_and_place);
    name_first(sorted, count);
    free(sorted);
    threads->count = 0;
    for (size_t i = 0; i < count; i++) {
        if (items[i].name)
            items[threads->count++] = items[i];
    }
    return TIDE_OK;
}
