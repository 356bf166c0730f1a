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
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "trace/format.h"
#include "trace/packer.h"

#ifndef XXH_INLINE_ALL
#    define XXH_INLINE_ALL
#endif
#include <xxhash.h>

enum { TIDE_LAST_WORDS = 4096 }; /* bytes that are kept for them */

struct tide_writer {
    int fd; /* owned */
    struct tide_format_header header;
    struct tide_packer *packer; /* owned */

    pthread_mutex_t lock;
    int problem;         /* Guarded by lock: errno of the first failed write */
    uint64_t good_bytes; /* Guarded by lock */
    uint64_t chunks;     /* Guarded by lock */
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
    (void)pthread_mutex_init(&writer->lock, NULL);
    writer->packer = tide_packer_new();
    if (!writer->packer) {
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
    tide_packer_free(writer->packer);
    (void)pthread_mutex_destroy(&writer->lock);
    free(writer);
    errno = kept;
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
 * finds the torn tail by its checksum.  PROBLEM of 0: nothing that matters is missing. */
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

/* The words that say why a file ends may not fit into what is left of its last page, so the
 * disk must have more than the LENGTH bytes that come next.  0, or the errno if it has not. */
static int keep_room(const struct tide_writer *writer, size_t length)
{
    const off_t behind = (off_t)(writer->good_bytes + length);
    const bool kept =
        fallocate(writer->fd, FALLOC_FL_KEEP_SIZE, behind, TIDE_LAST_WORDS) == 0;
    return !kept && (errno == ENOSPC || errno == EDQUOT) ? errno : 0;
}

/* A chunk of LENGTH bytes, of KIND, goes to the end of the file; the lock is held.  Once a
 * write has failed, only the last words are tried.  SPARE: it may stay away. */
static enum tide_status append(struct tide_writer *writer, const uint8_t *chunk,
                               size_t length, uint32_t kind, bool spare)
{
    const bool last_words = kind == TIDE_CHUNK_RUN && !spare;
    if (writer->problem && !last_words)
        return TIDE_EIO;
    int problem = last_words || kind == TIDE_CHUNK_END ? 0 : keep_room(writer, length);
    if (!problem)
        problem = write_all(writer->fd, chunk, length, writer->good_bytes);
    if (problem) {
        cut_back(writer, spare ? 0 : problem);
        return TIDE_EIO;
    }
    writer->good_bytes += length;
    writer->chunks++;
    if (kind == TIDE_CHUNK_END) /* nothing has to be kept any more */
        (void)!ftruncate(writer->fd, (off_t)writer->good_bytes);
    return TIDE_OK;
}

/* CHUNK, whose payload is PACKER's, goes to the file. */
static enum tide_status write_packed(struct tide_writer *writer,
                                     const struct tide_packer *packer,
                                     struct tide_format_chunk *chunk, bool spare)
{
    uint8_t *const out = tide_packed_chunk(packer);
    chunk->checksum = checksum(chunk, out + sizeof(*chunk));
    memcpy(out, chunk, sizeof(*chunk));
    pthread_mutex_lock(&writer->lock);
    const enum tide_status status =
        append(writer, out, sizeof(*chunk) + chunk->stored_bytes, chunk->kind, spare);
    pthread_mutex_unlock(&writer->lock);
    return status;
}

static enum tide_status write_notes(struct tide_writer *writer,
                                    const struct tide_chunk_label *label,
                                    const void *raw, size_t raw_bytes, bool spare)
{
    if (raw_bytes == 0 || raw_bytes > TIDE_CHUNK_MAX)
        return TIDE_ELIMIT;
    struct tide_format_chunk chunk = head_of(label);
    if (!tide_pack_notes(writer->packer, &chunk, raw, raw_bytes))
        return TIDE_ENOMEM;
    return write_packed(writer, writer->packer, &chunk, spare);
}

enum tide_status tide_writer_chunk(struct tide_writer *writer,
                                   const struct tide_chunk_label *label,
                                   const void *raw, size_t raw_bytes)
{
    return write_notes(writer, label, raw, raw_bytes, false);
}

enum tide_status tide_writer_spare_chunk(struct tide_writer *writer,
                                         const struct tide_chunk_label *label,
                                         const void *raw, size_t raw_bytes)
{
    return write_notes(writer, label, raw, raw_bytes, true);
}

enum tide_status tide_writer_events_by(
    struct tide_writer *writer, struct tide_packer *packer,
    const struct tide_chunk_label *label,
    const struct tide_column_bytes columns[TIDE_COLUMNS])
{
    struct tide_format_chunk chunk = head_of(label);
    if (!tide_pack_columns(packer, &chunk, columns))
        return TIDE_ENOMEM;
    return chunk.raw_bytes > 0 ? write_packed(writer, packer, &chunk, false) : TIDE_OK;
}

enum tide_status tide_writer_events(
    struct tide_writer *writer, const struct tide_chunk_label *label,
    const struct tide_column_bytes columns[TIDE_COLUMNS])
{
    return tide_writer_events_by(writer, writer->packer, label, columns);
}

void tide_writer_set_between(struct tide_writer *writer, void (*between)(void *context),
                             void *context)
{
    tide_packer_set_between(writer->packer, between, context);
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

int tide_writer_open_again(const struct tide_writer *writer)
{
    char path[64];
    (void)snprintf(path, sizeof(path), "/proc/self/fd/%d", writer->fd);
    return open(path, O_RDONLY | O_CLOEXEC);
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
