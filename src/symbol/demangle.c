/* symbol/demangle.c - the name a programmer wrote, from the name a linker sees.
 *
 * Names come from files that nobody vouches for, so four things are bounded:
 *
 *   input    names longer than TIDE_MANGLED_MAX are left as they are;
 *   output   a short name can mean an astronomically long one (each substitution may
 *            stand for two others), so the demangler is left by longjmp once it has
 *            produced TIDE_DEMANGLED_MAX bytes: its callback cannot refuse;
 *   time     where parameter packs make it search without output, what there is to be
 *            searched is counted before (name_weight.h);
 *   stack    libiberty's own limit on recursion also refuses every C++ name above 1024
 *            bytes, which template libraries reach easily.  Those up to
 *            TIDE_LONG_NAME_MAX are read without that limit, on a thread with a stack
 *            that they cannot exhaust: parsing takes less than 200 bytes of
 *            stack for a byte of name; printing has arrays on the stack that grow with
 *            (references to parameters) x (templates), and a name of n bytes has at
 *            most n*n/60 such pairs, each counted up to four times, of 16 bytes.
 */
#include "symbol/symbolizer.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include <libiberty/demangle.h>

#include "symbol/name_weight.h"

enum {
    TIDE_MANGLED_MAX = 64 * 1024,
    TIDE_DEMANGLED_MAX = 1024 * 1024,
    TIDE_DEMANGLED_FIRST = 256,
    TIDE_SHORT_NAME_MAX = DEMANGLE_RECURSION_LIMIT / 2,
    TIDE_LONG_NAME_MAX = 8 * 1024,
    TIDE_STACK_BASE = 4 * 1024 * 1024,
};

/* What the demangler has said so far. */
struct sink {
    char *bytes; /* owned; NULL until the first byte */
    size_t length, capacity;
    jmp_buf full; /* where to go on when it says too much */
};

static void take(const char *text, size_t length, void *user)
{
    struct sink *const sink = user;

    if (length >= TIDE_DEMANGLED_MAX - sink->length)
        longjmp(sink->full, 1);
    if (length >= sink->capacity - sink->length) {
        size_t capacity = sink->capacity ? sink->capacity : TIDE_DEMANGLED_FIRST;
        while (capacity - sink->length <= length)
            capacity *= 2;
        char *const bytes = realloc(sink->bytes, capacity);
        if (!bytes)
            longjmp(sink->full, 1);
        sink->bytes = bytes;
        sink->capacity = capacity;
    }
    if (length > 0) /* TEXT may be NULL then */
        memcpy(sink->bytes + sink->length, text, length);
    sink->length += length;
    sink->bytes[sink->length] = '\0';
}

struct job {
    const char *name;
    size_t length;
    int options;
    struct sink sink;
    bool done;
};

static void demangle_rust(struct job *job)
{
    job->sink.length = 0;
    if (!setjmp(job->sink.full))
        job->done =
            rust_demangle_callback(job->name, job->options, take, &job->sink) != 0;
}

/* Is there a parameter pack, or something that only looks like one? */
static bool has_pack(const char *name)
{
    return strstr(name, "Dp") || strstr(name, "sp") || strstr(name, "sP") ||
           strstr(name, "sZ");
}

/* USER is a job; the result is nothing, but threads want it. */
static void *demangle_cplusplus(void *user)
{
    struct job *const job = user;
    job->sink.length = 0; /* the other language may have begun and failed */
    if (has_pack(job->name) &&
        tide_name_weight(job->name, job->length) >= TIDE_NAME_WEIGHT_MAX)
        return NULL;
    if (!setjmp(job->sink.full))
        job->done =
            cplus_demangle_v3_callback(job->name, job->options, take, &job->sink) != 0;
    return NULL;
}

static void demangle_with_large_stack(struct job *job)
{
    pthread_attr_t attributes;
    if (pthread_attr_init(&attributes) != 0)
        return;

    /* Touched as needed. */
    const size_t stack = TIDE_STACK_BASE + 2 * job->length * job->length;
    pthread_t thread;
    job->options |= DMGL_NO_RECURSE_LIMIT;
    if (pthread_attr_setstacksize(&attributes, stack) == 0 &&
        pthread_create(&thread, &attributes, demangle_cplusplus, job) == 0)
        (void)pthread_join(thread, NULL);
    (void)pthread_attr_destroy(&attributes);
}

static bool looks_mangled(const char *name)
{
    return name[0] == '_' && (name[1] == 'Z' || name[1] == 'R');
}

char *tide_demangle(const char *name)
{
    const size_t length = strlen(name);
    if (!looks_mangled(name) || length > TIDE_MANGLED_MAX)
        return strdup(name);

    /* Rust first: its older names are well-formed C++ ones with a hash at the end. */
    struct job job = {
        .name = name, .length = length, .options = DMGL_PARAMS | DMGL_ANSI};
    demangle_rust(&job);
    if (!job.done && length <= TIDE_SHORT_NAME_MAX)
        (void)demangle_cplusplus(&job);
    else if (!job.done && length <= TIDE_LONG_NAME_MAX)
        demangle_with_large_stack(&job);
    if (job.done && job.sink.length > 0)
        return job.sink.bytes;
    free(job.sink.bytes);
    return strdup(name);
}
