/* unit/test_damage.c - traces that are cut, damaged, or made to do harm.
 *
 * Whatever the bytes are, reading ends, and says so when they are not what was written.
 * Run under a sanitizer this also says that nothing is read or written out of place.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "trace_builder.h"
#include "trace_rich.h"
#include "trace_walk.h"

/* What reads out of place is seen by a sanitizer; without one there is less to see. */
enum { TIDE_MUTATIONS = TIDE_SANITIZED ? 10000 : 2000 };

static uint64_t random_state = 88172645463325252u;

static uint32_t random_below(size_t limit)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((random_state >> 33) % limit);
}

/* The end of the last whole chunk within the first LENGTH bytes. */
static size_t last_whole(const struct tide_buffer *file, size_t length)
{
    size_t at = sizeof(struct tide_format_header);
    for (;;) {
        struct tide_format_chunk head;
        if (at + sizeof(head) > length)
            return at;
        memcpy(&head, file->bytes + at, sizeof(head));
        if (at + sizeof(head) + head.stored_bytes > length)
            return at;
        at += sizeof(head) + head.stored_bytes;
    }
}

static void the_whole_trace_is_fine(void **state)
{
    const struct tide_builder *builder = *state;
    struct tide_walked walked;
    assert_int_equal(tide_walk(tide_builder_fd(builder), 100, &walked), TIDE_OK);
    assert_true(walked.trace->complete);
    assert_string_equal(walked.trace->problem, "");
    assert_int_equal(walked.counts.reordered, 0);
    assert_int_equal(walked.counts.lost_records, 0);
    assert_int_equal(walked.counts.events, TIDE_RICH_EVENTS);
    tide_walk_release(&walked);
}

static void a_cut_at_every_byte_says_where_it_ends(void **state)
{
    const struct tide_builder *builder = *state;
    const struct tide_buffer *file = &builder->file;
    uint64_t events_before = 0;
    for (size_t length = 0; length < file->length; length++) {
        struct tide_walked walked;
        const enum tide_status status =
            tide_walk(tide_fd_of_bytes(file->bytes, length), 100, &walked);
        if (length < sizeof(struct tide_format_header)) {
            assert_int_equal(status, TIDE_ETRUNCATED);
            continue;
        }
        char expected[100];
        const size_t end = last_whole(file, length);
        if (length == end)
            snprintf(expected, sizeof(expected), "ends early at byte %zu", end);
        else
            snprintf(expected, sizeof(expected),
                     "ends early at byte %zu; %zu byte%s unread", end, length - end,
                     length - end == 1 ? "" : "s");
        assert_int_equal(status, TIDE_OK);
        assert_false(walked.trace->complete);
        assert_string_equal(walked.trace->problem, expected);
        assert_int_equal(walked.trace->good_bytes, end);
        assert_true(walked.counts.events >= events_before);
        events_before = walked.counts.events;
        tide_walk_release(&walked);
    }
    assert_int_equal(events_before, TIDE_RICH_EVENTS);
}

static void flip(uint8_t *bytes, size_t length)
{
    bytes[random_below(length)] ^= (uint8_t)(1u << random_below(8));
}

static void overwrite(uint8_t *bytes, size_t length)
{
    const size_t at = random_below(length), left = length - at;
    const size_t count = 1 + random_below(left < 300 ? left : 300);
    const int value = random_below(3) ? (int)random_below(256) : 255;
    memset(bytes + at, value, count);
}

static void copy_within(uint8_t *bytes, size_t length)
{
    const size_t from = random_below(length), to = random_below(length);
    const size_t left = length - (from > to ? from : to);
    memmove(bytes + to, bytes + from, 1 + random_below(left < 500 ? left : 500));
}

static void mutate(uint8_t *bytes, size_t length)
{
    static void (*const ways[])(uint8_t *, size_t) = {flip, flip, overwrite,
                                                      copy_within};
    for (uint32_t i = 0, count = 1 + random_below(4); i < count; i++)
        ways[random_below(4)](bytes, length);
}

/* Reading BYTES ends with one of the statuses that a damaged file may give. */
static bool reads_as_whole(const uint8_t *bytes, size_t length)
{
    struct tide_walked walked;
    const enum tide_status status =
        tide_walk(tide_fd_of_bytes(bytes, length), 1 + random_below(300), &walked);
    const bool whole = status == TIDE_OK && walked.trace->complete &&
                       !walked.trace->problem[0] && !walked.counts.lost_records;
    if (status != TIDE_OK && status != TIDE_ENOTTRACE && status != TIDE_ECORRUPT &&
        status != TIDE_ETRUNCATED && status != TIDE_EVERSION)
        fail_msg("unexpected status %d", (int)status);
    tide_walk_release(&walked);
    return whole;
}

static void every_mutation_is_survived_and_noticed(void **state)
{
    const struct tide_builder *builder = *state;
    const struct tide_buffer *file = &builder->file;
    uint8_t *bytes = malloc(file->length);
    assert_non_null(bytes);
    for (int i = 0; i < TIDE_MUTATIONS; i++) {
        const uint64_t seed = random_state;
        memcpy(bytes, file->bytes, file->length);
        mutate(bytes, file->length);
        const bool changed = memcmp(bytes, file->bytes, file->length) != 0;
        if (changed && reads_as_whole(bytes, file->length))
            fail_msg("a change went unnoticed, state %llu", (unsigned long long)seed);
    }
    free(bytes);
}

/* Change something in the chunk that holds byte WANTED of FILE, and make its checksum
 * right: mostly the payload; sometimes the header, but for its lengths. */
static void mutate_chunk(const struct tide_buffer *file, uint8_t *bytes, size_t wanted)
{
    size_t at = sizeof(struct tide_format_header), next = at;
    while (next <= wanted) {
        struct tide_format_chunk head;
        at = next;
        memcpy(&head, file->bytes + at, sizeof(head));
        next = at + sizeof(head) + head.stored_bytes;
    }
    const size_t skip = random_below(8) ? sizeof(struct tide_format_chunk) : 16;
    mutate(bytes + at + skip, next - at - skip);
    tide_builder_seal(bytes + at);
}

/* Somebody who wants to do harm makes the checksums right. */
static void every_mutation_with_right_checksums_is_survived(void **state)
{
    const struct tide_builder *builder = *state;
    const struct tide_buffer *file = &builder->file;
    const size_t start = sizeof(struct tide_format_header);
    uint8_t *bytes = malloc(file->length);
    assert_non_null(bytes);
    size_t whole = 0;
    for (int i = 0; i < TIDE_MUTATIONS; i++) {
        memcpy(bytes, file->bytes, file->length);
        for (uint32_t j = 0, count = 1 + random_below(3); j < count; j++)
            mutate_chunk(file, bytes, start + random_below(file->length - start));
        whole += reads_as_whole(bytes, file->length);
    }
    /* Many changes only change what the trace says. */
    assert_true(whole > TIDE_MUTATIONS / 100);
    free(bytes);
}

/* --- Bombs --- */

enum { TIDE_BOMB_BYTES = 256 * 1024 }; /* of each chunk */

static struct tide_builder *bomb(uint16_t kind, const uint8_t *unit, size_t unit_bytes,
                                 uint32_t chunks)
{
    struct tide_builder *builder = tide_builder_new();
    struct tide_buffer raw = {0};
    if (kind == TIDE_CHUNK_EVENTS) {
        const uint8_t sync[] = {TIDE_OP_SYNC, 1, 0, 0, 0};
        tide_buffer_put(&raw, sync, sizeof(sync));
    }
    while (raw.length + unit_bytes <= TIDE_BOMB_BYTES)
        tide_buffer_put(&raw, unit, unit_bytes);
    for (uint32_t i = 0; i < chunks; i++) {
        const struct tide_format_chunk head = {
            .kind = kind, .flags = TIDE_CHUNK_RESET, .sequence = i};
        tide_builder_chunk(builder, head, &raw);
    }
    tide_buffer_release(&raw);
    tide_builder_finish(builder);
    return builder;
}

static void a_bomb_of_events_is_read_piece_by_piece(void **state)
{
    (void)state;
    const uint8_t free_again[] = {TIDE_OP_FREE, 0};
    struct tide_builder *builder =
        bomb(TIDE_CHUNK_EVENTS, free_again, sizeof(free_again), 16);
    assert_true(builder->file.length < 8000); /* of 4 MiB */
    struct tide_trace *trace;
    struct tide_stacks stacks;
    struct tide_replay *replay;
    char why[100];
    assert_int_equal(
        tide_trace_open_fd(tide_builder_fd(builder), "bomb", why, sizeof(why), &trace),
        TIDE_OK);
    assert_int_equal(tide_stacks_init(&stacks), TIDE_OK);
    assert_int_equal(tide_replay_open(trace, &stacks, &replay), TIDE_OK);
    struct tide_event events[32];
    size_t count;
    do {
        assert_int_equal(tide_replay_next(replay, events, 32, &count), TIDE_OK);
    } while (count);
    const uint64_t per_chunk = (TIDE_BOMB_BYTES - 5) / 2;
    assert_int_equal(tide_replay_counts(replay)->events, 16 * per_chunk);
    tide_replay_close(replay);
    tide_stacks_release(&stacks);
    tide_trace_close(trace);
    tide_builder_free(builder);
}

static void a_bomb_of_notes_stops_at_the_budget(void **state)
{
    (void)state;
    const uint8_t name[] = {TIDE_NOTE_NAME, 2, 9, 0};
    struct tide_builder *builder = bomb(TIDE_CHUNK_NOTES, name, sizeof(name), 100);
    struct tide_walked walked;
    assert_int_equal(tide_walk(tide_builder_fd(builder), 10, &walked), TIDE_OK);
    assert_true(walked.trace->bad_chunks > 50);
    assert_true(strstr(walked.trace->problem, "passed over") != NULL);
    tide_walk_release(&walked);
    tide_builder_free(builder);
}

static void a_chunk_that_is_longer_than_it_says_is_refused(void **state)
{
    (void)state;
    struct tide_builder *builder = tide_builder_new();
    struct tide_lane_out *lane = tide_builder_lane(builder, 0, 0);
    tide_out_sync(lane, 2000, 0);
    for (int i = 0; i < 1000; i++)
        tide_out_free(lane, 64);
    const size_t at = builder->file.length;
    tide_out_cut(lane);
    struct tide_format_chunk head;
    memcpy(&head, builder->file.bytes + at, sizeof(head));
    assert_int_equal(head.flags, TIDE_CHUNK_RESET); /* compressed */
    for (int delta = -1; delta <= 1; delta++) {
        struct tide_walked walked;
        head.raw_bytes += (uint32_t)delta;
        memcpy(builder->file.bytes + at, &head, sizeof(head));
        tide_builder_seal(builder->file.bytes + at);
        assert_int_equal(tide_walk(tide_builder_fd(builder), 10, &walked), TIDE_OK);
        assert_int_equal(walked.counts.events, delta == 0 ? 0 : (delta < 0 ? 0 : 1000));
        assert_int_equal(walked.trace->bad_chunks, delta > 0 ? 0 : 1);
        tide_walk_release(&walked);
    }
    tide_builder_free(builder);
}

/* A file full of things that look like chunks and are none is searched in finite time. */
static void a_field_of_false_headers_is_crossed(void **state)
{
    (void)state;
    struct tide_builder *builder = tide_builder_new();
    const struct tide_format_chunk head = {.magic = TIDE_CHUNK_MAGIC,
                                           .kind = TIDE_CHUNK_EVENTS,
                                           .stored_bytes = TIDE_CHUNK_MAX,
                                           .raw_bytes = TIDE_CHUNK_MAX};
    for (int i = 0; i < 30000; i++)
        tide_buffer_put(&builder->file, &head, sizeof(head));
    const clock_t start = clock();
    struct tide_walked walked;
    assert_int_equal(tide_walk(tide_builder_fd(builder), 10, &walked), TIDE_OK);
    assert_false(walked.trace->complete);
    assert_int_equal(walked.count, 0);
    assert_true((clock() - start) / CLOCKS_PER_SEC < 20);
    tide_walk_release(&walked);
    tide_builder_free(builder);
}

static int make(void **state)
{
    *state = tide_rich_trace(true);
    return 0;
}

static int make_compressed(void **state)
{
    *state = tide_rich_trace(false);
    return 0;
}

static int forget(void **state)
{
    tide_builder_free(*state);
    return 0;
}

int main(void)
{
#define PLAIN(name)  cmocka_unit_test_setup_teardown(name, make, forget)
#define PACKED(name) cmocka_unit_test_setup_teardown(name, make_compressed, forget)
    const struct CMUnitTest tests[] = {
        PLAIN(the_whole_trace_is_fine),
        PACKED(the_whole_trace_is_fine),
        PLAIN(a_cut_at_every_byte_says_where_it_ends),
        PACKED(a_cut_at_every_byte_says_where_it_ends),
        PLAIN(every_mutation_is_survived_and_noticed),
        PLAIN(every_mutation_with_right_checksums_is_survived),
        PACKED(every_mutation_with_right_checksums_is_survived),
        cmocka_unit_test(a_bomb_of_events_is_read_piece_by_piece),
        cmocka_unit_test(a_bomb_of_notes_stops_at_the_budget),
        cmocka_unit_test(a_chunk_that_is_longer_than_it_says_is_refused),
        cmocka_unit_test(a_field_of_false_headers_is_crossed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
