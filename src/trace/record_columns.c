/* trace/record_columns.c - the records of a lane, taken apart by field and put together again.
 *
 * One walk along the layout of format.h serves both ways: it asks for the next field of a
 * column, and a mover takes it from the rows to the column or back.  What a field says
 * (a tag, a count) is known in both directions once it has been moved.
 */
#include "trace/record_columns.h"

#include <string.h>

#define TIDE_INLINE static inline __attribute__((always_inline))

struct mover {
    uint8_t *row, *row_end;
    uint8_t *at[TIDE_COLUMNS], *end[TIDE_COLUMNS];
    bool bad;
};

/* Where the next byte of COLUMN comes from, what ends it, and where it goes to. */
struct way {
    uint8_t **from, *from_end;
    uint8_t **to, *to_end;
};

TIDE_INLINE struct way way_of(struct mover *mover, bool split, unsigned column)
{
    if (split)
        return (struct way){&mover->row, mover->row_end, &mover->at[column],
                            mover->end[column]};
    return (struct way){&mover->at[column], mover->end[column], &mover->row,
                        mover->row_end};
}

TIDE_INLINE bool fits(const struct way *way, size_t bytes)
{
    return (size_t)(way->from_end - *way->from) >= bytes &&
           (size_t)(way->to_end - *way->to) >= bytes;
}

TIDE_INLINE uint8_t move_byte(struct mover *mover, bool split, unsigned column)
{
    const struct way way = way_of(mover, split, column);
    if (!fits(&way, 1)) {
        mover->bad = true;
        return 0;
    }
    return *(*way.to)++ = *(*way.from)++;
}

/* A varint of more than one byte. */
static __attribute__((noinline)) uint64_t move_long(struct mover *mover,
                                                    const struct way *way)
{
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 70 && fits(way, 1); shift += 7) {
        const uint8_t byte = *(*way->from)++;
        *(*way->to)++ = byte;
        if (shift < 64)
            value |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80)
            return value;
    }
    mover->bad = true;
    return 0;
}

TIDE_INLINE uint64_t move_varint(struct mover *mover, bool split, unsigned column)
{
    const struct way way = way_of(mover, split, column);
    if (__builtin_expect(!fits(&way, 1), 0)) {
        mover->bad = true;
        return 0;
    }
    const uint8_t byte = **way.from;
    if (byte >= 0x80)
        return move_long(mover, &way);
    ++*way.from;
    *(*way.to)++ = byte;
    return byte;
}

static void move_bytes(struct mover *mover, bool split, unsigned column,
                       uint64_t length)
{
    const struct way way = way_of(mover, split, column);
    if (length > SIZE_MAX || !fits(&way, (size_t)length)) {
        mover->bad = true;
        return;
    }
    memcpy(*way.to, *way.from, (size_t)length);
    *way.from += length;
    *way.to += length;
}

/* --- The layout --------------------------------------------------------------------- */

TIDE_INLINE void move_stack(struct mover *mover, bool split, unsigned mode)
{
    if (mode == TIDE_STACK_RECENT) {
        (void)move_varint(mover, split, TIDE_COLUMN_STACKS);
    } else if (mode == TIDE_STACK_LEAF) {
        (void)move_varint(mover, split, TIDE_COLUMN_FRAMES);
    } else if (mode == TIDE_STACK_DELTA) {
        (void)move_varint(mover, split, TIDE_COLUMN_FRAMES);
        const uint64_t pushed = move_varint(mover, split, TIDE_COLUMN_FRAMES);
        for (uint64_t i = 0; i < pushed && !mover->bad; i++)
            (void)move_varint(mover, split, TIDE_COLUMN_FRAMES);
    }
}

TIDE_INLINE void move_birth(struct mover *mover, bool split, unsigned tag)
{
    const unsigned op = TIDE_TAG_OP(tag);
    const bool like = op == TIDE_OP_ALLOC_LIKE || op == TIDE_OP_ALLOC_LIKE_HERE;
    const bool here = op == TIDE_OP_ALLOC_HERE || op == TIDE_OP_ALLOC_LIKE_HERE;
    unsigned shape = 0;
    if (tag & TIDE_TAG_SHAPED)
        shape = move_byte(mover, split, TIDE_COLUMN_REST);
    if (!like)
        (void)move_varint(mover, split, TIDE_COLUMN_SIZES);
    if (shape & TIDE_SHAPE_SLACK)
        (void)move_varint(mover, split, TIDE_COLUMN_REST);
    if (shape & TIDE_SHAPE_ALIGN)
        (void)move_byte(mover, split, TIDE_COLUMN_REST);
    if (!here)
        (void)move_varint(mover, split, TIDE_COLUMN_BIRTHS);
    move_stack(mover, split, TIDE_TAG_MODE(tag));
}

TIDE_INLINE void move_death(struct mover *mover, bool split, unsigned tag)
{
    const bool aged = TIDE_TAG_OP(tag) == TIDE_OP_FREE_AGE;
    (void)move_varint(mover, split, aged ? TIDE_COLUMN_AGES : TIDE_COLUMN_DEATHS);
    if (tag & TIDE_TAG_STACKED)
        move_stack(mover, split, move_byte(mover, split, TIDE_COLUMN_REST));
}

static void move_rest(struct mover *mover, bool split, unsigned tag)
{
    const unsigned op = TIDE_TAG_OP(tag);
    if (op == TIDE_OP_EXTRA) {
        (void)move_varint(mover, split, TIDE_COLUMN_REST);
        move_bytes(mover, split, TIDE_COLUMN_REST,
                   move_varint(mover, split, TIDE_COLUMN_REST));
    } else if (op != TIDE_OP_MOVE_BACK) {
        const int fields = op == TIDE_OP_TIME ? 1 : op == TIDE_OP_SYNC ? 4 : 5;
        for (int i = 0; i < fields; i++)
            (void)move_varint(mover, split, TIDE_COLUMN_REST);
    }
    if (op == TIDE_OP_MAP)
        move_stack(mover, split, TIDE_TAG_MODE(tag));
}

TIDE_INLINE void move_record(struct mover *mover, bool split)
{
    const unsigned tag = move_byte(mover, split, TIDE_COLUMN_TAGS);
    if (tag & TIDE_TAG_NUMBERED)
        move_bytes(mover, split, TIDE_COLUMN_NUMBERS, 2);
    switch (TIDE_TAG_OP(tag)) {
    case TIDE_OP_ALLOC:
    case TIDE_OP_ALLOC_HERE:
    case TIDE_OP_ALLOC_LIKE:
    case TIDE_OP_ALLOC_LIKE_HERE:
    case TIDE_OP_MOVE_END:
        move_birth(mover, split, tag);
        break;
    case TIDE_OP_FREE:
    case TIDE_OP_FREE_AGE:
    case TIDE_OP_MOVE_BEGIN:
        move_death(mover, split, tag);
        break;
    case TIDE_OP_MOVE_BACK:
    case TIDE_OP_TIME:
    case TIDE_OP_SYNC:
    case TIDE_OP_MAP:
    case TIDE_OP_EXTRA:
        move_rest(mover, split, tag);
        break;
    default:
        mover->bad = true;
    }
}

/* --- Both ways ------------------------------------------------------------------------ */

bool tide_columns_split(const uint8_t *rows, size_t length, struct tide_columns *out)
{
    struct mover mover;
    memset(&mover, 0, sizeof(mover));
    /* Only read.  NOLINTNEXTLINE(performance-no-int-to-ptr) */
    mover.row = (uint8_t *)(uintptr_t)rows;
    mover.row_end = mover.row + length;
    for (unsigned i = 0; i < TIDE_COLUMNS; i++) {
        mover.at[i] = out->bytes[i];
        mover.end[i] = out->bytes[i] + length;
    }
    while (mover.row < mover.row_end && !mover.bad)
        move_record(&mover, true);
    for (unsigned i = 0; i < TIDE_COLUMNS; i++)
        out->length[i] = (size_t)(mover.at[i] - out->bytes[i]);
    return !mover.bad;
}

/* NOLINTNEXTLINE(readability-non-const-parameter): written through the mover */
bool tide_columns_join(const struct tide_columns *columns, uint8_t *rows, size_t length)
{
    struct mover mover = {.row = rows, .row_end = rows + length};
    for (unsigned i = 0; i < TIDE_COLUMNS; i++) {
        mover.at[i] = columns->bytes[i];
        mover.end[i] = columns->bytes[i] + columns->length[i];
    }
    while (mover.row < mover.row_end && !mover.bad)
        move_record(&mover, false);
    for (unsigned i = 0; i < TIDE_COLUMNS; i++)
        mover.bad |= mover.at[i] != mover.end[i];
    return !mover.bad;
}
