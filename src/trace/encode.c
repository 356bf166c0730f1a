/* trace/encode.c - the rows of a lane -> the columns of a chunk.
 *
 * Rows come from the memory of a program that may have written anything into it: nothing is
 * taken that does not fit, but what fits is believed, since what is wrong in itself (an
 * entry that was never made, a pop below the bottom) is found by the reader.
 */
#include "trace/encode.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/raw/varint.h"
#include "trace/encode_birth.h"
#include "trace/encode_columns.h"
#include "trace/encode_memory.h"
#include "trace/encode_stamp.h"
#include "trace/encode_usual.h"
#include "trace/row_hand.h"

#define TIDE_INLINE static inline __attribute__((always_inline))

enum {
    TIDE_EXTRA_VALUES = 255,
    TIDE_TICK_NOISE = 255,
};

struct tide_encoder {
    struct tide_column_set columns;
    uint64_t stamp_ticks; /* what two stamps are apart, if one may be left out */
    uint64_t rows;        /* bytes of them in the columns */
    uint64_t timed;       /* records in the columns before the last TIME */
    uint64_t chunks;      /* begun so far */
    struct tide_seen_words seen;
    struct tide_encoder_memory memory;
};

struct tide_encoder *tide_encoder_new(uint64_t stamp_ticks)
{
    struct tide_encoder *const encoder = calloc(1, sizeof(struct tide_encoder));
    if (encoder)
        encoder->stamp_ticks = stamp_ticks;
    return encoder;
}

void tide_encoder_free(struct tide_encoder *encoder)
{
    if (!encoder)
        return;
    tide_column_set_release(&encoder->columns);
    tide_seen_words_release(&encoder->seen);
    free(encoder);
}

/* --- Fields ------------------------------------------------------------------------------ */

TIDE_INLINE void put_byte(struct tide_encoder *encoder, unsigned column, unsigned value)
{
    *encoder->columns.out[column]++ = (uint8_t)value;
}

TIDE_INLINE void put(struct tide_encoder *encoder, unsigned column, uint64_t value)
{
    encoder->columns.out[column] =
        tide_put_varint_any(encoder->columns.out[column], value);
}

TIDE_INLINE void put_tag(struct tide_encoder *encoder, unsigned tag, uint16_t number)
{
    put_byte(encoder, TIDE_COLUMN_TAGS, tag);
    if (__builtin_expect(!(tag & TIDE_TAG_NUMBERED), 1))
        return;
    put_byte(encoder, TIDE_COLUMN_NUMBERS_LOW, number & 0xff);
    put_byte(encoder, TIDE_COLUMN_NUMBERS_HIGH, number >> 8);
}

/* The distance of ADDRESS from BASE, or the address itself; tells which. */
TIDE_INLINE bool is_far(uint64_t address, uint64_t base)
{
    return (address - base) & 7;
}

TIDE_INLINE void put_address(struct tide_encoder *encoder, unsigned column,
                             uint64_t address, uint64_t base)
{
    put(encoder, column,
        is_far(address, base) ? address : tide_zigzag((int64_t)(address - base) >> 3));
}

/* --- Stacks ------------------------------------------------------------------------------- */

/* WORD, which stands at PLACE; where the next one goes. */
TIDE_INLINE uint8_t *put_word(uint8_t *out, struct tide_encoder *encoder,
                              uint32_t process, struct tide_word_place *place,
                              uint64_t word)
{
    struct tide_encoder_memory *const memory = &encoder->memory;
    const uint32_t slot = tide_word_slot(word);
    uint64_t token = 0;
    if (memory->dictionary[slot] != word) {
        token = tide_zigzag((int64_t)(word - memory->words.last_new)) << 1 | 1;
        memory->dictionary[slot] = word;
        memory->words.last_new = word;
        tide_seen_words_add(&encoder->seen, process, word);
    } else if (*place->expected != slot + 1) {
        token = ((uint64_t)slot + 1) << 1;
    }
    tide_words_step(&memory->words, place, slot);
    return tide_put_varint_any(out, token);
}

/* ENTRY is the present stack from here on. */
TIDE_INLINE void go_to(struct tide_encoder *encoder, struct tide_encoder_lane *lane,
                       uint32_t entry)
{
    if (lane->stacks > 0)
        encoder->memory.next[lane->current] = (uint16_t)entry;
    lane->current = entry;
}

static void put_delta(struct tide_encoder *encoder, struct tide_encoder_lane *lane,
                      struct tide_row_hand *row)
{
    const uint64_t popped = *row->at & UINT32_MAX, pushed = *row->at >> 32;
    row->at++;
    uint8_t *out = encoder->columns.out[TIDE_COLUMN_FRAMES];
    out = tide_put_varint_any(out, popped);
    out = tide_put_varint_any(out, pushed);
    struct tide_word_place place = tide_words_begin(&encoder->memory.words);
    for (uint64_t i = 0; i < pushed; i++)
        out =
            put_word(out, encoder, lane->process, &place, *row->at++ & TIDE_WORD_MASK);
    encoder->columns.out[TIDE_COLUMN_FRAMES] = out;
    const uint32_t entry = lane->stacks % TIDE_RECENTS;
    go_to(encoder, lane, entry);
    encoder->memory.next[entry] = (uint16_t)entry;
    encoder->memory.like[entry] = TIDE_LIKE_NONE;
    lane->stacks++;
}

/* How the stack that ROW gives by MODE will be given: NEXT instead of ENTRY, perhaps. */
TIDE_INLINE unsigned mode_for(const struct tide_encoder *encoder,
                              const struct tide_encoder_lane *lane, unsigned mode,
                              uint32_t entry)
{
    if (mode != TIDE_STACK_ENTRY)
        return mode;
    return lane->stacks > 0 && encoder->memory.next[lane->current] == entry
               ? TIDE_STACK_NEXT
               : TIDE_STACK_RECENT;
}

/* The stack itself, by a mode that mode_for() gave. */
TIDE_INLINE void put_stack(struct tide_encoder *encoder, struct tide_encoder_lane *lane,
                           struct tide_row_hand *row, unsigned mode, uint32_t entry)
{
    if (mode == TIDE_STACK_DELTA) {
        put_delta(encoder, lane, row);
    } else if (mode == TIDE_STACK_LEAF) {
        const uint64_t word = *row->at++ & TIDE_WORD_MASK;
        tide_seen_words_add(&encoder->seen, lane->process, word);
        put(encoder, TIDE_COLUMN_FRAMES, word);
    } else {
        if (mode == TIDE_STACK_RECENT)
            put(encoder, TIDE_COLUMN_STACKS, entry);
        go_to(encoder, lane, entry);
    }
}

/* --- Births -------------------------------------------------------------------------------- */

TIDE_INLINE unsigned shape_of(const struct tide_row_birth *birth)
{
    return tide_row_birth_kind(birth) |
           (birth->usable != TIDE_USABLE_GLIBC(birth->size) ? TIDE_SHAPE_SLACK : 0) |
           (tide_row_birth_align(birth) ? TIDE_SHAPE_ALIGN : 0);
}

TIDE_INLINE void put_size(struct tide_encoder *encoder, uint64_t size)
{
    put_byte(encoder, TIDE_COLUMN_SIZES, (size & 0x7f) | (size > 0x7f ? 0x80u : 0));
    if (size > 0x7f)
        put(encoder, TIDE_COLUMN_SIZES_MORE, size >> 7);
}

/* Where a birth is that is not where it was expected. */
TIDE_INLINE void put_place(struct tide_encoder *encoder, uint64_t address)
{
    const uint64_t base = encoder->memory.next_birth;
    const uint32_t place = tide_encoder_place(&encoder->memory, address);
    if (place != TIDE_NO_PLACE) {
        put_byte(encoder, TIDE_COLUMN_PLACES_HIGH, place >> 8);
        put_byte(encoder, TIDE_COLUMN_PLACES_LOW, place & 0xff);
        return;
    }
    put_byte(encoder, TIDE_COLUMN_PLACES_HIGH,
             is_far(address, base) ? TIDE_PLACE_FAR : TIDE_PLACE_NEAR);
    put_address(encoder, TIDE_COLUMN_BIRTHS, address, base);
}

/* Shape, size, slack and alignment: what a birth that is like another does not say. */
TIDE_INLINE void put_details(struct tide_encoder *encoder,
                             const struct tide_row_birth *birth, unsigned shape,
                             bool shaped)
{
    encoder->memory.last_kind = tide_row_birth_kind(birth);
    if (__builtin_expect(shaped, 0))
        put_byte(encoder, TIDE_COLUMN_REST, shape);
    put_size(encoder, birth->size);
    if (__builtin_expect(shape & TIDE_SHAPE_SLACK, 0))
        put(encoder, TIDE_COLUMN_REST, birth->usable - birth->size);
    if (__builtin_expect(shape & TIDE_SHAPE_ALIGN, 0))
        put_byte(encoder, TIDE_COLUMN_REST, tide_row_birth_align(birth));
}

/* ALLOC, MOVE_END. */
TIDE_INLINE bool put_birth(struct tide_encoder *encoder, struct tide_encoder_lane *lane,
                           struct tide_row_hand *row, unsigned tag)
{
    static const uint8_t ops[] = {TIDE_OP_ALLOC, TIDE_OP_ALLOC_HERE, TIDE_OP_ALLOC_LIKE,
                                  TIDE_OP_ALLOC_LIKE_HERE};
    struct tide_encoder_memory *const memory = &encoder->memory;
    struct tide_row_birth birth;
    if (!tide_row_take_birth(row, tag, &birth))
        return false;
    const bool fresh = TIDE_TAG_OP(tag) == TIDE_OP_ALLOC;
    const uint64_t expected =
        fresh ? tide_piles_take(&memory->piles, tide_class_of(birth.usable)) : 0;
    const bool here = expected != 0 && expected == birth.address;
    const unsigned mode = mode_for(encoder, lane, TIDE_TAG_MODE(tag), birth.entry);
    const bool known = mode == TIDE_STACK_NEXT || mode == TIDE_STACK_RECENT;
    const bool like = fresh && known && tide_row_birth_is_like(memory, &birth);
    const unsigned shape = shape_of(&birth);
    const bool shaped = !like && shape != memory->last_kind;

    put_tag(encoder,
            (fresh ? ops[2 * like + here] : TIDE_OP_MOVE_END) |
                (tag & TIDE_TAG_NUMBERED) | mode << TIDE_TAG_MODE_SHIFT |
                (shaped ? TIDE_TAG_SHAPED : 0),
            birth.number);
    if (!like)
        put_details(encoder, &birth, shape, shaped);
    if (!here)
        put_place(encoder, birth.address);
    put_stack(encoder, lane, row, mode, birth.entry);
    if (mode != TIDE_STACK_LEAF && lane->stacks > 0)
        tide_row_birth_keep(memory, &birth, lane->current);
    tide_encoder_add_birth(memory, birth.address, birth.usable);
    memory->totals.events++;
    memory->totals.kinds[tide_row_birth_kind(&birth)]++;
    memory->totals.allocated_bytes += birth.size;
    return true;
}

/* --- Deaths ---------------------------------------------------------------------------------- */

/* The stack of a death, when it has one: its mode stands with it. */
static void put_death_stack(struct tide_encoder *encoder,
                            struct tide_encoder_lane *lane, struct tide_row_hand *row,
                            unsigned mode, uint32_t entry)
{
    mode = mode_for(encoder, lane, mode, entry);
    put_byte(encoder, TIDE_COLUMN_REST, mode);
    put_stack(encoder, lane, row, mode, entry);
}

/* FREE, MOVE_BEGIN. */
TIDE_INLINE bool put_death(struct tide_encoder *encoder, struct tide_encoder_lane *lane,
                           struct tide_row_hand *row, unsigned tag)
{
    struct tide_encoder_memory *const memory = &encoder->memory;
    const bool wide = tag & TIDE_ROW_WIDE, stacked = tag & TIDE_TAG_STACKED;
    const bool numbered = tag & TIDE_TAG_NUMBERED;
    if (!tide_row_has(row, 1ull + stacked + wide + numbered))
        return false;
    const uint64_t head = *row->at++;
    const uint64_t entry = stacked ? *row->at++ : 0;
    uint64_t address = head & TIDE_ROW_ADDRESS_MASK;
    if (__builtin_expect(wide, 0))
        address = *row->at++;
    const uint16_t number = numbered ? (uint16_t)*row->at++ : 0;
    if (stacked && !tide_row_stack_fits(row, TIDE_ROW_DETAIL(head), entry))
        return false;

    uint32_t age;
    const bool aged =
        TIDE_TAG_OP(tag) == TIDE_OP_FREE && tide_encoder_knows(memory, address, &age);
    const bool far = !aged && is_far(address, memory->last_death);
    put_tag(encoder,
            (aged ? TIDE_OP_FREE_AGE : TIDE_TAG_OP(tag)) |
                (tag & (TIDE_TAG_NUMBERED | TIDE_TAG_STACKED)) |
                (far ? TIDE_TAG_FAR : 0),
            number);
    if (aged) {
        put_byte(encoder, TIDE_COLUMN_AGES_LOW, age & 0xff);
        put_byte(encoder, TIDE_COLUMN_AGES_HIGH, age >> 8);
    } else {
        put_address(encoder, TIDE_COLUMN_DEATHS, address, memory->last_death);
    }
    tide_encoder_add_death(memory, address);
    memory->totals.events++;
    memory->totals.free_calls++;
    if (__builtin_expect(stacked, 0))
        put_death_stack(encoder, lane, row, TIDE_ROW_DETAIL(head), (uint32_t)entry);
    return true;
}

/* --- The rest ---------------------------------------------------------------------------------- */

static bool put_move_back(struct tide_encoder *encoder, struct tide_row_hand *row,
                          unsigned tag)
{
    const bool numbered = tag & TIDE_TAG_NUMBERED;
    if (!tide_row_has(row, 1ull + numbered))
        return false;
    row->at++;
    put_tag(encoder, tag & (15u | TIDE_TAG_NUMBERED | TIDE_TAG_GONE),
            numbered ? (uint16_t)*row->at++ : 0);
    encoder->memory.totals.events++;
    encoder->memory.totals.free_calls -= !(tag & TIDE_TAG_GONE); /* counted at BEGIN */
    return true;
}

static bool put_time(struct tide_encoder *encoder, struct tide_encoder_lane *lane,
                     struct tide_row_hand *row)
{
    if (!tide_row_has(row, 2))
        return false;
    const uint64_t ticks = row->at[1];
    if (tide_stamp_is_spare(encoder->stamp_ticks, lane, row)) {
        lane->left_out++;
        row->at += 2;
        return true;
    }
    /* A tenth of a microsecond is good enough, and what is left out is nothing but noise. */
    const uint64_t past =
        ticks > lane->ticks ? (ticks - lane->ticks) & ~(uint64_t)TIDE_TICK_NOISE : 0;
    const uint64_t records = (uint64_t)(encoder->columns.out[TIDE_COLUMN_TAGS] -
                                        encoder->columns.start[TIDE_COLUMN_TAGS]);
    put(encoder, TIDE_COLUMN_TIMES, records - encoder->timed);
    put(encoder, TIDE_COLUMN_TIMES, past);
    encoder->timed = records;
    lane->ticks += past;
    lane->left_out = 0;
    lane->told = false;
    row->at += 2;
    return true;
}

static bool put_sync(struct tide_encoder *encoder, struct tide_encoder_lane *lane,
                     struct tide_row_hand *row)
{
    if (!tide_row_has(row, 4))
        return false;
    put_tag(encoder, TIDE_OP_SYNC, 0);
    for (int i = 1; i < 4; i++)
        put(encoder, TIDE_COLUMN_REST, row->at[i]);
    put(encoder, TIDE_COLUMN_REST, TIDE_ROW_DETAIL(row->at[0]) & ~TIDE_ROW_UNORDERED);
    lane->ticks = row->at[1];
    lane->numbers = TIDE_ROW_DETAIL(row->at[0]) & (1 | TIDE_ROW_UNORDERED);
    lane->left_out = 0;
    lane->current = lane->stacks = 0;
    tide_encoder_forget(&encoder->memory);
    row->at += 4;
    return true;
}

static bool put_map(struct tide_encoder *encoder, struct tide_encoder_lane *lane,
                    struct tide_row_hand *row, unsigned tag)
{
    const bool numbered = tag & TIDE_TAG_NUMBERED;
    if (!tide_row_has(row, 5ull + numbered))
        return false;
    const uint64_t *const at = row->at;
    const uint64_t entry = at[0] & TIDE_ROW_ADDRESS_MASK;
    row->at += 5 + numbered;
    if (!tide_row_stack_fits(row, TIDE_TAG_MODE(tag), entry) ||
        TIDE_ROW_DETAIL(at[0]) >= TIDE_MAP_CALLS)
        return false;
    const unsigned mode = mode_for(encoder, lane, TIDE_TAG_MODE(tag), (uint32_t)entry);
    put_tag(encoder,
            TIDE_OP_MAP | (tag & TIDE_TAG_NUMBERED) | mode << TIDE_TAG_MODE_SHIFT,
            numbered ? (uint16_t)at[5] : 0);
    put(encoder, TIDE_COLUMN_REST, TIDE_ROW_DETAIL(at[0]));
    for (int i = 1; i < 5; i++)
        put(encoder, TIDE_COLUMN_REST, at[i]);
    encoder->memory.totals.events++;
    encoder->memory.totals.maps[TIDE_ROW_DETAIL(at[0])]++;
    put_stack(encoder, lane, row, mode, (uint32_t)entry);
    return true;
}

static bool put_extra(struct tide_encoder *encoder, struct tide_encoder_lane *lane,
                      struct tide_row_hand *row)
{
    const uint64_t head = *row->at++;
    const unsigned count = TIDE_ROW_DETAIL(head);
    if (!tide_row_has(row, count))
        return false;
    uint8_t values[TIDE_EXTRA_VALUES * TIDE_VARINT_MAX], *end = values;
    for (unsigned i = 0; i < count; i++)
        end = tide_put_varint(end, *row->at++);
    put_tag(encoder, TIDE_OP_EXTRA, 0);
    put(encoder, TIDE_COLUMN_REST, head & TIDE_ROW_ADDRESS_MASK);
    put(encoder, TIDE_COLUMN_REST, (uint64_t)(end - values));
    memcpy(encoder->columns.out[TIDE_COLUMN_REST], values, (size_t)(end - values));
    encoder->columns.out[TIDE_COLUMN_REST] += end - values;
    const uint64_t kind = head & TIDE_ROW_ADDRESS_MASK;
    if (kind < TIDE_TOTALS_EXTRAS)
        encoder->memory.totals.extras[kind]++;
    lane->told = true;
    lane->numbers |= (head & TIDE_ROW_ADDRESS_MASK) == TIDE_EXTRA_NUMBERS;
    return true;
}

/* --- All of them ---------------------------------------------------------------------------------- */

static bool put_row(struct tide_encoder *encoder, struct tide_encoder_lane *lane,
                    struct tide_row_hand *row)
{
    const unsigned tag = TIDE_ROW_TAG(*row->at);
    switch (TIDE_TAG_OP(tag)) {
    case TIDE_OP_ALLOC:
    case TIDE_OP_MOVE_END:
        return put_birth(encoder, lane, row, tag);
    case TIDE_OP_FREE:
    case TIDE_OP_MOVE_BEGIN:
        return put_death(encoder, lane, row, tag);
    case TIDE_OP_MOVE_BACK:
        return put_move_back(encoder, row, tag);
    case TIDE_OP_TIME:
        return put_time(encoder, lane, row);
    case TIDE_OP_SYNC:
        return put_sync(encoder, lane, row);
    case TIDE_OP_MAP:
        return put_map(encoder, lane, row, tag);
    case TIDE_OP_EXTRA:
        return put_extra(encoder, lane, row);
    default:
        return false;
    }
}

void tide_encoder_begin(struct tide_encoder *encoder, struct tide_encoder_lane *lane)
{
    tide_column_set_clear(&encoder->columns);
    encoder->rows = encoder->timed = 0;
    lane->goes_on = lane->coder == encoder && lane->chunk == encoder->chunks;
    lane->coder = encoder;
    lane->chunk = ++encoder->chunks;
    if (!lane->goes_on)
        tide_encoder_forget(&encoder->memory);
}

/* Is there room for what BYTES of rows become?  If so, it is taken. */
static enum tide_status take_room(struct tide_encoder *encoder, size_t bytes)
{
    const size_t word = sizeof(uint64_t);
    if (bytes % word != 0 || bytes > TIDE_ROWS_MAX - encoder->rows)
        return TIDE_ECORRUPT;
    if (!tide_column_set_room(&encoder->columns, (encoder->rows + bytes) / word))
        return TIDE_ENOMEM;
    encoder->rows += bytes;
    return TIDE_OK;
}

static enum tide_status add_rows(struct tide_encoder *encoder,
                                 struct tide_encoder_lane *lane, const uint64_t *rows,
                                 size_t bytes, bool plainly)
{
    const enum tide_status status = take_room(encoder, bytes);
    if (status)
        return status;
    struct tide_row_hand row = {.at = rows, .end = rows + bytes / sizeof(*rows)};
    bool good = true;
    while (good && row.at < row.end) {
        if (!plainly)
            tide_encode_usual(&encoder->columns, &encoder->memory, lane, &row);
        good = row.at == row.end || put_row(encoder, lane, &row);
    }
    return good ? TIDE_OK : TIDE_ECORRUPT;
}

enum tide_status tide_encoder_add(struct tide_encoder *encoder,
                                  struct tide_encoder_lane *lane, const uint64_t *rows,
                                  size_t bytes)
{
    return add_rows(encoder, lane, rows, bytes, false);
}

enum tide_status tide_encoder_add_plain(struct tide_encoder *encoder,
                                        struct tide_encoder_lane *lane,
                                        const uint64_t *rows, size_t bytes)
{
    return add_rows(encoder, lane, rows, bytes, true);
}

const struct tide_seen_words *tide_encoder_seen(const struct tide_encoder *encoder)
{
    return &encoder->seen;
}

const struct tide_totals *tide_encoder_totals(const struct tide_encoder *encoder)
{
    return &encoder->memory.totals;
}

void tide_encoder_columns(const struct tide_encoder *encoder,
                          struct tide_column_bytes out[TIDE_COLUMNS])
{
    for (unsigned i = 0; i < TIDE_COLUMNS; i++)
        out[i] = (struct tide_column_bytes){
            encoder->columns.start[i],
            (size_t)(encoder->columns.out[i] - encoder->columns.start[i])};
}
