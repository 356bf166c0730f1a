/* unit/test_load_scale.c - a model's memory follows what is live, not what happened. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "make_event.h"
#include "model/model.h"
#include "trace_builder.h"

enum {
    TIDE_SCALE_ADDRESSES = 5000,
    TIDE_SCALE_STACKS = 40,
    TIDE_SCALE_CHUNK = 4000, /* events */
};

/* What the events of the trace come to. */
struct truth {
    uint64_t calls, frees, bytes, live, peak;
};

static void one_event(struct tide_lane_out *lane, uint64_t *sizes, uint64_t *random,
                      struct truth *truth)
{
    const uint64_t which = any_below(random, TIDE_SCALE_ADDRESSES);
    const uint64_t address = 0x10000 + which * 64;
    if (sizes[which]) {
        tide_out_free(lane, address);
        truth->frees++;
        truth->live -= sizes[which];
        sizes[which] = 0;
        return;
    }
    const uint64_t words[] = {0x401000,
                              0x402000 + any_below(random, TIDE_SCALE_STACKS)};
    sizes[which] = 1 + any_below(random, 1000);
    tide_out_alloc(lane,
                   (struct tide_out_birth){.address = address, .size = sizes[which]},
                   (struct tide_out_stack){.words = words, .depth = 2});
    truth->calls++;
    truth->bytes += sizes[which];
    truth->live += sizes[which];
    truth->peak = truth->live > truth->peak ? truth->live : truth->peak;
}

/* A trace of COUNT events with a small live set. */
static struct tide_builder *make_trace(uint64_t count, struct truth *truth)
{
    struct tide_builder *builder = tide_builder_new();
    struct tide_lane_out *lane = tide_builder_lane(builder, 0, 0);
    uint64_t *sizes = calloc(TIDE_SCALE_ADDRESSES, sizeof(*sizes));
    uint64_t random = 1;
    for (uint64_t i = 0; i < count; i++) {
        if (i % TIDE_SCALE_CHUNK == 0)
            tide_out_sync(lane, 1000 + i, 0);
        else if (i % 64 == 0)
            tide_out_time(lane, 1000 + i);
        one_event(lane, sizes, &random, truth);
        if (i % TIDE_SCALE_CHUNK == TIDE_SCALE_CHUNK - 1)
            tide_out_cut(lane);
    }
    tide_builder_finish(builder);
    free(sizes);
    return builder;
}

/* The same into FD; 0 when all is written. */
static int write_trace(int fd, uint64_t count, struct truth *truth)
{
    const struct tide_builder *builder = make_trace(count, truth);
    const ssize_t length = (ssize_t)builder->file.length;
    return write(fd, builder->file.bytes, builder->file.length) == length ? 0 : 1;
}

/* 0 when the trace in FD comes to TRUTH. */
static int load_and_compare(int fd, const struct truth *truth)
{
    char why[200];
    struct tide_trace *trace;
    struct tide_model *model;
    const struct tide_model_options options = {.until_s = -1};
    if (tide_trace_open_fd(fd, "trace", why, sizeof(why), &trace) ||
        tide_model_load(trace, &options, &model))
        return 1;
    const struct tide_summary *heap = &model->summary[TIDE_IN_HEAP];
    const bool same =
        heap->alloc_calls == truth->calls && heap->free_calls == truth->frees &&
        heap->allocated_bytes == truth->bytes && heap->live_bytes == truth->live &&
        heap->peak_bytes == truth->peak && model->site_count == TIDE_SCALE_STACKS;
    tide_model_free(model);
    tide_trace_close(trace);
    return same ? 0 : 2;
}

/* Wait for CHILD, which must succeed; the most memory it had, in KiB. */
static long wait_for(pid_t child)
{
    int status;
    struct rusage usage;
    assert_int_equal(wait4(child, &status, 0, &usage), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    return usage.ru_maxrss;
}

/* The memory, in KiB, to load COUNT events.  Writing and reading are processes of their
 * own, so that the one's memory is not in the other. */
static long kib_to_load(uint64_t count)
{
    struct truth *truth = mmap(NULL, sizeof(*truth), PROT_READ | PROT_WRITE,
                               MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(truth != MAP_FAILED);
    const int fd = memfd_create("trace", MFD_CLOEXEC);
    assert_true(fd >= 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0)
        _exit(write_trace(fd, count, truth));
    wait_for(child);
    child = fork();
    assert_true(child >= 0);
    if (child == 0)
        _exit(load_and_compare(fd, truth));
    const long kib = wait_for(child);
    close(fd);
    munmap(truth, sizeof(*truth));
    return kib;
}

static void needs_no_more_memory_for_more_events(void **state)
{
    (void)state;
    const long few = kib_to_load(50000);
    const long many = kib_to_load(2000000);
    assert_true(many < few + 8 * 1024);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(needs_no_more_memory_for_more_events),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
