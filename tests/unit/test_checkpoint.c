/* unit/test_checkpoint.c - a model read from a checkpoint on is the same model. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>
#ifndef XXH_INLINE_ALL
#    define XXH_INLINE_ALL
#endif
#include <xxhash.h>
#include <zstd.h>

#include "model/checkpoint.h"
#include "model/model.h"
#include "order_model.h"
#include "trace/index_file.h"

/* A trace with threads in a folder of its own. */
struct fixture {
    char folder[40], path[64], index[72];
};

static int set_up(void **state)
{
    static struct fixture fixture;
    struct fixture *f = &fixture;
    const struct tide_program_options options = {
        .seed = 5, .threads = 6, .turns = 30000, .addresses = 60, .regions = true};
    struct tide_history history;
    snprintf(f->folder, sizeof(f->folder), "/tmp/tide_checkpoint_XXXXXX");
    if (!mkdtemp(f->folder))
        return -1;
    snprintf(f->path, sizeof(f->path), "%.30s/x.tide", f->folder);
    snprintf(f->index, sizeof(f->index), "%.60s.idx", f->path);
    tide_history_run(&options, &history);
    const int fd = open(f->path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    const struct tide_buffer *file = &history.builder->file;
    const bool written = write(fd, file->bytes, file->length) == (ssize_t)file->length;
    close(fd);
    tide_history_release(&history);
    *state = f;
    return !written;
}

static int tear_down(void **state)
{
    const struct fixture *f = *state;
    unlink(f->index);
    unlink(f->path);
    return rmdir(f->folder); /* fails when a temporary file was left behind */
}

static struct tide_trace *open_trace(const struct fixture *f)
{
    char why[100];
    struct tide_trace *trace;
    assert_int_equal(tide_trace_open(f->path, why, sizeof(why), &trace), TIDE_OK);
    return trace;
}

/* Read by turns with and without a thread ahead. */
static struct tide_model *load(struct tide_trace *trace, double until,
                               uint64_t threshold)
{
    static enum tide_ahead ahead;
    ahead = ahead == TIDE_AHEAD_ALWAYS ? TIDE_AHEAD_NEVER : TIDE_AHEAD_ALWAYS;
    const struct tide_model_options options = {
        .until_s = until, .index_threshold = threshold, .ahead = ahead};
    struct tide_model *model;
    assert_int_equal(tide_model_load(trace, &options, &model), TIDE_OK);
    return model;
}

static void same_keys(const struct tide_model *a, const struct tide_model *b)
{
    assert_int_equal(a->key_count, b->key_count);
    assert_memory_equal(a->keys, b->keys, a->key_count * sizeof(*a->keys));
    assert_int_equal(a->key_more_count, b->key_more_count);
    assert_memory_equal(a->key_more, b->key_more,
                        a->key_more_count * sizeof(*a->key_more));
    assert_int_equal(a->context_count, b->context_count);
    assert_memory_equal(a->contexts, b->contexts,
                        a->context_count * sizeof(*a->contexts));
    assert_int_equal(a->key_thread_count, b->key_thread_count);
    assert_memory_equal(a->key_threads, b->key_threads,
                        a->key_thread_count * sizeof(*a->key_threads));
    assert_int_equal(a->flow_count, b->flow_count);
    assert_memory_equal(a->flows, b->flows, a->flow_count * sizeof(*a->flows));
    assert_int_equal(a->honesty.region_mismatches, b->honesty.region_mismatches);
    assert_int_equal(a->honesty.unmatched_labels, b->honesty.unmatched_labels);
    assert_int_equal(a->honesty.oversized_labels, b->honesty.oversized_labels);
}

static void same_model(const struct tide_model *a, const struct tide_model *b)
{
    assert_memory_equal(a->summary, b->summary, sizeof(a->summary));
    assert_int_equal(a->together_bytes, b->together_bytes);
    assert_int_equal(a->site_count, b->site_count);
    assert_memory_equal(a->sites, b->sites, a->site_count * sizeof(*a->sites));
    assert_int_equal(a->honesty.events, b->honesty.events);
    assert_int_equal(a->honesty.unmatched_frees, b->honesty.unmatched_frees);
    assert_int_equal(a->honesty.replaced_blocks, b->honesty.replaced_blocks);
    assert_int_equal(a->honesty.reordered, b->honesty.reordered);
    assert_memory_equal(a->extra_records, b->extra_records, sizeof(a->extra_records));
    same_keys(a, b);
}

/* The model at 50 moments of the run, with the index and without. */
static void compare_at_all_times(const struct fixture *f, uint64_t threshold)
{
    struct tide_trace *trace = open_trace(f);
    const double end = tide_trace_seconds(trace, trace->end_ticks);
    for (int i = 0; i <= 50; i++) {
        struct tide_model *with = load(trace, end * i / 50, threshold);
        struct tide_model *without = load(trace, end * i / 50, UINT64_MAX);
        same_model(with, without);
        tide_model_free(with);
        tide_model_free(without);
    }
    tide_trace_close(trace);
}

static void write_index(const struct fixture *f)
{
    struct tide_trace *trace = open_trace(f);
    tide_model_free(load(trace, -1, 1));
    tide_trace_close(trace);
    assert_int_equal(access(f->index, F_OK), 0);
}

/* Which checkpoint serves TICKS: how many events it saves.  0: none. */
static uint64_t events_saved(const struct fixture *f, double seconds)
{
    struct tide_trace *trace = open_trace(f);
    struct tide_stacks stacks;
    struct tide_replay *replay;
    struct tide_account account;
    const struct tide_account_setup setup = {.processes = trace->processes,
                                             .process_count = trace->process_count};
    bool resumed;
    assert_int_equal(tide_stacks_init(&stacks), TIDE_OK);
    assert_int_equal(tide_replay_open(trace, &stacks, &replay), TIDE_OK);
    assert_int_equal(tide_account_init(&account, &setup), TIDE_OK);
    const uint64_t ticks =
        trace->start_ticks + (uint64_t)(seconds * trace->ticks_per_second);
    assert_int_equal(tide_checkpoint_resume(&account, &stacks, replay, ticks, &resumed),
                     TIDE_OK);
    const uint64_t events = tide_replay_counts(replay)->events;
    assert_true(resumed == (events > 0));
    tide_account_release(&account);
    tide_replay_close(replay);
    tide_stacks_release(&stacks);
    tide_trace_close(trace);
    return events;
}

static void a_model_from_a_checkpoint_is_the_same(void **state)
{
    const struct fixture *f = *state;
    write_index(f);
    compare_at_all_times(f, 1);
}

static void checkpoints_save_most_of_the_way(void **state)
{
    const struct fixture *f = *state;
    assert_int_equal(events_saved(f, 1e6), 0);
    write_index(f);
    struct tide_trace *trace = open_trace(f);
    const double end = tide_trace_seconds(trace, trace->end_ticks);
    struct tide_model *model = load(trace, -1, UINT64_MAX);
    const uint64_t events = model->honesty.events;
    tide_model_free(model);
    tide_trace_close(trace);
    assert_int_equal(events_saved(f, 0), 0);
    assert_true(events_saved(f, end) > events * 7 / 10);
    assert_true(events_saved(f, end / 2) > events * 3 / 10);
    assert_true(events_saved(f, end / 2) < events * 6 / 10);
}

static void small_traces_get_none(void **state)
{
    const struct fixture *f = *state;
    struct tide_trace *trace = open_trace(f);
    tide_model_free(load(trace, -1, 0));
    tide_model_free(load(trace, 0.001, 1)); /* nor those that are not read to the end */
    tide_trace_close(trace);
    assert_int_equal(access(f->index, F_OK), -1);
}

static void a_folder_that_cannot_be_written_is_no_error(void **state)
{
    const struct fixture *f = *state;
    assert_int_equal(mkdir(f->index, 0700), 0); /* its name is taken, by a folder */
    struct tide_trace *trace = open_trace(f);
    tide_model_free(load(trace, -1, 1));
    tide_trace_close(trace);
    assert_int_equal(rmdir(f->index), 0);
}

static void a_damaged_index_does_no_harm_and_goes(void **state)
{
    const struct fixture *f = *state;
    for (int i = 0; i < 12; i++) {
        write_index(f);
        struct stat info;
        const int fd = open(f->index, O_RDWR | O_CLOEXEC);
        assert_int_equal(fstat(fd, &info), 0);
        const off_t at = info.st_size * i / 12 + 3;
        uint8_t byte;
        assert_int_equal(pread(fd, &byte, 1, at), 1);
        byte ^= 16;
        assert_int_equal(pwrite(fd, &byte, 1, at), 1);
        close(fd);
        struct tide_trace *trace = open_trace(f);
        const double end = tide_trace_seconds(trace, trace->end_ticks);
        struct tide_model *with = load(trace, end * 0.9, 1);
        struct tide_model *without = load(trace, end * 0.9, UINT64_MAX);
        same_model(with, without);
        tide_model_free(with);
        tide_model_free(without);
        tide_trace_close(trace);
        unlink(f->index);
    }
}

/* --- Somebody who makes the sums right --- */

/* The bytes of an index, and the place of its last checkpoint. */
struct forgery {
    uint8_t *bytes; /* owned */
    size_t length, head;
    uint8_t *raw; /* owned: the checkpoint, decompressed */
    size_t raw_bytes;
};

static void read_index(const struct fixture *f, struct forgery *forgery)
{
    struct stat info;
    const int fd = open(f->index, O_RDONLY | O_CLOEXEC);
    assert_int_equal(fstat(fd, &info), 0);
    forgery->length = (size_t)info.st_size;
    forgery->bytes = malloc(forgery->length);
    assert_non_null(forgery->bytes);
    assert_int_equal(read(fd, forgery->bytes, forgery->length), info.st_size);
    close(fd);
    struct tide_section_head head;
    for (size_t at = 64;; at += sizeof(head) + head.stored_bytes) {
        memcpy(&head, forgery->bytes + at, sizeof(head));
        if (head.kind == TIDE_SECTION_STACKS)
            break;
        forgery->head = at;
    }
    memcpy(&head, forgery->bytes + forgery->head, sizeof(head));
    forgery->raw_bytes = head.raw_bytes;
    forgery->raw = malloc(head.raw_bytes);
    assert_non_null(forgery->raw);
    assert_int_equal(ZSTD_decompress(forgery->raw, head.raw_bytes,
                                     forgery->bytes + forgery->head + sizeof(head),
                                     head.stored_bytes),
                     head.raw_bytes);
}

/* Write the index with RAW for its last checkpoint. */
static void write_forgery(const struct fixture *f, const struct forgery *forgery,
                          const uint8_t *raw)
{
    struct tide_section_head head;
    memcpy(&head, forgery->bytes + forgery->head, sizeof(head));
    const size_t after = forgery->head + sizeof(head) + head.stored_bytes;
    const size_t bound = ZSTD_compressBound(forgery->raw_bytes);
    uint8_t *packed = malloc(bound);
    assert_non_null(packed);
    head.stored_bytes = ZSTD_compress(packed, bound, raw, forgery->raw_bytes, 1);
    head.payload_sum = XXH3_64bits(packed, head.stored_bytes);
    head.checksum = XXH3_64bits(&head, 40);
    const int fd = open(f->index, O_WRONLY | O_TRUNC | O_CREAT | O_CLOEXEC, 0600);
    assert_int_equal(write(fd, forgery->bytes, forgery->head), (ssize_t)forgery->head);
    assert_int_equal(write(fd, &head, sizeof(head)), sizeof(head));
    assert_int_equal(write(fd, packed, head.stored_bytes), (ssize_t)head.stored_bytes);
    assert_int_equal(write(fd, forgery->bytes + after, forgery->length - after),
                     (ssize_t)(forgery->length - after));
    close(fd);
    free(packed);
}

static void a_forged_checkpoint_is_survived(void **state)
{
    const struct fixture *f = *state;
    struct forgery forgery = {0};
    uint64_t random = 88172645463325252u;
    size_t refused = 0;
    write_index(f);
    read_index(f, &forgery);
    uint8_t *raw = malloc(forgery.raw_bytes);
    assert_non_null(raw);
    struct tide_trace *trace = open_trace(f);
    const double end = tide_trace_seconds(trace, trace->end_ticks);
    for (int i = 0; i < 400; i++) {
        memcpy(raw, forgery.raw, forgery.raw_bytes);
        for (int j = 0; j <= i % 3; j++) {
            random = random * 6364136223846793005u + 1442695040888963407u;
            const size_t at = (size_t)(random >> 24) % forgery.raw_bytes;
            raw[at] = i % 2 ? (uint8_t)(random >> 16) : 255;
        }
        write_forgery(f, &forgery, raw);
        tide_model_free(load(trace, end * 0.95, 1)); /* whatever it says */
        refused += access(f->index, F_OK) != 0;
    }
    assert_true(refused > 5); /* most of a checkpoint is plain numbers */
    tide_trace_close(trace);
    free(raw);
    free(forgery.raw);
    free(forgery.bytes);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        CASE(a_model_from_a_checkpoint_is_the_same),
        CASE(checkpoints_save_most_of_the_way),
        CASE(small_traces_get_none),
        CASE(a_folder_that_cannot_be_written_is_no_error),
        CASE(a_damaged_index_does_no_harm_and_goes),
        CASE(a_forged_checkpoint_is_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
