/* fuzz/fuzz_rows.c - what goes into an encoder comes out of a decoder.
 *
 * Each byte of the input chooses a row, of addresses, sizes and stacks that repeat themselves,
 * as those of programs do.  The chunks of these rows have to be the same by the fast encoder and
 * by the plain one, and the events of both decoders have to be those that were put.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "trace/decode.h"
#include "trace/encode.h"
#include "trace/encode_columns.h"

/* The name is libFuzzer's. NOLINTNEXTLINE(readability-identifier-naming) */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
    TIDE_FUZZ_ROWS = 20 * 1000,
    TIDE_FUZZ_WORDS = TIDE_FUZZ_ROWS * 10, /* no row has more */
    TIDE_FUZZ_DEPTH = 40,
};

/* What an event has to say. */
struct put {
    uint64_t address, size, usable;
    uint8_t kind;
};

/* A lane, as it is written and as it is read. */
struct lane {
    const uint8_t *at, *end; /* of the input */
    uint64_t rows[TIDE_FUZZ_WORDS], *row;
    struct put puts[TIDE_FUZZ_ROWS];
    size_t put_count;
    uint32_t stacks, current;
    uint8_t depth[TIDE_RECENTS];
    uint64_t ticks, last;
    struct tide_encoder *fast, *plain;
    struct tide_encoder_lane fast_lane, plain_lane;
    struct tide_trace trace;
    struct tide_process process;
    struct tide_stacks tree;
    struct tide_resolver resolver;
    struct tide_decoder decoders[2];
};

static void demand(bool right)
{
    if (!right)
        abort();
}

static unsigned take(struct lane *lane)
{
    return lane->at < lane->end ? *lane->at++ : 0;
}

/* --- Rows ------------------------------------------------------------------------------ */

static uint64_t choose_address(struct lane *lane)
{
    const unsigned which = take(lane);
    if (which == 255)
        return (uint64_t)take(lane) << 40 | take(lane); /* perhaps odd, perhaps 0 */
    if (which >= 240)                                   /* behind what was born last */
        return (lane->last + 8 * (which - 240)) & TIDE_ROW_ADDRESS_MASK;
    return 0x7f0000000000 + (uint64_t)which * 48 +
           (uint64_t)(take(lane) & 3) * (1 << 20);
}

static uint64_t choose_size(struct lane *lane)
{
    const unsigned which = take(lane);
    return which < 224 ? which * 7 : 1ull << (which - 224);
}

/* The stack of the row whose tag has a MODE: its words go to the row's end. */
static void put_stack(struct lane *lane, unsigned mode, uint32_t entry)
{
    if (mode == TIDE_STACK_LEAF)
        *lane->row++ = take(lane);
    if (mode == TIDE_STACK_ENTRY)
        lane->current = entry;
    if (mode != TIDE_STACK_DELTA)
        return;
    const unsigned wish = take(lane);
    const uint8_t depth = lane->stacks ? lane->depth[lane->current] : 0;
    const uint8_t popped = (uint8_t)((wish & 15) < depth ? wish & 15 : depth);
    const uint8_t pushed =
        (wish >> 4 & 3) + depth < TIDE_FUZZ_DEPTH ? wish >> 4 & 3 : 0;
    *lane->row++ = popped | (uint64_t)pushed << 32;
    for (unsigned i = 0; i < pushed; i++)
        *lane->row++ = (uint64_t)take(lane) * 0x10001;
    lane->current = lane->stacks++ % TIDE_RECENTS;
    lane->depth[lane->current] = (uint8_t)(depth - popped + pushed);
}

static uint32_t choose_entry(struct lane *lane, unsigned *mode)
{
    if (*mode == TIDE_STACK_NEXT || (*mode == TIDE_STACK_ENTRY && lane->stacks == 0))
        *mode = TIDE_STACK_DELTA;
    const uint32_t there = lane->stacks < TIDE_RECENTS ? lane->stacks : TIDE_RECENTS;
    return *mode == TIDE_STACK_ENTRY ? take(lane) % there : 0;
}

static void put_birth(struct lane *lane, unsigned op, unsigned how)
{
    const bool wide = how & 32, slack = how & 64;
    unsigned mode = how & 16 ? TIDE_STACK_ENTRY : take(lane) & 3;
    const uint32_t entry = choose_entry(lane, &mode);
    struct put put = {.address = choose_address(lane), .size = choose_size(lane)};
    put.kind = op == TIDE_OP_ALLOC ? TIDE_EVENT_ALLOC : TIDE_EVENT_MOVE_END;
    put.size &= wide ? UINT64_MAX : UINT32_MAX;
    put.usable = slack ? put.size + take(lane) : TIDE_USABLE_GLIBC(put.size);
    *lane->row++ =
        TIDE_ROW_HEAD(op | mode << TIDE_TAG_MODE_SHIFT | (wide ? TIDE_ROW_WIDE : 0),
                      how & 128 ? 9 : 0, put.address);
    *lane->row++ = (put.size & UINT32_MAX) |
                   ((put.usable - put.size) & 0xffff) << TIDE_ROW_SLACK_SHIFT |
                   (uint64_t)entry << TIDE_ROW_ENTRY_SHIFT;
    if (wide) {
        *lane->row++ = put.address;
        *lane->row++ = put.size;
        *lane->row++ = put.usable;
        *lane->row++ = how >> 7;
    }
    put_stack(lane, mode, entry);
    lane->last = put.address + put.usable;
    lane->puts[lane->put_count++] = put;
}

static void put_death(struct lane *lane, unsigned op, unsigned how)
{
    const bool stacked = (how & 48) == 48;
    unsigned mode = how >> 6;
    const uint32_t entry = stacked ? choose_entry(lane, &mode) : 0;
    const struct put put = {.address = choose_address(lane),
                            .kind = op == TIDE_OP_FREE ? TIDE_EVENT_FREE
                                                       : TIDE_EVENT_MOVE_BEGIN};
    *lane->row++ = TIDE_ROW_HEAD(op | (stacked ? TIDE_TAG_STACKED : 0),
                                 stacked ? mode : 0, put.address);
    if (stacked) {
        *lane->row++ = entry;
        put_stack(lane, mode, entry);
    }
    lane->puts[lane->put_count++] = put;
}

static void put_sync(struct lane *lane)
{
    *lane->row++ = TIDE_ROW_HEAD(TIDE_OP_SYNC, 0, 0);
    *lane->row++ = lane->ticks;
    *lane->row++ = 0;
    *lane->row++ = 7;
    lane->stacks = lane->current = 0;
}

static void put_time(struct lane *lane)
{
    lane->ticks += (uint64_t)take(lane) << 8;
    *lane->row++ = TIDE_ROW_HEAD(TIDE_OP_TIME, 0, 0);
    *lane->row++ = lane->ticks;
}

/* Another row; false: the chunk ends. */
static bool put_row(struct lane *lane)
{
    static const uint8_t ops[16] = {
        TIDE_OP_ALLOC,    TIDE_OP_ALLOC, TIDE_OP_ALLOC,      TIDE_OP_ALLOC,
        TIDE_OP_ALLOC,    TIDE_OP_FREE,  TIDE_OP_FREE,       TIDE_OP_FREE,
        TIDE_OP_FREE,     TIDE_OP_FREE,  TIDE_OP_MOVE_BEGIN, TIDE_OP_MOVE_END,
        TIDE_OP_MOVE_END, TIDE_OP_TIME,  TIDE_OP_SYNC,       0,
    };
    const unsigned how = take(lane), op = ops[how & 15];
    if (op == TIDE_OP_ALLOC || op == TIDE_OP_MOVE_END)
        put_birth(lane, op, how);
    else if (op == TIDE_OP_FREE || op == TIDE_OP_MOVE_BEGIN)
        put_death(lane, op, how);
    else if (op == TIDE_OP_TIME)
        put_time(lane);
    else if (how == 254)
        put_sync(lane);
    return how != 255;
}

/* --- Chunks ---------------------------------------------------------------------------- */

/* The columns in one piece of memory, with slack, that the caller frees. */
static uint8_t *join(const struct tide_column_bytes columns[TIDE_COLUMNS],
                     struct tide_fields *fields)
{
    size_t sum = TIDE_COLUMN_SLACK;
    for (unsigned i = 0; i < TIDE_COLUMNS; i++)
        sum += columns[i].length;
    uint8_t *const memory = malloc(sum), *at = memory;
    demand(memory != NULL);
    memset(memory, 0xff, sum);
    *fields = (struct tide_fields){.columns = true};
    for (unsigned i = 0; i < TIDE_COLUMNS; i++) {
        if (columns[i].length)
            memcpy(at, columns[i].bytes, columns[i].length);
        fields->at[i] = tide_cursor_over(at, columns[i].length);
        at += columns[i].length;
    }
    return memory;
}

typedef enum tide_decode_stop decode(struct tide_decoder *decoder,
                                     struct tide_fields *fields,
                                     struct tide_event *events, size_t max,
                                     size_t *count);

/* The events of FIELDS by HOW are those that were put, from the number SEEN on. */
static void check(const struct lane *lane, struct tide_decoder *decoder, decode *how,
                  struct tide_fields fields, size_t seen)
{
    enum tide_decode_stop stop;
    do {
        struct tide_event events[32];
        size_t count;
        stop = how(decoder, &fields, events, 32, &count);
        demand(count <= lane->put_count - seen);
        for (size_t i = 0; i < count; i++) {
            const struct put *const put = &lane->puts[seen++];
            demand(events[i].kind == put->kind && events[i].address == put->address &&
                   events[i].size == put->size && events[i].usable == put->usable);
        }
    } while (stop == TIDE_STOP_STAMP || stop == TIDE_STOP_FULL);
    demand(stop == TIDE_STOP_EMPTY && seen == lane->put_count);
}

/* The rows that were put are a chunk; its first event is the one number SEEN. */
static void end_chunk(struct lane *lane, size_t seen)
{
    const size_t words = (size_t)(lane->row - lane->rows);
    struct tide_column_bytes fast[TIDE_COLUMNS], plain[TIDE_COLUMNS];
    tide_encoder_begin(lane->fast, &lane->fast_lane);
    tide_encoder_begin(lane->plain, &lane->plain_lane);
    demand(!tide_encoder_add(lane->fast, &lane->fast_lane, lane->rows, words * 8));
    demand(
        !tide_encoder_add_plain(lane->plain, &lane->plain_lane, lane->rows, words * 8));
    tide_encoder_columns(lane->fast, fast);
    tide_encoder_columns(lane->plain, plain);
    for (unsigned i = 0; i < TIDE_COLUMNS; i++)
        demand(fast[i].length == plain[i].length &&
               fast[i].length + TIDE_COLUMN_SPARE <= tide_column_most(i, words) &&
               memcmp(fast[i].bytes, plain[i].bytes, fast[i].length) == 0);
    struct tide_fields fields;
    uint8_t *const memory = join(fast, &fields);
    for (unsigned i = 0; i < 2; i++) {
        if (!lane->fast_lane.goes_on)
            tide_decoder_begin_chunk(&lane->decoders[i]);
        check(lane, &lane->decoders[i], i ? tide_decode_plain : tide_decode, fields,
              seen);
    }
    free(memory);
}

/* Whoever codes something else in between cannot go on. */
static void interrupt(struct lane *lane)
{
    struct tide_encoder_lane other = {0};
    tide_encoder_begin(lane->fast, &other);
    other = (struct tide_encoder_lane){0};
    tide_encoder_begin(lane->plain, &other);
}

static void run(struct lane *lane)
{
    put_sync(lane);
    while (lane->at < lane->end && lane->put_count + 1 < TIDE_FUZZ_ROWS) {
        const size_t seen = lane->put_count;
        while (lane->at < lane->end && lane->put_count + 1 < TIDE_FUZZ_ROWS &&
               lane->row - lane->rows + 16 < TIDE_FUZZ_WORDS && put_row(lane))
            ;
        end_chunk(lane, seen);
        lane->row = lane->rows;
        if (take(lane) & 1)
            interrupt(lane);
    }
}

/* Encoders take room for whole chunks: they are made once. */
static void make_encoders(struct lane *lane)
{
    if (!lane->fast) {
        lane->fast = tide_encoder_new(0);
        lane->plain = tide_encoder_new(0);
    }
    demand(lane->fast && lane->plain);
    lane->fast_lane = lane->plain_lane = (struct tide_encoder_lane){0};
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct lane all, *const lane = &all;
    lane->at = data;
    lane->end = data + size;
    lane->row = lane->rows;
    lane->put_count = 0;
    lane->ticks = lane->last = 0;
    lane->trace.processes = &lane->process;
    lane->trace.process_count = 1;
    make_encoders(lane);
    demand(!tide_stacks_init(&lane->tree) &&
           !tide_resolver_init(&lane->resolver, &lane->trace, &lane->tree));
    for (unsigned i = 0; i < 2; i++)
        tide_decoder_init(&lane->decoders[i], &lane->resolver, 0, 0);
    run(lane);
    for (unsigned i = 0; i < 2; i++)
        tide_decoder_release(&lane->decoders[i]);
    tide_resolver_release(&lane->resolver);
    tide_stacks_release(&lane->tree);
    return 0;
}
