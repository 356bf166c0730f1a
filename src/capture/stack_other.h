/* capture/stack_other.h - stacks that are not the thread's own: what may be read there.
 *
 * For: stack_cache.h, stack_cfi.c, hooks_map.c, hooks_other.c.  Of the thread's stack it is
 * known where it ends.  Another one (of a coroutine, a signal, a function that was called on
 * memory of the program's) ends somewhere above, and code that changed stacks by hand has
 * frame tables that lead beyond it.  So a page that the walk has not come from is asked for
 * before it is read.
 */
#ifndef TIDE_CAPTURE_STACK_OTHER_H
#define TIDE_CAPTURE_STACK_OTHER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "capture/self.h"
#include "trace/ring.h"

#define TIDE_OTHER_REACH ((uintptr_t)1 << 30) /* bytes: no one stack is larger */

/* What a walk may read: below HIGH, and below REACH what is there; that is 0 on the
 * thread's own stack. */
struct tide_stack_bounds {
    uintptr_t high, reach;
};

/* The end of the page that SP is on, or that ends at SP: what is just below SP is there. */
static inline uintptr_t tide_page_end(uintptr_t sp)
{
    return (sp + TIDE_PAGE - 1) & ~(uintptr_t)(TIDE_PAGE - 1);
}

/* Those of a walk that begins at SP, on the thread's own stack, which ends at OWN_END, or (0)
 * on another. */
static inline struct tide_stack_bounds tide_bounds_at(uintptr_t sp, uintptr_t own_end)
{
    struct tide_stack_bounds bounds = {own_end, 0};
    if (TIDE_UNLIKELY(!own_end)) {
        bounds.high = tide_page_end(sp);
        bounds.reach = sp + TIDE_OTHER_REACH;
    }
    return bounds;
}

/* The program has changed what is mapped so many times. */
extern _Atomic uint64_t tide_other_forgotten __attribute__((visibility("hidden")));

static inline uint64_t tide_other_changes(void)
{
    return atomic_load_explicit(&tide_other_forgotten, memory_order_relaxed);
}

/* Can the word at AT be read? */
bool tide_other_is_there(uintptr_t at);

/* The program has changed what is mapped: ask again. */
void tide_other_forget(void) TIDE_COLD;

#endif
