/* tests/bench/analysis.c - what reading a trace costs, stage by stage, without names.
 *
 * Usage: analysis [-n REPEAT] [-s STAGE] TRACE...
 *
 * Each stage does the work of those before it and one thing more, so the difference of
 * two lines is what that thing costs:
 *
 *   chunks   read, check and decompress every chunk of every lane
 *   decode   ... and decode its records, lane after lane
 *   replay   ... in the order across lanes
 *   account  ... and enter all events in the books: live set, exact peak by stack
 *   model    ... as `tidemark report` does it, with its timeline and its facts
 *   ahead    the same with the decoding in a thread of its own, by the clock on the wall
 *
 * But for the last, CPU time of the thread is taken, the minimum of REPEAT runs (5), each in a process of
 * its own, so that pages are fresh as they are for a user.  REPEAT 0 is one run in this
 * process, for a profiler.  Bytes per live block are what
 * the process grew by during `account`, over what was live at the end.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "model/account.h"
#include "model/model.h"
#include "trace/chunk_in.h"
#include "trace/lane_in.h"
#include "trace/replay_state.h"

enum { RUN = 512 }; /* events asked for at once */

/* What one run of a stage came to. */
struct outcome {
    double seconds;
    uint64_t events;      /* or 0: this stage sees none */
    uint64_t live_blocks; /* at the end */
    uint64_t grown_kib;   /* resident, at most, during the stage */
};

struct stage {
    const char *name;
    clockid_t clock;
    enum tide_status (*run)(struct tide_trace *trace, struct outcome *out);
};

static double read_clock(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static uint64_t peak_kib(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (uint64_t)usage.ru_maxrss;
}

static enum tide_status run_chunks(struct tide_trace *trace, struct outcome *out)
{
    struct tide_chunk_reader reader;
    uint8_t *raw = malloc(TIDE_CHUNK_MAX + TIDE_COLUMN_SLACK);
    struct tide_fields fields;
    enum tide_status status =
        tide_chunk_reader_init(&reader, trace->fd, trace->file_bytes);
    for (size_t i = 0; raw && !status && i < trace->chunk_count; i++)
        status = tide_chunk_load(&reader, trace->lane_chunks[i].offset, raw,
                                 trace->lane_chunks[i].raw_bytes, &fields);
    out->events = 0;
    tide_chunk_reader_release(&reader);
    free(raw);
    return status;
}

static enum tide_status decode_lane(struct tide_lane_source *source, uint32_t lane,
                                    struct outcome *out)
{
    struct tide_lane_in in;
    bool more = true;
    enum tide_status status = TIDE_OK;
    tide_lane_in_init(&in, source, lane);
    while (more && !status) {
        status = tide_lane_in_next(&in, &more);
        out->events += in.events.count;
    }
    tide_lane_in_release(&in);
    return status;
}

static enum tide_status run_decode(struct tide_trace *trace, struct outcome *out)
{
    struct tide_stacks stacks;
    struct tide_replay *replay;
    enum tide_status status = tide_stacks_init(&stacks);
    if (!status)
        status = tide_replay_open(trace, &stacks, &replay);
    if (status)
        return status;
    for (uint32_t i = 0; i < trace->lane_count && !status; i++)
        status = decode_lane(&replay->source, i, out);
    tide_replay_close(replay);
    tide_stacks_release(&stacks);
    return status;
}

/* Walk TRACE; enter what comes in ACCOUNT unless that is NULL. */
static enum tide_status walk(struct tide_trace *trace, struct tide_stacks *stacks,
                             struct tide_account *account, struct outcome *out)
{
    struct tide_replay *replay;
    enum tide_status status = tide_replay_open(trace, stacks, &replay);
    if (status)
        return status;
    for (size_t count = 1; count && !status;) {
        const struct tide_event *events;
        status = tide_replay_run(replay, RUN, &events, &count);
        if (account && !status)
            status = tide_account_run(account, events, count);
    }
    out->events = tide_replay_counts(replay)->events;
    tide_replay_close(replay);
    return status;
}

static enum tide_status run_replay(struct tide_trace *trace, struct outcome *out)
{
    struct tide_stacks stacks;
    enum tide_status status = tide_stacks_init(&stacks);
    if (status)
        return status;
    status = walk(trace, &stacks, NULL, out);
    tide_stacks_release(&stacks);
    return status;
}

static enum tide_status run_account(struct tide_trace *trace, struct outcome *out)
{
    struct tide_stacks stacks;
    struct tide_account account;
    struct tide_summary summary[TIDE_SPACES];
    enum tide_status status = tide_stacks_init(&stacks);
    const struct tide_account_setup setup = {
        .processes = trace->processes,
        .process_count = trace->process_count,
    };
    if (!status)
        status = tide_account_init(&account, &setup);
    if (status)
        return status;
    status = walk(trace, &stacks, &account, out);
    if (!status)
        status = tide_account_finish(&account, summary);
    out->live_blocks = summary[TIDE_IN_HEAP].live_blocks;
    tide_account_release(&account);
    tide_stacks_release(&stacks);
    return status;
}

static enum tide_status load(struct tide_trace *trace, struct outcome *out,
                             enum tide_ahead ahead)
{
    const struct tide_model_options options = {
        .until_s = -1, .index_threshold = UINT64_MAX, .ahead = ahead};
    struct tide_model *model;
    const enum tide_status status = tide_model_load(trace, &options, &model);
    if (status)
        return status;
    out->events = model->honesty.events;
    out->live_blocks = model->summary[TIDE_IN_HEAP].live_blocks;
    tide_model_free(model);
    return TIDE_OK;
}

static enum tide_status run_model(struct tide_trace *trace, struct outcome *out)
{
    return load(trace, out, TIDE_AHEAD_NEVER);
}

static enum tide_status run_ahead(struct tide_trace *trace, struct outcome *out)
{
    return load(trace, out, TIDE_AHEAD_ALWAYS);
}

static const struct stage STAGES[] = {
    {"chunks", CLOCK_THREAD_CPUTIME_ID, run_chunks},
    {"decode", CLOCK_THREAD_CPUTIME_ID, run_decode},
    {"replay", CLOCK_THREAD_CPUTIME_ID, run_replay},
    {"account", CLOCK_THREAD_CPUTIME_ID, run_account},
    {"model", CLOCK_THREAD_CPUTIME_ID, run_model},
    {"ahead", CLOCK_MONOTONIC, run_ahead},
};
enum { STAGE_COUNT = sizeof(STAGES) / sizeof(STAGES[0]) };

/* Run STAGE on the trace at PATH in this process. */
static int run_here(const struct stage *stage, const char *path, struct outcome *out)
{
    struct tide_trace *trace;
    char why[160];
    if (tide_trace_open(path, why, sizeof(why), &trace) != TIDE_OK) {
        fprintf(stderr, "%s: %s\n", path, why);
        return 1;
    }
    const uint64_t before_kib = peak_kib();
    const double before = read_clock(stage->clock);
    const enum tide_status status = stage->run(trace, out);
    out->seconds = read_clock(stage->clock) - before;
    out->grown_kib = peak_kib() - before_kib;
    tide_trace_close(trace);
    if (status)
        fprintf(stderr, "%s: %s: %s\n", path, stage->name, tide_status_words(status));
    return status != TIDE_OK;
}

/* The same in a process of its own. */
static int run_apart(const struct stage *stage, const char *path, struct outcome *out)
{
    int ends[2];
    if (pipe(ends) != 0)
        return 1;
    const pid_t child = fork();
    if (child == 0) {
        struct outcome mine = {0};
        const int failed = run_here(stage, path, &mine);
        _exit(failed || write(ends[1], &mine, sizeof(mine)) != (ssize_t)sizeof(mine));
    }
    close(ends[1]);
    const bool read_all = read(ends[0], out, sizeof(*out)) == (ssize_t)sizeof(*out);
    close(ends[0]);
    if (child > 0)
        waitpid(child, NULL, 0);
    return !read_all;
}

static int measure(const struct stage *stage, const char *path, int repeat,
                   struct outcome *best)
{
    if (repeat == 0)
        return run_here(stage, path, best);
    for (int i = 0; i < repeat; i++) {
        struct outcome now;
        if (run_apart(stage, path, &now))
            return 1;
        if (i == 0 || now.seconds < best->seconds)
            *best = now;
    }
    return 0;
}

static void print_line(const struct stage *stage, const struct outcome *best,
                       uint64_t events, double before)
{
    printf("  %-8s %8.3f s  %6.1f ns/event  (+%5.1f)  %7.1f M events/s", stage->name,
           best->seconds, best->seconds * 1e9 / (double)events,
           (best->seconds - before) * 1e9 / (double)events,
           (double)events / best->seconds / 1e6);
    if (best->live_blocks)
        printf("  %6.1f bytes per live block of %" PRIu64,
               (double)best->grown_kib * 1024 / (double)best->live_blocks,
               best->live_blocks);
    putchar('\n');
}

static int measure_trace(const char *path, const char *only, int repeat)
{
    struct outcome best[STAGE_COUNT] = {0};
    uint64_t events = 1;
    for (size_t i = 0; i < STAGE_COUNT; i++) {
        if (only && strcmp(only, STAGES[i].name) != 0)
            continue;
        if (measure(&STAGES[i], path, repeat, &best[i]))
            return 1;
        if (best[i].events)
            events = best[i].events;
    }
    printf("%s: %" PRIu64 " events\n", path, events);
    for (size_t i = 0; i < STAGE_COUNT; i++)
        if (best[i].seconds > 0)
            print_line(&STAGES[i], &best[i], events, i ? best[i - 1].seconds : 0);
    return 0;
}

int main(int argc, char **argv)
{
    int repeat = 5;
    const char *only = NULL;
    int option;
    while ((option = getopt(argc, argv, "n:s:")) != -1) {
        if (option == 'n')
            repeat = atoi(optarg);
        else if (option == 's')
            only = optarg;
        else
            return 2;
    }
    int failed = optind == argc;
    for (int i = optind; i < argc; i++)
        failed |= measure_trace(argv[i], only, repeat);
    return failed;
}
