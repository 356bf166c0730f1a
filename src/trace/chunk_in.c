/* trace/chunk_in.c - read one chunk of a trace, and believe it only when it is whole. */
#include "trace/chunk_in.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef XXH_INLINE_ALL
#    define XXH_INLINE_ALL
#endif
#include <xxhash.h>
#include <zstd.h>

#include "trace/tag_halves.h"

enum {
    TIDE_CHUNK_HEAD = sizeof(struct tide_format_chunk),
    TIDE_CHECKED_HEAD = offsetof(struct tide_format_chunk, checksum),
    TIDE_CHUNK_FLAGS =
        TIDE_CHUNK_RESET | TIDE_CHUNK_PLAIN | TIDE_CHUNK_COLUMNS | TIDE_CHUNK_GOES_ON,
};

_Static_assert(sizeof(struct tide_format_chunk) == 64, "as docs/format.md says");
_Static_assert(sizeof(struct tide_format_header) == 64, "as docs/format.md says");

enum tide_status tide_chunk_reader_init(struct tide_chunk_reader *reader, int fd,
                                        uint64_t file_bytes)
{
    *reader = (struct tide_chunk_reader){
        .fd = fd,
        .file_bytes = file_bytes,
        .zstd = ZSTD_createDCtx(),
    };
    if (reader->zstd)
        return TIDE_OK;
    tide_chunk_reader_release(reader);
    return TIDE_ENOMEM;
}

void tide_chunk_reader_release(struct tide_chunk_reader *reader)
{
    free(reader->stored);
    free(reader->halves);
    ZSTD_freeDCtx(reader->zstd);
    *reader = (struct tide_chunk_reader){.fd = -1};
}

enum tide_status tide_read_at(int fd, uint64_t offset, void *out, size_t length)
{
    uint8_t *to = out;
    while (length) {
        const ssize_t got = pread(fd, to, length, (off_t)offset);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return TIDE_EIO;
        if (got == 0)
            return TIDE_ETRUNCATED;
        to += got;
        offset += (uint64_t)got;
        length -= (size_t)got;
    }
    return TIDE_OK;
}

static bool plausible(const struct tide_format_chunk *head)
{
    const bool for_run = head->kind == TIDE_CHUNK_RUN || head->kind == TIDE_CHUNK_END;
    return head->magic == TIDE_CHUNK_MAGIC && head->kind >= TIDE_CHUNK_EVENTS &&
           head->kind <= TIDE_CHUNK_END && head->raw_bytes > 0 &&
           head->raw_bytes <= TIDE_CHUNK_MAX && head->stored_bytes > 0 &&
           head->stored_bytes <= TIDE_STORED_MAX &&
           (!(head->flags & TIDE_CHUNK_PLAIN) ||
            head->stored_bytes == head->raw_bytes) &&
           (for_run || head->process != TIDE_NO_PROCESS);
}

enum tide_status tide_chunk_head(const struct tide_chunk_reader *reader,
                                 uint64_t offset, struct tide_format_chunk *out)
{
    if (offset > reader->file_bytes || reader->file_bytes - offset < TIDE_CHUNK_HEAD)
        return TIDE_ETRUNCATED;
    const enum tide_status status = tide_read_at(reader->fd, offset, out, sizeof(*out));
    if (status)
        return status;
    if (!plausible(out))
        return TIDE_ECORRUPT;
    const uint64_t left = reader->file_bytes - offset - TIDE_CHUNK_HEAD;
    if (out->stored_bytes > left)
        return TIDE_ETRUNCATED;
    return out->flags & ~TIDE_CHUNK_FLAGS ? TIDE_EVERSION : TIDE_OK;
}

/* Room for so many bytes at *MEMORY, which has CAPACITY; what stands there is lost. */
static bool make_room(uint8_t **memory, size_t *capacity, size_t bytes)
{
    if (bytes <= *capacity)
        return true;
    free(*memory);
    *memory = malloc(bytes);
    *capacity = *memory ? bytes : 0;
    return *memory != NULL;
}

enum tide_status tide_chunk_check(struct tide_chunk_reader *reader, uint64_t offset,
                                  struct tide_format_chunk *out)
{
    const enum tide_status known = tide_chunk_head(reader, offset, out);
    if (known && known != TIDE_EVERSION)
        return known;
    if (!make_room(&reader->stored, &reader->capacity,
                   TIDE_CHUNK_HEAD + (size_t)out->stored_bytes))
        return TIDE_ENOMEM;
    uint8_t *payload = reader->stored + TIDE_CHUNK_HEAD;
    const enum tide_status status =
        tide_read_at(reader->fd, offset + TIDE_CHUNK_HEAD, payload, out->stored_bytes);
    if (status)
        return status;
    reader->bytes += TIDE_CHUNK_HEAD + out->stored_bytes;

    /* The checked part of the header, moved up against the payload: one run to hash. */
    uint8_t *checked = payload - TIDE_CHECKED_HEAD;
    memcpy(checked, out, TIDE_CHECKED_HEAD);
    const XXH64_hash_t sum =
        XXH3_64bits(checked, TIDE_CHECKED_HEAD + out->stored_bytes);
    return sum == out->checksum ? known : TIDE_ECORRUPT;
}

/* A column: STORED bytes at FROM are LENGTH bytes, compressed or plain. */
static enum tide_status unpack(struct tide_chunk_reader *reader, const uint8_t *from,
                               uint64_t stored, uint8_t *out, uint64_t length)
{
    if (stored == length) {
        memcpy(out, from, length);
        return TIDE_OK;
    }
    const size_t size = ZSTD_decompressDCtx(reader->zstd, out, length, from, stored);
    return ZSTD_isError(size) || size != length ? TIDE_ECORRUPT : TIDE_OK;
}

/* The column of tags: it is their halves that are compressed. */
static enum tide_status unpack_tags(struct tide_chunk_reader *reader,
                                    const uint8_t *from, uint64_t stored, uint8_t *out,
                                    uint64_t length)
{
    if (stored == length)
        return unpack(reader, from, stored, out, length);
    if (!make_room(&reader->halves, &reader->halves_capacity, tide_halves_most(length)))
        return TIDE_ENOMEM;
    const size_t size = ZSTD_decompressDCtx(reader->zstd, reader->halves,
                                            tide_halves_most(length), from, stored);
    return !ZSTD_isError(size) &&
                   tide_tags_from_halves(reader->halves, size, out, length)
               ? TIDE_OK
               : TIDE_ECORRUPT;
}

/* The columns under CURSOR, a whole payload, into RAW, one after the other. */
static enum tide_status load_columns(struct tide_chunk_reader *reader,
                                     struct tide_cursor cursor, uint8_t *raw,
                                     size_t raw_bytes, struct tide_fields *out)
{
    uint64_t lengths[TIDE_COLUMNS], packed[TIDE_COLUMNS];
    for (unsigned i = 0; i < TIDE_COLUMNS; i++) {
        lengths[i] = tide_cursor_varint(&cursor);
        packed[i] = tide_cursor_varint(&cursor);
    }
    size_t left = raw_bytes;
    out->columns = true;
    for (unsigned i = 0; i < TIDE_COLUMNS; i++) {
        const struct tide_cursor from = tide_cursor_part(&cursor, packed[i]);
        if (cursor.failed || lengths[i] > left)
            return TIDE_ECORRUPT;
        const enum tide_status status = (i == TIDE_COLUMN_TAGS ? unpack_tags : unpack)(
            reader, from.at, packed[i], raw, lengths[i]);
        if (status)
            return status;
        out->at[i] = tide_cursor_over(raw, lengths[i]);
        raw += lengths[i];
        left -= lengths[i];
    }
    return left == 0 && tide_cursor_left(&cursor) == 0 ? TIDE_OK : TIDE_ECORRUPT;
}

enum tide_status tide_chunk_load(struct tide_chunk_reader *reader, uint64_t offset,
                                 uint8_t *raw, size_t raw_bytes,
                                 struct tide_fields *out)
{
    struct tide_format_chunk head;
    const enum tide_status status = tide_chunk_check(reader, offset, &head);
    if (status)
        return status;
    if (head.raw_bytes != raw_bytes)
        return TIDE_ECORRUPT; /* the file changed since it was opened */
    const uint8_t *payload = reader->stored + TIDE_CHUNK_HEAD;
    *out = tide_fields_over(raw, raw_bytes);
    if (head.flags & TIDE_CHUNK_COLUMNS)
        return load_columns(reader, tide_cursor_over(payload, head.stored_bytes), raw,
                            raw_bytes, out);
    if (head.flags & TIDE_CHUNK_PLAIN) {
        memcpy(raw, payload, raw_bytes);
        return TIDE_OK;
    }
    const size_t size =
        ZSTD_decompressDCtx(reader->zstd, raw, raw_bytes, payload, head.stored_bytes);
    return !ZSTD_isError(size) && size == raw_bytes ? TIDE_OK : TIDE_ECORRUPT;
}
