/* fuzz/fuzz_trace.c - the reader against bytes that somebody else has chosen.
 *
 * Random bytes rarely get past a checksum.  So the input is taken for a trace whose
 * checksums are wrong, and is mended first: magic numbers, lengths that fit into the
 * file, sums.  With an odd first byte it is read as it is.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#ifndef XXH_INLINE_ALL
#    define XXH_INLINE_ALL
#endif
#include <xxhash.h>

#include "trace/embedded.h"
#include "trace/format.h"
#include "trace/trace.h"

/* The name is libFuzzer's. NOLINTNEXTLINE(readability-identifier-naming) */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
    TIDE_FUZZ_EVENTS = 100 * 1000, /* enough of one input */
    TIDE_FUZZ_ADDRESSES = 256,
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

/* STORED bytes at PAYLOAD become columns of equal length, behind what says how long they
 * are; the sum of that, 0 when there is no room. */
static uint32_t mend_columns(uint8_t *payload, uint32_t stored)
{
    const uint32_t lengths = TIDE_COLUMNS * 2 * 2; /* two numbers each, of two bytes */
    if (stored < lengths + TIDE_COLUMNS)
        return 0;
    const uint32_t all = stored - lengths, each = all / TIDE_COLUMNS;
    for (uint32_t i = 0; i < TIDE_COLUMNS * 2; i++) {
        const uint32_t length = i < 2 ? all - each * (TIDE_COLUMNS - 1) : each;
        *payload++ = (uint8_t)(0x80 | length);
        *payload++ = (uint8_t)(length >> 7);
    }
    return all;
}

/* The chunk at BYTES becomes one that passes for whole; its length. */
static size_t mend_chunk(uint8_t *bytes, size_t left)
{
    struct tide_format_chunk head;
    memcpy(&head, bytes, sizeof(head));
    const size_t room = left - sizeof(head);
    head.magic = TIDE_CHUNK_MAGIC;
    head.kind = (uint16_t)(1 + head.kind % 4);
    head.flags &=
        TIDE_CHUNK_RESET | TIDE_CHUNK_PLAIN | TIDE_CHUNK_COLUMNS | TIDE_CHUNK_GOES_ON;
    head.stored_bytes = (uint32_t)(1 + head.stored_bytes % (room < 4096 ? room : 4096));
    const uint32_t columns = head.flags & TIDE_CHUNK_COLUMNS
                                 ? mend_columns(bytes + sizeof(head), head.stored_bytes)
                                 : 0;
    if (columns) {
        head.raw_bytes = columns;
        head.flags &= (uint16_t)~TIDE_CHUNK_PLAIN;
    } else if (head.flags & TIDE_CHUNK_PLAIN) {
        head.raw_bytes = head.stored_bytes;
    } else {
        head.raw_bytes = 1 + head.raw_bytes % TIDE_CHUNK_MAX;
    }
    head.process %= 4;
    head.lane %= 8;
    head.checksum =
        sum_of((const uint8_t *)&head, bytes + sizeof(head), head.stored_bytes);
    memcpy(bytes, &head, sizeof(head));
    return sizeof(head) + head.stored_bytes;
}

static void mend(uint8_t *bytes, size_t size)
{
    mend_header(bytes);
    size_t at = sizeof(struct tide_format_header);
    while (size - at > sizeof(struct tide_format_chunk))
        at += mend_chunk(bytes + at, size - at);
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

static void walk(struct tide_trace *trace)
{
    struct tide_stacks stacks;
    struct tide_replay *replay;
    struct tide_event events[32];
    size_t count = 0, total = 0;
    if (tide_stacks_init(&stacks) != TIDE_OK)
        return;
    if (tide_replay_open(trace, &stacks, &replay) == TIDE_OK) {
        while (tide_replay_next(replay, events, 32, &count) == TIDE_OK && count &&
               total < TIDE_FUZZ_EVENTS)
            total += count;
        tide_replay_close(replay);
    }
    look_up(trace);
    (void)tide_trace_name(trace, 0, 1);
    (void)tide_trace_seconds(trace, trace->end_ticks);
    tide_stacks_release(&stacks);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char why[160];
    struct tide_trace *trace;
    uint8_t *bytes = size ? malloc(size) : NULL;
    const int fd = memfd_create("trace", MFD_CLOEXEC);
    if (!bytes || fd < 0)
        goto out;
    memcpy(bytes, data, size);
    if (!(bytes[0] & 1) && size >= sizeof(struct tide_format_header))
        mend(bytes, size);
    if (write(fd, bytes, size) != (ssize_t)size)
        goto out;
    free(bytes);
    if (tide_trace_open_fd(fd, "input", why, sizeof(why), &trace) == TIDE_OK)
        walk(trace);
    tide_trace_close(trace);
    return 0;
out:
    free(bytes);
    if (fd >= 0)
        close(fd);
    return 0;
}
