/* tidemark/annotated.h - regions that are values of attributes, and what a thread has told of
 * itself: what headers of other systems need beyond tidemark.h.
 */
#ifndef TIDEMARK_ANNOTATED_H
#define TIDEMARK_ANNOTATED_H

#include "tidemark.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Tell the recorder, or one that does not know FUNCTION yet something OLDER. */
#define TIDE_API_TELL_NEWER_OR(function, arguments, older)                \
    do {                                                                  \
        const struct tide_recorder_api *tide_a = tide_api();              \
        if (__builtin_expect(tide_a == NULL, 1))                          \
            break;                                                        \
        if (tide_a->bytes > offsetof(struct tide_recorder_api, function)) \
            tide_a->function arguments;                                   \
        else                                                              \
            tide_a->older;                                                \
    } while (0)

/* A region begins that is the value NAME of ATTRIBUTE (Caliper's function=solve): reports
 * show NAME, and the trace knows ATTRIBUTE too.  NULL ends the innermost such region. */
static inline void tide_region_begin_as(const char *attribute, const char *name)
{
    TIDE_API_TELL_NEWER_OR(region_begin_as, (attribute, name), region_begin(name));
}
static inline void tide_region_end_as(const char *attribute, const char *name)
{
    TIDE_API_TELL_NEWER_OR(region_end_as, (attribute, name), region_end(name));
}

/* Threads that this one creates begin with the value that NAME has now. */
static inline void tide_share(const char *name)
{
    TIDE_API_TELL_NEWER(share, (name));
}

/* A region that this thread is in, an iteration, or a value that it has. */
enum tide_told_kind {
    TIDE_TOLD_REGION,
    TIDE_TOLD_LOOP,
    TIDE_TOLD_ITERATION, /* of the loop that was told before */
    TIDE_TOLD_INT,
    TIDE_TOLD_DOUBLE,
    TIDE_TOLD_STRING,
    TIDE_TOLD_ADDRESS
};
struct tide_told {
    uint32_t kind;    /* enum tide_told_kind */
    const char *name; /* of the value; of a region its attribute, or NULL */
    const char *text; /* of a region its name; of an iteration its loop's; a string */
    int64_t number;
    double real;
    uintptr_t address;
};
/* Texts are there as long as the process is.  0: no more, please. */
typedef int (*tide_told_each)(void *user, const struct tide_told *told);

/* Call EACH with USER for the regions that this thread is in, outermost first, and for the
 * values that it has, oldest first (128 of the one, 32 of the other).  May be called in
 * signal handlers. */
static inline int tide_ask_told(tide_told_each each, void *user)
{
    const struct tide_recorder_api *api = tide_api();
    if (__builtin_expect(api == NULL, 1))
        return TIDE_ABSENT;
    if (api->bytes <= offsetof(struct tide_recorder_api, told))
        return TIDE_UNAVAILABLE;
    return api->told(each, user);
}

#ifdef __cplusplus
}
#endif

#endif
