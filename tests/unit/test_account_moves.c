/* unit/test_account_moves.c - the rules of the books for realloc. */
#include "account_bench.h"

static void counts_a_moved_block_once_in_the_peak(void **state)
{
    (void)state;
    ENTER(alloc_event(0, 0x100, 100, 1), move_begin_event(0, 0x100),
          move_end_event(0x100, alloc_event(0, 0x900, 150, 2)), free_event(0, 0x900));
    assert_int_equal(heap()->alloc_calls, 2);
    assert_int_equal(heap()->free_calls, 2);
    assert_int_equal(heap()->realloc_calls, 1);
    assert_int_equal(heap()->allocated_bytes, 250);
    assert_int_equal(heap()->peak_bytes, 150);
    assert_int_equal(heap()->peak_with_realloc_bytes, 250);
    assert_int_equal(heap()->live_bytes, 0);
    assert_int_equal(site_of(1)->freed_bytes, 100);
    assert_int_equal(site_of(1)->peak_bytes, 0);
    assert_int_equal(site_of(2)->peak_bytes, 150);
}

static void needs_no_second_copy_when_a_block_grows_in_place(void **state)
{
    (void)state;
    ENTER(alloc_event(0, 0x100, 100, 1), move_begin_event(0, 0x100),
          move_end_event(0x100, alloc_event(0, 0x100, 150, 1)));
    assert_int_equal(heap()->peak_with_realloc_bytes, 150);
    assert_int_equal(account.replaced_blocks, 0);
    assert_int_equal(heap()->live_blocks, 1);
}

static void counts_as_copied_what_creeps_to_another_address(void **state)
{
    (void)state;
    ENTER(alloc_event(0, 0x100, 100, 1), move_begin_event(0, 0x100),
          move_end_event(0x100, alloc_event(0, 0x900, 8000, 1)), /* no small step */
          move_begin_event(0, 0x900),
          move_end_event(0x900, alloc_event(0, 0x900, 8008, 1)), /* in place */
          move_begin_event(0, 0x900),
          move_end_event(0x900, alloc_event(0, 0x9000, 8024, 1)),
          move_begin_event(0, 0x9000),
          move_end_event(0x9000, alloc_event(0, 0x1000, 8000, 1)));
    const struct tide_key_more *const more = &site_of(1)->more;
    assert_int_equal(more->moved_calls, 4);
    assert_int_equal(more->grown_bytes, 7924);
    assert_int_equal(more->crept_calls, 2);
    assert_int_equal(more->crept_bytes, 24);
    assert_int_equal(more->copied_calls, 1);
    assert_int_equal(more->copied_bytes, 8008);
}

static void knows_blocks_that_the_system_moves_without_copying(void **state)
{
    (void)state;
    struct tide_event mapped = alloc_event(0, 0x100010, 200000, 1);
    mapped.usable = 49 * 4096 - 16;
    ENTER(mapped, move_begin_event(0, 0x100010),
          move_end_event(0x100010, alloc_event(0, 0x200010, 204800, 1)));
    assert_int_equal(site_of(1)->more.crept_calls, 1);
    assert_int_equal(site_of(1)->more.copied_calls, 0);
}

static void lets_others_use_the_address_of_a_moving_block(void **state)
{
    (void)state;
    ENTER(alloc_event(0, 0x100, 100, 1), move_begin_event(0, 0x100),
          alloc_event(1, 0x100, 7, 2),
          move_end_event(0x100, alloc_event(0, 0x900, 50, 1)), free_event(1, 0x100));
    assert_int_equal(account.replaced_blocks, 0);
    assert_int_equal(account.unmatched_frees, 0);
    assert_int_equal(heap()->peak_bytes, 107);
    assert_int_equal(heap()->live_bytes, 50);
}

static void puts_back_what_a_failed_realloc_left(void **state)
{
    (void)state;
    ENTER(alloc_event(0, 0x100, 100, 1), move_begin_event(0, 0x100),
          extra_event(0, TIDE_EXTRA_FAILED, TIDE_KIND_REALLOC),
          move_back_event(0, 0x100), free_event(0, 0x100));
    assert_int_equal(heap()->failed_calls, 1);
    assert_int_equal(heap()->realloc_calls, 0);
    assert_int_equal(heap()->alloc_calls, 1);
    assert_int_equal(heap()->free_calls, 1);
    assert_int_equal(account.unmatched_frees, 0);
    assert_int_equal(heap()->live_blocks, 0);
}

static void frees_by_realloc_to_nothing(void **state)
{
    (void)state;
    ENTER(alloc_event(0, 0x100, 100, 1), move_begin_event(0, 0x100),
          move_gone_event(0, 0x100));
    assert_int_equal(heap()->realloc_calls, 1);
    assert_int_equal(heap()->free_calls, 1);
    assert_int_equal(heap()->live_bytes, 0);
    assert_int_equal(heap()->temporary_calls, 1);
}

static void takes_a_move_of_an_unknown_block_for_a_birth(void **state)
{
    (void)state;
    ENTER(move_begin_event(0, 0x500),
          move_end_event(0x500, alloc_event(0, 0x600, 10, 1)),
          move_end_event(0, alloc_event(0, 0x700, 10, 1)));
    assert_int_equal(heap()->alloc_calls, 2);
    assert_int_equal(account.unmatched_frees, 2);
    assert_int_equal(heap()->live_bytes, 20);
}

static void keeps_a_block_standing_whose_move_never_ends(void **state)
{
    (void)state;
    ENTER(alloc_event(0, 0x100, 100, 1), move_begin_event(0, 0x100));
    assert_int_equal(heap()->live_bytes, 100);
    assert_int_equal(heap()->live_blocks, 1);
}

static void nests_moves_and_heals_abandoned_ones(void **state)
{
    (void)state;
    ENTER(alloc_event(0, 0x100, 100, 1), alloc_event(0, 0x200, 30, 1),
          move_begin_event(0, 0x100), move_begin_event(0, 0x200),
          move_end_event(0x200, alloc_event(0, 0x300, 35, 1)),
          move_end_event(0x100, alloc_event(0, 0x400, 110, 1)));
    assert_int_equal(heap()->live_bytes, 145);
    assert_int_equal(account.unmatched_frees, 0);
    leave(NULL);
    /* The move of 0x200 began inside that of 0x100 but did not end before it. */
    ENTER(alloc_event(0, 0x100, 100, 1), alloc_event(0, 0x200, 30, 1),
          move_begin_event(0, 0x100), move_begin_event(0, 0x200),
          move_end_event(0x100, alloc_event(0, 0x400, 110, 1)), free_event(0, 0x200));
    assert_int_equal(heap()->live_bytes, 110);
    assert_int_equal(account.unmatched_frees, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(counts_a_moved_block_once_in_the_peak),
        CASE(needs_no_second_copy_when_a_block_grows_in_place),
        CASE(counts_as_copied_what_creeps_to_another_address),
        CASE(knows_blocks_that_the_system_moves_without_copying),
        CASE(lets_others_use_the_address_of_a_moving_block),
        CASE(puts_back_what_a_failed_realloc_left),
        CASE(frees_by_realloc_to_nothing),
        CASE(takes_a_move_of_an_unknown_block_for_a_birth),
        CASE(keeps_a_block_standing_whose_move_never_ends),
        CASE(nests_moves_and_heals_abandoned_ones),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
