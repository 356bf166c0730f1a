/* trace/resolve.h - words of stacks -> frames: module and offset.
 *
 * For: trace/, tests/.
 */
#ifndef TIDE_TRACE_RESOLVE_H
#define TIDE_TRACE_RESOLVE_H

#include <stdint.h>

#include <tidemark/status.h>

#include "trace/stacks.h"
#include "trace/trace.h"

/* A word of a process in an epoch, and its frame. */
struct tide_resolved {
    uint64_t word, epoch;
    uint32_t process;
    uint32_t frame; /* number + 1, 0: empty */
};

struct tide_resolver {
    const struct tide_trace *trace; /* borrowed */
    struct tide_stacks *stacks;     /* borrowed */
    struct tide_resolved *cache;    /* owned: each word has one place in it */
};

enum tide_status tide_resolver_init(struct tide_resolver *resolver,
                                    const struct tide_trace *trace,
                                    struct tide_stacks *stacks);
void tide_resolver_release(struct tide_resolver *resolver);

/* The frame that WORD meant in PROCESS while EPOCH lasted. */
enum tide_status tide_resolve(struct tide_resolver *resolver, uint32_t process,
                              uint64_t epoch, uint64_t word, uint32_t *frame);

#endif
