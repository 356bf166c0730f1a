/* unit/test_decode_usual.c - the fast way and the plain way to decode agree.
 *
 * On lanes that are written at random, by columns, whole and damaged: the same events, and
 * the same end.  And plain records give the same events as their columns.  Then on all forms
 * of births and deaths, with one at the end that may make no sense.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/raw/varint.h"
#include "make_event.h"
#include "split_records.h"
#include "trace/decode.h"
#include "trace_builder.h"

enum {
    TIDE_TEST_EVENTS = 400,
    TIDE_TEST_ROUNDS = 300,
    TIDE_TEST_DAMAGES = 20, /* per round */
    TIDE_TEST_WORDS = 40,
    TIDE_TEST_USUAL = 16000, /* records of a lane, at most */
    TIDE_TEST_STACKS = 50,
};

typedef enum tide_decode_stop decode_fn(struct tide_decoder *, struct tide_fields *,
                                        struct tide_event *, size_t, size_t *);

/* What a decoder made of some bytes. */
struct outcome {
    struct tide_event events[2 * TIDE_TEST_USUAL];
    size_t count;
    enum tide_decode_stop stop;
    uint64_t cut_stacks, born_bytes, others;
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
        const size_t room = 2 * TIDE_TEST_USUAL - out->count;
        out->stop =
            decode_some(&decoder, &fields, out->events + out->count, room, &made);
        out->count += made;
    } while (out->stop == TIDE_STOP_STAMP);
    out->cut_stacks = decoder.cut_stacks;
    out->born_bytes = decoder.born_bytes;
    out->others = decoder.others;
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
    assert_int_equal(f->fast.born_bytes, f->plain.born_bytes);
    assert_int_equal(f->fast.others, f->plain.others);
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
        uint8_t *const memory = calloc(1, 2 * records->length + TIDE_COLUMN_SLACK);
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

/* --- All forms of births and deaths --------------------------------------------------- */

/* Columns being written, record by record, and the decoder that has read them so far. */
struct columns {
    uint8_t bytes[TIDE_COLUMNS][TIDE_TEST_USUAL * 10 + TIDE_COLUMN_SLACK];
    struct tide_fields fields; /* not read yet */
    struct tide_decoder decoder;
    uint64_t random;
};

static uint8_t *end_of(struct columns *columns, unsigned column)
{
    uint8_t *const bytes = columns->bytes[column];
    return bytes + (columns->fields.at[column].end - bytes);
}

static void put(struct columns *columns, unsigned column, uint64_t value)
{
    columns->fields.at[column].end = tide_put_varint(end_of(columns, column), value);
}

static void put_byte(struct columns *columns, unsigned column, unsigned value)
{
    *end_of(columns, column) = (uint8_t)value;
    columns->fields.at[column].end++;
}

static void put_halves(struct columns *columns, unsigned low, unsigned high,
                       uint64_t value)
{
    put_byte(columns, low, value & 0xff);
    put_byte(columns, high, value >> 8 & 0xff);
}

static void put_tag(struct columns *columns, unsigned tag)
{
    put_byte(columns, TIDE_COLUMN_TAGS, tag);
    if (tag & TIDE_TAG_NUMBERED)
        put_halves(columns, TIDE_COLUMN_NUMBERS_LOW, TIDE_COLUMN_NUMBERS_HIGH,
                   next_number(&columns->random));
}

/* Stacks, some of which no birth has had yet, and numbers or none. */
static void begin_columns(struct fixture *f, struct columns *columns)
{
    struct tide_builder *const builder = tide_builder_new();
    struct tide_lane_out *const lane = tide_builder_lane(builder, 0, 0);
    uint64_t *const random = &columns->random;
    const uint64_t stacks = 1 + any_below(random, TIDE_TEST_STACKS);
    tide_out_sync(lane, 5000, 1);
    if (any_below(random, 2))
        tide_out_numbers(lane);
    for (uint64_t i = 0; i < stacks; i++) {
        const uint64_t words[] = {0x1000, 0x2000 + i * 16};
        const struct tide_out_stack stack = {.words = words, .depth = 2};
        const struct tide_out_birth birth = {
            .address = 0x10000 + i * 64, .size = i, .align_log2 = (uint8_t)(i % 7)};
        if (any_below(random, 2))
            tide_out_alloc(lane, birth, stack);
        else
            tide_out_free_stacked(lane, birth.address, stack);
    }
    uint8_t *const memory = calloc(1, 2 * lane->records.length + TIDE_COLUMN_SLACK);
    const struct tide_fields split = tide_split_records(&lane->records, memory);
    columns->fields.columns = true;
    for (unsigned i = 0; i < TIDE_COLUMNS; i++) {
        const size_t length = tide_cursor_left(&split.at[i]);
        memcpy(columns->bytes[i], split.at[i].at, length);
        columns->fields.at[i] = tide_cursor_over(columns->bytes[i], length);
    }
    free(memory);
    tide_builder_free(builder);
    tide_decoder_init(&columns->decoder, &f->resolver, 0, 0);
}

static void write_death(struct columns *columns, unsigned tag, bool senseless)
{
    uint64_t *const random = &columns->random;
    const uint64_t births = columns->decoder.memory->births;
    const uint64_t known = births < TIDE_AGES ? births : TIDE_AGES;
    if (TIDE_TAG_OP(tag) == TIDE_OP_FREE_AGE && !known && !senseless)
        return;
    put_tag(columns, tag);
    if (TIDE_TAG_OP(tag) == TIDE_OP_FREE)
        put(columns, TIDE_COLUMN_DEATHS, any_length(random));
    else
        put_halves(columns, TIDE_COLUMN_AGES_LOW, TIDE_COLUMN_AGES_HIGH,
                   senseless ? known + any_below(random, 2) : any_below(random, known));
}

/* What a birth refers to. */
struct birth {
    bool like, here, recalls;
    uint64_t entry, size;
};

static struct birth any_birth(struct columns *columns, unsigned tag, bool senseless)
{
    uint64_t *const random = &columns->random;
    const struct tide_lane_memory *const memory = columns->decoder.memory;
    const unsigned op = TIDE_TAG_OP(tag);
    const bool unknown = senseless && any_below(random, 2);
    struct birth birth = {
        .like = op == TIDE_OP_ALLOC_LIKE || op == TIDE_OP_ALLOC_LIKE_HERE,
        .here = op == TIDE_OP_ALLOC_HERE || op == TIDE_OP_ALLOC_LIKE_HERE,
        .recalls = TIDE_TAG_MODE(tag) == TIDE_STACK_RECENT,
        .entry = memory->next[columns->decoder.current],
        .size = any_below(random, 200),
    };
    if (birth.recalls)
        birth.entry = unknown ? memory->stacks + any_below(random, 2)
                              : any_below(random, memory->stacks);
    return birth;
}

/* Is there what it refers to? */
static bool makes_sense(const struct columns *columns, const struct birth *birth)
{
    const struct tide_lane_memory *const memory = columns->decoder.memory;
    const struct tide_recent *const recent =
        &memory->recent[birth->entry % TIDE_RECENTS];
    const uint64_t class =
        tide_class_of(birth->like ? recent->usable : TIDE_USABLE_GLIBC(birth->size));
    return (!birth->like || recent->like == columns->decoder.mark) &&
           (!birth->here || (class < TIDE_CLASSES && memory->piles.count[class]));
}

static void put_size(struct columns *columns, uint64_t size)
{
    put_byte(columns, TIDE_COLUMN_SIZES,
             (size > 127 ? 128u : 0u) | (unsigned)(size % 128));
    if (size > 127)
        put(columns, TIDE_COLUMN_SIZES_MORE, size / 128);
}

/* Where one of the last deaths was, behind one of the last births, or anywhere. */
static void write_place(struct columns *columns, bool senseless)
{
    uint64_t *const random = &columns->random;
    const uint64_t births = columns->decoder.memory->births;
    const uint64_t deaths = columns->decoder.memory->deaths;
    const uint64_t born = births < TIDE_AGES ? births : TIDE_AGES;
    const uint64_t dead = deaths < TIDE_DEAD ? deaths : TIDE_DEAD;
    const uint64_t way = any_below(random, 4);
    uint64_t place = UINT64_MAX;
    if (way == 0 && (dead || senseless))
        place = senseless ? dead + any_below(random, 2) : any_below(random, dead);
    if (way == 1 && (born || senseless))
        place = TIDE_DEAD +
                (senseless ? born + any_below(random, 2) : any_below(random, born));
    if (place != UINT64_MAX) {
        put_halves(columns, TIDE_COLUMN_PLACES_LOW, TIDE_COLUMN_PLACES_HIGH, place);
        return;
    }
    put_byte(columns, TIDE_COLUMN_PLACES_HIGH, way % 2 ? 0xfe : 0xff);
    put(columns, TIDE_COLUMN_BIRTHS, any_length(random));
}

static void write_birth(struct columns *columns, unsigned tag, bool senseless)
{
    uint64_t *const random = &columns->random;
    const struct birth birth = any_birth(columns, tag, senseless);
    if (!senseless && !makes_sense(columns, &birth))
        return;
    if (!birth.like && any_below(random, 9) == 0)
        tag |= TIDE_TAG_SHAPED;
    put_tag(columns, tag);
    if (birth.recalls)
        put(columns, TIDE_COLUMN_STACKS, birth.entry);
    if (tag & TIDE_TAG_SHAPED)
        put_byte(columns, TIDE_COLUMN_REST,
                 (unsigned)any_below(random, TIDE_KINDS + senseless));
    if (!birth.like)
        put_size(columns, birth.size);
    if (!birth.here)
        write_place(columns, senseless);
}

static void write_usual(struct columns *columns, bool senseless)
{
    static const uint8_t ops[] = {TIDE_OP_ALLOC,      TIDE_OP_ALLOC_HERE,
                                  TIDE_OP_ALLOC_LIKE, TIDE_OP_ALLOC_LIKE_HERE,
                                  TIDE_OP_FREE,       TIDE_OP_FREE_AGE};
    uint64_t *const random = &columns->random;
    const unsigned op = ops[any_below(random, sizeof(ops))];
    const unsigned tag = op | (any_below(random, 2) ? TIDE_TAG_NUMBERED : 0);
    if (op == TIDE_OP_FREE || op == TIDE_OP_FREE_AGE)
        write_death(columns, tag, senseless);
    else
        write_birth(
            columns,
            tag | (any_below(random, 2) ? TIDE_STACK_RECENT << TIDE_TAG_MODE_SHIFT : 0),
            senseless);
}

/* Read what was written since the last time. */
static enum tide_decode_stop read_on(struct columns *columns)
{
    enum tide_decode_stop stop;
    struct tide_event event;
    size_t made;
    do
        stop = tide_decode_plain(&columns->decoder, &columns->fields, &event, 1, &made);
    while (stop == TIDE_STOP_FULL || stop == TIDE_STOP_STAMP);
    return stop;
}

static void agrees_on_all_usual_forms(void **state)
{
    struct fixture *f = *state;
    struct columns *const columns = malloc(sizeof(*columns));
    assert_non_null(columns);
    unsigned refused = 0;
    for (unsigned round = 1; round <= TIDE_TEST_ROUNDS; round++) {
        columns->random = round;
        begin_columns(f, columns);
        assert_int_equal(read_on(columns), TIDE_STOP_EMPTY);
        enum tide_decode_stop stop = TIDE_STOP_EMPTY;
        const uint64_t most = round % 2 ? TIDE_TEST_USUAL - 1 : TIDE_TEST_STACKS;
        for (uint64_t left = any_below(&columns->random, most); left && !stop; left--) {
            write_usual(columns, false);
            stop = read_on(columns);
        }
        write_usual(columns, round % 5 != 0);
        tide_decoder_release(&columns->decoder);
        for (unsigned i = 0; i < TIDE_COLUMNS; i++)
            columns->fields.at[i].at = columns->bytes[i];
        compare(f, columns->fields, columns->fields);
        refused += f->fast.stop == TIDE_STOP_BAD;
    }
    assert_in_range(refused, TIDE_TEST_ROUNDS / 4, TIDE_TEST_ROUNDS * 3 / 4);
    free(columns);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(agrees_on_whole_and_damaged_lanes),
        cmocka_unit_test(agrees_on_all_usual_forms),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
