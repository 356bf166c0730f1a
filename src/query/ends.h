/* query/ends.h - processes in the order in which they ended.
 *
 * For: query/.  What a process holds when it ends stands no more, as in model/account.h.
 */
#ifndef TIDE_QUERY_ENDS_H
#define TIDE_QUERY_ENDS_H

#include <stddef.h>
#include <stdint.h>

#include <tidemark/status.h>

#include "trace/trace.h"

struct tide_ending {
    uint64_t ticks;
    uint32_t process;
};

/* All zeros is ready for use: nobody ends. */
struct tide_ends {
    struct tide_ending *list; /* owned */
    size_t count, next;
};

enum tide_status tide_ends_init(struct tide_ends *ends, const struct tide_trace *trace);
void tide_ends_release(struct tide_ends *ends);

/* The next process that ended before TICKS, each once; NULL: no more. */
static inline const struct tide_ending *tide_ends_before(struct tide_ends *ends,
                                                         uint64_t ticks)
{
    return ends->next < ends->count && ends->list[ends->next].ticks < ticks
               ? &ends->list[ends->next++]
               : NULL;
}

#endif
