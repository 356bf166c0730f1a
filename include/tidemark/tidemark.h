/* tidemark/tidemark.h - tell tidemark what your program is doing, and ask it.
 *
 *     #include <tidemark/tidemark.h>
 *
 *     tide_region_begin("solve");
 *     double *x = malloc(n * sizeof(*x));
 *     tide_label(x, "x", n * sizeof(*x));
 *     ...
 *     tide_region_end("solve");
 *
 * Header only: nothing to link.  When the recorder is not there, each call that tells it
 * something is a test of one pointer; calls that ask something say so (TIDE_ABSENT) and
 * fill their answer with zeros.  All functions may be called from any thread, at any
 * time.  Names are copied; those longer than 1023 bytes are cut.  C99 and up, C++11 and up
 * (classes for C++: tidemark.hpp).
 *
 * How it works: the recorder (libtidemark.so, preloaded) exports one table of functions.
 * The first call looks for it with dlsym, where there is such a thing; a static program
 * has none, and no recorder.  For other languages the recorder exports each function of
 * the table as tide_recorder_NAME as well, with the signature of tide_NAME here (scopes as
 * int).
 */
#ifndef TIDEMARK_TIDEMARK_H
#define TIDEMARK_TIDEMARK_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

/* --- Answers ----------------------------------------------------------------------- */

enum tide_answer {
    TIDE_DONE = 0,
    TIDE_ABSENT = 1,     /* the recorder is not there: nothing was done */
    TIDE_UNKNOWN = 2,    /* no such window, monitor or block, or it has ended already */
    TIDE_FULL = 3,       /* no memory, or no room for another one */
    TIDE_REFUSED = 4,    /* the arguments make no sense */
    TIDE_UNAVAILABLE = 5 /* the recorder is there, but does not know this */
};

/* Whose allocations are counted. */
enum tide_scope { TIDE_SCOPE_PROCESS = 0, TIDE_SCOPE_THREAD = 1 };

/* A window or a monitor; never used twice.  TIDE_NOTHING and UINT64_MAX are none. */
typedef uint64_t tide_handle;
#define TIDE_NOTHING ((tide_handle)0)

/* What was allocated while a window was open.  "Requested" is what the program asked for,
 * "used" what the allocator gave (malloc_usable_size).  A realloc is a call that allocates
 * and one that frees; a call that failed is none.  Blocks made before the window opened and
 * freed in it count as freed: live_bytes and peak_bytes are relative to its beginning. */
struct tide_stats {
    uint64_t requested_bytes;
    uint64_t used_bytes;
    uint64_t freed_bytes; /* used */
    uint64_t alloc_calls;
    uint64_t free_calls; /* without free(NULL) */
    uint64_t failed_calls;
    int64_t live_bytes;      /* used_bytes - freed_bytes */
    int64_t peak_bytes;      /* the highest live_bytes that there was, at least 0 */
    uint64_t smallest_bytes; /* of the requested sizes; 0 without calls */
    uint64_t largest_bytes;
    double mean_bytes;
    double stddev_bytes; /* of the sample (n - 1); 0 below two calls */
    double seconds;      /* from start to stop */
    uint64_t reserved[3];
};

/* What the recorder is doing. */
struct tide_recorder_counters {
    uint32_t recording;      /* 1: a trace is being written */
    uint32_t counting;       /* 1: `total` is being counted, see tide_register() */
    uint64_t dropped_events; /* that did not get into the trace */
    uint64_t threads;        /* that record now, or did */
    uint64_t recorder_bytes; /* private memory of the recorder */
    uint64_t windows;        /* open */
    uint64_t monitors;       /* registered, callbacks and built-in ones */
    struct tide_stats total; /* since counting began */
    uint64_t reserved[4];
};

/* The block that holds an address. */
struct tide_found_block {
    uint64_t address;
    uint64_t bytes;         /* requested */
    uint64_t used_bytes;    /* what the allocator gave: as far as the block reaches */
    uint64_t offset;        /* of the address asked for, in the block */
    uint64_t uid;           /* no other block of the process has it, ever */
    uint64_t element_bytes; /* by the label's shape; 1 without one */
    uint64_t index;         /* offset / element_bytes */
    uint64_t dimensions;    /* of the shape; 0: it has none */
    uint64_t position[8];   /* of the element in each of them, slowest first */
    uint64_t holder; /* of a pool's block: address of the heap's that it lies in */
    char label[128]; /* "": it has none */
    char pool[64];   /* "": it is no pool's */
    uint64_t reserved[4];
};

/* Called after each allocation, and before each free (of a realloc that worked: free
 * before the call, alloc after it; of one that failed, alloc of the old block again). */
typedef void (*tide_alloc_called)(size_t requested, size_t used, const void *block,
                                  void *user);
typedef void (*tide_free_called)(size_t used, const void *block, void *user);

/* --- The recorder's table ----------------------------------------------------------- */

struct tide_told; /* see annotated.h */

/* Grows at its end only: `bytes` says how much of it there is. */
struct tide_recorder_api {
    uint64_t bytes;
    void (*region_begin)(const char *);
    void (*region_end)(const char *);
    void (*loop_begin)(const char *);
    void (*loop_end)(const char *);
    void (*iteration)(int64_t);
    void (*iteration_end)(void);
    void (*phase_begin)(const char *);
    void (*phase_end)(const char *);
    void (*label)(const void *, const char *, size_t);
    void (*label_shape)(const void *, const char *, size_t, const size_t *, size_t);
    void (*unlabel)(const void *);
    void (*pool_alloc)(const char *, const void *, size_t, const char *);
    void (*pool_free)(const char *, const void *);
    void (*event)(uint64_t);
    void (*snapshot)(const char *);
    void (*pause)(int);
    void (*resume)(int);
    tide_handle (*window_start)(const char *, int);
    int (*stop)(tide_handle, struct tide_stats *);
    int (*peek)(tide_handle, struct tide_stats *);
    int (*enroll)(void);
    int (*deregister)(struct tide_stats *);
    int (*monitor_add)(tide_alloc_called, tide_free_called, void *, tide_handle *);
    int (*monitor_remove)(tide_handle);
    int (*hush)(int);
    int (*report)(void);
    int (*find)(const void *, struct tide_found_block *);
    int (*counters)(struct tide_recorder_counters *);
    void (*set_int)(const char *, int64_t);
    void (*set_double)(const char *, double);
    void (*set_string)(const char *, const char *);
    void (*set_address)(const char *, const void *);
    void (*begin_int)(const char *, int64_t);
    void (*begin_double)(const char *, double);
    void (*begin_string)(const char *, const char *);
    void (*end)(const char *);
    void (*unset)(const char *);
    void (*begin_address)(const char *, const void *);
    void (*region_begin_as)(const char *, const char *);
    void (*region_end_as)(const char *, const char *);
    int (*told)(int (*)(void *, const struct tide_told *), void *);
    void (*idle)(const char *);
    void (*share)(const char *);
};

/* NULL: there is none.  1: not looked for yet.  One for all sources of a program or
 * library. */
__attribute__((weak, visibility("hidden")))
const struct tide_recorder_api *tide_api_link = (const struct tide_recorder_api *)1;

/* dlsym, if the program has it: a static one need not. */
extern void *tide_api_dlsym(void *, const char *) __asm__("dlsym")
    __attribute__((weak));

/* Two threads at once only look twice. */
__attribute__((noinline, cold, unused)) static const struct tide_recorder_api *
tide_api_look(void)
{
    const struct tide_recorder_api *found = NULL;
    if (tide_api_dlsym)
        found =
            (const struct tide_recorder_api *)tide_api_dlsym(NULL, "tide_recorder_api");
    __atomic_store_n(&tide_api_link, found, __ATOMIC_RELAXED);
    return found;
}

static inline const struct tide_recorder_api *tide_api(void)
{
    const struct tide_recorder_api *api =
        __atomic_load_n(&tide_api_link, __ATOMIC_RELAXED);
    if (__builtin_expect(api != NULL, 0) && api == (const struct tide_recorder_api *)1)
        api = tide_api_look();
    return api;
}

/* The memory that argument N points to is named, not read: gcc need not warn that nothing
 * was written to it yet. */
#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 11
#    define TIDE_API_UNREAD(n) __attribute__((access(none, n)))
#else
#    define TIDE_API_UNREAD(n)
#endif

/* Tell the recorder, if there is one. */
#define TIDE_API_TELL(call)                                  \
    do {                                                     \
        const struct tide_recorder_api *tide_a = tide_api(); \
        if (__builtin_expect(tide_a != NULL, 0))             \
            tide_a->call;                                    \
    } while (0)

/* The same for what the first recorders did not have. */
#define TIDE_API_TELL_NEWER(function, arguments)                          \
    do {                                                                  \
        const struct tide_recorder_api *tide_a = tide_api();              \
        if (__builtin_expect(tide_a != NULL, 0) &&                        \
            tide_a->bytes > offsetof(struct tide_recorder_api, function)) \
            tide_a->function arguments;                                   \
    } while (0)

/* 1: the recorder is loaded (whether it writes a trace, tide_counters() tells). */
static inline int tide_present(void)
{
    return tide_api() != NULL;
}

/* --- Regions, loops, phases ---------------------------------------------------------- */

/* A named part of what this thread does begins; regions nest.  Threads begin in the region
 * in which they were created, OpenMP's in the one that opened the parallel section
 * (TIDEMARK_INHERIT=off: in none). */
static inline void tide_region_begin(const char *name)
{
    TIDE_API_TELL(region_begin(name));
}

/* The region NAME ends, and with it any that was begun in it and not ended; NULL: the
 * innermost one.  A name that is not open ends nothing.  Reports count both. */
static inline void tide_region_end(const char *name)
{
    TIDE_API_TELL(region_end(name));
}

/* A region that is a loop:
 *
 *     tide_loop_begin("cycle");
 *     for (int i = 0; i < n; i++) {
 *         tide_iteration(i);
 *         ...
 *     }
 *     tide_loop_end("cycle");
 */
static inline void tide_loop_begin(const char *name)
{
    TIDE_API_TELL(loop_begin(name));
}
/* Iteration NUMBER of the innermost loop begins; the one before it ends. */
static inline void tide_iteration(int64_t number)
{
    TIDE_API_TELL(iteration(number));
}
/* It ends before the next one begins, or the loop ends; rarely needed. */
static inline void tide_iteration_end(void)
{
    TIDE_API_TELL(iteration_end());
}
static inline void tide_loop_end(const char *name)
{
    TIDE_API_TELL(loop_end(name));
}

/* A part of what the whole process does: around the regions of all threads.  Nests. */
static inline void tide_phase_begin(const char *name)
{
    TIDE_API_TELL(phase_begin(name));
}
static inline void tide_phase_end(const char *name)
{
    TIDE_API_TELL(phase_end(name));
}

/* In a function: it is a region from here to its end, wherever it returns. */
#define TIDE_FUNCTION() TIDE_SCOPED_REGION(__func__)
/* The same for a block, by name. */
#define TIDE_SCOPED_REGION(name)                                                       \
    __attribute__((cleanup(tide_scope_ends), unused)) const char *const TIDE_API_JOIN( \
        tide_scope_, __LINE__) = tide_scope_begins(name)
#define TIDE_API_JOIN(a, b)     TIDE_API_JOIN_NOW(a, b)
#define TIDE_API_JOIN_NOW(a, b) a##b

static inline const char *tide_scope_begins(const char *name)
{
    tide_region_begin(name);
    return name;
}
static inline void tide_scope_ends(const char *const *name)
{
    tide_region_end(*name);
}

/* --- Labels and pools ---------------------------------------------------------------- */

/* Name the block at BLOCK, of which BYTES are in use.  It counts once, under its name,
 * from its birth on; realloc and mremap keep the name.  Naming it again replaces the name.
 * An address inside a mapping names all that was mapped with it; one inside a block of the
 * heap names that part for tide_find(), and reports count it as a label that met no block:
 * tide_pool_alloc() tells of parts. */
TIDE_API_UNREAD(1)
static inline void tide_label(const void *block, const char *name, size_t bytes)
{
    TIDE_API_TELL(label(block, name, bytes));
}

/* The same for an array: EXTENTS of each of its DIMENSIONS (at most 8 are kept), slowest
 * first, of elements of ELEMENT_BYTES.  Reports count those that are larger than their
 * block. */
TIDE_API_UNREAD(1)
static inline void tide_label_shape(const void *block, const char *name,
                                    size_t element_bytes, const size_t *extents,
                                    size_t dimensions)
{
    TIDE_API_TELL(label_shape(block, name, element_bytes, extents, dimensions));
}

/* From here on the block has no name.  What counts calls (`report --total --labels`) counts
 * its birth under the name that it had; what shows a moment (--peak, --leaks, snapshots)
 * shows it with the name that it has then. */
TIDE_API_UNREAD(1)
static inline void tide_unlabel(const void *block)
{
    TIDE_API_TELL(unlabel(block));
}

/* The program's own allocator POOL gave out BLOCK, of memory that it had from elsewhere.
 * It is a block of the space POOL, beside the block that it lies in and not added to it.
 * LABEL may be NULL. */
TIDE_API_UNREAD(2)
static inline void tide_pool_alloc(const char *pool, const void *block, size_t bytes,
                                   const char *label)
{
    TIDE_API_TELL(pool_alloc(pool, block, bytes, label));
}
/* ...and takes it back. */
TIDE_API_UNREAD(2)
static inline void tide_pool_free(const char *pool, const void *block)
{
    TIDE_API_TELL(pool_free(pool, block));
}

/* --- Attributes ----------------------------------------------------------------------- */

/* What this thread does from here on carries VALUE under NAME: a column in `tidemark query`,
 * of its allocations and frees, and of the blocks that it makes.  Setting it again replaces
 * it.  Threads begin without any; a child of fork has its parent's.  A name that queries know
 * already ("size", "region") cannot be asked for. */
static inline void tide_set_int(const char *name, int64_t value)
{
    TIDE_API_TELL_NEWER(set_int, (name, value));
}
static inline void tide_set_double(const char *name, double value)
{
    TIDE_API_TELL_NEWER(set_double, (name, value));
}
static inline void tide_set_string(const char *name, const char *value)
{
    TIDE_API_TELL_NEWER(set_string, (name, value));
}
/* An address: queries also tell which block held it then, and which element of it that is
 * (alloc.label#NAME, alloc.uid#NAME, alloc.index#NAME). */
TIDE_API_UNREAD(2)
static inline void tide_set_address(const char *name, const void *value)
{
    TIDE_API_TELL_NEWER(set_address, (name, value));
}

/* The same until tide_end(): then the value is again what it was before.  Nests. */
static inline void tide_begin_int(const char *name, int64_t value)
{
    TIDE_API_TELL_NEWER(begin_int, (name, value));
}
static inline void tide_begin_double(const char *name, double value)
{
    TIDE_API_TELL_NEWER(begin_double, (name, value));
}
static inline void tide_begin_string(const char *name, const char *value)
{
    TIDE_API_TELL_NEWER(begin_string, (name, value));
}
/* An address, as tide_set_address() sets it. */
TIDE_API_UNREAD(2)
static inline void tide_begin_address(const char *name, const void *value)
{
    TIDE_API_TELL_NEWER(begin_address, (name, value));
}
static inline void tide_end(const char *name)
{
    TIDE_API_TELL_NEWER(end, (name));
}

/* NAME has no value any more, whatever was begun. */
static inline void tide_unset(const char *name)
{
    TIDE_API_TELL_NEWER(unset, (name));
}

/* --- Marks ---------------------------------------------------------------------------- */

/* Iteration ID of the program's outer loop begins: `diff` and `report` can name it. */
static inline void tide_event(uint64_t id)
{
    TIDE_API_TELL(event(id));
}

/* Remember this moment under NAME: reports can show what lived then. */
static inline void tide_snapshot(const char *name)
{
    TIDE_API_TELL(snapshot(name));
}

/* What is allocated from here to tide_resume() appears nowhere: in no trace, window or
 * monitor.  Pauses nest.  Blocks that were recorded and are freed in between are
 * recorded as freed. */
static inline void tide_pause(enum tide_scope scope)
{
    TIDE_API_TELL(pause((int)scope));
}
static inline void tide_resume(enum tide_scope scope)
{
    TIDE_API_TELL(resume((int)scope));
}

/* --- Counting ------------------------------------------------------------------------- */

/* Count from here to tide_stop(): allocations of the process or of the calling thread.
 * NAME, which may be NULL, is for `report --windows`.  Windows nest and overlap as they
 * like.  A window of a thread counts what that thread does, and ends with it; anybody may
 * stop it.  TIDE_NOTHING: the recorder is not there, or there are too many. */
static inline tide_handle tide_window_start(const char *name, enum tide_scope scope)
{
    const struct tide_recorder_api *api = tide_api();
    return __builtin_expect(api != NULL, 0) ? api->window_start(name, (int)scope)
                                            : TIDE_NOTHING;
}

/* The same without a name, for the whole process. */
static inline tide_handle tide_start(void)
{
    return tide_window_start(NULL, TIDE_SCOPE_PROCESS);
}

/* End WINDOW and say what was counted.  STATS may be NULL.  A second stop does no harm:
 * TIDE_UNKNOWN. */
static inline int tide_stop(tide_handle window, struct tide_stats *stats)
{
    const struct tide_recorder_api *api = tide_api();
    if (__builtin_expect(api != NULL, 0))
        return api->stop(window, stats);
    if (stats)
        memset(stats, 0, sizeof(*stats));
    return TIDE_ABSENT;
}

/* What it has counted so far. */
static inline int tide_peek(tide_handle window, struct tide_stats *stats)
{
    const struct tide_recorder_api *api = tide_api();
    if (__builtin_expect(api != NULL, 0))
        return api->peek(window, stats);
    if (stats)
        memset(stats, 0, sizeof(*stats));
    return TIDE_ABSENT;
}

/* Count the whole process from here on, until as many calls of tide_deregister();
 * tide_counters() tells.  Windows are independent of it. */
static inline int tide_register(void)
{
    const struct tide_recorder_api *api = tide_api();
    return __builtin_expect(api != NULL, 0) ? api->enroll() : TIDE_ABSENT;
}

/* STATS, which may be NULL, gets what was counted since the first tide_register(). */
static inline int tide_deregister(struct tide_stats *stats)
{
    const struct tide_recorder_api *api = tide_api();
    if (__builtin_expect(api != NULL, 0))
        return api->deregister(stats);
    if (stats)
        memset(stats, 0, sizeof(*stats));
    return TIDE_ABSENT;
}

static inline int tide_counters(struct tide_recorder_counters *counters)
{
    const struct tide_recorder_api *api = tide_api();
    if (__builtin_expect(api != NULL, 0))
        return api->counters(counters);
    memset(counters, 0, sizeof(*counters));
    return TIDE_ABSENT;
}

/* --- Monitors ------------------------------------------------------------------------- */

/* Call ALLOC and FREE (either may be NULL) with USER for each allocation and free of the
 * process, in the thread that does it, in the order of registration.  What callbacks
 * themselves allocate and free causes no calls.  Adding and removing are safe at any
 * time, also in a callback. */
static inline int tide_monitor_add(tide_alloc_called alloc_called,
                                   tide_free_called free_called, void *user,
                                   tide_handle *monitor)
{
    const struct tide_recorder_api *api = tide_api();
    if (__builtin_expect(api != NULL, 0))
        return api->monitor_add(alloc_called, free_called, user, monitor);
    *monitor = TIDE_NOTHING;
    return TIDE_ABSENT;
}

/* No call begins after this, and none is running any more when it returns: USER may be
 * deleted.  (In a callback it does not wait for those that run in other threads.)  Hold no
 * lock that a callback may be waiting for. */
static inline int tide_monitor_remove(tide_handle monitor)
{
    const struct tide_recorder_api *api = tide_api();
    return __builtin_expect(api != NULL, 0) ? api->monitor_remove(monitor)
                                            : TIDE_ABSENT;
}

/* What this thread allocates causes no calls and is in no window while HUSHED; the trace
 * has it all the same.  Returns what was before: give that to the next call. */
static inline int tide_hush(int hushed)
{
    const struct tide_recorder_api *api = tide_api();
    return __builtin_expect(api != NULL, 0) ? api->hush(hushed) : 0;
}

/* Let the built-in monitors (TIDEMARK_MONITOR) report now. */
static inline int tide_report(void)
{
    const struct tide_recorder_api *api = tide_api();
    return __builtin_expect(api != NULL, 0) ? api->report() : TIDE_ABSENT;
}

/* --- Questions ------------------------------------------------------------------------ */

/* Which block holds ADDRESS?  Of a block of a pool, or a part with a label, and the block
 * around it the inner one.  The recorder keeps a table of live blocks only when it is asked
 * to, by `tidemark run --live-table` or TIDEMARK_LIVE_TABLE=1: else TIDE_UNAVAILABLE
 * (`tidemark resolve TRACE ADDRESS` tells it afterwards, from the trace).  TIDE_UNKNOWN:
 * none does, or it was made before the recorder began, or in a pause.  Memory that is no
 * block is found where it has a label: mapped, static, and what was freed before it was
 * named, until another block is there.  May be called in signal handlers and callbacks. */
TIDE_API_UNREAD(1)
static inline int tide_find(const void *address, struct tide_found_block *block)
{
    const struct tide_recorder_api *api = tide_api();
    if (__builtin_expect(api != NULL, 0))
        return api->find(address, block);
    memset(block, 0, sizeof(*block));
    return TIDE_ABSENT;
}

#ifdef __cplusplus
}
#endif

#endif
