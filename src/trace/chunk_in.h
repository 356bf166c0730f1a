/* trace/chunk_in.h - read one chunk of a trace, and believe it only when it is whole.
 *
 * For: trace/, tests/.  Bytes are read with pread into buffers of bounded size, never
 * mapped: the file may be cut by somebody else while we look at it.
 */
#ifndef TIDE_TRACE_CHUNK_IN_H
#define TIDE_TRACE_CHUNK_IN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tidemark/status.h>

#include "trace/fields.h"
#include "trace/format.h"

struct ZSTD_DCtx_s;

/* Reads chunks of one file, one at a time. */
struct tide_chunk_reader {
    int fd; /* borrowed */
    uint64_t file_bytes;
    uint8_t *stored; /* owned: header and payload as they stand in the file */
    size_t capacity; /* bytes at stored */
    uint8_t *halves; /* owned: of tags */
    size_t halves_capacity;
    struct ZSTD_DCtx_s *zstd; /* owned */
    uint64_t bytes;           /* read so far, all chunks */
};

enum tide_status tide_chunk_reader_init(struct tide_chunk_reader *reader, int fd,
                                        uint64_t file_bytes);
void tide_chunk_reader_release(struct tide_chunk_reader *reader);

/* LENGTH bytes at OFFSET into OUT; ETRUNCATED when the file ends before. */
enum tide_status tide_read_at(int fd, uint64_t offset, void *out, size_t length);

/* The header at OFFSET.  ETRUNCATED when the file ends before the chunk does, ECORRUPT
 * when no chunk can look like this, EVERSION when one of another version may.  Its checksum
 * is not looked at. */
enum tide_status tide_chunk_head(const struct tide_chunk_reader *reader,
                                 uint64_t offset, struct tide_format_chunk *out);

/* Check header and payload of the chunk at OFFSET against its checksum.  EVERSION: it is
 * whole, and of another version. */
enum tide_status tide_chunk_check(struct tide_chunk_reader *reader, uint64_t offset,
                                  struct tide_format_chunk *out);

/* The same, then its payload, decompressed, into RAW, which has room for raw_bytes and
 * TIDE_COLUMN_SLACK more.  OUT becomes its fields; of notes it is one cursor, as of
 * records. */
enum tide_status tide_chunk_load(struct tide_chunk_reader *reader, uint64_t offset,
                                 uint8_t *raw, size_t raw_bytes,
                                 struct tide_fields *out);

#endif
