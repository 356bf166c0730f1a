/* capture/alloc_monitor.c - what CMS's AllocMonitorPreload exports, for libraries that were
 * compiled against it.
 *
 * CMS's registry (libPerfToolsAllocMonitor.so) finds these functions by dlsym, and the
 * proxies of its preload call the registry back through two of its members.  Here a monitor
 * does that.  Programs compiled with tidemark's own headers never come here.
 */
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdatomic.h>
#include <string.h>

#include "capture/api.h"
#include "capture/first_errors.h"
#include "capture/hooks.h"
#include "capture/monitor.h"
#include "capture/process.h"

/* Members of cms::perftools::AllocMonitorRegistry, called as functions are on this
 * machine: `this` comes first.  Older ones do not look at the address. */
static struct {
    void *self;
    void (*alloc_called)(void *self, size_t requested, size_t used, const void *block);
    void (*free_called)(void *self, size_t used, const void *block);
} registry;

#define TIDE_CMS_REGISTRY "_ZN3cms9perftools20AllocMonitorRegistry"
static const char INSTANCE[] = TIDE_CMS_REGISTRY "8instanceEv";
static const char *const ALLOC_CALLED[] = {TIDE_CMS_REGISTRY "12allocCalled_EmmPKv",
                                           TIDE_CMS_REGISTRY "12allocCalled_Emm"};
static const char *const FREE_CALLED[] = {TIDE_CMS_REGISTRY "14deallocCalled_EmPKv",
                                          TIDE_CMS_REGISTRY "14deallocCalled_Em"};

static _Atomic uint32_t start_lock;
static tide_handle monitor; /* guarded by start_lock */
static bool complained;     /* guarded by start_lock */

static void alloc_called(size_t requested, size_t used, const void *block, void *unused)
{
    (void)unused;
    registry.alloc_called(registry.self, requested, used, block);
}

static void free_called(size_t used, const void *block, void *unused)
{
    (void)unused;
    registry.free_called(registry.self, used, block);
}

/* The first of two names that LIBRARY, or one that it needs, has. */
static void find_member(void *library, const char *const names[2], void *slot)
{
    void *found = dlsym(library, names[0]);
    if (!found)
        found = dlsym(library, names[1]);
    memcpy(slot, &found, sizeof(found));
}

/* In the library that has called from PC: it may have been opened for itself alone. */
static bool find_registry(uintptr_t pc)
{
    struct dl_find_object object;
    void *(*instance)(void) = NULL;
    if (_dl_find_object((void *)pc, &object) != 0)
        return false;
    const char *const name = object.dlfo_link_map->l_name;
    void *const library = dlopen(*name ? name : NULL, RTLD_NOLOAD | RTLD_LAZY);
    if (!library)
        return false;
    const char *const names[2] = {INSTANCE, INSTANCE};
    find_member(library, names, &instance);
    find_member(library, ALLOC_CALLED, &registry.alloc_called);
    find_member(library, FREE_CALLED, &registry.free_called);
    dlclose(library);
    if (!instance || !registry.alloc_called || !registry.free_called)
        return false;
    registry.self = instance();
    return registry.self != NULL;
}

static void complain(void)
{
    struct tide_lines lines = {.file = 2};
    if (complained)
        return;
    complained = true;
    tide_lines_text(&lines,
                    "tidemark: alloc_monitor_start() was called, but not by CMS's "
                    "AllocMonitorRegistry: nobody is told of allocations\n");
    tide_lines_flush(&lines);
}

TIDE_HOOK void alloc_monitor_start(void);
TIDE_HOOK void alloc_monitor_stop(void);
TIDE_HOOK bool alloc_monitor_stop_thread_reporting(void);
TIDE_HOOK void alloc_monitor_start_thread_reporting(void);

/* Called before each monitor that is the only one. */
TIDE_HOOK void alloc_monitor_start(void)
{
    const int saved = errno;
    const struct tide_caller caller = TIDE_CALLER;
    const struct tide_hush before = tide_hush_begin(&tide_self);
    const int hushed = tide_recorder_hush(1);
    tide_lock(&start_lock);
    if (!monitor) {
        if (!find_registry(caller.pc))
            complain();
        else
            tide_recorder_monitor_add(alloc_called, free_called, NULL, &monitor);
    }
    tide_unlock(&start_lock);
    tide_recorder_hush(hushed);
    tide_hush_end(&tide_self, before);
    errno = saved;
}

/* The registry is about to go: no call may be running any more. */
TIDE_HOOK void alloc_monitor_stop(void)
{
    tide_lock(&start_lock);
    const tide_handle gone = monitor;
    monitor = TIDE_NOTHING;
    tide_unlock(&start_lock);
    if (gone)
        tide_recorder_monitor_remove(gone);
}

/* True: until now this thread was reported. */
TIDE_HOOK bool alloc_monitor_stop_thread_reporting(void)
{
    return !tide_recorder_hush(1);
}

TIDE_HOOK void alloc_monitor_start_thread_reporting(void)
{
    tide_recorder_hush(0);
}

/* --- pauseMaxMemoryPreload() ------------------------------------------------------------ */

/* C++ functions that CMS's libraries define empty, for a preload to take their place. */
TIDE_HOOK void pause_max_memory(void) __asm__("_Z21pauseMaxMemoryPreloadv");
TIDE_HOOK void unpause_max_memory(void) __asm__("_Z23unpauseMaxMemoryPreloadv");

TIDE_HOOK void pause_max_memory(void)
{
    atomic_store(&tide_simple_paused, true);
}

TIDE_HOOK void unpause_max_memory(void)
{
    atomic_store(&tide_simple_paused, false);
}
