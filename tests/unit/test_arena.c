/* tests/unit/test_arena.c - base/arena.c: aligned, zero, apart, given back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/arena.h"

static void hands_out_aligned_zeros_of_any_size(void **state)
{
    (void)state;
    struct tide_arena arena = {0};
    for (size_t size = 0; size < 5000; size += 37) {
        const unsigned char *const place = tide_arena_take(&arena, size);
        assert_non_null(place);
        assert_int_equal((uintptr_t)place % 16, 0);
        for (size_t i = 0; i < size; i++)
            assert_int_equal(place[i], 0);
    }
    tide_arena_release(&arena);
}

/* Each piece is filled with a value of its own; if two overlapped, one would show the
 * other's. */
static void keeps_pieces_apart(void **state)
{
    (void)state;
    enum { TIDE_PIECES = 200 };
    struct tide_arena arena = {0};
    unsigned char *places[TIDE_PIECES];
    size_t sizes[TIDE_PIECES];
    for (size_t i = 0; i < TIDE_PIECES; i++) {
        sizes[i] = i % 7 == 0 ? 20000 + i : 1 + i * 11 % 500; /* large ones between */
        places[i] = tide_arena_take(&arena, sizes[i]);
        assert_non_null(places[i]);
        memset(places[i], (int)(i % 251), sizes[i]);
    }
    for (size_t i = 0; i < TIDE_PIECES; i++) {
        for (size_t j = 0; j < sizes[i]; j++)
            assert_int_equal(places[i][j], i % 251);
    }
    tide_arena_release(&arena);
}

static void counts_what_it_takes_and_forgets_it_on_release(void **state)
{
    (void)state;
    struct tide_arena arena = {0};
    assert_non_null(tide_arena_take(&arena, 1000000));
    assert_true(arena.bytes >= 1000000);
    assert_true(arena.bytes < 1100000);
    tide_arena_release(&arena);
    assert_null(arena.blocks);
    assert_int_equal(arena.bytes, 0);
}

static void small_pieces_cost_little_more_than_they_hold(void **state)
{
    (void)state;
    struct tide_arena arena = {0};
    for (int i = 0; i < 100000; i++)
        assert_non_null(tide_arena_take(&arena, 32));
    assert_true(arena.bytes < 100000ull * 32 * 2);
    tide_arena_release(&arena);
}

static void a_large_piece_leaves_the_room_of_the_newest_block(void **state)
{
    (void)state;
    struct tide_arena arena = {0};
    const unsigned char *const first = tide_arena_take(&arena, 16);
    assert_non_null(tide_arena_take(&arena, 100000));
    const unsigned char *const second = tide_arena_take(&arena, 16);
    assert_ptr_equal(second, first + 16);
    tide_arena_release(&arena);
}

static void refuses_more_than_there_can_be(void **state)
{
    (void)state;
    struct tide_arena arena = {0};
    assert_null(tide_arena_take(&arena, SIZE_MAX));
    assert_null(tide_arena_take(&arena, SIZE_MAX / 2 + 1));
    assert_null(tide_arena_copy(&arena, "", SIZE_MAX));
    assert_null(arena.blocks);
    tide_arena_release(&arena);
}

static void copies_bytes_and_ends_them_with_zero(void **state)
{
    (void)state;
    struct tide_arena arena = {0};
    const char *const copy = tide_arena_copy(&arena, "tide\0pool", 7);
    assert_memory_equal(copy, "tide\0po", 8);
    const char *const empty = tide_arena_copy(&arena, NULL, 0);
    assert_string_equal(empty, "");
    tide_arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hands_out_aligned_zeros_of_any_size),
        cmocka_unit_test(keeps_pieces_apart),
        cmocka_unit_test(counts_what_it_takes_and_forgets_it_on_release),
        cmocka_unit_test(small_pieces_cost_little_more_than_they_hold),
        cmocka_unit_test(a_large_piece_leaves_the_room_of_the_newest_block),
        cmocka_unit_test(refuses_more_than_there_can_be),
        cmocka_unit_test(copies_bytes_and_ends_them_with_zero),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
