/* unit/split_records.c - records by columns, for tests of whatever reads columns. */
#include "split_records.h"

#include <stdlib.h>
#include <string.h>

struct split {
    const uint8_t *at, *end;
    uint64_t records; /* since the last TIME */
    struct tide_buffer columns[TIDE_COLUMNS];
};

static unsigned move_byte(struct split *split, enum tide_column column)
{
    if (split->at == split->end)
        abort();
    tide_buffer_put(&split->columns[column], split->at, 1);
    return *split->at++;
}

static uint64_t move_varint(struct split *split, enum tide_column column)
{
    uint64_t value = 0;
    unsigned byte = 0x80;
    for (unsigned shift = 0; byte & 0x80; shift += 7) {
        byte = move_byte(split, column);
        value |= (uint64_t)(byte & 0x7f) << shift;
    }
    return value;
}

/* A size: its first byte stands apart. */
static void move_size(struct split *split)
{
    if (move_byte(split, TIDE_COLUMN_SIZES) & 0x80)
        move_varint(split, TIDE_COLUMN_SIZES_MORE);
}

static void move_stack(struct split *split, unsigned mode)
{
    if (mode == TIDE_STACK_RECENT)
        move_varint(split, TIDE_COLUMN_STACKS);
    if (mode == TIDE_STACK_LEAF)
        move_varint(split, TIDE_COLUMN_FRAMES);
    if (mode != TIDE_STACK_DELTA)
        return;
    move_varint(split, TIDE_COLUMN_FRAMES);
    for (uint64_t left = move_varint(split, TIDE_COLUMN_FRAMES); left > 0; left--)
        move_varint(split, TIDE_COLUMN_FRAMES);
}

/* ALLOC, MOVE_END: the only births that the builder writes. */
static void move_birth(struct split *split, unsigned tag)
{
    const unsigned shape = tag & 0x80 ? move_byte(split, TIDE_COLUMN_REST) : 0;
    move_size(split);
    if (shape & 0x20)
        move_varint(split, TIDE_COLUMN_REST);
    if (shape & 0x40)
        move_byte(split, TIDE_COLUMN_REST);
    if (move_byte(split, TIDE_COLUMN_PLACES_HIGH) < 0xfe)
        move_byte(split, TIDE_COLUMN_PLACES_LOW);
    else
        move_varint(split, TIDE_COLUMN_BIRTHS);
    move_stack(split, tag >> 5 & 3);
}

static void move_rest(struct split *split, unsigned tag)
{
    static const int fields[] = {[TIDE_OP_SYNC] = 4, [TIDE_OP_MAP] = 5};
    const unsigned op = tag & 15;
    if (op == TIDE_OP_EXTRA) {
        move_varint(split, TIDE_COLUMN_REST);
        for (uint64_t left = move_varint(split, TIDE_COLUMN_REST); left > 0; left--)
            move_byte(split, TIDE_COLUMN_REST);
    } else if (op != TIDE_OP_MOVE_BACK) {
        for (int i = 0; i < fields[op]; i++)
            move_varint(split, TIDE_COLUMN_REST);
    }
    if (op == TIDE_OP_MAP)
        move_stack(split, tag >> 5 & 3);
}

static void move_record(struct split *split)
{
    if (*split->at == TIDE_OP_TIME) {
        split->at++;
        tide_buffer_varint(&split->columns[TIDE_COLUMN_TIMES], split->records);
        move_varint(split, TIDE_COLUMN_TIMES);
        split->records = 0;
        return;
    }
    split->records++;
    const unsigned tag = move_byte(split, TIDE_COLUMN_TAGS), op = tag & 15;
    if (tag & 0x10) {
        move_byte(split, TIDE_COLUMN_NUMBERS_LOW);
        move_byte(split, TIDE_COLUMN_NUMBERS_HIGH);
    }
    if (op == TIDE_OP_ALLOC || op == TIDE_OP_MOVE_END) {
        move_birth(split, tag);
    } else if (op == TIDE_OP_FREE || op == TIDE_OP_MOVE_BEGIN) {
        move_varint(split, TIDE_COLUMN_DEATHS);
        if (tag & 0x40)
            move_stack(split, move_byte(split, TIDE_COLUMN_REST));
    } else {
        move_rest(split, tag);
    }
}

struct tide_fields tide_split_records(const struct tide_buffer *records,
                                      uint8_t *memory)
{
    struct tide_fields fields = {.columns = true};
    struct split split = {.at = records->bytes,
                          .end = records->bytes + records->length};
    while (split.at < split.end)
        move_record(&split);
    for (unsigned i = 0; i < TIDE_COLUMNS; i++) {
        struct tide_buffer *const column = &split.columns[i];
        if (column->length > 0)
            memcpy(memory, column->bytes, column->length);
        fields.at[i] = tide_cursor_over(memory, column->length);
        memory += column->length;
        tide_buffer_release(column);
    }
    return fields;
}
