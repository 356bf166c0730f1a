/* trace/index.h - checkpoints of a long replay, in a file beside the trace.
 *
 * For: model/, tests/.  NAME.tide.idx holds, for some moments of the run, where the
 * replay stood and what the model knew then; so the live set at a time is found from the
 * checkpoint before it.  It is never needed, belongs to one machine and one version, and
 * is believed only when it fits the trace: anything odd about it means there is none.
 *
 * A checkpoint is a section: the replay's state, then whatever its writer puts.  Sections
 * are compressed as they are written and decompressed as they are read, so neither side
 * holds one in memory.
 */
#ifndef TIDE_TRACE_INDEX_H
#define TIDE_TRACE_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tidemark/status.h>

#include "trace/trace.h"

#define TIDE_INDEX_THRESHOLD (64ull << 20) /* smaller traces need none */

/* --- Writing --- */

struct tide_index_out; /* opaque: see index_out.c */

/* Begin the index of TRACE (borrowed) under a name of its own.  MODEL_VERSION says what
 * the checkpoints' second half looks like. */
enum tide_status tide_index_create(const struct tide_trace *trace,
                                   uint32_t model_version, struct tide_index_out **out);

/* Begin a checkpoint: all events given so far have ticks up to TICKS.  The caller goes on
 * with tide_index_put() and ends it with tide_index_end_checkpoint(). */
enum tide_status tide_index_checkpoint(struct tide_index_out *out, uint64_t ticks,
                                       const struct tide_replay *replay);
enum tide_status tide_index_put(struct tide_index_out *out, const void *bytes,
                                size_t length);
enum tide_status tide_index_end_checkpoint(struct tide_index_out *out);

/* All checkpoints are written: add STACKS, and let the index take its place beside the
 * trace.  Whether that worked or not, OUT is gone. */
enum tide_status tide_index_commit(struct tide_index_out *out,
                                   const struct tide_stacks *stacks);
/* Forget it.  NULL is fine. */
void tide_index_discard(struct tide_index_out *out);

/* The index of TRACE is no good: remove it, so that it is written anew. */
void tide_index_forget(const struct tide_trace *trace);

/* --- Reading --- */

struct tide_index; /* opaque: see index_in.c */

/* The index of TRACE (borrowed).  ENOENT when there is none, ECORRUPT when it is of
 * another trace or version, or damaged. */
enum tide_status tide_index_open(const struct tide_trace *trace, uint32_t model_version,
                                 struct tide_index **out);
void tide_index_close(struct tide_index *index);

/* The last checkpoint whose events all have ticks up to TICKS; false when none has. */
bool tide_index_find(const struct tide_index *index, uint64_t ticks, size_t *number);

/* Bring STACKS (initialised, empty) and REPLAY (fresh, with these stacks) to checkpoint
 * NUMBER.  The caller goes on with tide_index_get() and believes nothing of it before
 * tide_index_check() has said TIDE_OK; after a failure both are good for nothing but
 * release and close. */
enum tide_status tide_index_restore(struct tide_index *index, size_t number,
                                    struct tide_stacks *stacks,
                                    struct tide_replay *replay);
enum tide_status tide_index_get(struct tide_index *index, void *bytes, size_t length);
/* How many bytes the checkpoint still has: no count in it can be honest that needs more. */
uint64_t tide_index_left(const struct tide_index *index);
/* The checkpoint was read to its end, and was whole. */
enum tide_status tide_index_check(struct tide_index *index);

#endif
