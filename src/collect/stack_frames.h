/* collect/stack_frames.h - which frames of which modules stood in the stacks of a run.
 *
 * For: collect/, tests/.
 */
#ifndef TIDE_COLLECT_STACK_FRAMES_H
#define TIDE_COLLECT_STACK_FRAMES_H

#include <stddef.h>
#include <stdint.h>

#include <tidemark/status.h>

#include "trace/list.h"
#include "trace/seen_words.h"
#include "trace/trace.h"

struct tide_stack_frame {
    uint32_t module;  /* of the trace */
    uint64_t address; /* of the call, as in the ELF file */
};

/* Add to FRAMES (of struct tide_stack_frame) what the words of SEEN are in any module that
 * TRACE ever had at their addresses. */
enum tide_status tide_stack_frames_add(struct tide_list *frames,
                                       const struct tide_trace *trace,
                                       const struct tide_seen_words *seen);
/* Sort FRAMES by module and address, each one once. */
void tide_stack_frames_settle(struct tide_list *frames);

#endif
