/* query/frames.h - what the stacks of a trace are called, asked for as rows need it.
 *
 * For: query/.  A query that groups by function needs the name of a stack when it first
 * meets it, not of all stacks; so modules are opened as they come up, and every answer is
 * remembered by stack.
 */
#ifndef TIDE_QUERY_FRAMES_H
#define TIDE_QUERY_FRAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "query/value.h"
#include "symbol/symbolizer.h"
#include "trace/embedded.h"
#include "trace/stacks.h"
#include "trace/trace.h"

/* Of the innermost call that is not the recorder's or a library's. */
struct tide_stack_place {
    bool known;
    uint32_t function, module, file; /* texts; 0: not known */
    uint32_t line;
};

struct tide_frames {
    const struct tide_trace *trace;   /* borrowed */
    const struct tide_stacks *stacks; /* borrowed */
    struct tide_names *names;         /* borrowed */
    struct tide_embedded *embedded;   /* owned: names that the trace brings, or NULL */
    struct tide_location *found;      /* owned: of the frame asked for last */
    size_t found_capacity;
    struct tide_name_child *child;    /* owned: reads the files; NULL: not needed yet */
    struct tide_symbolizer **modules; /* owned, per module: NULL: not open */
    bool *opened;                     /* owned, per module */
    struct tide_stack_place *places;  /* owned, per node */
    size_t place_capacity;
    uint32_t *paths; /* owned, per node: 0: not known */
    size_t path_capacity;
};

enum tide_status tide_frames_init(struct tide_frames *frames,
                                  const struct tide_trace *trace,
                                  const struct tide_stacks *stacks,
                                  struct tide_names *names);
void tide_frames_release(struct tide_frames *frames);

/* Where STACK allocated; NULL without memory. */
const struct tide_stack_place *tide_frames_find_place(struct tide_frames *frames,
                                                      uint32_t stack);
static inline const struct tide_stack_place *tide_frames_place(
    struct tide_frames *frames, uint32_t stack)
{
    return stack < frames->place_capacity && frames->places[stack].known
               ? &frames->places[stack]
               : tide_frames_find_place(frames, stack);
}
/* The path of all its functions, outermost first; 0: it has none. */
uint32_t tide_frames_path(struct tide_frames *frames, uint32_t stack);

#endif
