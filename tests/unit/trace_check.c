/* unit/trace_check.c - look at every byte of a trace file that collect/ wrote. */
#include "trace_check.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include <cmocka.h>

#ifndef XXH_INLINE_ALL
#    define XXH_INLINE_ALL
#endif
#include <xxhash.h>

#include "fake_producer.h"

struct bytes {
    const uint8_t *at, *end;
};

static uint64_t get(struct bytes *bytes)
{
    uint64_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
        assert_true(bytes->at < bytes->end && shift < 64);
        const uint8_t byte = *bytes->at++;
        value |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80)
            return value;
    }
}

static struct bytes get_part(struct bytes *bytes)
{
    const uint64_t length = get(bytes);
    assert_true(length <= (uint64_t)(bytes->end - bytes->at));
    const struct bytes part = {bytes->at, bytes->at + length};
    bytes->at += length;
    return part;
}

/* --- Events --------------------------------------------------------------------------- */

static void check_extra(struct bytes *rest, struct tide_check_lane *lane)
{
    assert_int_equal(get(rest), TIDE_FAKE_EXTRA);
    struct bytes values = get_part(rest);
    const uint64_t counter = get(&values);
    assert_int_equal(counter, lane->records);
    for (uint64_t i = 1; values.at < values.end; i++)
        assert_int_equal(get(&values), counter * 7 + i);
    lane->records++;
}

static void check_sync(struct bytes *rest, const struct tide_format_chunk *head)
{
    const uint64_t ticks = get(rest);
    assert_true(ticks >= head->first_ticks && ticks <= head->last_ticks);
    (void)get(rest);
    (void)get(rest);
    (void)get(rest);
}

static void check_events(struct tide_check *check, const struct tide_format_chunk *head,
                         struct bytes columns[TIDE_COLUMNS])
{
    assert_true(head->process < TIDE_CHECK_PROCESSES && head->lane < TIDE_CHECK_LANES);
    assert_true(check->processes[head->process].begun);
    struct tide_check_lane *const lane = &check->lanes[head->process][head->lane];
    struct bytes *const tags = &columns[TIDE_COLUMN_TAGS];
    assert_int_equal(head->sequence, lane->chunks);
    const bool sync = *tags->at == TIDE_OP_SYNC;
    assert_int_equal(sync, (head->flags & TIDE_CHUNK_RESET) != 0);
    lane->chunks++;
    lane->resets += sync;
    lane->bytes += head->raw_bytes;
    for (; tags->at < tags->end; tags->at++) {
        if (*tags->at == TIDE_OP_SYNC) {
            check_sync(&columns[TIDE_COLUMN_REST], head);
        } else {
            assert_int_equal(*tags->at, TIDE_OP_EXTRA);
            check_extra(&columns[TIDE_COLUMN_REST], lane);
        }
    }
    for (size_t i = 0; i < TIDE_COLUMNS; i++)
        assert_ptr_equal(columns[i].at, columns[i].end);
}

/* --- Notes ---------------------------------------------------------------------------- */

static struct tide_check_process *process_of(struct tide_check *check, uint64_t index)
{
    assert_true(index < TIDE_CHECK_PROCESSES);
    return &check->processes[index];
}

static void check_begin(struct tide_check *check, struct bytes fields)
{
    const uint64_t index = get(&fields);
    struct tide_check_process *const process = process_of(check, index);
    assert_int_equal(index, check->process_count++);
    assert_false(process->begun);
    process->begun = true;
    process->pid = get(&fields);
    process->birth = get(&fields);
}

static void check_end(struct tide_check *check, struct bytes fields)
{
    struct tide_check_process *const process = process_of(check, get(&fields));
    assert_true(process->begun);
    assert_false(process->ended);
    process->ended = true;
    (void)get(&fields);
    process->status_known = get(&fields);
    process->status = get(&fields);
    process->dropped = get(&fields);
    process->reason = get(&fields);
}

static void check_rss(struct tide_check *check, struct bytes fields)
{
    struct tide_check_process *const process = process_of(check, get(&fields));
    (void)get(&fields);
    const uint64_t now = get(&fields), peak = get(&fields);
    assert_true(now > 0 && peak > 0);
    process->rss_notes++;
    if (peak > process->rss_peak)
        process->rss_peak = peak;
}

static void check_finish(struct tide_check *check, struct bytes fields)
{
    (void)get(&fields);
    assert_int_equal(get(&fields), check->chunks);
    (void)get(&fields);
    check->end_status = get(&fields);
    check->end_processes = get(&fields);
}

static void check_trouble(struct tide_check *check, struct bytes fields)
{
    const struct bytes text = get_part(&fields);
    (void)snprintf(check->trouble, sizeof(check->trouble), "%.*s",
                   (int)(text.end - text.at), (const char *)text.at);
    check->troubles++;
}

static void check_note(struct tide_check *check, uint64_t kind, struct bytes fields)
{
    switch (kind) {
    case TIDE_NOTE_PROCESS_BEGIN:
        check_begin(check, fields);
        break;
    case TIDE_NOTE_PROCESS_END:
        check_end(check, fields);
        break;
    case TIDE_NOTE_RSS:
        check_rss(check, fields);
        break;
    case TIDE_NOTE_TROUBLE:
        check_trouble(check, fields);
        break;
    case TIDE_NOTE_END:
        check_finish(check, fields);
        break;
    default:
        break;
    }
}

static void check_notes(struct tide_check *check, struct bytes notes)
{
    while (notes.at < notes.end) {
        const uint64_t kind = get(&notes);
        check_note(check, kind, get_part(&notes));
    }
}

/* --- The file ------------------------------------------------------------------------- */

static void check_payload(struct tide_check *check,
                          const struct tide_format_chunk *head, const uint8_t *raw)
{
    const struct bytes payload = {raw, raw + head->raw_bytes};
    if (head->kind == TIDE_CHUNK_NOTES)
        process_of(check, head->process)->note_bytes += head->raw_bytes;
    else
        assert_int_equal(head->process, TIDE_NO_PROCESS);
    check_notes(check, payload);
    check->complete = head->kind == TIDE_CHUNK_END;
}

/* LENGTH tags from their halves, which are compressed. */
static void unpack_tags(const uint8_t *from, size_t stored, uint8_t *raw, size_t length)
{
    static uint8_t halves[TIDE_CHUNK_MAX * 2];
    const size_t size = ZSTD_decompress(halves, sizeof(halves), from, stored);
    size_t other = 15 + (length + 1) / 2;
    assert_false(ZSTD_isError(size));
    for (size_t i = 0; i < length; i++) {
        const unsigned half = i % 2 ? halves[15 + i / 2] / 16 : halves[15 + i / 2] % 16;
        raw[i] = half < 15 ? halves[half] : halves[other++];
    }
    assert_int_equal(other, size);
}

/* The columns at PAYLOAD, decompressed into RAW. */
static void unpack_columns(const struct tide_format_chunk *head, const uint8_t *payload,
                           uint8_t *raw, struct bytes columns[TIDE_COLUMNS])
{
    struct bytes stored = {payload, payload + head->stored_bytes};
    uint64_t lengths[TIDE_COLUMNS], packed[TIDE_COLUMNS], sum = 0;
    for (size_t i = 0; i < TIDE_COLUMNS; i++) {
        lengths[i] = get(&stored);
        packed[i] = get(&stored);
        sum += lengths[i];
    }
    assert_int_equal(sum, head->raw_bytes);
    for (size_t i = 0; i < TIDE_COLUMNS; i++) {
        assert_true(packed[i] <= lengths[i] &&
                    packed[i] <= (uint64_t)(stored.end - stored.at));
        if (packed[i] == lengths[i])
            memcpy(raw, stored.at, lengths[i]);
        else if (i == TIDE_COLUMN_TAGS)
            unpack_tags(stored.at, packed[i], raw, lengths[i]);
        else
            assert_int_equal(ZSTD_decompress(raw, lengths[i], stored.at, packed[i]),
                             lengths[i]);
        columns[i] = (struct bytes){raw, raw + lengths[i]};
        stored.at += packed[i];
        raw += lengths[i];
    }
    assert_ptr_equal(stored.at, stored.end);
}

static void check_chunk(struct tide_check *check, const struct tide_format_chunk *head,
                        const uint8_t *payload)
{
    static uint8_t raw[TIDE_CHUNK_MAX];
    XXH3_state_t state;
    XXH3_64bits_reset(&state);
    XXH3_64bits_update(&state, head, 56);
    XXH3_64bits_update(&state, payload, head->stored_bytes);
    assert_true(XXH3_64bits_digest(&state) == head->checksum);
    assert_int_equal(head->magic, TIDE_CHUNK_MAGIC);
    assert_in_range(head->raw_bytes, 1, TIDE_CHUNK_MAX);
    assert_true(head->first_ticks <= head->last_ticks);
    assert_false(check->complete);
    assert_int_equal(head->kind == TIDE_CHUNK_EVENTS,
                     (head->flags & TIDE_CHUNK_COLUMNS) != 0);
    if (head->flags & TIDE_CHUNK_COLUMNS) {
        struct bytes columns[TIDE_COLUMNS];
        unpack_columns(head, payload, raw, columns);
        check_events(check, head, columns);
    } else if (head->flags & TIDE_CHUNK_PLAIN) {
        assert_int_equal(head->raw_bytes, head->stored_bytes);
        check_payload(check, head, payload);
    } else {
        assert_true(head->stored_bytes < head->raw_bytes);
        assert_int_equal(ZSTD_decompress(raw, sizeof(raw), payload, head->stored_bytes),
                         head->raw_bytes);
        check_payload(check, head, raw);
    }
    check->chunks++;
}

static uint8_t *read_file(const char *path, size_t *length)
{
    FILE *const file = fopen(path, "rb");
    assert_non_null(file);
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    const long size = ftell(file);
    assert_true(size >= 0);
    rewind(file);
    uint8_t *const bytes = malloc((size_t)size + 1);
    assert_non_null(bytes);
    assert_int_equal(fread(bytes, 1, (size_t)size, file), size);
    (void)fclose(file);
    *length = (size_t)size;
    return bytes;
}

void tide_check_file(const char *path, bool torn, struct tide_check *out)
{
    struct tide_format_header header;
    struct tide_format_chunk head;
    size_t length;
    uint8_t *const bytes = read_file(path, &length);
    memset(out, 0, sizeof(*out));
    assert_true(length >= sizeof(header));
    memcpy(&header, bytes, sizeof(header));
    assert_memory_equal(header.magic, "tidemark", 8);
    assert_int_equal(header.version, 1);
    assert_true(XXH3_64bits(&header, 56) == header.checksum);
    assert_true(header.ticks_per_second > 1000000);

    size_t at = header.header_bytes;
    while (at < length) {
        if (torn && length - at < sizeof(head))
            break;
        assert_true(length - at >= sizeof(head));
        memcpy(&head, bytes + at, sizeof(head));
        at += sizeof(head);
        if (torn && length - at < head.stored_bytes)
            break;
        assert_true(length - at >= head.stored_bytes);
        check_chunk(out, &head, bytes + at);
        at += head.stored_bytes;
    }
    free(bytes);
}
