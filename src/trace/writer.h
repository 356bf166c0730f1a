/* trace/writer.h - write a trace file, chunk by chunk.
 *
 * For: collect/, tests/.  Used by one thread at a time, but for tide_writer_events_by().
 *
 * A chunk is whole in the file or not there at all: when a write fails in the middle
 * (disk full, file size limit), the file is cut back to its last whole chunk and events
 * are refused from then on.  What is small, and says why, is still tried.
 */
#ifndef TIDE_TRACE_WRITER_H
#define TIDE_TRACE_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tidemark/status.h>

#include "trace/encode.h"

struct tide_packer; /* see packer.h */
struct tide_writer; /* opaque: see writer.c */

/* What the file header says: see struct tide_format_header. */
struct tide_writer_start {
    uint64_t unix_ns;
    uint64_t ticks;
    uint64_t ticks_per_second;
};

/* What a chunk's header says of its payload. */
struct tide_chunk_label {
    uint16_t kind;  /* enum tide_chunk_kind */
    uint16_t flags; /* enum tide_chunk_flag; the writer adds how it is stored */
    uint32_t process;
    uint32_t lane;
    uint32_t sequence;
    uint64_t first_ticks;
    uint64_t last_ticks;
};

/* Create the file PATH, readable by its owner only, and write its header.  A name that
 * exists, be it a dangling link, is TIDE_EEXIST.  On failure errno says more. */
enum tide_status tide_writer_create(const char *path,
                                    const struct tide_writer_start *start,
                                    struct tide_writer **out);
/* Go on with the file FD, which has BYTES bytes and CHUNKS chunks, and is the writer's
 * from here on, also after a failure.  Its header stays as it is. */
enum tide_status tide_writer_continue(int fd, uint64_t bytes, uint64_t chunks,
                                      struct tide_writer **out);
/* Close the file.  NULL is fine. */
void tide_writer_close(struct tide_writer *writer);

/* Add a chunk of notes: RAW_BYTES (1 to TIDE_CHUNK_MAX) at RAW. */
enum tide_status tide_writer_chunk(struct tide_writer *writer,
                                   const struct tide_chunk_label *label,
                                   const void *raw, size_t raw_bytes);

/* Add a chunk of notes that the file can do without: where there is no room for it and for what
 * comes last, it stays away, and the file goes on. */
enum tide_status tide_writer_spare_chunk(struct tide_writer *writer,
                                         const struct tide_chunk_label *label,
                                         const void *raw, size_t raw_bytes);

/* Add a chunk of events by columns, as an encoder made them.  Nothing is added when there
 * are none. */
enum tide_status tide_writer_events(
    struct tide_writer *writer, const struct tide_chunk_label *label,
    const struct tide_column_bytes columns[TIDE_COLUMNS]);

/* The same with a packer of one's own: by any thread, while others write. */
enum tide_status tide_writer_events_by(
    struct tide_writer *writer, struct tide_packer *packer,
    const struct tide_chunk_label *label,
    const struct tide_column_bytes columns[TIDE_COLUMNS]);

/* Compressing takes a while: BETWEEN is called with CONTEXT after each column of events.  It
 * must not use the writer, nor change the columns. */
void tide_writer_set_between(struct tide_writer *writer, void (*between)(void *context),
                             void *context);

/* The clock's rate is better known now: say so in the file header. */
enum tide_status tide_writer_set_rate(struct tide_writer *writer,
                                      uint64_t ticks_per_second);

/* The file once more, to be read; -1: that is not possible. */
int tide_writer_open_again(const struct tide_writer *writer);

/* Bytes and chunks in the file. */
uint64_t tide_writer_bytes(const struct tide_writer *writer);
uint64_t tide_writer_chunks(const struct tide_writer *writer);
/* errno of the write that failed first, 0 when all is well. */
int tide_writer_problem(const struct tide_writer *writer);
/* Has somebody taken its last name away?  Then it is gone when it is closed. */
bool tide_writer_removed(const struct tide_writer *writer);

#endif
