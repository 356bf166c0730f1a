/* trace/pack.c - a copy of a trace, with names of its frames.
 *
 * The chunks are copied as they are: their checksums stay good.  Names are notes of kinds
 * that readers without them pass over, in RUN chunks of their own before the END.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/raw/varint.h"
#include "trace/chunk_in.h"
#include "trace/cursor.h"
#include "trace/embedded.h"
#include "trace/format.h"
#include "trace/name_notes.h"
#include "trace/writer.h"

enum { TIDE_COPY_BYTES = 1 << 20 };

struct packing {
    const struct tide_trace *trace;
    struct tide_chunk_reader reader;
    int fd;          /* borrowed: the copy */
    uint64_t bytes;  /* written to it */
    uint64_t chunks; /* among them */
    uint8_t *buffer; /* owned: TIDE_COPY_BYTES */
    uint8_t *raw;    /* owned: TIDE_CHUNK_MAX and slack */
};

/* Copy LENGTH bytes at OFFSET to the end of the copy. */
static enum tide_status copy(struct packing *packing, uint64_t offset, uint64_t length)
{
    while (length > 0) {
        const size_t part = length < TIDE_COPY_BYTES ? (size_t)length : TIDE_COPY_BYTES;
        const enum tide_status status =
            tide_read_at(packing->trace->fd, offset, packing->buffer, part);
        if (status)
            return status;
        for (size_t done = 0; done < part;) {
            const ssize_t wrote = pwrite(packing->fd, packing->buffer + done,
                                         part - done, (off_t)(packing->bytes + done));
            if (wrote < 0 && errno == EINTR)
                continue;
            if (wrote <= 0)
                return TIDE_EIO;
            done += (size_t)wrote;
        }
        packing->bytes += part;
        offset += part;
        length -= part;
    }
    return TIDE_OK;
}

static bool is_symbol_note(uint64_t kind)
{
    return kind == TIDE_NOTE_TEXTS || kind == TIDE_NOTE_SYMBOLS ||
           kind == TIDE_NOTE_NAMING;
}

/* Does the RUN chunk at OFFSET hold names and nothing else? */
static enum tide_status holds_names(struct packing *packing, uint64_t offset,
                                    uint32_t raw_bytes, bool *out)
{
    struct tide_fields fields;
    *out = false;
    const enum tide_status status =
        tide_chunk_load(&packing->reader, offset, packing->raw, raw_bytes, &fields);
    if (status)
        return status;
    struct tide_cursor cursor = tide_cursor_over(packing->raw, raw_bytes);
    while (tide_cursor_left(&cursor)) {
        const uint64_t kind = tide_cursor_varint(&cursor);
        (void)tide_cursor_part(&cursor, tide_cursor_varint(&cursor));
        if (cursor.failed || !is_symbol_note(kind))
            return TIDE_OK;
    }
    *out = true;
    return TIDE_OK;
}

/* Copy all chunks but END and those of names.  *END is where END stands; 0: nowhere. */
static enum tide_status copy_chunks(struct packing *packing, uint64_t at, uint64_t *end)
{
    struct tide_format_chunk head;
    enum tide_status status = TIDE_OK;
    *end = 0;
    while (!status && tide_chunk_head(&packing->reader, at, &head) == TIDE_OK) {
        const uint64_t length = sizeof(head) + head.stored_bytes;
        bool names = false;
        if (head.kind == TIDE_CHUNK_END) {
            *end = at;
            break;
        }
        if (head.kind == TIDE_CHUNK_RUN)
            status = holds_names(packing, at, head.raw_bytes, &names);
        if (!status && !names) {
            status = copy(packing, at, length);
            packing->chunks++;
        }
        at += length;
    }
    return status;
}

/* The END chunk at OFFSET again, which says how many chunks are before it. */
static enum tide_status write_end(struct packing *packing, struct tide_writer *writer,
                                  uint64_t offset)
{
    struct tide_format_chunk head;
    struct tide_fields fields;
    enum tide_status status = tide_chunk_head(&packing->reader, offset, &head);
    if (!status)
        status = tide_chunk_load(&packing->reader, offset, packing->raw, head.raw_bytes,
                                 &fields);
    if (status)
        return status;
    struct tide_cursor cursor = tide_cursor_over(packing->raw, head.raw_bytes);
    const uint64_t kind = tide_cursor_varint(&cursor);
    struct tide_cursor note = tide_cursor_part(&cursor, tide_cursor_varint(&cursor));
    const uint64_t ticks = tide_cursor_varint(&note);
    (void)tide_cursor_varint(&note);
    const size_t rest = tide_cursor_left(&note);
    if (note.failed || kind != TIDE_NOTE_END || rest > TIDE_COPY_BYTES / 2)
        return TIDE_ECORRUPT;
    uint8_t fresh[2 * TIDE_VARINT_MAX];
    uint8_t *const numbers =
        tide_put_varint(tide_put_varint(fresh, ticks), tide_writer_chunks(writer));
    const size_t length = (size_t)(numbers - fresh);
    uint8_t *out = tide_put_varint(packing->buffer, kind);
    out = tide_put_varint(out, length + rest);
    memcpy(out, fresh, length);
    memcpy(out + length, note.at, rest);
    out += length + rest;
    const struct tide_chunk_label label = {.kind = TIDE_CHUNK_END,
                                           .process = TIDE_NO_PROCESS,
                                           .first_ticks = head.first_ticks,
                                           .last_ticks = head.last_ticks};
    return tide_writer_chunk(writer, &label, packing->buffer,
                             (size_t)(out - packing->buffer));
}

static enum tide_status add_names(struct packing *packing, uint64_t end,
                                  const struct tide_text *notes)
{
    struct tide_writer *writer;
    const int fd = dup(packing->fd);
    if (fd < 0)
        return TIDE_ESYSTEM;
    enum tide_status status =
        tide_writer_continue(fd, packing->bytes, packing->chunks, &writer);
    if (!status)
        status = tide_name_notes_write(writer, notes);
    if (!status && end)
        status = write_end(packing, writer, end);
    tide_writer_close(writer);
    return status;
}

static enum tide_status pack(struct packing *packing, const struct tide_text *notes)
{
    const struct tide_trace *const trace = packing->trace;
    struct tide_format_header header = {.header_bytes = 0};
    uint64_t end = 0;
    enum tide_status status =
        tide_chunk_reader_init(&packing->reader, trace->fd, trace->file_bytes);
    if (!status)
        status = tide_read_at(trace->fd, 0, &header, sizeof(header));
    if (!status)
        status = copy(packing, 0, header.header_bytes);
    if (!status)
        status = copy_chunks(packing, header.header_bytes, &end);
    if (!status)
        status = add_names(packing, end, notes);
    tide_chunk_reader_release(&packing->reader);
    return status;
}

enum tide_status tide_trace_pack(const struct tide_trace *trace, int fd,
                                 const struct tide_text *notes)
{
    struct packing packing = {.trace = trace, .fd = fd};
    if (trace->bad_chunks)
        return TIDE_ECORRUPT;
    if (flock(trace->fd, LOCK_SH | LOCK_NB) && errno == EWOULDBLOCK)
        return TIDE_ESYSTEM; /* who records it would go on with the old one */
    packing.buffer = malloc(TIDE_COPY_BYTES);
    packing.raw = malloc(TIDE_CHUNK_MAX + (size_t)TIDE_COLUMN_SLACK);
    const enum tide_status status =
        packing.buffer && packing.raw ? pack(&packing, notes) : TIDE_ENOMEM;
    free(packing.buffer);
    free(packing.raw);
    (void)flock(trace->fd, LOCK_UN);
    return status;
}
