/* unit/test_live.c - the table of live blocks, against a plain list. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "make_event.h"
#include "model/live.h"

enum { TIDE_ADDRESSES = 4096, TIDE_STEPS = 200000 };

static struct tide_block block_at(uint64_t address, uint64_t size)
{
    return (struct tide_block){.address = address, .size = size, .site = 1};
}

/* The table and the list it is compared with. */
struct pair {
    struct tide_live_seed seed;
    struct tide_live live;
    uint64_t sizes[TIDE_ADDRESSES]; /* 0: not there */
    uint64_t count;
};

static void put(struct pair *pair, uint64_t which, uint64_t address, uint64_t size)
{
    const struct tide_block block = block_at(address, size);
    struct tide_block old;
    assert_int_equal(tide_live_put(&pair->live, pair->seed,
                                   tide_live_hash(pair->seed, address), &block, &old),
                     TIDE_OK);
    assert_int_equal(old.site ? old.size : 0, pair->sizes[which]);
    pair->count += !pair->sizes[which];
    pair->sizes[which] = size;
}

static void take(struct pair *pair, uint64_t which, uint64_t address)
{
    struct tide_block block = {0};
    const bool taken = tide_live_take(
        &pair->live, pair->seed, tide_live_hash(pair->seed, address), address, &block);
    assert_int_equal(block.size, pair->sizes[which]);
    assert_int_equal(taken, pair->sizes[which] != 0);
    pair->count -= taken;
    pair->sizes[which] = 0;
}

/* Put and take at random among the addresses that ADDRESS_OF makes. */
static void compare_with_list(struct tide_live_seed seed,
                              uint64_t (*address_of)(uint64_t))
{
    struct pair *pair = calloc(1, sizeof(*pair));
    pair->seed = seed;
    uint64_t random = 1;
    for (uint64_t step = 1; step <= TIDE_STEPS; step++) {
        const uint64_t which = any_below(&random, TIDE_ADDRESSES);
        const uint64_t puts = step < TIDE_STEPS / 2 ? 3 : 2; /* grow, then shrink */
        if (any_below(&random, 5) < puts)
            put(pair, which, address_of(which), step);
        else
            take(pair, which, address_of(which));
        assert_int_equal(pair->live.count, pair->count);
    }
    tide_live_release(&pair->live);
    free(pair);
}

static uint64_t page_apart(uint64_t which)
{
    return which << 12;
}

static uint64_t sixteen_apart(uint64_t which)
{
    return 0x5555aaaa0000ull + which * 16;
}

static uint64_t top_bits_only(uint64_t which)
{
    return which << 50;
}

static void agrees_with_a_list_for_ordinary_addresses(void **state)
{
    (void)state;
    compare_with_list(tide_live_seed_new(), sixteen_apart);
}

static void agrees_with_a_list_for_odd_addresses(void **state)
{
    (void)state;
    compare_with_list(tide_live_seed_new(), top_bits_only);
}

/* With this seed the hash is the address itself: everything lands in a few slots. */
static void agrees_with_a_list_when_all_collide(void **state)
{
    (void)state;
    compare_with_list((struct tide_live_seed){0, 1}, page_apart);
}

/* The longest run of slots in use. */
static size_t longest_run(const struct tide_live *live)
{
    size_t longest = 0, run = 0;
    for (size_t i = 0; i <= live->mask; i++) {
        run = live->slots[i].site ? run + 1 : 0;
        longest = run > longest ? run : longest;
    }
    return longest;
}

static void spreads_regular_addresses(void **state)
{
    (void)state;
    static uint64_t (*const patterns[])(uint64_t) = {page_apart, sixteen_apart,
                                                     top_bits_only};
    for (size_t p = 0; p < 3; p++) {
        const struct tide_live_seed seed = tide_live_seed_new();
        struct tide_live live = {0};
        for (uint64_t i = 0; i < 3000; i++) {
            const struct tide_block block = block_at(patterns[p](i), 1);
            struct tide_block old;
            assert_int_equal(tide_live_put(&live, seed,
                                           tide_live_hash(seed, block.address), &block,
                                           &old),
                             TIDE_OK);
        }
        assert_true(longest_run(&live) < 400);
        tide_live_release(&live);
    }
}

static void holds_the_address_zero(void **state)
{
    (void)state;
    const struct tide_live_seed seed = tide_live_seed_new();
    struct tide_live live = {0};
    const struct tide_block block = block_at(0, 7);
    struct tide_block other;
    const uint64_t hash = tide_live_hash(seed, 0);
    assert_false(tide_live_take(&live, seed, hash, 0, &other));
    assert_int_equal(tide_live_put(&live, seed, hash, &block, &other), TIDE_OK);
    assert_true(tide_live_take(&live, seed, hash, 0, &other));
    assert_int_equal(other.size, 7);
    assert_false(tide_live_take(&live, seed, hash, 0, &other));
    tide_live_release(&live);
}

static void uses_at_most_86_bytes_a_block_when_it_is_large(void **state)
{
    (void)state;
    const struct tide_live_seed seed = tide_live_seed_new();
    struct tide_live live = {0};
    for (uint64_t i = 1; i <= 400000; i++) {
        const struct tide_block block = block_at(i * 32, 1);
        struct tide_block old;
        assert_int_equal(tide_live_put(&live, seed, tide_live_hash(seed, block.address),
                                       &block, &old),
                         TIDE_OK);
        if (i > 100000)
            assert_true((live.mask + 1) * sizeof(struct tide_block) <= i * 86);
    }
    tide_live_release(&live);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(agrees_with_a_list_for_ordinary_addresses),
        cmocka_unit_test(agrees_with_a_list_for_odd_addresses),
        cmocka_unit_test(agrees_with_a_list_when_all_collide),
        cmocka_unit_test(spreads_regular_addresses),
        cmocka_unit_test(holds_the_address_zero),
        cmocka_unit_test(uses_at_most_86_bytes_a_block_when_it_is_large),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
