/* capture/real.c - find the functions behind the hooks, and serve until they are found.
 *
 * A hook can run before this library is relocated: the loader relocates libraries in
 * turn, and an IFUNC resolver of one that came before us may allocate.  Nothing external
 * may be called then.  `probe` tells: it holds the address of a libc function, which is
 * NULL until our relocations are done.
 *
 * dlsym itself may allocate (its error text, when a symbol is missing); `resolving`
 * sends those calls to the arena instead of into an endless loop.
 */
#include "capture/real.h"

#include <dlfcn.h>
#include <link.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

#include "capture/sanitizers.h"
#include "capture/self.h"

struct tide_real tide_real;

static void *(*const volatile probe)(void *, const char *) = &dlsym;
static _Atomic int resolving;

_Alignas(4096) unsigned char tide_boot_arena[TIDE_ARENA_BYTES];
static _Atomic size_t arena_used;

/* In front of every block of the arena. */
struct boot_header {
    size_t size;
    size_t unused;
};

void *tide_boot_alloc(size_t size, size_t align)
{
    const size_t step = align < 16 ? 16 : align;
    if (size > sizeof(tide_boot_arena) || step > 4096)
        return NULL;

    const size_t bytes =
        sizeof(struct boot_header) + step + ((size + 15) & ~(size_t)15);
    const size_t at = atomic_fetch_add(&arena_used, bytes);
    if (at + bytes > sizeof(tide_boot_arena))
        return NULL;

    uintptr_t block = (uintptr_t)tide_boot_arena + at + sizeof(struct boot_header);
    block = (block + step - 1) & ~(uintptr_t)(step - 1);
    struct boot_header *header = (struct boot_header *)(block - sizeof(*header));
    header->size = size;
    return (
        void *)block; /* static memory: zero from the start, never handed out twice */
}

size_t tide_boot_size(const void *pointer)
{
    return ((const struct boot_header *)pointer)[-1].size;
}

static bool is_glibcs(const void *slot)
{
    struct dl_find_object object;
    void *entry;
    memcpy(&entry, slot, sizeof(entry));
    if (!entry || _dl_find_object(entry, &object) != 0)
        return false;
    const char *name = object.dlfo_link_map->l_name;
    const char *slash = name ? strrchr(name, '/') : NULL;
    return slash && strcmp(slash + 1, "libc.so.6") == 0;
}

/* A library that stands before libc may define a function in an old version only, as
 * libc_malloc_debug.so does with malloc for MALLOC_CHECK_ and mtrace.  The program is
 * bound to it by that version; dlsym, which asks for none, passes over it. */
static void prefer_versioned(void *slot, const char *name, const char *version)
{
    void *const symbol = dlvsym(RTLD_NEXT, name, version);
    if (symbol && is_glibcs(slot))
        memcpy(slot, &symbol, sizeof(symbol));
}

/* dlsym gives an object pointer for a function; POSIX wants this assignment to work. */
static void find(void *slot, const char *name, const char *version)
{
    void *const symbol = dlsym(RTLD_NEXT, name);
    memcpy(slot, &symbol, sizeof(symbol));
    if (version)
        prefer_versioned(slot, name, version);
}

/* Some allocators allocate when first asked for a block's usable size. */
static void warm_up(void)
{
    void *block = tide_real.malloc ? tide_real.malloc(1) : NULL;
    if (!block)
        return;
    if (tide_real.malloc_usable_size)
        tide_real.malloc_usable_size(block);
    tide_real.free(block);
}

/* What glibc for x86-64 began with. */
#define TIDE_GLIBC_FIRST "GLIBC_2.2.5"

/* Each function that a hook goes on to, and the name by which the next one is found; with
 * the version that glibc gives it, where others define it, too. */
static const struct {
    size_t slot; /* in struct tide_real */
    const char *name;
    const char *version;
} FUNCTIONS[] = {
    {offsetof(struct tide_real, malloc), "malloc", TIDE_GLIBC_FIRST},
    {offsetof(struct tide_real, calloc), "calloc", TIDE_GLIBC_FIRST},
    {offsetof(struct tide_real, realloc), "realloc", TIDE_GLIBC_FIRST},
    {offsetof(struct tide_real, free), "free", TIDE_GLIBC_FIRST},
    {offsetof(struct tide_real, reallocarray), "reallocarray", NULL},
    {offsetof(struct tide_real, posix_memalign), "posix_memalign", TIDE_GLIBC_FIRST},
    {offsetof(struct tide_real, aligned_alloc), "aligned_alloc", "GLIBC_2.16"},
    {offsetof(struct tide_real, memalign), "memalign", TIDE_GLIBC_FIRST},
    {offsetof(struct tide_real, valloc), "valloc", TIDE_GLIBC_FIRST},
    {offsetof(struct tide_real, pvalloc), "pvalloc", TIDE_GLIBC_FIRST},
    {offsetof(struct tide_real, malloc_usable_size), "malloc_usable_size",
     TIDE_GLIBC_FIRST},
    {offsetof(struct tide_real, free_sized), "free_sized", NULL},
    {offsetof(struct tide_real, free_aligned_sized), "free_aligned_sized", NULL},
    {offsetof(struct tide_real, pthread_create), "pthread_create", NULL},
    {offsetof(struct tide_real, thrd_create), "thrd_create", NULL},
    {offsetof(struct tide_real, pthread_setname), "pthread_setname_np", NULL},
    {offsetof(struct tide_real, pthread_join), "pthread_join", NULL},
    {offsetof(struct tide_real, pthread_tryjoin), "pthread_tryjoin_np", NULL},
    {offsetof(struct tide_real, pthread_timedjoin), "pthread_timedjoin_np", NULL},
    {offsetof(struct tide_real, pthread_clockjoin), "pthread_clockjoin_np", NULL},
    {offsetof(struct tide_real, thrd_join), "thrd_join", NULL},
    {offsetof(struct tide_real, wait), "wait", NULL},
    {offsetof(struct tide_real, waitpid), "waitpid", NULL},
    {offsetof(struct tide_real, wait3), "wait3", NULL},
    {offsetof(struct tide_real, wait4), "wait4", NULL},
    {offsetof(struct tide_real, waitid), "waitid", NULL},
    {offsetof(struct tide_real, system), "system", NULL},
    {offsetof(struct tide_real, popen), "popen", NULL},
    {offsetof(struct tide_real, pclose), "pclose", NULL},
    {offsetof(struct tide_real, spawn), "posix_spawn", NULL},
    {offsetof(struct tide_real, spawn_in_path), "posix_spawnp", NULL},
    {offsetof(struct tide_real, end_posix), "_exit", NULL},
    {offsetof(struct tide_real, end_c), "_Exit", NULL},
    {offsetof(struct tide_real, prctl), "prctl", NULL},
    {offsetof(struct tide_real, syscall), "syscall", NULL},
    {offsetof(struct tide_real, dlopen), "dlopen", NULL},
    {offsetof(struct tide_real, dlmopen), "dlmopen", NULL},
    {offsetof(struct tide_real, dlclose), "dlclose", NULL},
    {offsetof(struct tide_real, fork_now), "_Fork", NULL},
    {offsetof(struct tide_real, execve), "execve", NULL},
    {offsetof(struct tide_real, execv), "execv", NULL},
    {offsetof(struct tide_real, execvp), "execvp", NULL},
    {offsetof(struct tide_real, execvpe), "execvpe", NULL},
    {offsetof(struct tide_real, fexecve), "fexecve", NULL},
    {offsetof(struct tide_real, execveat), "execveat", NULL},
};

static void resolve(void)
{
    for (size_t i = 0; i < sizeof(FUNCTIONS) / sizeof(FUNCTIONS[0]); i++)
        find((char *)&tide_real + FUNCTIONS[i].slot, FUNCTIONS[i].name,
             FUNCTIONS[i].version);
    tide_real.other_wait = !is_glibcs(&tide_real.wait) && !tide_sanitized();
    tide_real.other_system = !is_glibcs(&tide_real.system) && !tide_sanitized();
    tide_real.glibc = is_glibcs(&tide_real.malloc);
    tide_real.exact = !tide_real.glibc && tide_sanitized();
    atomic_signal_fence(memory_order_release);
    tide_real.ready = true;
    if (!tide_real.glibc && !tide_real.exact)
        warm_up();
}

bool tide_is_relocated(void)
{
    return probe != NULL;
}

bool tide_real_resolve(void)
{
    if (tide_real.ready)
        return true;
    if (!probe || atomic_exchange(&resolving, 1))
        return false;
    const struct tide_hush before = tide_hush_begin(&tide_self);
    resolve();
    tide_hush_end(&tide_self, before);
    return true;
}
