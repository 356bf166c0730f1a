/* unit/query_asker.c - ask a trace made by hand, and get the answer as text. */
#include "query_asker.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "query/engine.h"
#include "trace/trace.h"
#include "view/query_view.h"

enum {
    TIDE_NAME_MAIN = 1,
    TIDE_NAME_SOLVE,
    TIDE_NAME_X,
    TIDE_NAME_HALF,
    TIDE_ASKER_START = 1000
};

static const uint64_t WORDS[] = {0x401000, 0x402000};

static void mark(struct tide_lane_out *lane, uint64_t time, uint64_t kind,
                 uint64_t value)
{
    tide_out_time(lane, TIDE_ASKER_START + time);
    tide_out_extra(lane, kind, &value, 1);
}

static void birth(struct tide_lane_out *lane, uint64_t time, uint64_t address,
                  uint64_t size, uint8_t kind)
{
    tide_out_time(lane, TIDE_ASKER_START + time);
    tide_out_alloc(
        lane,
        (struct tide_out_birth){
            .address = address, .size = size, .usable = size + 8, .kind = kind},
        (struct tide_out_stack){.words = WORDS, .depth = 2});
}

static void death(struct tide_lane_out *lane, uint64_t time, uint64_t address)
{
    tide_out_time(lane, TIDE_ASKER_START + time);
    tide_out_free(lane, address);
}

static void add_notes(struct tide_builder *builder)
{
    const uint64_t argc = 1;
    const char *run[] = {"./prog", "/tmp", "host", "0.1.0", "", NULL};
    const uint64_t clocks[2][2] = {{TIDE_ASKER_START, 1700000000000000000u},
                                   {TIDE_ASKER_START + 1000, 1700000000001000000u}};
    const uint64_t facts[] = {100, 99, 500, 0, 0},
                   thread[] = {0, 100, TIDE_ASKER_START};
    const uint64_t begin[] = {0, 100, 500, TIDE_ASKER_START};
    const uint64_t prog[] = {0, 0, 0x400000, 0x410000, 0x400000};
    const char *exe[] = {"/bin/prog", "", NULL}, *thread_name[] = {"prog", NULL};
    static const char *const names[] = {"main", "solve", "x", "half"};
    tide_builder_note(&builder->run, TIDE_NOTE_RUN, &argc, 1, run);
    tide_builder_note(&builder->run, TIDE_NOTE_CLOCK, clocks[0], 2, NULL);
    tide_builder_note(&builder->run, TIDE_NOTE_CLOCK, clocks[1], 2, NULL);
    tide_builder_note(&builder->run, TIDE_NOTE_PROCESS_BEGIN, begin, 4, exe);
    tide_builder_note(&builder->notes[0], TIDE_NOTE_PROCESS, facts, 5, NULL);
    tide_builder_note(&builder->notes[0], TIDE_NOTE_THREAD, thread, 3, thread_name);
    tide_builder_module(builder, 0, prog, "/nowhere/prog");
    for (uint64_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        const uint64_t id = i + 1;
        const char *name[] = {names[i], NULL};
        tide_builder_note(&builder->notes[0], TIDE_NOTE_NAME, &id, 1, name);
    }
}

struct tide_builder *tide_asker_trace(void)
{
    struct tide_builder *const builder = tide_builder_new();
    struct tide_lane_out *const lane = tide_builder_lane(builder, 0, 0);
    const uint64_t label[] = {0x10000, TIDE_NAME_X, 100};
    add_notes(builder);
    builder->clock = TIDE_ASKER_START + 1000;
    tide_out_sync(lane, TIDE_ASKER_START, 0);
    mark(lane, 0, TIDE_EXTRA_THREAD_BEGIN, 100);
    mark(lane, 10, TIDE_EXTRA_REGION_BEGIN, TIDE_NAME_MAIN);
    birth(lane, 20, 0x10000, 100, TIDE_KIND_MALLOC);
    mark(lane, 30, TIDE_EXTRA_REGION_BEGIN, TIDE_NAME_SOLVE);
    mark(lane, 31, TIDE_EXTRA_EVENT, 0);
    birth(lane, 40, 0x20000, 200, TIDE_KIND_MALLOC);
    death(lane, 41, 0x20000);
    birth(lane, 45, 0x30000, 300, TIDE_KIND_CALLOC);
    tide_out_time(lane, TIDE_ASKER_START + 60);
    tide_out_extra(lane, TIDE_EXTRA_LABEL, label, 3);
    mark(lane, 65, TIDE_EXTRA_EVENT, 1);
    tide_out_time(lane, TIDE_ASKER_START + 70);
    tide_out_move_begin(lane, 0x10000);
    tide_out_move_end(
        lane,
        (struct tide_out_birth){
            .address = 0x40000, .size = 150, .usable = 160, .kind = TIDE_KIND_REALLOC},
        (struct tide_out_stack){.words = WORDS, .depth = 2});
    mark(lane, 75, TIDE_EXTRA_SNAPSHOT, TIDE_NAME_HALF);
    mark(lane, 80, TIDE_EXTRA_REGION_END, TIDE_NAME_SOLVE);
    birth(lane, 85, 0x50000, 8, TIDE_KIND_NEW);
    death(lane, 90, 0x30000);
    mark(lane, 95, TIDE_EXTRA_REGION_END, TIDE_NAME_MAIN);
    birth(lane, 96, 0x60000, 64, TIDE_KIND_MALLOC);
    death(lane, 100, 0x60000);
    tide_builder_finish(builder);
    return builder;
}

/* --- Asking -------------------------------------------------------------------------- */

static char *contents(int fd)
{
    const off_t length = lseek(fd, 0, SEEK_END);
    assert_true(length >= 0);
    char *const text = calloc((size_t)length + 1, 1);
    assert_non_null(text);
    assert_int_equal(pread(fd, text, (size_t)length, 0), length);
    return text;
}

struct question {
    struct tide_query query;
    struct tide_plan plan;
    struct tide_query_error error;
    struct tide_query_view view;
    struct tide_out out;
    struct tide_result result;
    struct tide_user_names users;
};

static enum tide_status ask(struct question *question, const char *text,
                            struct tide_trace **traces, size_t count, size_t budget)
{
    static const char *const names[] = {"a", "b", "c", "d"};
    const struct tide_plan_options options = {.several_traces = count > 1,
                                              .users = &question->users};
    const struct tide_query_job job = {
        .plan = &question->plan,
        .traces = traces,
        .trace_count = count,
        .trace_names = names,
        .budget = budget,
    };
    enum tide_status status = tide_user_names_gather(traces, count, &question->users);
    if (!status)
        status =
            tide_query_parse(text, strlen(text), &question->query, &question->error);
    if (!status)
        status = tide_plan_make(&question->query, &options, &question->plan,
                                &question->error);
    if (!status)
        status = tide_query_view_begin(&question->view, &question->plan, &question->out,
                                       &question->error);
    if (!status)
        status = tide_query_run(&job, &question->result);
    for (size_t i = 0; i < question->result.row_count && !status; i++)
        status = tide_query_view_row(&question->view, &question->result.names,
                                     tide_result_row(&question->result, i));
    return status ? status : tide_query_view_end(&question->view);
}

char *tide_ask_within(struct tide_builder *const *builders, size_t count,
                      const char *query, size_t budget)
{
    struct tide_trace *traces[4];
    struct question question = {0};
    char why[160];
    const int fd = memfd_create("answer", MFD_CLOEXEC);
    assert_true(fd >= 0 && count <= 4);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(tide_trace_open_fd(tide_builder_fd(builders[i]), "hand", why,
                                            sizeof(why), &traces[i]),
                         TIDE_OK);
    tide_out_begin(&question.out, fd);
    const enum tide_status status = ask(&question, query, traces, count, budget);
    if (status == TIDE_EUSAGE)
        tide_query_error_text(&question.out.text, query, strlen(query),
                              &question.error);
    else if (status)
        tide_text_addf(&question.out.text, "status %d%s\n", (int)status,
                       question.result.refused ? ", refused" : "");
    if (question.result.overflows)
        tide_text_addf(&question.out.text, "overflows: %llu\n",
                       (unsigned long long)question.result.overflows);
    tide_query_view_release(&question.view);
    assert_int_equal(tide_out_end(&question.out), TIDE_OK);
    tide_result_release(&question.result);
    tide_plan_release(&question.plan);
    tide_query_release(&question.query);
    tide_query_error_release(&question.error);
    tide_user_names_release(&question.users);
    for (size_t i = 0; i < count; i++)
        tide_trace_close(traces[i]);
    char *const text = contents(fd);
    close(fd);
    return text;
}

char *tide_ask(struct tide_builder *const *builders, size_t count, const char *query)
{
    return tide_ask_within(builders, count, query, 0);
}

/* --- Expected answers ------------------------------------------------------------------ */

static struct tide_builder *built;

int tide_asker_begin(void **state)
{
    (void)state;
    built = tide_asker_trace();
    return 0;
}

int tide_asker_end(void **state)
{
    (void)state;
    tide_builder_free(built);
    return 0;
}

struct tide_builder *tide_asker_built(void)
{
    return built;
}

void tide_asker_expect(const char *query, const char *answer)
{
    char *const text = tide_ask(&built, 1, query);
    assert_string_equal(text, answer);
    free(text);
}
