/* trace/index_out.c - write the index of a trace.
 *
 * The file is made under a name nobody else has, and takes its own name only when it is
 * whole: a reader finds an old index, a new one or none, never half of one.
 */
#include "trace/index.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef XXH_INLINE_ALL
#    define XXH_INLINE_ALL
#endif
#include <xxhash.h>
#include <zstd.h>

#include "trace/index_file.h"

enum { TIDE_INDEX_LEVEL = 1 };

struct tide_index_out {
    int fd;
    char *name, *temporary; /* owned */
    ZSTD_CCtx *zstd;
    XXH3_state_t *sum;
    uint8_t *buffer; /* owned: TIDE_INDEX_BUFFER compressed bytes */
    uint64_t at;     /* end of the file */
    struct tide_section_head head;
    uint64_t head_at;
    enum tide_status status; /* the first thing that went wrong */
};

static enum tide_status write_at(struct tide_index_out *out, uint64_t at,
                                 const void *bytes, size_t length)
{
    const uint8_t *from = bytes;
    while (length && !out->status) {
        const ssize_t wrote = pwrite(out->fd, from, length, (off_t)at);
        if (wrote < 0 && errno == EINTR)
            continue;
        if (wrote <= 0) {
            out->status = TIDE_EIO;
            break;
        }
        from += wrote;
        at += (uint64_t)wrote;
        length -= (size_t)wrote;
    }
    return out->status;
}

/* --- Sections --- */

static void begin_section(struct tide_index_out *out, uint32_t kind, uint64_t ticks)
{
    out->head = (struct tide_section_head){
        .magic = TIDE_SECTION_MAGIC, .kind = kind, .ticks = ticks};
    out->head_at = out->at;
    out->at += sizeof(out->head);
    (void)XXH3_64bits_reset(out->sum);
    (void)ZSTD_CCtx_reset(out->zstd, ZSTD_reset_session_only);
}

static enum tide_status compress(struct tide_index_out *out, const void *bytes,
                                 size_t length, ZSTD_EndDirective end)
{
    ZSTD_inBuffer in = {.src = bytes, .size = length};
    bool more = true;
    while (more && !out->status) {
        ZSTD_outBuffer to = {.dst = out->buffer, .size = TIDE_INDEX_BUFFER};
        const size_t left = ZSTD_compressStream2(out->zstd, &to, &in, end);
        if (ZSTD_isError(left)) {
            out->status = TIDE_ENOMEM;
            break;
        }
        (void)XXH3_64bits_update(out->sum, out->buffer, to.pos);
        write_at(out, out->at, out->buffer, to.pos);
        out->at += to.pos;
        more = end == ZSTD_e_end ? left > 0 : in.pos < in.size;
    }
    return out->status;
}

enum tide_status tide_index_put(struct tide_index_out *out, const void *bytes,
                                size_t length)
{
    out->head.raw_bytes += length;
    return length ? compress(out, bytes, length, ZSTD_e_continue) : out->status;
}

static enum tide_status end_section(struct tide_index_out *out)
{
    compress(out, NULL, 0, ZSTD_e_end);
    out->head.stored_bytes = out->at - out->head_at - sizeof(out->head);
    out->head.payload_sum = XXH3_64bits_digest(out->sum);
    out->head.checksum =
        XXH3_64bits(&out->head, offsetof(struct tide_section_head, checksum));
    return write_at(out, out->head_at, &out->head, sizeof(out->head));
}

enum tide_status tide_index_end_checkpoint(struct tide_index_out *out)
{
    return end_section(out);
}

enum tide_status tide_index_checkpoint(struct tide_index_out *out, uint64_t ticks,
                                       const struct tide_replay *replay)
{
    struct tide_text state = {0};
    const enum tide_status status = tide_replay_save(replay, &state);
    if (status && !out->status)
        out->status = status;
    const uint64_t length = state.length;
    begin_section(out, TIDE_SECTION_CHECKPOINT, ticks);
    tide_index_put(out, &length, sizeof(length));
    tide_index_put(out, state.bytes, state.length);
    tide_text_release(&state);
    return out->status;
}

/* --- Stacks --- */

static void put_frame(struct tide_index_out *out, const struct tide_frame *frame)
{
    uint8_t bytes[13];
    bytes[0] = frame->kind;
    memcpy(bytes + 1, &frame->module, 4);
    memcpy(bytes + 5, &frame->value, 8);
    tide_index_put(out, bytes, sizeof(bytes));
}

static void put_node(struct tide_index_out *out, const struct tide_node *node)
{
    const uint32_t words[] = {node->parent, node->frame};
    tide_index_put(out, words, sizeof(words));
}

static void put_stacks(struct tide_index_out *out, const struct tide_stacks *stacks)
{
    const uint64_t counts[] = {stacks->frame_count, stacks->node_count};
    begin_section(out, TIDE_SECTION_STACKS, 0);
    tide_index_put(out, counts, sizeof(counts));
    for (uint32_t i = 0; i < stacks->frame_count && !out->status; i++)
        put_frame(out, &stacks->frames[i]);
    for (uint32_t i = 1; i < stacks->node_count && !out->status; i++)
        put_node(out, &stacks->nodes[i]);
    end_section(out);
}

/* --- The file --- */

static enum tide_status write_header(struct tide_index_out *out,
                                     const struct tide_trace *trace,
                                     uint32_t model_version)
{
    struct tide_index_header header = {.version = TIDE_INDEX_VERSION,
                                       .model_version = model_version,
                                       .trace_bytes = trace->file_bytes,
                                       .trace_good_bytes = trace->good_bytes};
    memcpy(header.magic, TIDE_INDEX_MAGIC, sizeof(header.magic));
    memcpy(header.trace_id, trace->id, sizeof(header.trace_id));
    header.checksum =
        XXH3_64bits(&header, offsetof(struct tide_index_header, checksum));
    out->at = sizeof(header);
    return write_at(out, 0, &header, sizeof(header));
}

static enum tide_status make_file(struct tide_index_out *out, const char *path)
{
    if (asprintf(&out->name, "%s.idx", path) < 0) {
        out->name = NULL;
        return TIDE_ENOMEM;
    }
    if (asprintf(&out->temporary, "%s.XXXXXX", out->name) < 0) {
        out->temporary = NULL;
        return TIDE_ENOMEM;
    }
    out->fd = mkostemp(out->temporary, O_CLOEXEC); /* new, mode 0600 */
    return out->fd < 0 ? TIDE_EIO : TIDE_OK;
}

enum tide_status tide_index_create(const struct tide_trace *trace,
                                   uint32_t model_version, struct tide_index_out **out)
{
    *out = NULL;
    struct tide_index_out *made = calloc(1, sizeof(*made));
    if (!made)
        return TIDE_ENOMEM;
    made->fd = -1;
    made->zstd = ZSTD_createCCtx();
    made->sum = XXH3_createState();
    made->buffer = malloc(TIDE_INDEX_BUFFER);
    enum tide_status status = TIDE_ENOMEM;
    if (made->zstd && made->sum && made->buffer)
        status = make_file(made, trace->path);
    if (!status)
        status = write_header(made, trace, model_version);
    if (status) {
        tide_index_discard(made);
        return status;
    }
    (void)ZSTD_CCtx_setParameter(made->zstd, ZSTD_c_compressionLevel, TIDE_INDEX_LEVEL);
    *out = made;
    return TIDE_OK;
}

static void release(struct tide_index_out *out)
{
    if (out->fd >= 0)
        close(out->fd);
    ZSTD_freeCCtx(out->zstd);
    XXH3_freeState(out->sum);
    free(out->buffer);
    free(out->name);
    free(out->temporary);
    free(out);
}

void tide_index_discard(struct tide_index_out *out)
{
    if (!out)
        return;
    if (out->fd >= 0)
        unlink(out->temporary);
    release(out);
}

enum tide_status tide_index_commit(struct tide_index_out *out,
                                   const struct tide_stacks *stacks)
{
    put_stacks(out, stacks);
    if (!out->status && rename(out->temporary, out->name) != 0)
        out->status = TIDE_EIO;
    const enum tide_status status = out->status;
    if (status)
        tide_index_discard(out);
    else
        release(out);
    return status;
}

void tide_index_forget(const struct tide_trace *trace)
{
    char *name;
    if (asprintf(&name, "%s.idx", trace->path) < 0)
        return;
    (void)unlink(name);
    free(name);
}
