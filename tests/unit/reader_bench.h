/* unit/reader_bench.h - traces of a few chunks, opened from memory.
 *
 * For: test_reader.c, test_reader_damage.c.
 */
#ifndef TIDE_UNIT_READER_BENCH_H
#define TIDE_UNIT_READER_BENCH_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "trace/trace.h"
#include "trace_builder.h"

static char why[200];

static inline enum tide_status open_bytes(const uint8_t *bytes, size_t length,
                                          struct tide_trace **trace)
{
    return tide_trace_open_fd(tide_fd_of_bytes(bytes, length), "trace", why,
                              sizeof(why), trace);
}

static inline struct tide_trace *opened(const struct tide_builder *builder)
{
    struct tide_trace *trace;
    assert_int_equal(open_bytes(builder->file.bytes, builder->file.length, &trace),
                     TIDE_OK);
    assert_non_null(trace);
    return trace;
}

/* A lane with one block, in a chunk of its own. */
static inline void add_chunk(struct tide_builder *builder, uint32_t process,
                             uint32_t lane)
{
    const uint64_t words[] = {0x2000};
    const struct tide_out_stack stack = {.words = words, .depth = 1};
    struct tide_lane_out *out = tide_builder_lane(builder, process, lane);
    builder->clock += 100;
    tide_out_sync(out, builder->clock, 0);
    tide_out_alloc(out, (struct tide_out_birth){.address = 0x100, .size = 10}, stack);
    tide_out_cut(out);
}

#endif
