/* tests/unit/test_holders.c - which block holds an address, against a look at all of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "dice.h"
#include "query/holders.h"

enum { TIDE_HELD_BLOCKS = 300, TIDE_HELD_STEPS = 20000 };

/* Blocks that do not overlap: each has a place of 2^40 bytes, some reach its end. */
static struct tide_life random_life(struct dice *dice, int at)
{
    const uint64_t start = ((uint64_t)at << 40) + dice_number(dice) % (1ull << 39);
    return (struct tide_life){.id = (uint64_t)at + 1,
                              .address = start,
                              .size = dice_number(dice) % (1ull << 39),
                              .process = (uint32_t)at % 2};
}

static const struct tide_life *naive(const struct tide_lives *lives, uint32_t process,
                                     uint64_t address)
{
    for (size_t i = 1; i < lives->count; i++) {
        const struct tide_life *const life = &lives->list[i];
        const uint64_t bytes = life->size ? life->size : 1;
        if (life->id && life->process == process && address >= life->address &&
            address - life->address < bytes)
            return life;
    }
    return NULL;
}

/* At the edges of a block, inside it, or anywhere. */
static uint64_t random_address(struct dice *dice, const struct tide_life *life)
{
    switch (dice_roll(dice, 6)) {
    case 0:
        return life->address;
    case 1:
        return life->address - 1;
    case 2:
        return life->address + life->size;
    case 3:
        return life->address + life->size - 1;
    case 4:
        return life->address + dice_number(dice) % (life->size + 1);
    default:
        return dice_number(dice);
    }
}

static void finds_what_a_look_at_all_finds(void **state)
{
    (void)state;
    struct dice dice = {.state = 5};
    struct tide_lives lives;
    struct tide_holders holders = {0};
    uint32_t entries[TIDE_HELD_BLOCKS] = {0};
    int found = 0;
    assert_int_equal(tide_lives_init(&lives), TIDE_OK);
    for (int step = 0; step < TIDE_HELD_STEPS; step++) {
        const int at = dice_roll(&dice, TIDE_HELD_BLOCKS);
        const struct tide_life life = random_life(&dice, at);
        const struct tide_life *const known =
            entries[at] ? &lives.list[entries[at]] : NULL;
        if (known) {
            const uint64_t address = random_address(&dice, known);
            const uint32_t process = known->process;
            const struct tide_life *const right = naive(&lives, process, address);
            assert_ptr_equal(tide_holders_find(&holders, &lives, process, address),
                             right);
            found += right != NULL;
        }
        if (known && dice_roll(&dice, 2)) {
            tide_holders_remove(&holders, &lives, known);
            tide_lives_drop(&lives, entries[at]);
            entries[at] = 0;
        } else if (!known) {
            assert_int_equal(tide_lives_add(&lives, &life, &entries[at]), TIDE_OK);
            assert_int_equal(
                tide_holders_add(&holders, &lives, &lives.list[entries[at]]), TIDE_OK);
        }
    }
    assert_true(found > TIDE_HELD_STEPS / 8);
    tide_holders_release(&holders);
    tide_lives_release(&lives);
}

static void the_smallest_wins(void **state)
{
    (void)state;
    struct tide_lives lives;
    struct tide_holders holders = {0};
    const struct tide_life all[] = {{.id = 1, .address = 0x1000, .size = 0x1000},
                                    {.id = 2, .address = 0x1100, .size = 0x10},
                                    {.id = 3, .address = 0x1104, .size = 0}};
    uint32_t entry;
    assert_int_equal(tide_lives_init(&lives), TIDE_OK);
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        assert_int_equal(tide_lives_add(&lives, &all[i], &entry), TIDE_OK);
        assert_int_equal(tide_holders_add(&holders, &lives, &lives.list[entry]),
                         TIDE_OK);
    }
    assert_int_equal(tide_holders_find(&holders, &lives, 0, 0x1104)->id, 3);
    assert_int_equal(tide_holders_find(&holders, &lives, 0, 0x1105)->id, 2);
    assert_int_equal(tide_holders_find(&holders, &lives, 0, 0x1110)->id, 1);
    assert_null(tide_holders_find(&holders, &lives, 0, 0x2000));
    assert_null(tide_holders_find(&holders, &lives, 1, 0x1104));
    tide_holders_release(&holders);
    tide_lives_release(&lives);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_what_a_look_at_all_finds),
        cmocka_unit_test(the_smallest_wins),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
