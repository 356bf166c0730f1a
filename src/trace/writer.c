/* trace/writer.c - write a trace file, chunk by chunk.
 *
 * Header and payload of a chunk are put together in one buffer and go out in one write.
 * write(2) is all the durability there is: the page cache survives the death of every
 * process, and only that is promised.
 *
 * Invariant: the file is good_bytes long and ends with a whole chunk, between calls.
 */
#include "trace/writer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include "base/raw/varint.h"
#include "trace/format.h"
#include "trace/tag_halves.h"

#ifndef XXH_INLINE_ALL
#    define XXH_INLINE_ALL
#endif
#include <xxhash.h>

enum {
    TIDE_ZSTD_LEVEL = 1, /* level 9 saves another 4 %, at 7 times the cost */
    /* Of tags there are so few that short matches are everywhere, and cost more than they
     * save: without them it takes 5 to 26 % less time than by level 3, for up to 3 % more
     * bytes of them. */
    TIDE_TAGS_MATCH = 7,
    /* What repeats itself is worth a closer look, which then takes little time: of a program
     * that does the same thing again and again a third is left. */
    TIDE_ZSTD_CLOSE = 6,
    TIDE_CLOSE_FROM = 16,  /* times smaller */
    TIDE_CLOSE_WORTH = 64, /* bytes: fewer are left of one that is the same all over */
    TIDE_PACK_FROM = 64,   /* fewer bytes are not worth compressing */
    TIDE_OUT_SPARE = 512,
    TIDE_LENGTHS_MAX = TIDE_COLUMNS * 2 * TIDE_VARINT_MAX,
};

struct tide_writer {
    int fd;      /* owned */
    int problem; /* errno of the first failed write */
    uint64_t good_bytes;
    uint64_t chunks;
    struct tide_format_header header;
    ZSTD_CCtx *compressor; /* owned */
    size_t room;           /* bytes at out after the chunk header */
    uint8_t *out;          /* owned: a chunk header and its stored payload */
    uint8_t *halves;       /* owned: of tags */
    size_t halves_room;
    bool repeats[TIDE_COLUMNS];     /* in the chunk before a column did so */
    void (*between)(void *context); /* NULL: there is nothing to do between columns */
    void *context;
};

_Static_assert(sizeof(struct tide_format_header) == 64, "as format.h says");
_Static_assert(sizeof(struct tide_format_chunk) == 64, "as format.h says");

/* All of BYTES at OFFSET, or an errno. */
static int write_all(int fd, const void *bytes, size_t length, uint64_t offset)
{
    const uint8_t *from = bytes;
    while (length > 0) {
        const ssize_t written = pwrite(fd, from, length, (off_t)offset);
        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0)
            return errno;
        if (written == 0)
            return ENOSPC;
        from += written;
        offset += (uint64_t)written;
        length -= (size_t)written;
    }
    return 0;
}

static enum tide_status write_header(struct tide_writer *writer)
{
    struct tide_format_header *const header = &writer->header;
    header->checksum =
        XXH3_64bits(header, offsetof(struct tide_format_header, checksum));
    const int problem = write_all(writer->fd, header, sizeof(*header), 0);
    if (problem)
        errno = problem;
    return problem ? TIDE_EIO : TIDE_OK;
}

static void fill_header(struct tide_format_header *header,
                        const struct tide_writer_start *start)
{
    memcpy(header->magic, TIDE_FILE_MAGIC, sizeof(header->magic));
    header->version = TIDE_FILE_VERSION;
    header->header_bytes = sizeof(*header);
    header->start_unix_ns = start->unix_ns;
    header->start_ticks = start->ticks;
    header->ticks_per_second = start->ticks_per_second;
    /* An id of zeros, should the system have no random bytes, only loses uniqueness. */
    if (getrandom(header->id, sizeof(header->id), GRND_NONBLOCK) < 0)
        memset(header->id, 0, sizeof(header->id));
}

static enum tide_status open_new(const char *path, int *fd)
{
    *fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (*fd >= 0) {
        (void)flock(*fd, LOCK_EX | LOCK_NB); /* so that readers know that we live */
        return TIDE_OK;
    }
    if (errno == EEXIST)
        return TIDE_EEXIST;
    return errno == ENOENT ? TIDE_ENOENT : TIDE_ESYSTEM;
}

static enum tide_status new_writer(struct tide_writer **out)
{
    struct tide_writer *const writer = calloc(1, sizeof(*writer));
    if (!writer)
        return TIDE_ENOMEM;
    writer->fd = -1;
    writer->compressor = ZSTD_createCCtx();
    if (!writer->compressor) {
        tide_writer_close(writer);
        return TIDE_ENOMEM;
    }
    *out = writer;
    return TIDE_OK;
}

enum tide_status tide_writer_create(const char *path,
                                    const struct tide_writer_start *start,
                                    struct tide_writer **out)
{
    *out = NULL;
    struct tide_writer *writer;
    enum tide_status status = new_writer(&writer);
    if (status)
        return status;
    status = open_new(path, &writer->fd);
    if (status)
        goto close_writer;

    fill_header(&writer->header, start);
    status = write_header(writer);
    if (status)
        goto remove_file;
    writer->good_bytes = sizeof(writer->header);
    *out = writer;
    return TIDE_OK;

remove_file:;
    const int problem = errno;
    (void)unlink(path);
    errno = problem;
close_writer:
    tide_writer_close(writer);
    return status;
}

enum tide_status tide_writer_continue(int fd, uint64_t bytes, uint64_t chunks,
                                      struct tide_writer **out)
{
    *out = NULL;
    struct tide_writer *writer;
    const enum tide_status status = new_writer(&writer);
    if (status) {
        (void)close(fd);
        return status;
    }
    writer->fd = fd;
    writer->good_bytes = bytes;
    writer->chunks = chunks;
    *out = writer;
    return TIDE_OK;
}

void tide_writer_close(struct tide_writer *writer)
{
    if (!writer)
        return;
    const int kept = errno;
    if (writer->fd >= 0)
        (void)close(writer->fd);
    ZSTD_freeCCtx(writer->compressor);
    free(writer->out);
    free(writer->halves);
    free(writer);
    errno = kept;
}

/* --- How a payload is stored: behind the chunk header in out ---------------------------- */

/* How hard to look for what repeats itself, and for how many bytes at least; 0: as usual at
 * that level. */
struct care {
    int level, match;
};

/* FROM, compressed, to OUT, which has ROOM; its length, SIZE_MAX when it does not fit or
 * there is no memory. */
static size_t compress(struct tide_writer *writer, struct tide_column_bytes from,
                       uint8_t *out, size_t room, struct care care)
{
    ZSTD_CCtx *const by = writer->compressor;
    (void)ZSTD_CCtx_setParameter(by, ZSTD_c_compressionLevel, care.level);
    (void)ZSTD_CCtx_setParameter(by, ZSTD_c_minMatch, care.match);
    const size_t packed = ZSTD_compress2(by, out, room, from.bytes, from.length);
    return ZSTD_isError(packed) ? SIZE_MAX : packed;
}

static size_t put_plain(struct tide_column_bytes from, uint8_t *out)
{
    if (from.length > 0)
        memcpy(out, from.bytes, from.length);
    return from.length;
}

/* FROM, compressed if that helps, to OUT, which has ROOM for it; its stored length. */
static size_t pack(struct tide_writer *writer, struct tide_column_bytes from,
                   uint8_t *out, size_t room, struct care care)
{
    const size_t packed = from.length >= TIDE_PACK_FROM
                              ? compress(writer, from, out, room, care)
                              : SIZE_MAX;
    return packed < from.length ? packed : put_plain(from, out);
}

/* The halves of TAGS; false when there is no memory. */
static bool halve(struct tide_writer *writer, struct tide_column_bytes tags,
                  struct tide_column_bytes *halves)
{
    const size_t most = tide_halves_most(tags.length);
    if (most > writer->halves_room) {
        free(writer->halves);
        writer->halves = malloc(most * 2);
        writer->halves_room = writer->halves ? most * 2 : 0;
    }
    if (!writer->halves)
        return false;
    halves->bytes = writer->halves;
    halves->length = tide_tags_to_halves(tags.bytes, tags.length, writer->halves);
    return true;
}

/* TAGS, as their halves and compressed if that helps.  OUT has room for the tags, but not
 * for the halves as they are. */
static size_t pack_tags(struct tide_writer *writer, struct tide_column_bytes tags,
                        uint8_t *out, size_t room, struct care care)
{
    struct tide_column_bytes halves;
    const size_t packed = tags.length >= TIDE_PACK_FROM && halve(writer, tags, &halves)
                              ? compress(writer, halves, out, room, care)
                              : SIZE_MAX;
    return packed < tags.length ? packed : put_plain(tags, out);
}

static size_t pack_column(struct tide_writer *writer, unsigned column,
                          struct tide_column_bytes from, uint8_t *out, size_t room)
{
    const bool tags = column == TIDE_COLUMN_TAGS;
    const struct care care =
        writer->repeats[column]
            ? (struct care){TIDE_ZSTD_CLOSE, 0}
            : (struct care){TIDE_ZSTD_LEVEL, tags ? TIDE_TAGS_MATCH : 0};
    const size_t stored = tags ? pack_tags(writer, from, out, room, care)
                               : pack(writer, from, out, room, care);
    writer->repeats[column] =
        stored < from.length / TIDE_CLOSE_FROM && stored >= TIDE_CLOSE_WORTH;
    return stored;
}

/* Room in out for a payload that takes so many bytes when nothing can be compressed; others
 * will be a little larger, so for half as much again, if it can be had. */
static bool make_room(struct tide_writer *writer, size_t bytes)
{
    const size_t head = sizeof(struct tide_format_chunk);
    size_t room = bytes + bytes / 128 + TIDE_OUT_SPARE;
    if (room <= writer->room)
        return true;
    free(writer->out);
    writer->out = malloc(head + room + room / 2);
    if (writer->out)
        room += room / 2;
    else
        writer->out = malloc(head + room);
    writer->room = writer->out ? room : 0;
    return writer->out != NULL;
}

static bool store_notes(struct tide_writer *writer, struct tide_format_chunk *chunk,
                        const void *raw, size_t raw_bytes)
{
    if (!make_room(writer, raw_bytes))
        return false;
    const size_t stored = pack(writer, (struct tide_column_bytes){raw, raw_bytes},
                               writer->out + sizeof(*chunk), writer->room,
                               (struct care){TIDE_ZSTD_LEVEL, 0});
    if (stored == raw_bytes)
        chunk->flags |= TIDE_CHUNK_PLAIN;
    chunk->raw_bytes = (uint32_t)raw_bytes;
    chunk->stored_bytes = (uint32_t)stored;
    return true;
}

static size_t sum_of(const struct tide_column_bytes columns[TIDE_COLUMNS])
{
    size_t sum = 0;
    for (unsigned i = 0; i < TIDE_COLUMNS; i++)
        sum += columns[i].length;
    return sum;
}

/* Columns are packed behind the place that their lengths take at most, then moved up. */
static bool store_columns(struct tide_writer *writer, struct tide_format_chunk *chunk,
                          const struct tide_column_bytes columns[TIDE_COLUMNS],
                          size_t raw_bytes)
{
    if (!make_room(writer, TIDE_LENGTHS_MAX + raw_bytes))
        return false;
    uint8_t *const payload = writer->out + sizeof(*chunk);
    uint8_t *lengths = payload, *out = payload + TIDE_LENGTHS_MAX;
    for (unsigned i = 0; i < TIDE_COLUMNS; i++) {
        const size_t room = writer->room - (size_t)(out - payload);
        const size_t stored = pack_column(writer, i, columns[i], out, room);
        lengths = tide_put_varint(lengths, columns[i].length);
        lengths = tide_put_varint(lengths, stored);
        out += stored;
        if (writer->between)
            writer->between(writer->context);
    }
    const size_t packed = (size_t)(out - payload) - TIDE_LENGTHS_MAX;
    memmove(lengths, payload + TIDE_LENGTHS_MAX, packed);
    chunk->flags |= TIDE_CHUNK_COLUMNS;
    chunk->raw_bytes = (uint32_t)raw_bytes;
    chunk->stored_bytes = (uint32_t)((size_t)(lengths - payload) + packed);
    return true;
}

static uint64_t checksum(const struct tide_format_chunk *chunk, const uint8_t *payload)
{
    XXH3_state_t state;
    (void)XXH3_64bits_reset(&state);
    (void)XXH3_64bits_update(&state, chunk,
                             offsetof(struct tide_format_chunk, checksum));
    (void)XXH3_64bits_update(&state, payload, chunk->stored_bytes);
    return XXH3_64bits_digest(&state);
}

/* The write failed: leave no half chunk behind.  Should even that be refused, a reader
 * finds the torn tail by its checksum. */
static void cut_back(struct tide_writer *writer, int problem)
{
    if (!writer->problem)
        writer->problem = problem;
    (void)!ftruncate(writer->fd, (off_t)writer->good_bytes);
}

static struct tide_format_chunk head_of(const struct tide_chunk_label *label)
{
    return (struct tide_format_chunk){
        .magic = TIDE_CHUNK_MAGIC,
        .kind = label->kind,
        .flags = label->flags,
        .process = label->process,
        .lane = label->lane,
        .sequence = label->sequence,
        .first_ticks = label->first_ticks,
        .last_ticks = label->last_ticks,
    };
}

/* CHUNK, whose payload is in out, goes to the file. */
static enum tide_status write_stored(struct tide_writer *writer,
                                     struct tide_format_chunk *chunk)
{
    chunk->checksum = checksum(chunk, writer->out + sizeof(*chunk));
    memcpy(writer->out, chunk, sizeof(*chunk));

    const size_t length = sizeof(*chunk) + chunk->stored_bytes;
    const int problem = write_all(writer->fd, writer->out, length, writer->good_bytes);
    if (problem) {
        cut_back(writer, problem);
        return TIDE_EIO;
    }
    writer->good_bytes += length;
    writer->chunks++;
    return TIDE_OK;
}

enum tide_status tide_writer_chunk(struct tide_writer *writer,
                                   const struct tide_chunk_label *label,
                                   const void *raw, size_t raw_bytes)
{
    if (raw_bytes == 0 || raw_bytes > TIDE_CHUNK_MAX)
        return TIDE_ELIMIT;
    if (writer->problem && label->kind != TIDE_CHUNK_RUN)
        return TIDE_EIO;
    struct tide_format_chunk chunk = head_of(label);
    if (!store_notes(writer, &chunk, raw, raw_bytes))
        return TIDE_ENOMEM;
    return write_stored(writer, &chunk);
}

enum tide_status tide_writer_events(
    struct tide_writer *writer, const struct tide_chunk_label *label,
    const struct tide_column_bytes columns[TIDE_COLUMNS])
{
    const size_t raw_bytes = sum_of(columns);
    if (raw_bytes == 0)
        return TIDE_OK;
    if (writer->problem)
        return TIDE_EIO;
    struct tide_format_chunk chunk = head_of(label);
    if (!store_columns(writer, &chunk, columns, raw_bytes))
        return TIDE_ENOMEM;
    return write_stored(writer, &chunk);
}

void tide_writer_set_between(struct tide_writer *writer, void (*between)(void *context),
                             void *context)
{
    writer->between = between;
    writer->context = context;
}

enum tide_status tide_writer_set_rate(struct tide_writer *writer,
                                      uint64_t ticks_per_second)
{
    writer->header.ticks_per_second = ticks_per_second;
    return write_header(writer);
}

uint64_t tide_writer_bytes(const struct tide_writer *writer)
{
    return writer->good_bytes;
}

uint64_t tide_writer_chunks(const struct tide_writer *writer)
{
    return writer->chunks;
}

bool tide_writer_removed(const struct tide_writer *writer)
{
    struct stat found;
    return fstat(writer->fd, &found) == 0 && found.st_nlink == 0;
}

int tide_writer_problem(const struct tide_writer *writer)
{
    return writer->problem;
}
