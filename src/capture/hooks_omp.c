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
#include <stdatomic.h>
#include <string.h>

#include "capture/hooks.h"
#include "capture/next.h"
#include "capture/self.h"
#include "capture/trail.h"

typedef void outlined(void *);

/* A section: on the stack of who opened it, who waits until it has ended. */
struct section {
    outlined *function;
    void *data;
    struct tide_place place;
};

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
#define TIDE_SECTION(name, parameters, types, arguments)                        \
    TIDE_HOOK void name parameters;                                             \
    TIDE_HOOK void name parameters                                              \
    {                                                                           \
        static void *_Atomic cache;                                             \
        void(*next) types;                                                      \
        void *found = tide_next_at_once(&cache);                                \
        struct section section = {function, data, tide_trail_place()};          \
        if (TIDE_UNLIKELY(!found))                                              \
            found = tide_next_find(&cache, #name, __builtin_return_address(0)); \
        if (TIDE_UNLIKELY(!found)) {                                            \
            do_alone(function, data);                                           \
            return;                                                             \
        }                                                                       \
        memcpy(&next, &found, sizeof(next));                                    \
        if (tide_trail_inherits) {                                              \
            function = begin_section;                                           \
            data = &section;                                                    \
        }                                                                       \
        next arguments;                                                         \
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
    void *found = tide_next_at_once(&cache);
    struct section section = {function, data, tide_trail_place()};
    if (TIDE_UNLIKELY(!found))
        found = tide_next_find(&cache, "GOMP_parallel_reductions",
                               __builtin_return_address(0));
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
