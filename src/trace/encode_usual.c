/* trace/encode_usual.c - the rows that programs write most: coded fast.
 *
 * This puts what encode.c puts, byte for byte, but only births in narrow rows with a stack
 * that is known, and deaths in narrow rows without one, both without numbers: 89 to 99 rows
 * in 100.  Which those are is seen before anything is put or remembered; the others are left
 * to encode.c.
 *
 * Two things make it fast.  Where the next bytes of the columns go is kept in a `hand` that
 * nobody else can see, hence in registers: bytes may be stored over anything, so whatever
 * stands in memory has to be read again after each of them.  And there is no branch on what
 * follows no rule: how long a number is, which class a block is of, whether its stack is the
 * one that stood there last time.
 */
#include "trace/encode_usual.h"

#include "base/raw/varint.h"

#define TIDE_INLINE static inline __attribute__((always_inline))

enum {
    TIDE_USUAL_BIRTH = TIDE_OP_ALLOC | TIDE_STACK_ENTRY << TIDE_TAG_MODE_SHIFT,
    TIDE_USUAL_DEATH = TIDE_OP_FREE,
    TIDE_BIRTH_WORDS = 2,
};

/* Where the next bytes go. */
struct hand {
    uint8_t *tags, *sizes, *sizes_more, *places_high, *places_low, *births, *deaths;
    uint8_t *ages_low, *ages_high, *stacks, *rest;
};

/* A number of 14 bits at most; unless it is KEPT, the next one goes there. */
TIDE_INLINE void put_short(uint8_t **out, uint32_t value, uint32_t kept)
{
    const uint32_t two = value >= 0x80;
    const uint32_t coded = value + (value & ~0x7fu) + (two << 7);
    (void)tide_put_u16(*out, (uint16_t)coded);
    *out += (1 + two) & -kept;
}

TIDE_INLINE void put(uint8_t **out, uint64_t value)
{
    *out = tide_put_varint_any(*out, value);
}

TIDE_INLINE void put_near(uint8_t **out, uint64_t address, uint64_t base)
{
    put(out, tide_zigzag((int64_t)(address - base) >> 3));
}

/* A size; what is stored behind the bytes that are put is overwritten. */
TIDE_INLINE void put_size(struct hand *hand, uint64_t size)
{
    const uint64_t more = size >> 7;
    *hand->sizes++ = (uint8_t)((size & 0x7f) | (uint64_t)(more > 0) << 7);
    *hand->sizes_more = (uint8_t)more;
    if (__builtin_expect(more >= 0x80, 0))
        put(&hand->sizes_more, more);
    else
        hand->sizes_more += more > 0;
}

/* Where a birth is that is not where it was expected. */
TIDE_INLINE void put_place(struct hand *hand, const struct tide_encoder_memory *memory,
                           uint64_t address)
{
    const uint32_t place = tide_encoder_place(memory, address);
    *hand->places_high++ = (uint8_t)(place >> 8);
    *hand->places_low = (uint8_t)place;
    hand->places_low += place != TIDE_NO_PLACE;
    if (__builtin_expect(place == TIDE_NO_PLACE, 0))
        put_near(&hand->births, address, memory->next_birth);
}

/* What a birth does not say that is like another; tells whether its shape had to be said. */
TIDE_INLINE bool put_details(struct hand *hand, struct tide_encoder_memory *memory,
                             unsigned kind, uint64_t size, uint64_t slack)
{
    const bool slacks = size + slack != TIDE_USABLE_GLIBC(size);
    const unsigned shape = kind | (slacks ? TIDE_SHAPE_SLACK : 0);
    const bool shaped = shape != memory->last_kind;
    put_size(hand, size);
    if (__builtin_expect(shaped, 0)) {
        *hand->rest++ = (uint8_t)shape;
        if (slacks)
            put(&hand->rest, slack);
        memory->last_kind = (uint8_t)kind;
    }
    return shaped;
}

/* False, and nothing is done: it is not usual. */
TIDE_INLINE bool put_birth(struct hand *hand, struct tide_encoder_memory *memory,
                           uint32_t *current, const uint64_t *row)
{
    static const uint8_t ops[] = {TIDE_OP_ALLOC, TIDE_OP_ALLOC_HERE, TIDE_OP_ALLOC_LIKE,
                                  TIDE_OP_ALLOC_LIKE_HERE};
    const uint64_t address = row[0] & TIDE_ROW_ADDRESS_MASK;
    const unsigned kind = TIDE_ROW_DETAIL(row[0]);
    const uint64_t size = row[1] & UINT32_MAX;
    const uint64_t slack = row[1] >> TIDE_ROW_SLACK_SHIFT & 0xffff;
    const uint32_t entry = (uint32_t)(row[1] >> TIDE_ROW_ENTRY_SHIFT);
    if (__builtin_expect((address - memory->next_birth) & 7 || kind >= TIDE_KINDS ||
                             entry >= TIDE_RECENTS,
                         0))
        return false;
    const uint64_t expected =
        tide_piles_take(&memory->piles, tide_class_of(size + slack));
    const bool here = expected != 0 && expected == address;
    const unsigned leaps = memory->next[*current] != entry;
    const uint64_t likeness = tide_likeness(row[1] & TIDE_ROW_SIZES_MASK, kind);
    const bool like = memory->like[entry] == likeness;
    const bool shaped = !like && put_details(hand, memory, kind, size, slack);

    *hand->tags++ = (uint8_t)(ops[2 * like + here] | (shaped ? TIDE_TAG_SHAPED : 0) |
                              leaps * (TIDE_STACK_RECENT << TIDE_TAG_MODE_SHIFT));
    if (!here)
        put_place(hand, memory, address);
    put_short(&hand->stacks, entry, leaps);
    memory->totals.kinds[kind]++;
    memory->totals.allocated_bytes += size;
    memory->next[*current] = (uint16_t)entry;
    memory->like[entry] = likeness;
    *current = entry;
    tide_encoder_add_birth(memory, address, size + slack);
    return true;
}

TIDE_INLINE bool put_death(struct hand *hand, struct tide_encoder_memory *memory,
                           uint64_t row)
{
    const uint64_t address = row & TIDE_ROW_ADDRESS_MASK;
    uint32_t age;
    if (__builtin_expect(((address - memory->last_death) & 7) != 0, 0))
        return false;
    if (tide_encoder_knows(memory, address, &age)) {
        *hand->tags++ = TIDE_OP_FREE_AGE;
        *hand->ages_low++ = (uint8_t)age;
        *hand->ages_high++ = (uint8_t)(age >> 8);
    } else {
        *hand->tags++ = TIDE_OP_FREE;
        put_near(&hand->deaths, address, memory->last_death);
    }
    tide_encoder_add_death(memory, address);
    return true;
}

static struct hand take_hand(const struct tide_column_set *columns)
{
    return (struct hand){
        .tags = columns->out[TIDE_COLUMN_TAGS],
        .sizes = columns->out[TIDE_COLUMN_SIZES],
        .sizes_more = columns->out[TIDE_COLUMN_SIZES_MORE],
        .places_high = columns->out[TIDE_COLUMN_PLACES_HIGH],
        .places_low = columns->out[TIDE_COLUMN_PLACES_LOW],
        .births = columns->out[TIDE_COLUMN_BIRTHS],
        .deaths = columns->out[TIDE_COLUMN_DEATHS],
        .ages_low = columns->out[TIDE_COLUMN_AGES_LOW],
        .ages_high = columns->out[TIDE_COLUMN_AGES_HIGH],
        .stacks = columns->out[TIDE_COLUMN_STACKS],
        .rest = columns->out[TIDE_COLUMN_REST],
    };
}

static void give_back(struct tide_column_set *columns, const struct hand *hand)
{
    columns->out[TIDE_COLUMN_TAGS] = hand->tags;
    columns->out[TIDE_COLUMN_SIZES] = hand->sizes;
    columns->out[TIDE_COLUMN_SIZES_MORE] = hand->sizes_more;
    columns->out[TIDE_COLUMN_PLACES_HIGH] = hand->places_high;
    columns->out[TIDE_COLUMN_PLACES_LOW] = hand->places_low;
    columns->out[TIDE_COLUMN_BIRTHS] = hand->births;
    columns->out[TIDE_COLUMN_DEATHS] = hand->deaths;
    columns->out[TIDE_COLUMN_AGES_LOW] = hand->ages_low;
    columns->out[TIDE_COLUMN_AGES_HIGH] = hand->ages_high;
    columns->out[TIDE_COLUMN_STACKS] = hand->stacks;
    columns->out[TIDE_COLUMN_REST] = hand->rest;
}

void tide_encode_usual(struct tide_column_set *columns,
                       struct tide_encoder_memory *memory,
                       struct tide_encoder_lane *lane, struct tide_row_hand *row)
{
    if (lane->stacks == 0)
        return;
    struct hand hand = take_hand(columns);
    const uint64_t *at = row->at, *const end = row->end;
    uint32_t current = lane->current;
    while (end - at >= TIDE_BIRTH_WORDS) {
        const unsigned tag = TIDE_ROW_TAG(*at);
        if (tag == TIDE_USUAL_BIRTH) {
            if (!put_birth(&hand, memory, &current, at))
                break;
            at += TIDE_BIRTH_WORDS;
        } else if (tag == TIDE_USUAL_DEATH) {
            if (!put_death(&hand, memory, *at))
                break;
            at++;
        } else {
            break;
        }
    }
    /* Each row became one tag; births have two words, deaths one. */
    const uint64_t records = (uint64_t)(hand.tags - columns->out[TIDE_COLUMN_TAGS]);
    memory->totals.events += records;
    memory->totals.free_calls += 2 * records - (uint64_t)(at - row->at);
    row->at = at;
    lane->current = current;
    give_back(columns, &hand);
}
