/* unit/test_index.c - checkpoints beside a trace. */
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

#include "order_model.h"
#include "trace/index.h"
#include "trace_walk.h"

enum { TIDE_TEST_MODEL = 77, TIDE_TEST_STEP = 40 }; /* events between checkpoints */

/* A trace with threads in a folder of its own, and all that can be read from it. */
struct fixture {
    char folder[40], path[64], index[72];
    struct tide_walked walked;
};

static int set_up(void **state)
{
    static struct fixture fixture;
    struct fixture *f = &fixture;
    const struct tide_program_options options = {
        .seed = 12, .threads = 5, .turns = 600, .addresses = 20};
    struct tide_history history;
    strcpy(f->folder, "/tmp/tide_index_XXXXXX"); /* NOLINT: it fits */
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
    const int again = open(f->path, O_RDONLY | O_CLOEXEC);
    return !written || tide_walk(again, 100, &f->walked) != TIDE_OK;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    tide_walk_release(&f->walked);
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

/* Checkpoint I says "model I" a few thousand times. */
static void put_model(struct tide_index_out *out, size_t number)
{
    const uint64_t words[2] = {number, number * 7};
    for (int i = 0; i < 5000; i++)
        assert_int_equal(tide_index_put(out, words, sizeof(words)), TIDE_OK);
}

static size_t write_index(const struct fixture *f)
{
    struct tide_trace *trace = open_trace(f);
    struct tide_stacks stacks;
    struct tide_replay *replay;
    struct tide_index_out *out;
    struct tide_event events[TIDE_TEST_STEP];
    size_t count, made = 0;
    uint64_t ticks = 0;
    assert_int_equal(tide_stacks_init(&stacks), TIDE_OK);
    assert_int_equal(tide_replay_open(trace, &stacks, &replay), TIDE_OK);
    assert_int_equal(tide_index_create(trace, TIDE_TEST_MODEL, &out), TIDE_OK);
    for (;;) {
        assert_int_equal(tide_replay_next(replay, events, TIDE_TEST_STEP, &count),
                         TIDE_OK);
        if (!count)
            break;
        for (size_t i = 0; i < count; i++)
            ticks = events[i].ticks > ticks ? events[i].ticks : ticks;
        assert_int_equal(tide_index_checkpoint(out, ticks, replay), TIDE_OK);
        put_model(out, made++);
        assert_int_equal(tide_index_end_checkpoint(out), TIDE_OK);
    }
    assert_int_equal(tide_index_commit(out, &stacks), TIDE_OK);
    tide_replay_close(replay);
    tide_stacks_release(&stacks);
    tide_trace_close(trace);
    return made;
}

/* Go on from checkpoint NUMBER of INDEX and compare with the walk.  The status of what
 * failed. */
static enum tide_status go_on(const struct fixture *f, struct tide_index *index,
                              size_t number)
{
    struct tide_trace *trace = open_trace(f);
    struct tide_stacks stacks;
    struct tide_replay *replay;
    assert_int_equal(tide_stacks_init(&stacks), TIDE_OK);
    assert_int_equal(tide_replay_open(trace, &stacks, &replay), TIDE_OK);
    enum tide_status status = tide_index_restore(index, number, &stacks, replay);
    uint64_t words[2] = {number, number * 7};
    for (int i = 0; i < 5000 && !status; i++) {
        status = tide_index_get(index, words, sizeof(words));
        if (!status && (words[0] != number || words[1] != number * 7))
            status = TIDE_ECORRUPT;
    }
    if (!status)
        status = tide_index_check(index);
    size_t at = (number + 1) * TIDE_TEST_STEP, count = 1;
    while (!status && count) {
        struct tide_event events[32];
        status = tide_replay_next(replay, events, 32, &count);
        for (size_t i = 0; i < count; i++, at++) {
            const struct tide_event *expected = &f->walked.events[at];
            assert_true(events[i].kind == expected->kind &&
                        events[i].lane == expected->lane &&
                        events[i].address == expected->address &&
                        events[i].size == expected->size &&
                        events[i].stack == expected->stack &&
                        events[i].ticks == expected->ticks);
        }
    }
    assert_true(status || at >= f->walked.count);
    tide_replay_close(replay);
    tide_stacks_release(&stacks);
    tide_trace_close(trace);
    return status;
}

static enum tide_status open_index(const struct fixture *f, uint32_t model,
                                   struct tide_index **index)
{
    struct tide_trace *trace = open_trace(f);
    const enum tide_status status = tide_index_open(trace, model, index);
    tide_trace_close(trace);
    return status;
}

static void every_checkpoint_goes_on_where_it_was(void **state)
{
    const struct fixture *f = *state;
    struct tide_index *index;
    const size_t made = write_index(f);
    assert_true(made > 5);
    assert_int_equal(open_index(f, TIDE_TEST_MODEL, &index), TIDE_OK);
    for (size_t i = 0; i < made; i++)
        assert_int_equal(go_on(f, index, i), TIDE_OK);
    assert_int_equal(go_on(f, index, made), TIDE_EUSAGE);
    tide_index_close(index);
    struct stat info;
    assert_int_equal(stat(f->index, &info), 0);
    assert_int_equal(info.st_mode & 0777, 0600);
}

static void finds_the_checkpoint_before_a_time(void **state)
{
    const struct fixture *f = *state;
    struct tide_index *index;
    size_t number = 99;
    const size_t made = write_index(f);
    assert_int_equal(open_index(f, TIDE_TEST_MODEL, &index), TIDE_OK);
    assert_false(tide_index_find(index, 0, &number));
    assert_true(tide_index_find(index, UINT64_MAX, &number));
    assert_int_equal(number, made - 1);
    uint64_t highest = 0;
    for (size_t i = 0; i < (size_t)TIDE_TEST_STEP * 3; i++)
        if (f->walked.events[i].ticks > highest)
            highest = f->walked.events[i].ticks;
    assert_true(tide_index_find(index, highest, &number) && number >= 2);
    assert_true(tide_index_find(index, highest - 1, &number) && number < 2);
    tide_index_close(index);
}

static void there_is_none_before_it_is_written(void **state)
{
    const struct fixture *f = *state;
    struct tide_index *index;
    assert_int_equal(open_index(f, TIDE_TEST_MODEL, &index), TIDE_ENOENT);
    assert_null(index);
}

static void a_discarded_index_leaves_nothing_behind(void **state)
{
    const struct fixture *f = *state;
    struct tide_trace *trace = open_trace(f);
    struct tide_index_out *out;
    assert_int_equal(tide_index_create(trace, TIDE_TEST_MODEL, &out), TIDE_OK);
    tide_index_discard(out);
    tide_trace_close(trace);
    assert_int_equal(access(f->index, F_OK), -1);
}

static void an_index_of_another_trace_or_version_is_not_believed(void **state)
{
    const struct fixture *f = *state;
    struct tide_index *index;
    write_index(f);
    assert_int_equal(open_index(f, TIDE_TEST_MODEL + 1, &index), TIDE_ECORRUPT);
    assert_null(index);
    const int fd = open(f->path, O_WRONLY | O_APPEND | O_CLOEXEC); /* it grew */
    assert_int_equal(write(fd, "more", 4), 4);
    close(fd);
    assert_int_equal(open_index(f, TIDE_TEST_MODEL, &index), TIDE_ECORRUPT);
}

static void a_link_is_not_followed(void **state)
{
    const struct fixture *f = *state;
    struct tide_index *index;
    assert_int_equal(symlink("/etc/passwd", f->index), 0);
    assert_int_equal(open_index(f, TIDE_TEST_MODEL, &index), TIDE_ENOENT);
    write_index(f); /* takes the link's place, does not write through it */
    struct stat info;
    assert_int_equal(lstat(f->index, &info), 0);
    assert_true(S_ISREG(info.st_mode));
}

static void every_damaged_index_is_noticed(void **state)
{
    const struct fixture *f = *state;
    write_index(f);
    uint64_t random = 88172645463325252u;
    const int fd = open(f->index, O_RDWR | O_CLOEXEC);
    struct stat info;
    assert_int_equal(fstat(fd, &info), 0);
    for (int i = 0; i < 1000; i++) {
        struct tide_index *index;
        uint8_t byte;
        random = random * 6364136223846793005u + 1442695040888963407u;
        const off_t at = (off_t)((random >> 20) % (uint64_t)info.st_size);
        assert_int_equal(pread(fd, &byte, 1, at), 1);
        const uint8_t wrong = (uint8_t)(byte ^ 1u << (random >> 60) % 8);
        assert_int_equal(pwrite(fd, &wrong, 1, at), 1);
        bool noticed = open_index(f, TIDE_TEST_MODEL, &index) != TIDE_OK;
        for (size_t number = 0; !noticed && number < 100; number++) {
            const enum tide_status status = go_on(f, index, number);
            noticed = status != TIDE_OK && status != TIDE_EUSAGE;
            if (status == TIDE_EUSAGE)
                break;
        }
        if (!noticed)
            fail_msg("byte %lld", (long long)at);
        tide_index_close(index);
        assert_int_equal(pwrite(fd, &byte, 1, at), 1);
    }
    for (off_t length = 0; length < info.st_size; length += 97) {
        struct tide_index *index;
        const int copy = open(f->index, O_RDWR | O_CLOEXEC);
        assert_int_equal(ftruncate(copy, info.st_size - 1 - length), 0);
        close(copy);
        assert_int_equal(open_index(f, TIDE_TEST_MODEL, &index), TIDE_ECORRUPT);
    }
    close(fd);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        CASE(every_checkpoint_goes_on_where_it_was),
        CASE(finds_the_checkpoint_before_a_time),
        CASE(there_is_none_before_it_is_written),
        CASE(a_discarded_index_leaves_nothing_behind),
        CASE(an_index_of_another_trace_or_version_is_not_believed),
        CASE(a_link_is_not_followed),
        CASE(every_damaged_index_is_noticed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
