/* capture/registry.h - who listens to allocations and frees: windows and monitors.
 *
 * For: capture/, tests/.  Knows nothing of hooks, so that it can be tested by itself.
 *
 * Readers, the hooks, look at a list that is never changed: whoever adds or removes a
 * listener puts a new list in its place.  Old lists and removed listeners are given back
 * once every reader who may still look at them has left (a grace period).  Who removes
 * waits for that, unless he is inside a callback himself: then it is left to the next one
 * who can wait.  A reader that never leaves (a handler jumped out of it) holds somebody up
 * once, for TIDE_GRACE_SECONDS; what it may look at then stays for ever.
 *
 * The lock is held for moments only, and never while waiting for readers.
 */
#ifndef TIDE_CAPTURE_REGISTRY_H
#define TIDE_CAPTURE_REGISTRY_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <tidemark/tidemark.h>

#include "capture/tallies.h"

enum { TIDE_GRACE_SECONDS = 10 };

/* An allocation or a free, as listeners hear of it. */
struct tide_happening {
    const void *block;
    uint64_t requested, used;
    uint64_t thread; /* number of the thread; never used twice */
    uint32_t shard;  /* of the thread */
    bool failed;     /* of an allocation: there is no block */
};

struct tide_listener {
    uint64_t handle;
    tide_alloc_called alloc_called; /* callbacks; or NULL */
    tide_free_called free_called;
    void *user;
    /* The recorder's own: handler-safe; or NULL. */
    void (*alloc_heard)(void *user, const struct tide_happening *happening);
    void (*free_heard)(void *user, const struct tide_happening *happening);
    uint64_t thread; /* only what this thread does; 0: all */
    uint32_t kind;   /* for whoever added it */
    _Atomic uint32_t removed;
    bool lasting; /* somebody may look at it for ever.  Guarded by the lock */
    struct tide_listener *next_retired;
};

struct tide_listener_list {
    uint32_t count;
    uint32_t bytes; /* of its memory */
    bool lasting;   /* as of listeners */
    struct tide_listener_list *next_retired;
    struct tide_listener *list[];
};

/* Add a copy of LISTENER, with a new handle. */
enum tide_answer tide_registry_add(const struct tide_listener *listener,
                                   tide_handle *handle);

/* Remove HANDLE: nobody is told of anything any more that begins later.  With *WAIT, wait
 * for those who are being told; it becomes false when that is not certain.  *USER, if it is
 * not NULL, becomes that of the listener.  TIDE_UNKNOWN: there is none of that KIND. */
enum tide_answer tide_registry_remove(tide_handle handle, uint32_t kind, bool *wait,
                                      void **user);

/* The user of HANDLE of that KIND; NULL: there is none.  Only while the caller is a
 * reader. */
void *tide_registry_find(tide_handle handle, uint32_t kind);

uint32_t tide_registry_count(void);
/* Nobody listens; who is being added may not be there yet. */
bool tide_registry_is_empty(void);

/* --- Readers ------------------------------------------------------------------------- */

/* What a reader holds from enter to leave. */
struct tide_reader {
    const struct tide_listener_list *list; /* NULL: nobody listens */
    _Atomic uint64_t *count;               /* where it has counted itself */
    uint32_t generation;
};
struct tide_reader tide_registry_enter(uint32_t shard);
void tide_registry_leave(const struct tide_reader *reader);

/* Forked: no thread is left but this one.  When it forks in a callback, it leaves as a
 * reader of a generation that has gone. */
void tide_registry_after_fork(void);

#endif
