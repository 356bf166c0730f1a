/* unit/test_decode_usual.c - the fast way and the plain way to decode agree.
 *
 * On lanes that are written at random, by columns, whole and damaged: the same events, and
 * the same end.  And plain records give the same events as their columns.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "make_event.h"
#include "split_records.h"
#include "trace/decode.h"
#include "trace_builder.h"

enum {
    TIDE_TEST_EVENTS = 400,
    TIDE_TEST_ROUNDS = 300,
    TIDE_TEST_DAMAGES = 20, /* per round */
    TIDE_TEST_WORDS = 40,
};

typedef enum tide_decode_stop decode_fn(struct tide_decoder *, struct tide_fields *,
                                        struct tide_event *, size_t, size_t *);

/* What a decoder made of some bytes. */
struct outcome {
    struct tide_event events[2 * TIDE_TEST_EVENTS];
    size_t count;
    enum tide_decode_stop stop;
    uint64_t cut_stacks;
};

struct fixture {
    struct tide_mapping mapping;
    struct tide_process process;
    struct tide_trace trace;
    struct tide_stacks stacks;
    struct tide_resolver resolver;
    struct outcome fast, plain;
};

static int set_up(void **state)
{
    static struct fixture fixture;
    struct fixture *f = &fixture;
    memset(f, 0, sizeof(*f));
    f->mapping = (struct tide_mapping){.start = 0x1000,
                                       .end = 0x90000,
                                       .bias = 0x1000,
                                       .first_epoch = 1,
                                       .last_epoch = 1,
                                       .reach = 0x90000};
    f->process.mappings = &f->mapping;
    f->process.mapping_count = 1;
    f->trace.processes = &f->process;
    f->trace.process_count = 1;
    *state = f;
    return tide_stacks_init(&f->stacks) ||
           tide_resolver_init(&f->resolver, &f->trace, &f->stacks);
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    tide_resolver_release(&f->resolver);
    tide_stacks_release(&f->stacks);
    return 0;
}

static void decode(struct fixture *f, decode_fn *decode_some, struct tide_fields fields,
                   struct outcome *out)
{
    struct tide_decoder decoder;
    tide_decoder_init(&decoder, &f->resolver, 0, 0);
    out->count = 0;
    do {
        size_t made;
        const size_t room = 2 * TIDE_TEST_EVENTS - out->count;
        out->stop =
            decode_some(&decoder, &fields, out->events + out->count, room, &made);
        out->count += made;
    } while (out->stop == TIDE_STOP_STAMP);
    out->cut_stacks = decoder.cut_stacks;
    assert_int_equal(decoder.status, TIDE_OK);
    tide_decoder_release(&decoder);
}

static void compare(struct fixture *f, struct tide_fields columns,
                    struct tide_fields others)
{
    decode(f, tide_decode, columns, &f->fast);
    decode(f, tide_decode_plain, others, &f->plain);
    assert_int_equal(f->fast.stop, f->plain.stop);
    assert_int_equal(f->fast.count, f->plain.count);
    assert_memory_equal(f->fast.events, f->plain.events,
                        f->fast.count * sizeof(f->fast.events[0]));
    if (f->fast.stop != TIDE_STOP_BAD)
        assert_int_equal(f->fast.cut_stacks, f->plain.cut_stacks);
}

/* A lane being written. */
struct writer {
    struct tide_lane_out *lane;
    uint64_t words[TIDE_TEST_WORDS];
    uint32_t depth;
    uint64_t ticks;
    uint64_t random;
};

/* A number of any length. */
static uint64_t any_length(uint64_t *random)
{
    return next_number(random) >> any_below(random, 64);
}

/* A stack that has much in common with the one before, mostly. */
static struct tide_out_stack some_stack(struct writer *writer)
{
    uint64_t *random = &writer->random;
    uint64_t *words = writer->words;
    if (any_below(random, 4) == 0)
        return (struct tide_out_stack){0}; /* as before */
    const uint32_t kept = any_below(random, 30) ? writer->depth : 0;
    const uint32_t popped = (uint32_t)any_below(random, 5);
    const uint64_t pushed = 1 + any_below(random, 4);
    writer->depth = kept > popped ? kept - popped : 0;
    for (uint64_t i = 0; i < pushed && writer->depth < TIDE_TEST_WORDS; i++)
        words[writer->depth++] = any_below(random, 20)
                                     ? 0x1000 + any_below(random, 60) * 16
                                     : any_length(random) >> 4;
    if (any_below(random, 50) == 0)
        words[0] = TIDE_WORD(TIDE_FRAME_SYNTHETIC, TIDE_SYNTHETIC_CUT);
    return (struct tide_out_stack){.words = words, .depth = writer->depth};
}

static void write_event(struct writer *writer, uint64_t address)
{
    uint64_t *random = &writer->random;
    const struct tide_out_birth birth = {
        .address = address,
        .size = any_below(random, 8) ? any_below(random, 1000) : any_length(random),
        .kind = (uint8_t)(any_below(random, 10) ? 0 : any_below(random, TIDE_KINDS)),
    };
    if (any_below(random, 2))
        tide_out_free(writer->lane, address);
    else
        tide_out_alloc(writer->lane, birth, some_stack(writer));
}

static void write_record(struct writer *writer)
{
    uint64_t *random = &writer->random;
    const uint64_t heap = 0x7f0000000000u + any_below(random, 1u << 20) * 16;
    const uint64_t address = any_below(random, 20) ? heap : any_length(random);
    const uint64_t epoch = 1 + any_below(random, 2);
    switch (any_below(random, 40)) {
    case 0:
        writer->ticks += any_below(random, 1000000);
        tide_out_time(writer->lane, writer->ticks);
        break;
    case 1:
        tide_out_sync(writer->lane, writer->ticks, epoch);
        break;
    case 2:
        tide_out_move_begin(writer->lane, address);
        break;
    case 3:
        tide_out_extra(writer->lane, TIDE_EXTRA_EVENT, &epoch, 1);
        break;
    case 4:
        tide_out_free_stacked(writer->lane, address, some_stack(writer));
        break;
    default:
        write_event(writer, address);
        break;
    }
}

static void write_lane(struct writer *writer, bool with_numbers)
{
    tide_out_sync(writer->lane, writer->ticks, 1);
    for (int i = 0; i < TIDE_TEST_EVENTS; i++) {
        if (i == TIDE_TEST_EVENTS / 2 && with_numbers)
            tide_out_numbers(writer->lane);
        write_record(writer);
    }
}

static void agrees_on_whole_and_damaged_lanes(void **state)
{
    struct fixture *f = *state;
    uint64_t whole = 0, damaged = 0;
    for (unsigned round = 1; round <= TIDE_TEST_ROUNDS; round++) {
        struct tide_builder *builder = tide_builder_new();
        struct writer writer = {
            .lane = tide_builder_lane(builder, 0, 0), .ticks = 5000, .random = round};
        write_lane(&writer, round % 2);
        struct tide_buffer *records = &writer.lane->records;
        uint8_t *const memory = calloc(1, records->length + TIDE_COLUMN_SLACK);
        const struct tide_fields columns = tide_split_records(records, memory);
        compare(f, columns, tide_fields_over(records->bytes, records->length));
        whole += f->fast.stop == TIDE_STOP_EMPTY && f->fast.count > 200;
        for (int i = 0; i < TIDE_TEST_DAMAGES; i++) {
            uint8_t *byte = &memory[any_below(&writer.random, records->length)];
            const uint8_t good = *byte;
            *byte = (uint8_t)next_number(&writer.random);
            compare(f, columns, columns);
            damaged += f->fast.stop == TIDE_STOP_BAD;
            *byte = good;
        }
        free(memory);
        tide_builder_free(builder);
    }
    assert_int_equal(whole, TIDE_TEST_ROUNDS);
    assert_true(damaged > 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(agrees_on_whole_and_damaged_lanes),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
