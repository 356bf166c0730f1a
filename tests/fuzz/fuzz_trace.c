/* fuzz/fuzz_trace.c - the reader against bytes that somebody else has chosen.
 *
 * Random bytes rarely get past a checksum, and never through a compressor.  So the input is
 * taken for a trace that nobody has finished, and is finished first: magic numbers, lengths
 * that fit, sums.  The payload of a chunk by columns is fifteen lengths (u16) and the columns,
 * plain; where the head's `reserved` is odd, that of tags are halves of as many tags as
 * `reserved2` says, and are compressed.  An input that begins with an odd byte is read as it
 * is, but for that byte.  take_apart.py makes such inputs of traces.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#ifndef XXH_INLINE_ALL
#    define XXH_INLINE_ALL
#endif
#include <xxhash.h>
#include <zstd.h>

#include "base/raw/varint.h"
#include "base/text.h"
#include "trace/embedded.h"
#include "trace/format.h"
#include "trace/trace.h"

/* The name is libFuzzer's. NOLINTNEXTLINE(readability-identifier-naming) */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
    TIDE_FUZZ_EVENTS = 100 * 1000, /* enough of one input */
    TIDE_FUZZ_BATCH = 32,
    TIDE_FUZZ_ADDRESSES = 256,
    TIDE_FUZZ_PAYLOAD = 1 << 16,                  /* at most, of a chunk of the input */
    TIDE_FUZZ_LENGTHS = TIDE_COLUMNS * 2,         /* what they take in the input */
    TIDE_FUZZ_SPARE = TIDE_COLUMNS * 2 * 3 + 512, /* they, and frames, may take more */
};

static uint64_t sum_of(const uint8_t *head, const uint8_t *payload, size_t length)
{
    XXH3_state_t state;
    (void)XXH3_64bits_reset(&state);
    (void)XXH3_64bits_update(&state, head, 56);
    (void)XXH3_64bits_update(&state, payload, length);
    return XXH3_64bits_digest(&state);
}

static void mend_header(uint8_t *bytes)
{
    struct tide_format_header header;
    memcpy(&header, bytes, sizeof(header));
    memcpy(header.magic, TIDE_FILE_MAGIC, sizeof(header.magic));
    header.version = TIDE_FILE_VERSION;
    header.header_bytes = sizeof(header);
    header.checksum = XXH3_64bits(&header, 56);
    memcpy(bytes, &header, sizeof(header));
}

/* A column to OUT: the LENGTH bytes at FROM, or a frame of them; how many bytes it takes. */
static size_t put_column(const uint8_t *from, size_t length, bool packed, uint8_t *out)
{
    if (packed)
        return ZSTD_compress(out, ZSTD_compressBound(length), from, length, 1);
    memcpy(out, from, length);
    return length;
}

/* A payload by columns to OUT, from the LENGTH bytes at FROM, which have room for lengths at
 * least. */
static void finish_columns(struct tide_format_chunk *head, const uint8_t *from,
                           size_t length, uint8_t *out)
{
    const uint8_t *given = from;
    const uint8_t *const end = from + length;
    const bool halves = head->reserved & 1;
    uint8_t *lengths = out, columns[TIDE_FUZZ_PAYLOAD + TIDE_FUZZ_SPARE], *to = columns;
    head->raw_bytes = 0;
    from += TIDE_FUZZ_LENGTHS;
    for (unsigned i = 0; i < TIDE_COLUMNS; i++, given += 2) {
        const size_t left = (size_t)(end - from);
        const size_t wish = given[0] | (size_t)given[1] << 8;
        const size_t taken = wish < left && i + 1 < TIDE_COLUMNS ? wish : left;
        const bool as_halves = halves && i == TIDE_COLUMN_TAGS;
        const size_t stored = put_column(from, taken, as_halves, to);
        const size_t raw = as_halves ? head->reserved2 % TIDE_FUZZ_PAYLOAD : taken;
        lengths = tide_put_varint(tide_put_varint(lengths, raw), stored);
        head->raw_bytes += (uint32_t)raw;
        from += taken;
        to += stored;
    }
    memcpy(lengths, columns, (size_t)(to - columns));
    head->stored_bytes = (uint32_t)(lengths - out + (to - columns));
    head->flags &= (uint16_t)~TIDE_CHUNK_PLAIN;
}

/* The payload of LENGTH bytes at FROM to OUT, of which HEAD is told. */
static void finish_payload(struct tide_format_chunk *head, const uint8_t *from,
                           size_t length, uint8_t *out)
{
    if (head->flags & TIDE_CHUNK_COLUMNS && length >= TIDE_FUZZ_LENGTHS) {
        finish_columns(head, from, length, out);
        return;
    }
    head->stored_bytes = (uint32_t)length;
    head->raw_bytes = head->flags & TIDE_CHUNK_PLAIN
                          ? head->stored_bytes
                          : 1 + head->raw_bytes % TIDE_CHUNK_MAX;
    memcpy(out, from, length);
}

/* The chunk at BYTES becomes one that passes for whole, at OUT; how many of the LEFT bytes
 * it took. */
static size_t finish_chunk(const uint8_t *bytes, size_t left, uint8_t **out)
{
    struct tide_format_chunk head;
    memcpy(&head, bytes, sizeof(head));
    const size_t room = left - sizeof(head);
    const size_t most = room < TIDE_FUZZ_PAYLOAD ? room : TIDE_FUZZ_PAYLOAD;
    const size_t length = 1 + head.stored_bytes % most;
    head.magic = TIDE_CHUNK_MAGIC;
    head.kind = (uint16_t)(1 + head.kind % 4);
    head.flags &=
        TIDE_CHUNK_RESET | TIDE_CHUNK_PLAIN | TIDE_CHUNK_COLUMNS | TIDE_CHUNK_GOES_ON;
    head.process %= 4;
    head.lane %= 8;
    finish_payload(&head, bytes + sizeof(head), length, *out + sizeof(head));
    head.checksum =
        sum_of((const uint8_t *)&head, *out + sizeof(head), head.stored_bytes);
    memcpy(*out, &head, sizeof(head));
    *out += sizeof(head) + head.stored_bytes;
    return sizeof(head) + length;
}

/* The SIZE bytes at BYTES as a trace at OUT; its length. */
static size_t finish(const uint8_t *bytes, size_t size, uint8_t *out)
{
    uint8_t *end = out + sizeof(struct tide_format_header);
    size_t at = sizeof(struct tide_format_header);
    memcpy(out, bytes, at);
    mend_header(out);
    while (size - at > sizeof(struct tide_format_chunk))
        at += finish_chunk(bytes + at, size - at, &end);
    return (size_t)(end - out);
}

/* Names that the trace brings. */
static void look_up(const struct tide_trace *trace)
{
    struct tide_embedded *embedded;
    size_t count;
    if (tide_embedded_open(trace, &embedded) == TIDE_OK)
        for (uint64_t address = 0; address < TIDE_FUZZ_ADDRESSES; address++)
            (void)tide_embedded_find(embedded, 0, address, &count);
    tide_embedded_close(embedded);
}

static bool same(const struct tide_event *a, const struct tide_event *b)
{
    return a->kind == b->kind && a->lane == b->lane && a->ticks == b->ticks &&
           a->address == b->address && a->size == b->size && a->usable == b->usable &&
           a->stack == b->stack && a->value == b->value;
}

/* The next events of REPLAY; how many there are.  If AGAIN is not NULL, they are its next
 * ones, too. */
static size_t step(struct tide_replay *replay, struct tide_replay *again)
{
    struct tide_event events[TIDE_FUZZ_BATCH], others[TIDE_FUZZ_BATCH];
    size_t count = 0, other = 0;
    const enum tide_status status =
        tide_replay_next(replay, events, TIDE_FUZZ_BATCH, &count);
    if (!again)
        return status ? 0 : count;
    if (tide_replay_next(again, others, TIDE_FUZZ_BATCH, &other) != status ||
        count != other)
        abort();
    for (size_t i = 0; i < count; i++)
        if (!same(&events[i], &others[i]))
            abort();
    return status ? 0 : count;
}

/* Another replay of TRACE, brought to where REPLAY stands; NULL: there is no memory. */
static struct tide_replay *follow(struct tide_trace *trace, struct tide_stacks *stacks,
                                  const struct tide_replay *replay)
{
    struct tide_replay *again = NULL;
    struct tide_text saved = {0};
    if (tide_replay_save(replay, &saved) == TIDE_OK &&
        tide_replay_open(trace, stacks, &again) == TIDE_OK &&
        tide_replay_restore(again, saved.bytes, saved.length) != TIDE_OK)
        abort();
    tide_text_release(&saved);
    return again;
}

/* Read everything, from the batch number FROM on twice: by who read what was before, and by
 * who was brought there. */
static void walk(struct tide_trace *trace, size_t from)
{
    struct tide_stacks stacks;
    struct tide_replay *replay, *again = NULL;
    size_t count = 1;
    if (tide_stacks_init(&stacks) != TIDE_OK)
        return;
    if (tide_replay_open(trace, &stacks, &replay) == TIDE_OK) {
        for (size_t i = 0; count && i < TIDE_FUZZ_EVENTS / TIDE_FUZZ_BATCH; i++) {
            if (i == from)
                again = follow(trace, &stacks, replay);
            count = step(replay, again);
        }
        tide_replay_close(again);
        tide_replay_close(replay);
    }
    look_up(trace);
    (void)tide_trace_name(trace, 0, 1);
    (void)tide_trace_seconds(trace, trace->end_ticks);
    tide_stacks_release(&stacks);
}

/* What the input becomes in a file, in memory that the caller frees. */
static uint8_t *trace_of(const uint8_t *data, size_t size, size_t *length)
{
    const size_t chunks = size / sizeof(struct tide_format_chunk);
    uint8_t *const bytes = malloc(size + (chunks + 1) * TIDE_FUZZ_SPARE);
    if (!bytes)
        return NULL;
    if (size < sizeof(struct tide_format_header) || data[0] & 1) {
        *length = size - 1;
        memcpy(bytes, data + 1, size - 1);
    } else {
        *length = finish(data, size, bytes);
    }
    return bytes;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char why[160];
    struct tide_trace *trace;
    size_t length = 0;
    uint8_t *const bytes = size ? trace_of(data, size, &length) : NULL;
    const int fd = memfd_create("trace", MFD_CLOEXEC);
    if (!bytes || fd < 0)
        goto out;
    if (write(fd, bytes, length) != (ssize_t)length)
        goto out;
    free(bytes);
    if (tide_trace_open_fd(fd, "input", why, sizeof(why), &trace) == TIDE_OK)
        walk(trace, data[size - 1]);
    tide_trace_close(trace);
    return 0;
out:
    free(bytes);
    if (fd >= 0)
        close(fd);
    return 0;
}
