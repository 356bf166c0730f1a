/* unit/test_decode.c - the bytes of a lane become events. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "trace/decode.h"
#include "trace_builder.h"

enum { TIDE_TEST_EVENTS = 64 };

/* A lane written by the builder, and a decoder for it.  The process has two modules, of
 * which the second takes the place of the first in epoch 1. */
struct fixture {
    struct tide_builder *builder;
    struct tide_lane_out *lane;
    struct tide_mapping mappings[2];
    struct tide_process process;
    struct tide_trace trace;
    struct tide_stacks stacks;
    struct tide_resolver resolver;
    struct tide_decoder decoder;
    struct tide_event events[TIDE_TEST_EVENTS];
    size_t count;
};

static int set_up(void **state)
{
    static struct fixture fixture;
    struct fixture *f = &fixture;
    memset(f, 0, sizeof(*f));
    f->mappings[0] = (struct tide_mapping){
        .module = 0, .start = 0x1000, .end = 0x9000, .bias = 0x1000, .reach = 0x9000};
    f->mappings[1] = (struct tide_mapping){.module = 1,
                                           .start = 0x1000,
                                           .end = 0x9000,
                                           .bias = 0x500,
                                           .first_epoch = 1,
                                           .last_epoch = UINT64_MAX,
                                           .reach = 0x9000};
    f->process.mappings = f->mappings;
    f->process.mapping_count = 2;
    f->trace.processes = &f->process;
    f->trace.process_count = 1;
    f->builder = tide_builder_new();
    f->lane = tide_builder_lane(f->builder, 0, 0);
    *state = f;
    return tide_stacks_init(&f->stacks) ||
           tide_resolver_init(&f->resolver, &f->trace, &f->stacks);
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    tide_decoder_release(&f->decoder);
    tide_resolver_release(&f->resolver);
    tide_stacks_release(&f->stacks);
    tide_builder_free(f->builder);
    return 0;
}

/* Decode all that the lane has written, from a fresh decoder. */
static enum tide_decode_stop decode_bytes(struct fixture *f, const uint8_t *bytes,
                                          size_t length)
{
    enum tide_decode_stop stop = TIDE_STOP_STAMP;
    struct tide_fields fields = tide_fields_over(bytes, length);
    tide_decoder_release(&f->decoder);
    tide_decoder_init(&f->decoder, &f->resolver, 0, 0);
    f->count = 0;
    while (stop == TIDE_STOP_STAMP) {
        size_t made;
        stop = tide_decode(&f->decoder, &fields, f->events + f->count,
                           TIDE_TEST_EVENTS - f->count, &made);
        f->count += made;
    }
    return stop;
}

static void decode_all(struct fixture *f)
{
    const struct tide_buffer *records = &f->lane->records;
    assert_int_equal(decode_bytes(f, records->bytes, records->length), TIDE_STOP_EMPTY);
}

static bool refused(struct fixture *f, const uint8_t *bytes, size_t length)
{
    return decode_bytes(f, bytes, length) == TIDE_STOP_BAD &&
           f->decoder.status == TIDE_OK;
}

static const uint64_t WORDS[] = {0x2000, 0x3000, 0x4000};
static const struct tide_out_stack AS_BEFORE = {0};

static struct tide_out_stack stack_of(uint32_t depth)
{
    return (struct tide_out_stack){.words = WORDS, .depth = depth};
}

static void births_carry_everything(void **state)
{
    struct fixture *f = *state;
    tide_out_sync(f->lane, 5000, 0);
    tide_out_alloc(f->lane,
                   (struct tide_out_birth){.address = 0x10010, .size = 100, .kind = 1},
                   stack_of(2));
    tide_out_alloc(f->lane,
                   (struct tide_out_birth){.address = 0x10090, .size = 24, .kind = 1},
                   AS_BEFORE);
    tide_out_time(f->lane, 5600);
    tide_out_alloc(f->lane,
                   (struct tide_out_birth){.address = 0x20001,
                                           .size = 1ull << 40,
                                           .usable = (1ull << 40) + 7,
                                           .kind = 4,
                                           .align_log2 = 12},
                   stack_of(3));
    decode_all(f);
    assert_int_equal(f->count, 3);
    const struct tide_event *e = f->events;
    assert_int_equal(e[0].kind, TIDE_EVENT_ALLOC);
    assert_int_equal(e[0].alloc_kind, TIDE_KIND_CALLOC);
    assert_int_equal(e[0].address, 0x10010);
    assert_int_equal(e[0].size, 100);
    assert_int_equal(e[0].usable, 104);
    assert_int_equal(e[0].ticks, 5000);
    assert_int_equal(e[0].numbered, 0);
    assert_int_equal(e[1].alloc_kind, TIDE_KIND_CALLOC);
    assert_int_equal(e[1].usable, 24);
    assert_int_equal(e[1].stack, e[0].stack);
    assert_int_equal(e[2].ticks, 5600);
    assert_int_equal(e[2].address, 0x20001);
    assert_true(e[2].size == 1ull << 40 && e[2].usable == (1ull << 40) + 7);
    assert_int_equal(e[2].align_log2, 12);
    assert_int_equal(e[2].alloc_kind, TIDE_KIND_POSIX_MEMALIGN);
    assert_int_equal(f->stacks.nodes[e[2].stack].parent, e[0].stack);
    assert_int_equal(f->stacks.nodes[e[2].stack].depth, 3);
}

static void frames_are_module_and_offset(void **state)
{
    struct fixture *f = *state;
    const uint64_t words[] = {TIDE_WORD(TIDE_FRAME_SYNTHETIC, TIDE_SYNTHETIC_CUT),
                              0x2000, 0x9000, TIDE_WORD(3, 77)};
    const struct tide_out_stack stack = {.words = words, .depth = 4};
    tide_out_sync(f->lane, 1, 0);
    tide_out_alloc(f->lane, (struct tide_out_birth){.address = 8}, stack);
    decode_all(f);
    struct tide_frame frames[5] = {{0}};
    uint32_t node = f->events[0].stack;
    for (uint32_t depth = f->stacks.nodes[node].depth; depth; depth--) {
        frames[depth] = f->stacks.frames[f->stacks.nodes[node].frame];
        node = f->stacks.nodes[node].parent;
    }
    assert_int_equal(frames[1].kind, TIDE_FRAME_SYNTHETIC);
    assert_int_equal(frames[1].value, TIDE_SYNTHETIC_CUT);
    assert_int_equal(frames[2].kind, TIDE_FRAME_NATIVE);
    assert_int_equal(frames[2].module, 0);
    assert_int_equal(frames[2].value, 0x1000);
    assert_int_equal(frames[3].module, TIDE_NO_MODULE);
    assert_int_equal(frames[3].value, 0x9000);
    assert_int_equal(frames[4].kind, TIDE_FRAME_SYNTHETIC);
    assert_int_equal(frames[4].value, TIDE_SYNTHETIC_UNKNOWN);
    assert_int_equal(f->decoder.cut_stacks, 1);
}

static void a_leaf_leaves_the_stack_as_it_was(void **state)
{
    struct fixture *f = *state;
    const struct tide_out_stack leaf = {.words = &WORDS[2], .depth = 1, .leaf = true};
    tide_out_sync(f->lane, 1, 0);
    tide_out_alloc(f->lane, (struct tide_out_birth){.address = 8}, stack_of(2));
    tide_out_alloc(f->lane, (struct tide_out_birth){.address = 16}, leaf);
    tide_out_alloc(f->lane, (struct tide_out_birth){.address = 24}, AS_BEFORE);
    decode_all(f);
    assert_int_equal(f->stacks.nodes[f->events[1].stack].depth, 1);
    assert_int_equal(f->events[2].stack, f->events[0].stack);
}

static void deaths_may_have_stacks(void **state)
{
    struct fixture *f = *state;
    tide_out_sync(f->lane, 1, 0);
    tide_out_free(f->lane, 0x7fffffffffff);
    tide_out_free_stacked(f->lane, 0x1000, stack_of(1));
    tide_out_free_stacked(f->lane, 0x1007, stack_of(3));
    decode_all(f);
    assert_int_equal(f->events[0].kind, TIDE_EVENT_FREE);
    assert_true(f->events[0].address == 0x7fffffffffff);
    assert_int_equal(f->events[0].stack, 0);
    assert_int_equal(f->stacks.nodes[f->events[1].stack].depth, 1);
    assert_int_equal(f->events[2].address, 0x1007);
    assert_int_equal(f->stacks.nodes[f->events[2].stack].depth, 3);
}

static void moves_end_the_innermost_first(void **state)
{
    struct fixture *f = *state;
    const struct tide_out_birth birth = {.address = 0x40, .size = 9, .kind = 2};
    tide_out_sync(f->lane, 1, 0);
    tide_out_move_begin(f->lane, 0x10);
    tide_out_move_begin(f->lane, 0x20); /* a signal handler, inside the first one */
    tide_out_move_begin(f->lane, 0x30);
    tide_out_move_back(f->lane, 0x30, true);
    tide_out_move_end(f->lane, birth, AS_BEFORE);
    tide_out_move_back(f->lane, 0x10, false);
    tide_out_move_end(f->lane, birth, AS_BEFORE);
    decode_all(f);
    assert_int_equal(f->count, 7);
    assert_int_equal(f->events[3].kind, TIDE_EVENT_MOVE_GONE);
    assert_int_equal(f->events[3].address, 0x30);
    assert_int_equal(f->events[4].kind, TIDE_EVENT_MOVE_END);
    assert_int_equal(f->events[4].value, 0x20);
    assert_int_equal(f->events[4].address, 0x40);
    assert_int_equal(f->events[5].kind, TIDE_EVENT_MOVE_BACK);
    assert_int_equal(f->events[5].address, 0x10);
    assert_int_equal(f->events[6].value, 0); /* nothing was under way */
}

static void moves_that_never_end_do_not_pile_up(void **state)
{
    struct fixture *f = *state;
    tide_out_sync(f->lane, 1, 0);
    for (uint64_t i = 1; i <= 20; i++)
        tide_out_move_begin(f->lane, i * 16);
    for (uint64_t i = 0; i < 9; i++)
        tide_out_move_back(f->lane, 0, false);
    decode_all(f);
    for (uint64_t i = 0; i < 8; i++)
        assert_int_equal(f->events[20 + i].address, (20 - i) * 16);
    assert_int_equal(f->events[28].address, 0);
}

static void numbers_count_only_after_the_gate(void **state)
{
    struct fixture *f = *state;
    tide_out_sync(f->lane, 1, 0);
    tide_out_free(f->lane, 0x20);
    tide_out_numbers(f->lane);
    tide_out_free(f->lane, 0x40);
    tide_out_free(f->lane, 0x40);
    tide_out_move_begin(f->lane, 0x60);
    tide_out_move_back(f->lane, 0x60, true);
    decode_all(f);
    assert_int_equal(f->events[0].numbered, 0);
    assert_int_equal(f->events[1].extra, TIDE_EXTRA_NUMBERS);
    assert_int_equal(f->events[2].numbered, TIDE_ON_SLOT | TIDE_HAS_NUMBER);
    assert_int_equal(f->events[2].number, 0);
    assert_int_equal(f->events[3].numbered, TIDE_ON_SLOT);
    assert_int_equal(f->events[5].numbered, 0); /* a block that is gone has no slot */
}

static void maps_and_extras_carry_their_values(void **state)
{
    struct fixture *f = *state;
    const uint64_t map[] = {0x7000, 0x2000, 3, 34};
    const uint64_t label[] = {0x10, 77, 99};
    const uint64_t failed[] = {TIDE_KIND_NEW, 1ull << 50};
    const uint64_t set[] = {7, TIDE_ATTRIBUTE_HOW(TIDE_ATTRIBUTE_DOUBLE, 1),
                            UINT64_MAX};
    tide_out_sync(f->lane, 1, 0);
    tide_out_map(f->lane, TIDE_MAP_MREMAP, map, stack_of(2));
    tide_out_extra(f->lane, TIDE_EXTRA_LABEL, label, 3);
    tide_out_extra(f->lane, 200, label, 3); /* of a later version */
    tide_out_extra(f->lane, TIDE_EXTRA_FAILED, failed, 2);
    tide_out_extra(f->lane, TIDE_EXTRA_ATTRIBUTE, set, 3);
    decode_all(f);
    const struct tide_event *e = f->events;
    assert_int_equal(f->count, 4);
    assert_int_equal(e[0].kind, TIDE_EVENT_MAP);
    assert_int_equal(e[0].map_call, TIDE_MAP_MREMAP);
    assert_int_equal(e[0].address, 0x7000);
    assert_int_equal(e[0].size, 0x2000);
    assert_int_equal(e[0].value, 3);
    assert_int_equal(e[0].value2, 34);
    assert_int_equal(f->stacks.nodes[e[0].stack].depth, 2);
    assert_int_equal(e[1].extra, TIDE_EXTRA_LABEL);
    assert_int_equal(e[1].value, 0x10);
    assert_int_equal(e[1].value2, 77);
    assert_int_equal(e[1].value3, 99);
    assert_int_equal(e[2].alloc_kind, TIDE_KIND_NEW);
    assert_true(e[2].value2 == 1ull << 50);
    assert_int_equal(e[3].extra, TIDE_EXTRA_ATTRIBUTE);
    assert_int_equal(e[3].value, 7);
    assert_int_equal(e[3].value2, 0x12);
    assert_true(e[3].value3 == UINT64_MAX);
}

static uint32_t module_of(const struct fixture *f, const struct tide_event *event)
{
    return f->stacks.frames[f->stacks.nodes[event->stack].frame].module;
}

static void an_epoch_gives_frames_new_modules(void **state)
{
    struct fixture *f = *state;
    tide_out_sync(f->lane, 1, 0);
    tide_out_alloc(f->lane, (struct tide_out_birth){.address = 8}, stack_of(2));
    tide_out_sync(f->lane, 2, 1);
    tide_out_alloc(f->lane, (struct tide_out_birth){.address = 16}, stack_of(2));
    tide_out_alloc(f->lane, (struct tide_out_birth){.address = 24}, stack_of(1));
    decode_all(f);
    assert_int_equal(module_of(f, &f->events[0]), 0);
    assert_int_equal(module_of(f, &f->events[1]), 1);
    assert_int_equal(module_of(f, &f->events[2]), 1);
    assert_int_equal(f->stacks.frames[f->stacks.nodes[f->events[2].stack].frame].value,
                     0x2000 - 0x500);
}

static void a_reset_forgets_everything(void **state)
{
    struct fixture *f = *state;
    const struct tide_out_birth birth = {.address = 0x800, .kind = 9};
    tide_out_sync(f->lane, 1, 0);
    tide_out_alloc(f->lane, birth, stack_of(2));
    const size_t first = f->lane->records.length;
    tide_out_sync(f->lane, 2, 0);
    tide_out_alloc(f->lane, birth, stack_of(2));
    decode_all(f);
    assert_int_equal(f->events[0].stack, f->events[1].stack);
    /* The second half can be read without the first. */
    const struct tide_buffer *records = &f->lane->records;
    assert_int_equal(decode_bytes(f, records->bytes + first, records->length - first),
                     TIDE_STOP_EMPTY);
    assert_int_equal(f->events[0].address, 0x800);
    assert_int_equal(f->events[0].alloc_kind, TIDE_KIND_NEW);
    /* And the reset has emptied the dictionary: entry 5 was never given. */
    const uint8_t bytes[] = {
        TIDE_OP_SYNC, 1, 0, 0, 0, TIDE_OP_ALLOC | 1 << 5, 8, 2, 0, 1, 10};
    assert_true(refused(f, bytes, sizeof(bytes)));
}

static void time_does_not_go_back(void **state)
{
    struct fixture *f = *state;
    tide_out_sync(f->lane, 900, 0);
    tide_out_free(f->lane, 8);
    tide_out_sync(f->lane, 300, 0);
    tide_out_free(f->lane, 8);
    decode_all(f);
    assert_int_equal(f->events[0].ticks, 900);
    assert_int_equal(f->events[1].ticks, 900);
}

static void refuses_what_is_no_record(void **state)
{
    struct fixture *f = *state;
    const struct {
        uint8_t bytes[8];
        size_t length;
    } cases[] = {
        {{0}, 1},                                            /* no such operation */
        {{15}, 1},                                           /* nor this */
        {{TIDE_OP_TIME | 0x10, 1, 0, 5}, 4},                 /* time has no number */
        {{TIDE_OP_EXTRA | 0x40, 3, 0}, 3},                   /* extras have no mode */
        {{TIDE_OP_FREE | 0x80, 2}, 2},                       /* deaths have no shape */
        {{TIDE_OP_MOVE_BACK | 0x40}, 1},                     /* nor has this */
        {{TIDE_OP_MAP | 0x80, 0, 0, 0, 0, 0}, 6},            /* nor this */
        {{TIDE_OP_MAP, 9, 0, 0, 0, 0}, 6},                   /* no such call */
        {{TIDE_OP_ALLOC | 0x80, 31, 1, 2}, 4},               /* no such kind */
        {{TIDE_OP_ALLOC | 0x80, 0x40, 1, 64, 2}, 5},         /* 2^64 is no alignment */
        {{TIDE_OP_ALLOC | 1 << 5, 1, 2, 1, 0}, 5},           /* pop below the bottom */
        {{TIDE_OP_ALLOC | 1 << 5, 1, 2, 0, 255, 127, 1}, 7}, /* too deep */
        {{TIDE_OP_ALLOC | 2 << 5, 1, 2, 0}, 4}, /* RECENT is not written yet */
        {{TIDE_OP_FREE | 0x40, 2, 9}, 3},       /* no such mode */
        {{TIDE_OP_ALLOC | 1 << 5, 1, 2, 0, 1, 0xfe, 0x7f},
         7},                                          /* beyond the dictionary */
        {{TIDE_OP_EXTRA, TIDE_EXTRA_LABEL, 1, 5}, 4}, /* a label has three values */
        {{TIDE_OP_EXTRA, TIDE_EXTRA_ATTRIBUTE, 2, 1, 1}, 5}, /* so has a value */
        {{TIDE_OP_EXTRA, 99, 5, 0}, 4}, /* longer than what is there */
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        if (!refused(f, cases[i].bytes, cases[i].length))
            fail_msg("case %zu was accepted", i);
}

static void half_a_record_is_bad_wherever_it_is_cut(void **state)
{
    struct fixture *f = *state;
    const uint64_t map[] = {0x7000, 0x2000, 3, 34};
    const uint64_t label[] = {0x10, 77, 99};
    f->lane->numbers = true;
    tide_out_sync(f->lane, 70000, 3);
    tide_out_alloc(f->lane,
                   (struct tide_out_birth){.address = 0x7123456789,
                                           .size = 999,
                                           .usable = 2000,
                                           .kind = 6,
                                           .align_log2 = 5},
                   stack_of(3));
    tide_out_free_stacked(f->lane, 0x7123456781, stack_of(1));
    tide_out_map(f->lane, 0, map, AS_BEFORE);
    tide_out_extra(f->lane, TIDE_EXTRA_LABEL, label, 3);
    tide_out_time(f->lane, 90000);
    decode_all(f);
    assert_int_equal(f->count, 4);
    const struct tide_buffer *records = &f->lane->records;
    size_t whole = 0;
    for (size_t length = 0; length < records->length; length++) {
        const enum tide_decode_stop stop = decode_bytes(f, records->bytes, length);
        assert_int_equal(f->decoder.status, TIDE_OK);
        assert_true(stop == TIDE_STOP_EMPTY || stop == TIDE_STOP_BAD);
        whole += stop == TIDE_STOP_EMPTY;
    }
    assert_int_equal(whole, 6); /* after each record but the last */
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        CASE(births_carry_everything),
        CASE(frames_are_module_and_offset),
        CASE(a_leaf_leaves_the_stack_as_it_was),
        CASE(deaths_may_have_stacks),
        CASE(moves_end_the_innermost_first),
        CASE(moves_that_never_end_do_not_pile_up),
        CASE(numbers_count_only_after_the_gate),
        CASE(maps_and_extras_carry_their_values),
        CASE(an_epoch_gives_frames_new_modules),
        CASE(a_reset_forgets_everything),
        CASE(time_does_not_go_back),
        CASE(refuses_what_is_no_record),
        CASE(half_a_record_is_bad_wherever_it_is_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
