/* tests/unit/test_encode_usual.c - the fast way and the plain way to code rows agree.
 *
 * On random events of all kinds, and on rows that are nearly usual: the same columns, byte
 * for byte, and the same remembered.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "dice.h"
#include "random_rows.h"
#include "trace/encode.h"

// NOLINTNEXTLINE(readability-identifier-naming): fuzz/fuzz_rows.c, as libFuzzer calls it
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The modules of frames are of no interest here. */
void tide_modules_see(uint64_t address, uint64_t epoch)
{
    (void)address;
    (void)epoch;
}

/* Two coders of the same rows. */
struct both {
    struct tide_encoder *fast, *plain;
    struct tide_encoder_lane fast_lane, plain_lane;
};

static struct both begin_both(void)
{
    return (struct both){.fast = tide_encoder_new(0), .plain = tide_encoder_new(0)};
}

static void end_both(struct both *both)
{
    tide_encoder_free(both->fast);
    tide_encoder_free(both->plain);
}

/* A chunk of BYTES of rows, which may be nonsense, is the same by both, and leaves the same
 * behind. */
static void check_both(struct both *both, const uint64_t *rows, size_t bytes)
{
    struct tide_column_bytes fast[TIDE_COLUMNS], plain[TIDE_COLUMNS];
    const struct tide_encoder_lane *const lane = &both->fast_lane;
    const struct tide_encoder_lane *const other = &both->plain_lane;
    tide_encoder_begin(both->fast, &both->fast_lane);
    tide_encoder_begin(both->plain, &both->plain_lane);
    assert_int_equal(
        tide_encoder_add(both->fast, &both->fast_lane, rows, bytes),
        tide_encoder_add_plain(both->plain, &both->plain_lane, rows, bytes));
    tide_encoder_columns(both->fast, fast);
    tide_encoder_columns(both->plain, plain);
    for (size_t i = 0; i < TIDE_COLUMNS; i++) {
        assert_int_equal(fast[i].length, plain[i].length);
        assert_memory_equal(fast[i].bytes, plain[i].bytes, fast[i].length);
    }
    assert_int_equal(lane->ticks, other->ticks);
    assert_int_equal(lane->left_out, other->left_out);
    assert_int_equal(lane->current, other->current);
    assert_int_equal(lane->stacks, other->stacks);
}

static void usual_rows_become_what_plain_ones_become(void **state)
{
    struct fixture *f = *state;
    for (uint32_t run = 0; run < TIDE_TEST_RUNS; run++) {
        struct both both = begin_both();
        write_all(f, run);
        f->cuts[f->cut_count] = (size_t)(f->end - f->rows);
        for (uint32_t i = 0; i < f->cut_count; i++)
            check_both(&both, f->rows + f->cuts[i], (f->cuts[i + 1] - f->cuts[i]) * 8);
        end_both(&both);
    }
}

/* A row, nearly always sound, at ROWS, of words that repeat themselves; how many it has. */
static size_t put_row(struct dice *dice, uint64_t *rows, int stacks)
{
    static const uint64_t sizes[] = {0, 1, 24, 25, 1000, 1u << 20, UINT32_MAX};
    const unsigned birth = TIDE_OP_ALLOC | TIDE_STACK_ENTRY << TIDE_TAG_MODE_SHIFT;
    const int odd = dice_roll(dice, 200);
    const uint64_t address =
        (uint64_t)dice_roll(dice, 40) << 4 | (uint64_t)(dice_roll(dice, 30) == 0);
    const uint64_t any = dice_roll(dice, 500) ? 0 : dice_bits(dice);
    if (dice_roll(dice, 2)) {
        rows[0] = TIDE_ROW_HEAD(TIDE_OP_FREE, 0, address) ^ any;
        return 1;
    }
    const unsigned kind = odd == 0 ? (unsigned)dice_roll(dice, 256) : 9;
    const uint64_t entry = (uint64_t)dice_roll(dice, odd == 1 ? 1 << 16 : stacks);
    const uint64_t size = sizes[dice_roll(dice, 7)];
    const uint64_t usable = TIDE_USABLE_GLIBC(size);
    const uint64_t slack =
        dice_roll(dice, 2) ? usable - size : (uint64_t)dice_roll(dice, 1 << 16);
    rows[0] = TIDE_ROW_HEAD(birth, dice_roll(dice, 4) ? 0 : kind, address) ^ any;
    rows[1] = size | slack << TIDE_ROW_SLACK_SHIFT | entry << TIDE_ROW_ENTRY_SHIFT;
    return 2;
}

static void odd_rows_are_odd_to_both(void **state)
{
    (void)state;
    struct both both = begin_both();
    struct dice dice = {3};
    both.fast_lane.stacks = both.plain_lane.stacks = 1;
    for (int round = 0; round < 4000; round++) {
        uint64_t rows[64];
        size_t words = 0;
        while (words + 2 <= 64)
            words += put_row(&dice, rows + words, round % 2 ? 4 : TIDE_RECENTS);
        check_both(&both, rows, words * 8);
    }
    end_both(&both);
}

/* Half a million rows and more, of few addresses, so that many blocks are where others were. */
static void crowded_rows_come_out_again(void **state)
{
    (void)state;
    struct dice dice = {4};
    for (int round = 0; round < 200; round++) {
        static uint8_t bytes[20000];
        for (size_t i = 0; i < sizeof(bytes); i++)
            bytes[i] = (uint8_t)dice_roll(&dice, round % 2 ? 256 : 250);
        assert_int_equal(LLVMFuzzerTestOneInput(bytes, sizeof(bytes)), 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(usual_rows_become_what_plain_ones_become,
                                        set_up, tear_down),
        cmocka_unit_test(odd_rows_are_odd_to_both),
        cmocka_unit_test(crowded_rows_come_out_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
