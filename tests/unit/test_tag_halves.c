/* tests/unit/test_tag_halves.c - tags come back from their halves; bytes that are none do not.
 *
 * Tags are chosen among few, among as many as halves stand for, and among all.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "dice.h"
#include "trace/tag_halves.h"

enum { TIDE_TEST_MOST = 9000, TIDE_TEST_ROUNDS = 400 };

static uint8_t *fill(struct dice *dice, size_t count, int kinds)
{
    uint8_t *const tags = malloc(count + 1);
    assert_non_null(tags);
    for (size_t i = 0; i < count; i++)
        tags[i] = (uint8_t)(dice_roll(dice, kinds) * 37);
    return tags;
}

/* The halves of COUNT tags, in memory that ends where they do. */
static uint8_t *halve(const uint8_t *tags, size_t count, size_t *length)
{
    uint8_t *const room = malloc(tide_halves_most(count));
    assert_non_null(room);
    *length = tide_tags_to_halves(tags, count, room);
    assert_true(*length <= tide_halves_most(count));
    uint8_t *const halves = malloc(*length);
    assert_non_null(halves);
    memcpy(halves, room, *length);
    free(room);
    return halves;
}

static void tags_come_back(void **state)
{
    (void)state;
    static const int kinds[] = {1, 2, 14, 15, 16, 40, 256};
    struct dice dice = {1};
    for (int round = 0; round < TIDE_TEST_ROUNDS; round++) {
        const size_t count = (size_t)dice_roll(&dice, round % 4 ? 40 : TIDE_TEST_MOST);
        const int some = kinds[round % 7];
        size_t length;
        uint8_t *const tags = fill(&dice, count, some);
        uint8_t *const halves = halve(tags, count, &length);
        uint8_t *const back = malloc(count + 1);
        assert_non_null(back);
        if (some <= 2)
            assert_int_equal(length, TIDE_HALF_KINDS + (count + 1) / 2);
        assert_true(tide_tags_from_halves(halves, length, back, count));
        assert_memory_equal(back, tags, count);
        free(back);
        free(halves);
        free(tags);
    }
}

/* As many tags, or none at all, but nothing beyond what there is: a sanitizer would see it. */
static void others_do_not(void **state)
{
    (void)state;
    struct dice dice = {2};
    int refused = 0;
    for (int round = 0; round < TIDE_TEST_ROUNDS; round++) {
        const size_t count = 2 + (size_t)dice_roll(&dice, 60);
        size_t length;
        uint8_t *const tags = fill(&dice, count, 20), *const back = malloc(count + 2);
        uint8_t *const halves = halve(tags, count, &length);
        assert_non_null(back);
        assert_false(tide_tags_from_halves(halves, length - 1, back, count));
        assert_false(tide_tags_from_halves(halves, length, back, count + 2));
        assert_false(tide_tags_from_halves(halves, length, back, count - 2));
        for (size_t i = 0; i < length; i++)
            halves[i] = (uint8_t)dice_bits(&dice);
        refused += !tide_tags_from_halves(halves, length, back, count);
        free(back);
        free(halves);
        free(tags);
    }
    assert_true(refused > TIDE_TEST_ROUNDS / 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tags_come_back),
        cmocka_unit_test(others_do_not),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
