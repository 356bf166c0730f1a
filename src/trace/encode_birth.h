/* trace/encode_birth.h - the row of a birth, taken apart.
 *
 * For: encode.c.
 */
#ifndef TIDE_TRACE_ENCODE_BIRTH_H
#define TIDE_TRACE_ENCODE_BIRTH_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/encode_memory.h"
#include "trace/row_hand.h"

struct tide_row_birth {
    uint64_t address, size, usable;
    uint32_t entry;
    uint16_t number;
    uint32_t wish; /* kind | align_log2 << 8: compared in one piece */
};

static inline __attribute__((always_inline)) uint8_t tide_row_birth_kind(
    const struct tide_row_birth *birth)
{
    return (uint8_t)birth->wish;
}

static inline __attribute__((always_inline)) uint8_t tide_row_birth_align(
    const struct tide_row_birth *birth)
{
    return (uint8_t)(birth->wish >> 8);
}

static inline __attribute__((always_inline)) bool tide_row_take_birth(
    struct tide_row_hand *row, unsigned tag, struct tide_row_birth *birth)
{
    const unsigned wide = tag & TIDE_ROW_WIDE ? 4 : 0;
    const unsigned numbered = tag & TIDE_TAG_NUMBERED ? 1 : 0;
    if (!tide_row_has(row, 2ull + wide + numbered))
        return false;
    const uint64_t head = row->at[0], body = row->at[1];
    birth->wish = TIDE_ROW_DETAIL(head);
    birth->address = head & TIDE_ROW_ADDRESS_MASK;
    birth->size = body & UINT32_MAX;
    birth->usable = birth->size + (body >> TIDE_ROW_SLACK_SHIFT & 0xffff);
    birth->entry = (uint32_t)(body >> TIDE_ROW_ENTRY_SHIFT);
    row->at += 2;
    if (__builtin_expect(wide, 0)) {
        birth->address = row->at[0];
        birth->size = row->at[1];
        birth->usable = row->at[2] < row->at[1] ? row->at[1] : row->at[2];
        birth->wish |= (uint32_t)(row->at[3] & 63) << 8;
        row->at += 4;
    }
    birth->number = numbered ? (uint16_t)*row->at++ : 0;
    return tide_row_birth_kind(birth) < TIDE_KINDS &&
           tide_row_stack_fits(row, TIDE_TAG_MODE(tag), birth->entry);
}

/* What BIRTH is like, in 64 bits if that can be. */
static inline uint64_t tide_row_birth_likeness(const struct tide_row_birth *birth)
{
    const uint64_t slack = birth->usable - birth->size;
    if (birth->size > UINT32_MAX || slack > UINT16_MAX || tide_row_birth_align(birth))
        return TIDE_LIKE_ODD;
    return tide_likeness(birth->size | slack << TIDE_ROW_SLACK_SHIFT, birth->wish);
}

/* Is BIRTH like the last one with its stack? */
static inline bool tide_row_birth_is_like(const struct tide_encoder_memory *memory,
                                          const struct tide_row_birth *birth)
{
    const uint64_t likeness = tide_row_birth_likeness(birth);
    const struct tide_odd_likeness *const odd = &memory->odd[birth->entry];
    return memory->like[birth->entry] == likeness &&
           (likeness != TIDE_LIKE_ODD ||
            (odd->size == birth->size && odd->usable == birth->usable &&
             odd->wish == birth->wish));
}

/* BIRTH is from here on the last one with the stack ENTRY. */
static inline void tide_row_birth_keep(struct tide_encoder_memory *memory,
                                       const struct tide_row_birth *birth,
                                       uint32_t entry)
{
    memory->like[entry] = tide_row_birth_likeness(birth);
    memory->odd[entry] =
        (struct tide_odd_likeness){birth->size, birth->usable, birth->wish};
}

#endif
