/* capture/trail.c - the regions that a thread is in.
 *
 * Free trails are a stack that threads push to and pop from by compare-and-swap.  A trail
 * stays mapped for ever, so a look at one that somebody else has just taken does no harm; a
 * count in the upper bits, which addresses do not use, tells that it came back meanwhile.
 */
#include "capture/trail.h"

#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

#include "capture/lifecycle.h"
#include "capture/monitor.h"
#include "capture/process.h"
#include "capture/record.h"

#define TIDE_POINTER_BITS 48
#define TIDE_POINTER_MASK ((1ull << TIDE_POINTER_BITS) - 1)

bool tide_trail_inherits = true;

static _Atomic uint64_t free_trails; /* the topmost, and how often it changed */

/* A program that makes its threads on stacks of its own may be in a sandbox that kills for
 * mmap: there are so many without a system call. */
enum { TIDE_TRAILS_AT_HAND = 64 };
static struct tide_trail at_hand[TIDE_TRAILS_AT_HAND];
static _Atomic uint32_t handed_out;

static struct tide_trail *take_free(void)
{
    uint64_t top = atomic_load(&free_trails);
    for (;;) {
        struct tide_trail *const trail =
            (struct tide_trail *)(uintptr_t)(top & TIDE_POINTER_MASK);
        if (!trail)
            return NULL;
        const uint64_t next = (uint64_t)(uintptr_t)trail->next_free |
                              ((top & ~TIDE_POINTER_MASK) + TIDE_POINTER_MASK + 1);
        if (atomic_compare_exchange_weak(&free_trails, &top, next))
            return trail;
    }
}

void tide_trail_give_back(struct tide_trail *trail)
{
    uint64_t top = atomic_load(&free_trails);
    uint64_t now;
    do {
        trail->next_free = (struct tide_trail *)(uintptr_t)(top & TIDE_POINTER_MASK);
        now = (uint64_t)(uintptr_t)trail | (top & ~TIDE_POINTER_MASK);
    } while (!atomic_compare_exchange_weak(&free_trails, &top, now));
}

static void reset(struct tide_trail *trail)
{
    trail->depth = trail->inherited = trail->held_count = 0;
    trail->changes++;
    trail->newest = NULL;
    trail->added = 0;
    trail->stack_bytes = 0;
}

static struct tide_trail *new_trail(void)
{
    struct tide_trail *const trail = take_free();
    if (trail) {
        reset(trail);
        return trail;
    }
    const uint32_t number = atomic_load(&handed_out) < TIDE_TRAILS_AT_HAND
                                ? atomic_fetch_add(&handed_out, 1)
                                : TIDE_TRAILS_AT_HAND;
    return number < TIDE_TRAILS_AT_HAND ? &at_hand[number]
                                        : tide_lasting_memory(sizeof(*trail));
}

static TIDE_COLD struct tide_trail *make_trail(struct tide_self *self)
{
    if (self->exit_rounds || self->ended)
        return NULL;
    const int saved = errno;
    tide_shield();
    if (!self->trail)
        self->trail = new_trail();
    const struct tide_hush before = tide_hush_begin(self);
    tide_thread_watch(self->stream);
    tide_hush_end(self, before);
    tide_unshield();
    errno = saved;
    return self->trail;
}

struct tide_trail *tide_trail_of_thread(void)
{
    struct tide_self *const self = &tide_self;
    return TIDE_LIKELY(self->trail != NULL) ? self->trail : make_trail(self);
}

void tide_trail_leave(struct tide_self *self)
{
    struct tide_trail *const trail = self->trail;
    if (!trail)
        return;
    trail->depth = 0; /* what it has not ended ends with it */
    if (tide_loops_watched)
        tide_monitor_loop_ends();
    self->trail = NULL;
    tide_trail_give_back(trail);
}

/* Is it NAME still?  What stands where a text is may have changed. */
static inline bool is_named(const struct tide_name *name, const char *attribute,
                            const char *text)
{
    return TIDE_LIKELY(strcmp(name->text, text) == 0) &&
           (!attribute || strcmp(name->attribute->text, attribute) == 0);
}

const struct tide_name *tide_trail_name(struct tide_trail *trail, const char *attribute,
                                        const char *text)
{
    const uint64_t spread =
        ((uintptr_t)text ^ (uint64_t)(uintptr_t)attribute << 7) * 0x9e3779b97f4a7c15ull;
    const size_t at = (size_t)(spread >> 58) & (TIDE_TRAIL_KNOWN - 1);
    const struct tide_name *name = trail->known[at].name;
    if (TIDE_LIKELY(name != NULL && trail->known[at].text == text &&
                    trail->known[at].attribute == attribute) &&
        is_named(name, attribute, text))
        return name;
    const struct tide_name *const of = tide_name_of(attribute);
    if (attribute && !of)
        return NULL; /* there is no room */
    name = tide_name_under(of, text);
    trail->known[at].text = NULL; /* a handler may look in between */
    atomic_signal_fence(memory_order_seq_cst);
    trail->known[at].name = name;
    trail->known[at].attribute = attribute;
    atomic_signal_fence(memory_order_seq_cst);
    trail->known[at].text = text;
    return name;
}

/* Loops are values of Caliper's attribute of that name, and say so by themselves. */
static bool is_of(const struct tide_step *step, const char *attribute)
{
    return step->name->attribute ? strcmp(step->name->attribute->text, attribute) == 0
                                 : step->loop && strcmp(attribute, "loop") == 0;
}

const struct tide_name *tide_trail_innermost(const struct tide_trail *trail,
                                             const char *attribute)
{
    uint32_t depth = trail->depth < TIDE_TRAIL_DEEP ? trail->depth : TIDE_TRAIL_DEEP;
    for (; depth > trail->inherited; depth--) {
        const struct tide_name *const name = trail->steps[depth - 1].name;
        if (name && is_of(&trail->steps[depth - 1], attribute))
            return name;
    }
    return NULL;
}

void tide_trail_push(struct tide_trail *trail, const struct tide_name *name, bool loop)
{
    const uint32_t depth = trail->depth;
    if (TIDE_LIKELY(depth < TIDE_TRAIL_DEEP))
        trail->steps[depth] = (struct tide_step){.name = name, .loop = loop};
    atomic_signal_fence(memory_order_seq_cst);
    trail->depth = depth + 1;
    trail->changes++;
}

bool tide_trail_pop(struct tide_trail *trail, const struct tide_name *name)
{
    trail->changes++;
    uint32_t depth = trail->depth;
    if (depth > TIDE_TRAIL_DEEP) {
        trail->depth--;
        return true;
    }
    while (depth > trail->inherited) {
        depth--;
        if (name && trail->steps[depth].name != name)
            continue;
        trail->depth = depth;
        return true;
    }
    return false;
}

static struct tide_step *innermost_loop(struct tide_trail *trail)
{
    uint32_t depth = trail->depth < TIDE_TRAIL_DEEP ? trail->depth : TIDE_TRAIL_DEEP;
    for (; depth > trail->inherited; depth--)
        if (trail->steps[depth - 1].loop)
            return &trail->steps[depth - 1];
    return NULL;
}

void tide_trail_iterate(struct tide_trail *trail, int64_t number)
{
    struct tide_step *const step = innermost_loop(trail);
    if (!step)
        return;
    step->iteration = number;
    step->iterates = true;
}

void tide_trail_iterated(struct tide_trail *trail)
{
    struct tide_step *const step = innermost_loop(trail);
    if (step)
        step->iterates = false;
}

/* --- Inheriting --------------------------------------------------------------------- */

static uint32_t told_apart(const struct tide_trail *trail)
{
    if (!trail || !tide_trail_inherits)
        return 0;
    return trail->depth < TIDE_TRAIL_DEEP ? trail->depth : TIDE_TRAIL_DEEP;
}

static uint32_t count_shared(const struct tide_trail *trail)
{
    uint32_t count = 0;
    for (uint32_t i = 0; trail && i < trail->held_count; i++)
        count += trail->held[i].shared;
    return count;
}

struct tide_trail *tide_trail_for_child(const struct tide_trail *from,
                                        uint64_t stack_bytes)
{
    const uint32_t depth = told_apart(from), shared = count_shared(from);
    struct tide_trail *const trail =
        depth || stack_bytes || shared ? new_trail() : NULL;
    if (!trail)
        return NULL;
    trail->stack_bytes = stack_bytes;
    for (uint32_t i = 0; shared && i < from->held_count; i++)
        if (from->held[i].shared)
            trail->held[trail->held_count++] = from->held[i];
    for (uint32_t i = 0; i < depth; i++) /* what was added there is its creator's */
        trail->steps[i] = (struct tide_step){.name = from->steps[i].name,
                                             .loop = from->steps[i].loop};
    trail->depth = trail->inherited = depth;
    trail->changes++;
    return trail;
}

/* True: the regions are others than before. */
static bool rebase(struct tide_trail *trail, struct tide_place place)
{
    const uint32_t depth =
        place.depth < TIDE_TRAIL_DEEP ? place.depth : TIDE_TRAIL_DEEP;
    bool same = trail->inherited == depth && trail->depth == depth;
    for (uint32_t i = 0; i < depth && same; i++)
        same = trail->steps[i].name == place.trail->steps[i].name;
    if (same)
        return false;
    for (uint32_t i = 0; i < depth; i++)
        trail->steps[i] = (struct tide_step){.name = place.trail->steps[i].name,
                                             .loop = place.trail->steps[i].loop};
    trail->depth = trail->inherited = depth;
    trail->changes++;
    return true;
}

static TIDE_COLD void move_to(struct tide_place place)
{
    struct tide_self *const self = &tide_self;
    const int saved = errno;
    struct tide_trail *const trail = tide_trail_of_thread();
    struct tide_stream *stream = NULL;
    if (trail && rebase(trail, place) && self->stream)
        stream = tide_enter(self, TIDE_WRITING, TIDE_CALLER.frame);
    if (stream) {
        tide_flush_pending(stream);
        tide_trail_tell(stream);
        tide_leave(self, stream);
    }
    errno = saved;
}

/* Who asked for the work is there already. */
void tide_trail_work_at(struct tide_place place)
{
    const struct tide_trail *const own = tide_self.trail;
    const bool nowhere = place.depth == 0 && (!own || own->depth == 0);
    if (own != place.trail && !nowhere)
        move_to(place);
}

void tide_trail_tell(struct tide_stream *stream)
{
    const struct tide_trail *const trail = tide_self.trail;
    const uint32_t depth = trail ? trail->depth : 0;
    const uint32_t told = depth < TIDE_TRAIL_DEEP ? depth : TIDE_TRAIL_DEEP;
    uint32_t level = 0;
    do {
        const struct tide_name *const name = told ? trail->steps[level].name : NULL;
        const uint64_t values[] = {level, tide_process_tell_name(name),
                                   told && level >= trail->inherited};
        if (tide_stream_room(stream, TIDE_RECORD_MAX))
            tide_stream_publish(stream,
                                tide_put_extra(tide_stream_at(stream),
                                               TIDE_EXTRA_REGION_BASE, values, 3));
    } while (++level < told);
}
