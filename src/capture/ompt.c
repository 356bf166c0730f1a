/* capture/ompt.c - the threads of LLVM's OpenMP work in the region that called them.
 *
 * libomp asks for ompt_start_tool() when it starts, and then calls back: where a section is
 * opened we keep the place of who opened it in the section's word, and each thread that
 * begins with its part takes it from there.  There is one tool in a process: none is started
 * when the user has one of his own, in a library that comes after us or in
 * OMP_TOOL_LIBRARIES, or when nobody wants to know of regions.
 *
 * What is declared here is the part of omp-tools.h (OpenMP 5) that is needed.
 */
#include <dlfcn.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>

#include "capture/hooks.h"
#include "capture/monitor.h"
#include "capture/process.h"
#include "capture/real.h"
#include "capture/trail.h"

/* NOLINTBEGIN(readability-identifier-naming): their names */
union ompt_data {
    uint64_t value;
    void *ptr;
};

typedef void (*ompt_function)(void);
typedef ompt_function (*ompt_lookup)(const char *name);
typedef int (*ompt_set_callback)(int event, ompt_function callback);

struct ompt_start_tool_result {
    int (*initialize)(ompt_lookup lookup, int device, union ompt_data *tool);
    void (*finalize)(union ompt_data *tool);
    union ompt_data tool_data;
};

enum { OMPT_PARALLEL_BEGIN = 3, OMPT_IMPLICIT_TASK = 7, OMPT_SCOPE_BEGIN = 1 };
enum { OMPT_TASK_INITIAL = 1 }; /* flag: what the program's own threads do all along */
/* NOLINTEND(readability-identifier-naming) */

#define TIDE_PLACE_SHIFT 48 /* the depth stands above the address of the trail */

/* NOLINTBEGIN(readability-function-size): their parameters */
static void parallel_begins(union ompt_data *task, const void *frame,
                            union ompt_data *section, unsigned threads, int flags,
                            const void *code)
{
    const struct tide_place place = tide_trail_place();
    (void)task, (void)frame, (void)threads, (void)flags, (void)code;
    section->value = (uint64_t)(uintptr_t)place.trail | (uint64_t)(place.depth & 0xffff)
                                                            << TIDE_PLACE_SHIFT;
}

static void part_begins(int endpoint, union ompt_data *section, union ompt_data *task,
                        unsigned threads, unsigned index, int flags)
{
    (void)task, (void)threads, (void)index;
    if (endpoint != OMPT_SCOPE_BEGIN || !section || (flags & OMPT_TASK_INITIAL))
        return;
    const uint64_t word = section->value;
    tide_trail_work_at((struct tide_place){
        (const struct tide_trail *)(uintptr_t)(word & ((1ull << TIDE_PLACE_SHIFT) - 1)),
        (uint32_t)(word >> TIDE_PLACE_SHIFT)});
}

/* NOLINTEND(readability-function-size) */

static int initialize(ompt_lookup lookup, int device, union ompt_data *tool)
{
    ompt_set_callback set_callback;
    const ompt_function found = lookup("ompt_set_callback");
    (void)device, (void)tool;
    if (!found)
        return 0;
    set_callback = (ompt_set_callback)found;
    set_callback(OMPT_PARALLEL_BEGIN, (ompt_function)parallel_begins);
    set_callback(OMPT_IMPLICIT_TASK, (ompt_function)part_begins);
    return 1;
}

static void finalize(union ompt_data *tool)
{
    (void)tool;
}

typedef struct ompt_start_tool_result *start_tool(unsigned version,
                                                  const char *runtime);
start_tool ompt_start_tool;

static const struct link_map *home_of(void *address)
{
    struct dl_find_object object;
    return address && _dl_find_object(address, &object) == 0 ? object.dlfo_link_map
                                                             : NULL;
}

/* What the library at ROOT and those that it needs call the tool, if LIBOMP is among them and
 * does not come first. */
static void *tool_of(const struct link_map *root, const struct link_map *libomp)
{
    static char here;
    if (!root->l_name || !*root->l_name || !tide_real.dlopen || !tide_real.dlclose)
        return NULL;
    void *const library = tide_real.dlopen(root->l_name, RTLD_NOLOAD | RTLD_LAZY);
    if (!library)
        return NULL;
    void *const tool = dlsym(library, "ompt_start_tool");
    const struct link_map *const home = home_of(tool);
    const bool found = home != libomp && home != home_of(&here) &&
                       home_of(dlsym(library, "__kmpc_fork_call")) == libomp;
    tide_real.dlclose(library);
    return found ? tool : NULL;
}

/* libomp was loaded by a library for itself alone: its tool is in no scope but theirs. */
static void *find_beside(void *caller)
{
    const struct link_map *const libomp = home_of(caller);
    const struct link_map *at = libomp;
    void *found = NULL;
    while (at && at->l_prev)
        at = at->l_prev;
    for (; at && !found; at = at->l_next)
        found = tool_of(at, libomp);
    return found;
}

/* Whom libomp would have asked without us: libomp's own looks behind itself. */
static struct ompt_start_tool_result *ask_next(unsigned version, const char *runtime,
                                               void *caller)
{
    struct tide_self *const self = &tide_self;
    const struct tide_hush before = tide_hush_begin(self);
    void *found = dlsym(RTLD_NEXT, "ompt_start_tool");
    if (!found && tide_real_resolve())
        found = find_beside(caller);
    tide_hush_end(self, before);
    start_tool *next;
    memcpy(&next, &found, sizeof(next));
    return next ? next(version, runtime) : NULL;
}

TIDE_HOOK struct ompt_start_tool_result *ompt_start_tool(unsigned version,
                                                         const char *runtime)
{
    static struct ompt_start_tool_result result = {
        .initialize = initialize,
        .finalize = finalize,
    };
    struct ompt_start_tool_result *const theirs =
        ask_next(version, runtime, __builtin_return_address(0));
    if (theirs)
        return theirs;
    const bool wanted =
        atomic_load(&tide_phase) == TIDE_PHASE_ON || secure_getenv("TIDEMARK_MONITOR");
    return tide_trail_inherits && wanted && !secure_getenv("OMP_TOOL_LIBRARIES")
               ? &result
               : NULL;
}
