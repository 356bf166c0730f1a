/* unit/test_inquiry.c - who was at an address, against a search through all blocks; and
 * moments by their names. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "dice.h"
#include "model/inquiry.h"
#include "model/moment.h"
#include "trace_builder.h"

enum {
    TIDE_START = 1000,
    TIDE_SECOND = 1000000,
    TIDE_PROCESSES = 2,
    TIDE_SLOTS = 12,
    TIDE_STEPS = 1500, /* of a history */
    TIDE_QUESTIONS = 800,
    TIDE_SLOT_BYTES = 0x400,
    TIDE_BASE = 0x10000,
};

static struct tide_builder *builder;
static struct tide_trace *trace;
static struct tide_model *model;

/* A block as the test knows it; death 0: never. */
struct block {
    uint64_t address, size, birth, death;
    uint32_t process;
};
static struct block history[TIDE_STEPS];
static size_t history_count;
static struct block *standing[TIDE_PROCESSES][TIDE_SLOTS];

static int enter(void **state)
{
    (void)state;
    builder = tide_builder_new();
    tide_builder_clock(builder, TIDE_START, 10 * TIDE_SECOND, 10);
    history_count = 0;
    memset(standing, 0, sizeof(standing));
    return 0;
}

static int leave(void **state)
{
    (void)state;
    tide_model_free(model);
    tide_trace_close(trace);
    tide_builder_free(builder);
    model = NULL;
    trace = NULL;
    return 0;
}

static struct tide_lane_out *begin_process(uint32_t process)
{
    const uint64_t facts[] = {100 + process, 1, TIDE_START + 1 + process, 0, 0};
    const uint64_t app[] = {0, 0, 0x400000, 0x410000, 0x400000};
    tide_builder_note(&builder->notes[process], TIDE_NOTE_PROCESS, facts, 5, NULL);
    tide_builder_module(builder, process, app, "/bin/app");
    struct tide_lane_out *const lane = tide_builder_lane(builder, process, 0);
    tide_out_sync(lane, TIDE_START, 0);
    return lane;
}

static void load(void)
{
    const struct tide_model_options options = {.until_s = -1};
    char why[200];
    tide_builder_finish(builder);
    assert_int_equal(
        tide_trace_open_fd(tide_builder_fd(builder), "trace", why, sizeof(why), &trace),
        TIDE_OK);
    assert_int_equal(tide_model_load(trace, &options, &model), TIDE_OK);
}

static void alloc(struct tide_lane_out *lane, uint64_t address, uint64_t size)
{
    static const uint64_t words[] = {0x401000, 0x402000};
    const struct tide_out_stack stack = {.words = words, .depth = 2};
    tide_out_alloc(lane, (struct tide_out_birth){.address = address, .size = size},
                   stack);
}

/* --- Questions ----------------------------------------------------------------------- */

/* A block comes or goes in a slot, at TICKS. */
static void step(struct dice *dice, struct tide_lane_out *const *lanes, uint64_t ticks)
{
    const uint32_t process = (uint32_t)dice_roll(dice, TIDE_PROCESSES);
    const int slot = dice_roll(dice, TIDE_SLOTS);
    struct block **const place = &standing[process][slot];
    tide_out_time(lanes[process], ticks);
    if (*place) {
        tide_out_free(lanes[process], (*place)->address);
        (*place)->death = ticks;
        *place = NULL;
        return;
    }
    *place = &history[history_count++];
    **place = (struct block){
        .address = TIDE_BASE + (uint64_t)slot * TIDE_SLOT_BYTES +
                   (uint64_t)dice_roll(dice, 4) * 16,
        .size = 1 + (uint64_t)dice_roll(dice, 700),
        .birth = ticks,
        .process = process,
    };
    alloc(lanes[process], (*place)->address, (*place)->size);
}

/* The block of PROCESS that is the answer, by looking at all; *LIVE: it lived then. */
static const struct block *search(const struct tide_question *question, uint64_t ticks,
                                  uint32_t process, bool *live)
{
    const struct block *found = NULL;
    *live = false;
    for (size_t i = 0; i < history_count && !*live; i++) {
        const struct block *const block = &history[i];
        const uint64_t end = block->address + TIDE_USABLE_GLIBC(block->size);
        if (block->process != process || block->birth > ticks ||
            question->address < block->address || question->address >= end)
            continue;
        *live = !block->death || block->death > ticks;
        if (*live || !found || block->death > found->death)
            found = block;
    }
    return found;
}

static const struct tide_answer *answer_of(const struct tide_question *question,
                                           uint32_t process)
{
    for (size_t i = 0; i < question->answer_count; i++)
        if (question->answers[i].life.process == process)
            return &question->answers[i];
    return NULL;
}

static void check(const struct tide_question *question, uint64_t ticks,
                  uint32_t process)
{
    bool live;
    const struct block *const block = search(question, ticks, process, &live);
    const struct tide_answer *const answer = answer_of(question, process);
    if (!block || !answer) {
        assert_ptr_equal(block, answer); /* neither */
        return;
    }
    assert_int_equal(answer->life.address, block->address);
    assert_int_equal(answer->life.size, block->size);
    assert_int_equal(answer->life.birth_ticks, block->birth);
    assert_int_equal(answer->kind, live ? TIDE_ANSWER_LIVE : TIDE_ANSWER_DEAD);
    assert_int_equal(answer->died ? answer->death.ticks : 0, block->death);
}

static void answers_are_those_of_a_search_through_all(void **state)
{
    static struct tide_question questions[TIDE_QUESTIONS];
    static uint64_t moments[TIDE_QUESTIONS];
    (void)state;
    struct dice dice = {.state = 5};
    struct tide_lane_out *lanes[TIDE_PROCESSES];
    for (uint32_t i = 0; i < TIDE_PROCESSES; i++)
        lanes[i] = begin_process(i);
    for (uint64_t i = 1; i <= TIDE_STEPS; i++)
        step(&dice, lanes, TIDE_START + i * 1000);
    load();
    for (size_t i = 0; i < TIDE_QUESTIONS; i++) {
        const bool end = i % 8 == 0;
        moments[i] = TIDE_START + (uint64_t)dice_roll(&dice, (TIDE_STEPS + 2) * 1000);
        if (i % 2) /* the very moment of a step */
            moments[i] -= (moments[i] - TIDE_START) % 1000;
        questions[i] = (struct tide_question){
            .address =
                TIDE_BASE + (uint64_t)dice_roll(&dice, TIDE_SLOTS * TIDE_SLOT_BYTES),
            .until_s = end ? -1 : tide_trace_seconds(trace, moments[i]),
        };
        if (end)
            moments[i] = UINT64_MAX;
    }
    assert_int_equal(tide_inquire(model, questions, TIDE_QUESTIONS, NULL), TIDE_OK);
    for (size_t i = 0; i < TIDE_QUESTIONS; i++) {
        for (uint32_t process = 0; process < TIDE_PROCESSES; process++)
            check(&questions[i], moments[i], process);
        tide_question_release(&questions[i]);
    }
}

static void the_block_before_is_named_if_it_is_near(void **state)
{
    (void)state;
    struct tide_lane_out *const lane = begin_process(0);
    alloc(lane, 0x20000, 16);
    alloc(lane, 0x20100, 16);
    load();
    struct tide_question questions[] = {
        {.address = 0x20120, .until_s = -1},
        {.address = 0x200ff, .until_s = -1},
        {.address = 0x1ffff, .until_s = -1},
        {.address = 0x20100 + TIDE_USABLE_GLIBC(16) + TIDE_INQUIRY_NEAR, .until_s = -1},
    };
    static const uint64_t before[] = {0x20100, 0x20000, 0, 0};
    assert_int_equal(tide_inquire(model, questions, 4, NULL), TIDE_OK);
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(questions[i].answer_count, 0);
        assert_int_equal(questions[i].before.life.address, before[i]);
        tide_question_release(&questions[i]);
    }
}

static void what_a_process_held_is_dead_when_it_has_ended(void **state)
{
    static const uint64_t ended[] = {0, 4000, 1, 0, 0, TIDE_END_EXITED};
    static const uint64_t moments[] = {3999, 4001};
    (void)state;
    struct tide_lane_out *const lane = begin_process(0), *other = begin_process(1);
    tide_out_time(lane, 3000);
    alloc(lane, 0x20000, 500);
    tide_builder_note(&builder->run, TIDE_NOTE_PROCESS_END, ended, 6, NULL);
    tide_out_time(other, 5000);
    alloc(other, 0x20000, 300);
    alloc(other, 0x30000, 300);
    load();
    struct tide_question questions[] = {
        {.address = 0x20000, .until_s = tide_trace_seconds(trace, moments[0])},
        {.address = 0x20000, .until_s = tide_trace_seconds(trace, moments[1])},
        {.address = 0x20000, .at_peak = true},
        {.address = 0x20000, .until_s = -1},
    };
    static const bool lives[] = {true, false, false, true};
    assert_int_equal(tide_inquire(model, questions, 4, NULL), TIDE_OK);
    for (size_t i = 0; i < 4; i++) {
        const struct tide_answer *const answer = answer_of(&questions[i], 0);
        const enum tide_answer_kind kind =
            lives[i] ? TIDE_ANSWER_LIVE : TIDE_ANSWER_DEAD;
        assert_true(answer && answer->kind == kind && !answer->died);
        assert_int_equal(questions[i].answer_count, i < 2 ? 1 : 2);
        tide_question_release(&questions[i]);
    }
}

/* Stamps alone order two threads, so that a block may be born within another one that was
 * freed before, or within one that came only later.  Which it was tells how long they
 * overlap: the one is late by its end, or the other early by its beginning. */
static void of_blocks_that_overlap_the_later_one_is_named(void **state)
{
    (void)state;
    struct tide_lane_out *const one = begin_process(0);
    tide_out_numbers(one);
    struct tide_lane_out *const other = tide_builder_lane(builder, 0, 1);
    tide_out_sync(other, TIDE_START, 0);
    tide_out_time(one, 2000);
    alloc(one, 0x20800, 1500); /* freed at 9010 */
    alloc(one, 0x40800, 1500); /* freed at 9020, and there from 2000 on */
    tide_out_time(one, 2005);
    alloc(one, 0x40700, 2500);
    tide_out_free(one, 0x40700);
    tide_out_time(one, 9000);
    alloc(one, 0x20700, 2500);
    tide_out_time(one, 9005);
    tide_out_free(one, 0x20700);
    tide_out_time(other, 9010);
    tide_out_free(other, 0x20800);
    tide_out_time(other, 9020);
    tide_out_free(other, 0x40800);
    load();
    static const struct {
        uint64_t address, ticks, block;
        enum tide_answer_kind kind;
    } expected[] = {
        {0x20900, 8999, 0x20800, TIDE_ANSWER_LIVE},
        {0x20900, 9001, 0x20700, TIDE_ANSWER_LIVE},
        {0x20900, 9007, 0x20700, TIDE_ANSWER_DEAD},
        {0x20900, 9999, 0x20700, TIDE_ANSWER_DEAD},
        {0x40900, 2001, 0x40800, TIDE_ANSWER_LIVE},
        {0x40900, 5000, 0x40800, TIDE_ANSWER_LIVE},
        {0x40900, 9999, 0x40800, TIDE_ANSWER_DEAD},
    };
    for (size_t i = 0; i < sizeof(expected) / sizeof(*expected); i++) {
        struct tide_question question = {
            .address = expected[i].address,
            .until_s = tide_trace_seconds(trace, expected[i].ticks),
        };
        assert_int_equal(tide_inquire(model, &question, 1, NULL), TIDE_OK);
        assert_int_equal(question.answer_count, 1);
        assert_int_equal(question.answers[0].life.address, expected[i].block);
        assert_int_equal(question.answers[0].kind, expected[i].kind);
        tide_question_release(&question);
    }
}

/* --- Moments ------------------------------------------------------------------------- */

static void mark(struct tide_lane_out *lane, uint64_t ticks, uint64_t name)
{
    tide_out_time(lane, ticks);
    tide_out_extra(lane, TIDE_EXTRA_SNAPSHOT, &name, 1);
}

static void add_name(uint64_t id, const char *text)
{
    const char *const texts[] = {text, NULL};
    tide_builder_note(&builder->notes[0], TIDE_NOTE_NAME, &id, 1, texts);
}

static void expect(const char *name, uint64_t ticks, uint64_t count)
{
    struct tide_moment moment;
    assert_int_equal(tide_moment_find(trace, name, NULL, &moment), TIDE_OK);
    assert_int_equal(moment.found, ticks != 0);
    assert_int_equal(moment.ticks, ticks);
    assert_int_equal(moment.count, count);
    tide_moment_release(&moment);
}

static void moments_are_found_by_name_and_number(void **state)
{
    (void)state;
    const uint64_t id = 51;
    struct tide_lane_out *const lane = begin_process(0);
    add_name(1, "high");
    add_name(2, "event7");
    add_name(3, "odd#2");
    mark(lane, 2000, 1);
    mark(lane, 3000, 2);
    tide_out_time(lane, 4000);
    tide_out_extra(lane, TIDE_EXTRA_EVENT, &id, 1);
    mark(lane, 5000, 1);
    mark(lane, 6000, 3);
    load();
    expect("high", 2000, 2);
    expect("high#1", 2000, 2);
    expect("high#2", 5000, 2);
    expect("high#3", 0, 2);
    expect("odd#2", 6000, 1); /* a name as it is goes before a number */
    expect("odd", 0, 0);
    expect("event7", 3000, 1); /* a snapshot of that name goes first */
    expect("event51", 4000, 1);
    expect("event 51", 4000, 1);
    expect("event5", 0, 0);
    expect("hig", 0, 0);
    expect("", 0, 0);
    struct tide_moment moment;
    assert_int_equal(tide_moment_find(trace, "low", NULL, &moment), TIDE_OK);
    assert_string_equal(moment.known.bytes, "high, event7, odd#2, event51");
    tide_moment_release(&moment);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(answers_are_those_of_a_search_through_all,
                                        enter, leave),
        cmocka_unit_test_setup_teardown(the_block_before_is_named_if_it_is_near, enter,
                                        leave),
        cmocka_unit_test_setup_teardown(what_a_process_held_is_dead_when_it_has_ended,
                                        enter, leave),
        cmocka_unit_test_setup_teardown(of_blocks_that_overlap_the_later_one_is_named,
                                        enter, leave),
        cmocka_unit_test_setup_teardown(moments_are_found_by_name_and_number, enter,
                                        leave),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
