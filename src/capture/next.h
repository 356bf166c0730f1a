/* capture/next.h - the function behind a hook that not every program has.
 *
 * For: hooks_omp.c, hooks_allocators.c.
 */
#ifndef TIDE_CAPTURE_NEXT_H
#define TIDE_CAPTURE_NEXT_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "capture/self.h"

/* Libraries are known that bring a function of their own. */
extern _Atomic uint32_t tide_next_besides;

/* The function NAME for a call from PC; NULL: there is none.  CACHE is the hook's, static. */
void *tide_next_find(void *_Atomic *cache, const char *name, void *pc) TIDE_COLD;

/* Nothing to look for: it stands in the global scope, and nobody has one of his own. */
static inline void *tide_next_at_once(void *_Atomic *cache)
{
    void *const found = atomic_load_explicit(cache, memory_order_acquire);
    return TIDE_LIKELY(!atomic_load_explicit(&tide_next_besides, memory_order_relaxed))
               ? found
               : NULL;
}

/* A library may be going, and the functions with it: forget where they are. */
void tide_next_forget(void) TIDE_COLD;

#endif
