/* capture/next.c - the function behind a hook that not every program has.
 *
 * libgomp's and the allocators' own functions are looked for when they are first called: in
 * the global scope behind us, or else beside the library that calls, as without us.
 */
#include "capture/next.h"

#include <dlfcn.h>
#include <link.h>

#include "capture/real.h"

/* What a library that brings a libgomp or an allocator along calls, by the place of the library. */
struct beside {
    const void *caller;
    void *found;
    _Atomic(const char *) name; /* of the hook; compared by address.  Written last */
};
enum { TIDE_BESIDES = 64 }; /* more are looked up each time */
static struct beside besides[TIDE_BESIDES];
_Atomic uint32_t tide_next_besides; /* may count beyond them */

/* What was found: to be forgotten when a library may go. */
enum { TIDE_CACHES = 256 };
static _Atomic(void *_Atomic *) caches[TIDE_CACHES];

static void keep_cache(void *_Atomic *cache, void *found)
{
    for (uint32_t i = 0; found && i < TIDE_CACHES; i++) {
        void *_Atomic *none = NULL;
        if (atomic_load(&caches[i]) == cache ||
            atomic_compare_exchange_strong(&caches[i], &none, cache) || none == cache) {
            atomic_store(cache, found);
            return;
        }
    }
}

void tide_next_forget(void)
{
    for (uint32_t i = 0; i < TIDE_CACHES && atomic_load(&caches[i]); i++)
        atomic_store(atomic_load(&caches[i]), NULL);
    for (uint32_t i = 0; i < TIDE_BESIDES; i++)
        atomic_store(&besides[i].name, NULL);
}

static void keep_beside(const void *caller, const char *name, void *found)
{
    if (atomic_load(&tide_next_besides) >= TIDE_BESIDES)
        return;
    const uint32_t at = atomic_fetch_add(&tide_next_besides, 1);
    if (at >= TIDE_BESIDES)
        return;
    besides[at].caller = caller;
    besides[at].found = found;
    atomic_store(&besides[at].name, name);
}

/* NAME in the library at OBJECT and in those that it needs.  Nothing of it is held. */
static void *look_beside(const struct dl_find_object *object, const char *name)
{
    const char *const path = object->dlfo_link_map->l_name;
    if (!path || !*path || !tide_real_resolve() || !tide_real.dlclose)
        return NULL;
    void *const library = dlopen(path, RTLD_NOLOAD | RTLD_LAZY);
    void *const found = library ? dlsym(library, name) : NULL;
    if (library)
        tide_real.dlclose(library);
    return found;
}

static void *known_beside(const void *caller, const char *name)
{
    const uint32_t count = atomic_load(&tide_next_besides);
    for (uint32_t i = 0; i < count && i < TIDE_BESIDES; i++)
        if (atomic_load(&besides[i].name) == name && besides[i].caller == caller)
            return besides[i].found;
    return NULL;
}

/* The first in the global scope, or else, as without us, the one that the calling library
 * needs: packages of Python bring their own.  There may be several, each with threads of
 * its own, and a section must begin in the one that it goes on in. */
static void *look_for(void *_Atomic *cache, const char *name, void *pc)
{
    struct dl_find_object object;
    const bool known = _dl_find_object(pc, &object) == 0;
    void *found = known ? known_beside(object.dlfo_map_start, name) : NULL;
    if (!found)
        found = atomic_load(cache);
    if (found)
        return found;
    found = dlsym(RTLD_NEXT, name);
    keep_cache(cache, found);
    if (found || !known)
        return found;
    found = look_beside(&object, name);
    if (found)
        keep_beside(object.dlfo_map_start, name, found);
    return found;
}

void *tide_next_find(void *_Atomic *cache, const char *name, void *pc)
{
    struct tide_self *const self = &tide_self;
    const struct tide_hush before = tide_hush_begin(self);
    void *const found = look_for(cache, name, pc);
    tide_hush_end(self, before);
    return found;
}
