/* trace/index_in.c - read the index of a trace.
 *
 * The file stands beside the trace and may come from the same stranger: every count is
 * checked before it is used, and no section may be longer than what a trace of that size
 * can need.
 */
#include "trace/index.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#ifndef XXH_INLINE_ALL
#    define XXH_INLINE_ALL
#endif
#include <xxhash.h>
#include <zstd.h>

#include "base/plain_file.h"
#include "trace/chunk_in.h"
#include "trace/index_file.h"
#include "trace/list.h"

enum { TIDE_WINDOW_LOG = 23 }; /* the most memory that a section may ask for: 8 MiB */

/* Where a section is. */
struct section {
    uint64_t offset; /* of its bytes */
    struct tide_section_head head;
};

struct tide_index {
    int fd;
    uint64_t file_bytes;
    uint64_t raw_limit;           /* a section is not longer than this */
    struct tide_list checkpoints; /* of struct section */
    struct section stacks;

    /* The section being read. */
    struct section open;
    uint64_t stored_done, raw_done;
    ZSTD_DCtx *zstd;
    XXH3_state_t *sum;
    uint8_t *buffer; /* owned: TIDE_INDEX_BUFFER compressed bytes */
    ZSTD_inBuffer in;
};

/* --- Reading a section --- */

static void begin(struct tide_index *index, const struct section *section)
{
    index->open = *section;
    index->stored_done = index->raw_done = 0;
    index->in = (ZSTD_inBuffer){.src = index->buffer};
    (void)XXH3_64bits_reset(index->sum);
    (void)ZSTD_DCtx_reset(index->zstd, ZSTD_reset_session_only);
}

/* The next compressed bytes. */
static enum tide_status refill(struct tide_index *index)
{
    const uint64_t left = index->open.head.stored_bytes - index->stored_done;
    const size_t length = left < TIDE_INDEX_BUFFER ? (size_t)left : TIDE_INDEX_BUFFER;
    if (!length)
        return TIDE_ECORRUPT;
    const enum tide_status status = tide_read_at(
        index->fd, index->open.offset + index->stored_done, index->buffer, length);
    if (status)
        return status;
    (void)XXH3_64bits_update(index->sum, index->buffer, length);
    index->stored_done += length;
    index->in.size = length;
    index->in.pos = 0;
    return TIDE_OK;
}

enum tide_status tide_index_get(struct tide_index *index, void *bytes, size_t length)
{
    if (length > tide_index_left(index))
        return TIDE_ECORRUPT;
    ZSTD_outBuffer out = {.dst = bytes, .size = length};
    while (out.pos < length) {
        const size_t before = out.pos;
        if (ZSTD_isError(ZSTD_decompressStream(index->zstd, &out, &index->in)))
            return TIDE_ECORRUPT;
        if (out.pos > before || index->in.pos < index->in.size)
            continue;
        const enum tide_status status = refill(index);
        if (status)
            return status;
    }
    index->raw_done += length;
    return TIDE_OK;
}

uint64_t tide_index_left(const struct tide_index *index)
{
    return index->open.head.raw_bytes - index->raw_done;
}

enum tide_status tide_index_check(struct tide_index *index)
{
    if (index->raw_done != index->open.head.raw_bytes)
        return TIDE_ECORRUPT;
    while (index->stored_done < index->open.head.stored_bytes) {
        const enum tide_status status = refill(index); /* the end of the frame */
        if (status)
            return status;
    }
    return XXH3_64bits_digest(index->sum) == index->open.head.payload_sum
               ? TIDE_OK
               : TIDE_ECORRUPT;
}

/* --- Stacks --- */

static enum tide_status get_frame(struct tide_index *index, struct tide_stacks *stacks,
                                  uint32_t number)
{
    uint8_t bytes[13];
    uint32_t got = 0;
    enum tide_status status = tide_index_get(index, bytes, sizeof(bytes));
    if (status)
        return status;
    struct tide_frame frame = {.kind = bytes[0]};
    memcpy(&frame.module, bytes + 1, 4);
    memcpy(&frame.value, bytes + 5, 8);
    status = tide_stacks_frame(stacks, frame, &got);
    return status || got == number ? status : TIDE_ECORRUPT;
}

static enum tide_status get_node(struct tide_index *index, struct tide_stacks *stacks,
                                 uint32_t number)
{
    uint32_t words[2], got = 0;
    enum tide_status status = tide_index_get(index, words, sizeof(words));
    if (status)
        return status;
    if (words[0] >= number || words[1] >= stacks->frame_count)
        return TIDE_ECORRUPT;
    status = tide_stacks_child(stacks, words[0], words[1], &got);
    return status || got == number ? status : TIDE_ECORRUPT;
}

static enum tide_status get_stacks(struct tide_index *index, struct tide_stacks *stacks)
{
    uint64_t counts[2];
    begin(index, &index->stacks);
    enum tide_status status = tide_index_get(index, counts, sizeof(counts));
    if (!status && (counts[0] > UINT32_MAX || counts[1] > UINT32_MAX))
        status = TIDE_ECORRUPT;
    for (uint32_t i = 0; !status && i < counts[0]; i++)
        status = get_frame(index, stacks, i);
    for (uint32_t i = 1; !status && i < counts[1]; i++)
        status = get_node(index, stacks, i);
    return status ? status : tide_index_check(index);
}

/* Frames name modules of the trace: none may name one that is not there. */
static bool fits_trace(const struct tide_stacks *stacks, const struct tide_trace *trace)
{
    for (uint32_t i = 0; i < stacks->frame_count; i++)
        if (stacks->frames[i].module != TIDE_NO_MODULE &&
            stacks->frames[i].module >= trace->module_count)
            return false;
    return true;
}

/* --- Checkpoints --- */

static enum tide_status get_replay(struct tide_index *index, struct tide_replay *replay)
{
    uint64_t length;
    enum tide_status status = tide_index_get(index, &length, sizeof(length));
    if (status)
        return status;
    if (length > index->open.head.raw_bytes)
        return TIDE_ECORRUPT;
    char *bytes = malloc((size_t)length + 1);
    if (!bytes)
        return TIDE_ENOMEM;
    status = tide_index_get(index, bytes, (size_t)length);
    if (!status)
        status = tide_replay_restore(replay, bytes, (size_t)length);
    free(bytes);
    return status;
}

enum tide_status tide_index_restore(struct tide_index *index, size_t number,
                                    struct tide_stacks *stacks,
                                    struct tide_replay *replay)
{
    const struct section *sections = index->checkpoints.items;
    if (number >= index->checkpoints.count)
        return TIDE_EUSAGE;
    const enum tide_status status = get_stacks(index, stacks);
    if (status)
        return status;
    if (!fits_trace(stacks, tide_replay_trace(replay)))
        return TIDE_ECORRUPT;
    begin(index, &sections[number]);
    return get_replay(index, replay);
}

bool tide_index_find(const struct tide_index *index, uint64_t ticks, size_t *number)
{
    const struct section *sections = index->checkpoints.items;
    for (size_t i = index->checkpoints.count; i-- > 0;) {
        if (sections[i].head.ticks <= ticks) {
            *number = i;
            return true;
        }
    }
    return false;
}

/* --- The file --- */

static enum tide_status read_section(struct tide_index *index, uint64_t *at)
{
    struct section section = {.offset = *at + sizeof(section.head)};
    const enum tide_status status =
        tide_read_at(index->fd, *at, &section.head, sizeof(section.head));
    const struct tide_section_head *head = &section.head;
    if (status)
        return TIDE_ECORRUPT;
    const uint64_t sum =
        XXH3_64bits(head, offsetof(struct tide_section_head, checksum));
    if (head->magic != TIDE_SECTION_MAGIC || sum != head->checksum ||
        section.offset > index->file_bytes ||
        head->stored_bytes > index->file_bytes - section.offset ||
        head->raw_bytes > index->raw_limit)
        return TIDE_ECORRUPT;
    *at = section.offset + head->stored_bytes;
    if (head->kind == TIDE_SECTION_STACKS) {
        index->stacks = section;
        return TIDE_OK;
    }
    struct section *added = NULL;
    if (index->checkpoints.count < TIDE_CHECKPOINTS_MAX)
        added = tide_list_add(&index->checkpoints);
    if (!added || head->kind != TIDE_SECTION_CHECKPOINT)
        return TIDE_ECORRUPT;
    *added = section;
    return TIDE_OK;
}

static enum tide_status read_header(const struct tide_index *index,
                                    const struct tide_trace *trace,
                                    uint32_t model_version)
{
    struct tide_index_header header;
    if (tide_read_at(index->fd, 0, &header, sizeof(header)) != TIDE_OK)
        return TIDE_ECORRUPT;
    const uint64_t sum =
        XXH3_64bits(&header, offsetof(struct tide_index_header, checksum));
    const bool ours = !memcmp(header.magic, TIDE_INDEX_MAGIC, sizeof(header.magic)) &&
                      header.version == TIDE_INDEX_VERSION && header.checksum == sum &&
                      header.model_version == model_version &&
                      !memcmp(header.trace_id, trace->id, sizeof(trace->id)) &&
                      header.trace_bytes == trace->file_bytes &&
                      header.trace_good_bytes == trace->good_bytes;
    return ours ? TIDE_OK : TIDE_ECORRUPT;
}

static enum tide_status open_file(struct tide_index *index, const char *path)
{
    char *name;
    struct stat info;
    if (asprintf(&name, "%s.idx", path) < 0)
        return TIDE_ENOMEM;
    index->fd = tide_plain_file_open(name, O_NOFOLLOW, &info);
    free(name);
    if (index->fd < 0)
        return TIDE_ENOENT;
    index->file_bytes = (uint64_t)info.st_size;
    return TIDE_OK;
}

static enum tide_status read_file(struct tide_index *index,
                                  const struct tide_trace *trace,
                                  uint32_t model_version)
{
    enum tide_status status = open_file(index, trace->path);
    if (!status)
        status = read_header(index, trace, model_version);
    uint64_t at = sizeof(struct tide_index_header);
    while (!status && !index->stacks.offset)
        status = read_section(index, &at);
    return status;
}

enum tide_status tide_index_open(const struct tide_trace *trace, uint32_t model_version,
                                 struct tide_index **out)
{
    *out = NULL;
    struct tide_index *index = calloc(1, sizeof(*index));
    if (!index)
        return TIDE_ENOMEM;
    index->fd = -1;
    index->raw_limit =
        (64ull << 20) +
        (trace->file_bytes < 1ull << 50 ? trace->file_bytes * 64 : 1ull << 56);
    index->checkpoints.item_bytes = sizeof(struct section);
    index->zstd = ZSTD_createDCtx();
    index->sum = XXH3_createState();
    index->buffer = malloc(TIDE_INDEX_BUFFER);
    enum tide_status status = TIDE_ENOMEM;
    if (index->zstd && index->sum && index->buffer) {
        (void)ZSTD_DCtx_setParameter(index->zstd, ZSTD_d_windowLogMax, TIDE_WINDOW_LOG);
        status = read_file(index, trace, model_version);
    }
    if (status) {
        tide_index_close(index);
        return status;
    }
    *out = index;
    return TIDE_OK;
}

void tide_index_close(struct tide_index *index)
{
    if (!index)
        return;
    if (index->fd >= 0)
        close(index->fd);
    ZSTD_freeDCtx(index->zstd);
    XXH3_freeState(index->sum);
    free(index->buffer);
    free(index->checkpoints.items);
    free(index);
}
