/* capture/hooks_new.c - C++ operator new and delete, in all their forms.
 *
 * Each forwards to the next operator, not to malloc, so that a replacement in a library
 * stays in use and std::bad_alloc is thrown by whom it belongs to.  A block must count
 * once though libstdc++'s operators call malloc and each other:
 *   - new leaves kind and caller in TLS; the first malloc inside takes them and is the
 *     record.  If there was none (an allocator with operators of its own), new records.
 *     An aligned one leaves its size too: libstdc++ asks aligned_alloc for more.
 *   - delete records and leaves the address in TLS; the free inside only tells those who
 *     count.  If there was none, delete tells them.  A handler that deletes in between
 *     leaves in TLS what it found.
 * Operators that an allocator brings along (jemalloc, tcmalloc, mimalloc) call no malloc of
 * ours; how large their blocks are is what the same library's malloc_usable_size says, and
 * who counts hears of a delete before it, as of a free.
 * Nothing on the stack needs undoing when an exception passes through.
 *
 * The next operator may arrive late: a library opened with dlopen can bring libstdc++
 * along, outside the scope that RTLD_NEXT searches.
 */
#include <dlfcn.h>
#include <link.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "capture/hooks.h"
#include "capture/hooks_heap.h"
#include "capture/real.h"
#include "capture/self.h"
#include "capture/watch.h"
#include "trace/format.h"

static void resolve_all(void);

static inline void *operator_of(void *_Atomic *cache)
{
    void *const found = atomic_load_explicit(cache, memory_order_acquire);
    if (TIDE_LIKELY(found != NULL))
        return found;
    resolve_all();
    return atomic_load_explicit(cache, memory_order_acquire);
}

static inline bool new_begins(struct tide_caller caller, uint8_t kind)
{
    struct tide_self *self = &tide_self;
    if (self->new_kind || self->quiet)
        return false; /* one operator calls another */
    self->new_pc = caller.pc;
    self->new_frame = caller.frame;
    self->new_kind = (uint8_t)(kind + 1);
    return true;
}

/* The allocator that has brought operators, and what it says of its blocks. */
static struct {
    _Atomic uintptr_t begin, end; /* of its library, as mapped; 0: there is none */
    size_t (*usable)(void *);
} sizer;

/* Usable bytes of BLOCK, which CALLEE has made or is to delete; 0: not known. */
static inline size_t usable_by(const void *callee, void *block)
{
    const uintptr_t end = atomic_load_explicit(&sizer.end, memory_order_acquire);
    const uintptr_t begin = atomic_load_explicit(&sizer.begin, memory_order_relaxed);
    const bool known = (uintptr_t)callee >= begin && (uintptr_t)callee < end;
    return known && block ? sizer.usable(block) : 0;
}

static inline void *new_ends(bool begun, const void *callee, void *block, size_t size)
{
    struct tide_self *self = &tide_self;
    if (begun && TIDE_UNLIKELY(self->new_kind)) { /* no malloc inside has recorded it */
        const struct tide_caller caller = {self->new_pc, self->new_frame};
        const uint8_t kind = (uint8_t)(self->new_kind - 1);
        self->new_kind = 0;
        tide_hook_born(caller, block, size, usable_by(callee, block), kind);
    }
    return block;
}

static inline bool aligned_new_begins(struct tide_caller caller, size_t size,
                                      uint8_t kind)
{
    if (!new_begins(caller, kind))
        return false;
    tide_self.asked = size;
    tide_self.asked_pc = 0;
    atomic_signal_fence(memory_order_seq_cst);
    tide_self.asked_frame = caller.frame;
    return true;
}

static inline void *aligned_new_ends(bool begun, const void *callee, void *block,
                                     size_t size)
{
    if (begun)
        tide_self.asked_frame = 0;
    return new_ends(begun, callee, block, size);
}

/* What an operator delete is about, and where that one is. */
struct deleting {
    void *block; /* NULL: there is none */
    uintptr_t frame;
};

/* The delete amid which CALLER's comes.  One further in than CALLER was left by a jump. */
static inline struct deleting deleting_around(struct tide_caller caller)
{
    const uintptr_t frame = tide_self.deleting_frame;
    return (struct deleting){frame > caller.frame ? tide_self.deleting : NULL, frame};
}

static inline bool delete_begins(struct tide_caller caller, void *block,
                                 struct deleting around)
{
    if (!block || around.block == block)
        return false;
    tide_hook_dies(caller, block);
    tide_self.deleting_frame = caller.frame;
    atomic_signal_fence(memory_order_seq_cst);
    tide_self.deleting = block;
    return true;
}

/* Usable bytes of BLOCK when somebody counts and CALLEE's library knows them. */
static inline size_t used_to_tell(const void *callee, void *block)
{
    const bool wanted = TIDE_UNLIKELY(tide_attended) && !tide_boot_owns(block);
    return wanted ? usable_by(callee, block) : 0;
}

/* One delete calls another: who is around it need not tell any more. */
#define TIDE_TOLD ((struct deleting){NULL, 0})

static inline void delete_over(struct deleting around)
{
    tide_self.deleting = around.block;
    tide_self.deleting_frame = around.frame;
}

/* The operator has returned, with nothing or something left in TLS. */
static TIDE_COLD void delete_ends(struct tide_caller caller, void *block, size_t size,
                                  struct deleting around)
{
    const bool told = tide_self.deleting != block;
    delete_over(around);
    if (!told)
        tide_hook_died(caller, block, size);
}

/* One operator new: C name, parameters, their types, the call's arguments, kind.
 * NOLINTBEGIN(bugprone-macro-parentheses): the arguments are pieces of declarations */
#define TIDE_NEW_BY(name, parameters, types, arguments, kind, begins, ends) \
    TIDE_HOOK void *name parameters;                                        \
    static void *_Atomic cache##name;                                       \
    TIDE_HOOK void *name parameters                                         \
    {                                                                       \
        void *(*next)types;                                                 \
        void *const found = operator_of(&cache##name);                      \
        if (!found)                                                         \
            return tide_real_malloc_for_new(TIDE_CALLER, size, kind);       \
        memcpy(&next, &found, sizeof(next));                                \
        const bool begun = begins;                                          \
        return ends(begun, found, next arguments, size);                    \
    }
#define TIDE_NEW(name, parameters, types, arguments, kind) \
    TIDE_NEW_BY(name, parameters, types, arguments, kind,  \
                new_begins(TIDE_CALLER, kind), new_ends)
#define TIDE_NEW_ALIGNED(name, parameters, types, arguments, kind) \
    TIDE_NEW_BY(name, parameters, types, arguments, kind,          \
                aligned_new_begins(TIDE_CALLER, size, kind), aligned_new_ends)

#define TIDE_DELETE(name, parameters, types, arguments, size)           \
    TIDE_HOOK void name parameters;                                     \
    static void *_Atomic cache##name;                                   \
    TIDE_HOOK void name parameters                                      \
    {                                                                   \
        void(*next) types;                                              \
        void *const found = operator_of(&cache##name);                  \
        const struct deleting around = deleting_around(TIDE_CALLER);    \
        const bool begun = delete_begins(TIDE_CALLER, block, around);   \
        const size_t used = used_to_tell(found, block);                 \
        if (TIDE_UNLIKELY(used)) {                                      \
            memcpy(&next, &found, sizeof(next));                        \
            tide_hook_died(TIDE_CALLER, block, used);                   \
            TIDE_QUIETLY_DO(next arguments);                            \
            delete_over(begun ? around : TIDE_TOLD);                    \
        } else if (found) {                                             \
            memcpy(&next, &found, sizeof(next));                        \
            next arguments;                                             \
        } else {                                                        \
            free(block);                                                \
        }                                                               \
        if (begun && TIDE_UNLIKELY(tide_self.deleting != around.block)) \
            delete_ends(TIDE_CALLER, block, size, around);              \
    }

/* NOLINTEND(bugprone-macro-parentheses) */

/* No operator anywhere: then nobody can throw either. */
static TIDE_COLD void *tide_real_malloc_for_new(struct tide_caller caller, size_t size,
                                                uint8_t kind)
{
    void *block = tide_real_resolve() ? tide_real.malloc(size ? size : 1) : NULL;
    tide_hook_born(caller, block, size, block ? tide_usable(block, size) : 0, kind);
    return block;
}

TIDE_NEW(_Znwm, (size_t size), (size_t), (size), TIDE_KIND_NEW)
TIDE_NEW(_Znam, (size_t size), (size_t), (size), TIDE_KIND_NEW_ARRAY)
TIDE_NEW(_ZnwmRKSt9nothrow_t, (size_t size, const void *tag), (size_t, const void *),
         (size, tag), TIDE_KIND_NEW)
TIDE_NEW(_ZnamRKSt9nothrow_t, (size_t size, const void *tag), (size_t, const void *),
         (size, tag), TIDE_KIND_NEW_ARRAY)
TIDE_NEW_ALIGNED(_ZnwmSt11align_val_t, (size_t size, size_t align), (size_t, size_t),
                 (size, align), TIDE_KIND_NEW)
TIDE_NEW_ALIGNED(_ZnamSt11align_val_t, (size_t size, size_t align), (size_t, size_t),
                 (size, align), TIDE_KIND_NEW_ARRAY)
TIDE_NEW_ALIGNED(_ZnwmSt11align_val_tRKSt9nothrow_t,
                 (size_t size, size_t align, const void *tag),
                 (size_t, size_t, const void *), (size, align, tag), TIDE_KIND_NEW)
TIDE_NEW_ALIGNED(_ZnamSt11align_val_tRKSt9nothrow_t,
                 (size_t size, size_t align, const void *tag),
                 (size_t, size_t, const void *), (size, align, tag),
                 TIDE_KIND_NEW_ARRAY)

/* NOLINTBEGIN(clang-analyzer-unix.Malloc): a block that is gone is named, not read */
TIDE_DELETE(_ZdlPv, (void *block), (void *), (block), 0)
TIDE_DELETE(_ZdaPv, (void *block), (void *), (block), 0)
TIDE_DELETE(_ZdlPvm, (void *block, size_t size), (void *, size_t), (block, size), size)
TIDE_DELETE(_ZdaPvm, (void *block, size_t size), (void *, size_t), (block, size), size)
TIDE_DELETE(_ZdlPvRKSt9nothrow_t, (void *block, const void *tag),
            (void *, const void *), (block, tag), 0)
TIDE_DELETE(_ZdaPvRKSt9nothrow_t, (void *block, const void *tag),
            (void *, const void *), (block, tag), 0)
TIDE_DELETE(_ZdlPvSt11align_val_t, (void *block, size_t align), (void *, size_t),
            (block, align), 0)
TIDE_DELETE(_ZdaPvSt11align_val_t, (void *block, size_t align), (void *, size_t),
            (block, align), 0)
TIDE_DELETE(_ZdlPvmSt11align_val_t, (void *block, size_t size, size_t align),
            (void *, size_t, size_t), (block, size, align), size)
TIDE_DELETE(_ZdaPvmSt11align_val_t, (void *block, size_t size, size_t align),
            (void *, size_t, size_t), (block, size, align), size)
TIDE_DELETE(_ZdlPvSt11align_val_tRKSt9nothrow_t,
            (void *block, size_t align, const void *tag),
            (void *, size_t, const void *), (block, align, tag), 0)
TIDE_DELETE(_ZdaPvSt11align_val_tRKSt9nothrow_t,
            (void *block, size_t align, const void *tag),
            (void *, size_t, const void *), (block, align, tag), 0)
/* NOLINTEND(clang-analyzer-unix.Malloc) */

/* --- The next ones -------------------------------------------------------------------- */

#define TIDE_OPERATOR(name) \
    {                       \
#        name, &cache##name \
    }
static const struct {
    const char *name;
    void *_Atomic *cache;
} OPERATORS[] = {
    TIDE_OPERATOR(_Znwm),
    TIDE_OPERATOR(_Znam),
    TIDE_OPERATOR(_ZnwmRKSt9nothrow_t),
    TIDE_OPERATOR(_ZnamRKSt9nothrow_t),
    TIDE_OPERATOR(_ZnwmSt11align_val_t),
    TIDE_OPERATOR(_ZnamSt11align_val_t),
    TIDE_OPERATOR(_ZnwmSt11align_val_tRKSt9nothrow_t),
    TIDE_OPERATOR(_ZnamSt11align_val_tRKSt9nothrow_t),
    TIDE_OPERATOR(_ZdlPv),
    TIDE_OPERATOR(_ZdaPv),
    TIDE_OPERATOR(_ZdlPvm),
    TIDE_OPERATOR(_ZdaPvm),
    TIDE_OPERATOR(_ZdlPvRKSt9nothrow_t),
    TIDE_OPERATOR(_ZdaPvRKSt9nothrow_t),
    TIDE_OPERATOR(_ZdlPvSt11align_val_t),
    TIDE_OPERATOR(_ZdaPvSt11align_val_t),
    TIDE_OPERATOR(_ZdlPvmSt11align_val_t),
    TIDE_OPERATOR(_ZdaPvmSt11align_val_t),
    TIDE_OPERATOR(_ZdlPvSt11align_val_tRKSt9nothrow_t),
    TIDE_OPERATOR(_ZdaPvSt11align_val_tRKSt9nothrow_t),
};
enum { TIDE_OPERATORS = sizeof(OPERATORS) / sizeof(*OPERATORS) };

/* Look in LIBRARY for all that are not known yet.  True: none is missing any more. */
static bool look_in(void *library)
{
    bool all = true;
    for (size_t i = 0; i < TIDE_OPERATORS; i++) {
        if (atomic_load(OPERATORS[i].cache))
            continue;
        void *const found = dlsym(library, OPERATORS[i].name);
        atomic_store_explicit(OPERATORS[i].cache, found, memory_order_release);
        all &= found != NULL;
    }
    return all;
}

/* Those that bring operators; each has all of them. */
static const char *const LIBRARIES[] = {"libstdc++.so.6", "libc++.so.1",
                                        "libc++abi.so.1"};
enum { TIDE_LIBRARIES = sizeof(LIBRARIES) / sizeof(*LIBRARIES) };

static bool brings_operators(const struct link_map *map)
{
    for (unsigned i = 0; map->l_name && i < TIDE_LIBRARIES; i++)
        if (strstr(map->l_name, LIBRARIES[i]))
            return true;
    return false;
}

/* The library that CALLEE is from, if it has a malloc_usable_size of its own. */
static void find_sizer(void *callee)
{
    struct dl_find_object object;
    if (!callee || _dl_find_object(callee, &object) != 0 ||
        brings_operators(object.dlfo_link_map))
        return;
    const uintptr_t begin = (uintptr_t)object.dlfo_map_start;
    const uintptr_t end = (uintptr_t)object.dlfo_map_end;
    size_t (*usable)(void *) = tide_real.malloc_usable_size;
    if ((uintptr_t)usable < begin || (uintptr_t)usable >= end) {
        void *const library =
            dlopen(object.dlfo_link_map->l_name, RTLD_NOLOAD | RTLD_LAZY);
        void *const found = library ? dlsym(library, "malloc_usable_size") : NULL;
        memcpy(&usable, &found, sizeof(usable));
        if (library)
            dlclose(library);
    }
    if ((uintptr_t)usable < begin || (uintptr_t)usable >= end)
        return;
    sizer.usable = usable;
    atomic_store_explicit(&sizer.begin, begin, memory_order_relaxed);
    atomic_store_explicit(&sizer.end, end, memory_order_release);
}

/* All at once: dlsym takes a lock that dlopen holds while constructors run, and a
 * constructor may wait for a thread that is the first to use one of them. */
static TIDE_COLD void resolve_all(void)
{
    struct tide_self *self = &tide_self;
    const struct tide_hush before = tide_hush_begin(self);
    bool all = look_in(RTLD_NEXT);
    for (unsigned i = 0; !all && i < TIDE_LIBRARIES; i++) {
        void *const library = dlopen(LIBRARIES[i], RTLD_NOLOAD | RTLD_LAZY);
        if (library)
            all = look_in(library);
    }
    find_sizer(atomic_load(&cache_Znwm));
    tide_hush_end(self, before);
}

/* A dlsym that finds nothing keeps words for dlerror in the program's heap, which has to
 * be as it is without us: so it is only done where they are. */
void tide_operators_begin(void)
{
    static char here;
    struct dl_find_object object;
    const struct link_map *map =
        _dl_find_object(&here, &object) == 0 ? object.dlfo_link_map : NULL;
    while (map && !brings_operators(map))
        map = map->l_next;
    if (map)
        resolve_all();
}
