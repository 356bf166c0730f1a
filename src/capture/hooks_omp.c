/* capture/hooks_omp.c - the threads of OpenMP work in the region that called them.
 *
 * libgomp keeps its threads and uses them again, so where a thread was created says nothing.
 * Each parallel section is a call of GOMP_parallel() or of one of its kind with the outlined
 * function and its data.  What we pass on instead takes over the caller's regions and then
 * jumps to the outlined function: it leaves no frame, so stacks are as without us (this
 * file is compiled with -foptimize-sibling-calls).  A thread stays in these regions
 * until its next section; in between it runs none of the program's code.
 *
 * The threads of LLVM's libomp say themselves when they begin with a section: see ompt.c.
 *
 * Tasks that another section's thread takes over are told under the region of that thread.
 */
#include <dlfcn.h>
#include <link.h>
#include <stdatomic.h>
#include <string.h>

#include "capture/hooks.h"
#include "capture/real.h"
#include "capture/self.h"
#include "capture/trail.h"

typedef void outlined(void *);

/* A section: on the stack of who opened it, who waits until it has ended. */
struct section {
    outlined *function;
    void *data;
    struct tide_place place;
};

/* What a library that brings a libgomp along calls, by the place of the library. */
struct beside {
    const void *caller;
    void *found;
    _Atomic(const char *) name; /* of the hook; compared by address.  Written last */
};
enum { TIDE_BESIDES = 64 }; /* more are looked up each time */
static struct beside besides[TIDE_BESIDES];
static _Atomic uint32_t beside_count; /* may count beyond them */

/* What was found: to be forgotten when a library may go. */
enum { TIDE_CACHES = 64 };
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

void tide_omp_forget(void)
{
    for (uint32_t i = 0; i < TIDE_CACHES && atomic_load(&caches[i]); i++)
        atomic_store(atomic_load(&caches[i]), NULL);
    for (uint32_t i = 0; i < TIDE_BESIDES; i++)
        atomic_store(&besides[i].name, NULL);
}

static void keep_beside(const void *caller, const char *name, void *found)
{
    if (atomic_load(&beside_count) >= TIDE_BESIDES)
        return;
    const uint32_t at = atomic_fetch_add(&beside_count, 1);
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
    const uint32_t count = atomic_load(&beside_count);
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

static TIDE_COLD void *find_real(void *_Atomic *cache, const char *name, void *pc)
{
    struct tide_self *const self = &tide_self;
    const struct tide_hush before = tide_hush_begin(self);
    void *const found = look_for(cache, name, pc);
    tide_hush_end(self, before);
    return found;
}

/* Nothing to look for: it stands in the global scope, and nobody has one of his own. */
static inline void *real_at_once(void *_Atomic *cache)
{
    void *const found = atomic_load_explicit(cache, memory_order_acquire);
    return TIDE_LIKELY(!atomic_load_explicit(&beside_count, memory_order_relaxed))
               ? found
               : NULL;
}

static void begin_section(void *argument)
{
    const struct section *const section = argument;
    outlined *const function = section->function;
    void *const data = section->data;
    tide_trail_work_at(section->place);
    function(data);
}

/* Nobody is there to share the work. */
static void do_alone(outlined *function, void *data)
{
    function(data);
}

/* The functions of libgomp that open a section: name, parameters, their types and the
 * arguments of the call.
 * NOLINTBEGIN(bugprone-macro-parentheses): the arguments are pieces of declarations */
#define TIDE_SECTION(name, parameters, types, arguments)                   \
    TIDE_HOOK void name parameters;                                        \
    TIDE_HOOK void name parameters                                         \
    {                                                                      \
        static void *_Atomic cache;                                        \
        void(*next) types;                                                 \
        void *found = real_at_once(&cache);                                \
        struct section section = {function, data, tide_trail_place()};     \
        if (TIDE_UNLIKELY(!found))                                         \
            found = find_real(&cache, #name, __builtin_return_address(0)); \
        if (TIDE_UNLIKELY(!found)) {                                       \
            do_alone(function, data);                                      \
            return;                                                        \
        }                                                                  \
        memcpy(&next, &found, sizeof(next));                               \
        if (tide_trail_inherits) {                                         \
            function = begin_section;                                      \
            data = &section;                                               \
        }                                                                  \
        next arguments;                                                    \
    }
#define TIDE_LOOP_SECTION(name)                                                    \
    TIDE_SECTION(name,                                                             \
                 (outlined * function, void *data, unsigned threads, long start,   \
                  long end, long step, long chunk, unsigned flags),                \
                 (outlined *, void *, unsigned, long, long, long, long, unsigned), \
                 (function, data, threads, start, end, step, chunk, flags))
#define TIDE_RUNTIME_SECTION(name)                                               \
    TIDE_SECTION(name,                                                           \
                 (outlined * function, void *data, unsigned threads, long start, \
                  long end, long step, unsigned flags),                          \
                 (outlined *, void *, unsigned, long, long, long, unsigned),     \
                 (function, data, threads, start, end, step, flags))

/* NOLINTEND(bugprone-macro-parentheses) */

/* NOLINTBEGIN(readability-identifier-naming,readability-function-size): theirs */
TIDE_SECTION(GOMP_parallel,
             (outlined * function, void *data, unsigned threads, unsigned flags),
             (outlined *, void *, unsigned, unsigned), (function, data, threads, flags))
TIDE_SECTION(GOMP_parallel_sections,
             (outlined * function, void *data, unsigned threads, unsigned count,
              unsigned flags),
             (outlined *, void *, unsigned, unsigned, unsigned),
             (function, data, threads, count, flags))
TIDE_LOOP_SECTION(GOMP_parallel_loop_static)
TIDE_LOOP_SECTION(GOMP_parallel_loop_dynamic)
TIDE_LOOP_SECTION(GOMP_parallel_loop_guided)
TIDE_LOOP_SECTION(GOMP_parallel_loop_nonmonotonic_dynamic)
TIDE_LOOP_SECTION(GOMP_parallel_loop_nonmonotonic_guided)
TIDE_RUNTIME_SECTION(GOMP_parallel_loop_runtime)
TIDE_RUNTIME_SECTION(GOMP_parallel_loop_nonmonotonic_runtime)
TIDE_RUNTIME_SECTION(GOMP_parallel_loop_maybe_nonmonotonic_runtime)

/* The one that returns something: how many threads there were. */
TIDE_HOOK unsigned GOMP_parallel_reductions(outlined *function, void *data,
                                            unsigned threads, unsigned flags);
TIDE_HOOK unsigned GOMP_parallel_reductions(outlined *function, void *data,
                                            unsigned threads, unsigned flags)
{
    static void *_Atomic cache;
    unsigned (*next)(outlined *, void *, unsigned, unsigned);
    void *found = real_at_once(&cache);
    struct section section = {function, data, tide_trail_place()};
    if (TIDE_UNLIKELY(!found))
        found =
            find_real(&cache, "GOMP_parallel_reductions", __builtin_return_address(0));
    if (TIDE_UNLIKELY(!found)) {
        do_alone(function, data);
        return 1;
    }
    memcpy(&next, &found, sizeof(next));
    if (!tide_trail_inherits)
        return next(function, data, threads, flags);
    return next(begin_section, &section, threads, flags);
}
/* NOLINTEND(readability-identifier-naming,readability-function-size) */
