/* unit/trace_builder.h - traces made by hand, for tests of whatever reads them.
 *
 * An encoder of trace/format.h that shares no code with the recorder or the writer: the
 * two are checked against the same page, not against each other.  A builder holds the
 * file in memory; tide_builder_fd() gives it out as an open file.
 *
 * Slot numbers are taken as the recorder takes them: when a lane writes an event, the
 * slot's cell is stepped at that moment.  So the order in which a test calls these
 * functions is the order of the compare-and-swaps.
 *
 * Running out of memory, or wrong use, ends the test program.
 */
#ifndef TIDE_UNIT_TRACE_BUILDER_H
#define TIDE_UNIT_TRACE_BUILDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/format.h"

struct tide_buffer {
    uint8_t *bytes; /* owned */
    size_t length, capacity;
};

void tide_buffer_put(struct tide_buffer *buffer, const void *bytes, size_t length);
void tide_buffer_varint(struct tide_buffer *buffer, uint64_t value);
void tide_buffer_string(struct tide_buffer *buffer, const char *text);
void tide_buffer_release(struct tide_buffer *buffer);

enum {
    TIDE_BUILDER_PROCESSES = 8,
    TIDE_BUILDER_LANES = 6000, /* per process */
    TIDE_BUILDER_OWNERS = 4094,
    TIDE_BUILDER_DEPTH = 64,
};

/* One lane: the coder's state, and the records of its next chunk. */
struct tide_lane_out {
    struct tide_builder *builder;
    uint32_t process, number, sequence;
    struct tide_buffer records;
    bool begun, resets; /* the next chunk has begun; it starts with SYNC */
    bool numbers;       /* takes numbers */
    uint64_t first_ticks, ticks;
    uint64_t next_birth, last_death; /* what addresses are coded against */
    uint64_t last_new;               /* what new words are coded against */
    uint8_t last_kind;
    uint64_t stack[TIDE_BUILDER_DEPTH]; /* outermost first */
    uint32_t depth;
    uint64_t dictionary[TIDE_DICTIONARY_SLOTS];
    bool in_dictionary[TIDE_DICTIONARY_SLOTS];
};

struct tide_builder {
    struct tide_buffer file;
    struct tide_lane_out **lanes[TIDE_BUILDER_PROCESSES];
    uint32_t *cells[TIDE_BUILDER_PROCESSES]; /* owner << 20 | count */
    struct tide_buffer notes[TIDE_BUILDER_PROCESSES], run;
    uint64_t clock; /* last_ticks of the chunks that are cut */
    uint64_t chunks;
    bool plain;         /* store chunks uncompressed */
    bool strip_numbers; /* write no numbers: what a reader without them would see */
    bool strip_gate;    /* never write NUMBERS */
};

struct tide_builder *tide_builder_new(void);
void tide_builder_free(struct tide_builder *builder);

/* A chunk of RAW bytes, as HEAD says; magic, sizes, PLAIN and checksum are filled in. */
void tide_builder_chunk(struct tide_builder *builder, struct tide_format_chunk head,
                        const struct tide_buffer *raw);
/* The same bytes with their checksum made right again. */
void tide_builder_seal(uint8_t *chunk);

/* --- Lanes --- */

struct tide_lane_out *tide_builder_lane(struct tide_builder *builder, uint32_t process,
                                        uint32_t number);
/* What it wrote becomes a chunk; the next one goes on with the coder's state. */
void tide_out_cut(struct tide_lane_out *lane);
/* What it wrote is lost, and so is its sequence number. */
void tide_out_lose(struct tide_lane_out *lane);

/* How a birth is asked for.  Zeros are: malloc, usable as glibc's, no alignment. */
struct tide_out_birth {
    uint64_t address, size, usable;
    uint8_t kind, align_log2;
};
/* A stack: DEPTH words, outermost first; NULL: as before; depth 1 and leaf: LEAF. */
struct tide_out_stack {
    const uint64_t *words;
    uint32_t depth;
    bool leaf;
};

void tide_out_sync(struct tide_lane_out *lane, uint64_t ticks, uint64_t epoch);
void tide_out_time(struct tide_lane_out *lane, uint64_t ticks);
void tide_out_alloc(struct tide_lane_out *lane, struct tide_out_birth birth,
                    struct tide_out_stack stack);
void tide_out_free(struct tide_lane_out *lane, uint64_t address);
void tide_out_free_stacked(struct tide_lane_out *lane, uint64_t address,
                           struct tide_out_stack stack);
void tide_out_move_begin(struct tide_lane_out *lane, uint64_t address);
void tide_out_move_end(struct tide_lane_out *lane, struct tide_out_birth birth,
                       struct tide_out_stack stack);
/* OLD is the block's address: the record does not hold it, its slot is stepped. */
void tide_out_move_back(struct tide_lane_out *lane, uint64_t old, bool gone);
void tide_out_map(struct tide_lane_out *lane, uint64_t call,
                  const uint64_t arguments[4], struct tide_out_stack stack);
void tide_out_extra(struct tide_lane_out *lane, uint64_t kind, const uint64_t *values,
                    size_t count);
/* The gate opens: EXTRA NUMBERS, and the lane takes numbers. */
void tide_out_numbers(struct tide_lane_out *lane);

/* --- Notes: VALUES are varints; TEXTS, strings after them, ends with NULL --- */

void tide_builder_note(struct tide_buffer *notes, uint64_t kind, const uint64_t *values,
                       size_t count, const char *const *texts);
/* The clock read START ticks at some moment, and AFTER ticks later SECONDS more. */
void tide_builder_clock(struct tide_builder *builder, uint64_t start, uint64_t after,
                        double seconds);
void tide_builder_module(struct tide_builder *builder, uint32_t process,
                         const uint64_t id_epoch_start_end_bias[5], const char *path);
/* Make chunks of the notes gathered so far. */
void tide_builder_cut_notes(struct tide_builder *builder);
/* All that is pending, then the END chunk. */
void tide_builder_finish(struct tide_builder *builder);

/* LENGTH bytes as an open file. */
int tide_fd_of_bytes(const uint8_t *bytes, size_t length);
int tide_builder_fd(const struct tide_builder *builder);

#endif
