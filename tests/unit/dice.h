/* tests/unit/dice.h - numbers that look random and are the same every time.
 *
 * xorshift64*: small, and no state that a library shares.
 */
#ifndef TIDE_TESTS_DICE_H
#define TIDE_TESTS_DICE_H

#include <stdint.h>

struct dice {
    uint64_t state; /* not 0 */
};

static inline uint64_t dice_bits(struct dice *dice)
{
    dice->state ^= dice->state >> 12;
    dice->state ^= dice->state << 25;
    dice->state ^= dice->state >> 27;
    return dice->state * UINT64_C(0x2545f4914f6cdd1d);
}

/* 0 to SIDES - 1. */
static inline int dice_roll(struct dice *dice, int sides)
{
    return (int)((dice_bits(dice) >> 33) % (uint64_t)sides);
}

/* Of any size: as many small numbers as large ones. */
static inline uint64_t dice_number(struct dice *dice)
{
    const uint64_t bits = dice_bits(dice);
    return bits >> dice_roll(dice, 60);
}

#endif
