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

/* Some block at ADDRESS; now and then one that is larger or odder than most. */
static struct tide_block some_block(uint64_t address, uint64_t *random)
{
    struct tide_block block = {.address = address,
                               .size = any_below(random, 5000),
                               .key = 1 + (uint32_t)any_below(random, 1000),
                               .slack = (uint32_t)any_below(random, 32),
                               .born = any_below(random, 1 << 21)};
    const uint64_t odd = any_below(random, 40);
    if (odd > 35)
        block.born = next_number(random) & TIDE_BIRTHS_MAX;
    if (odd == 0)
        block.size = next_number(random);
    if (odd == 1)
        block.slack = (uint32_t)next_number(random);
    if (odd == 2)
        block.key = UINT32_MAX - (uint32_t)any_below(random, 10);
    if (odd == 3)
        block.key = (1u << 29) - 1 - (uint32_t)any_below(random, 3);
    return block;
}

static void assert_same_block(const struct tide_block *one,
                              const struct tide_block *other)
{
    assert_true(one->address == other->address);
    assert_true(one->size == other->size);
    assert_int_equal(one->key, other->key);
    assert_int_equal(one->slack, other->slack);
    assert_true(one->born == other->born);
}

/* The table and the list it is compared with. */
struct pair {
    struct tide_live_store store;
    struct tide_live live;
    struct tide_block list[TIDE_ADDRESSES]; /* key 0: not there */
    uint64_t count;
    uint64_t random;
};

static void put(struct pair *pair, uint64_t which, uint64_t address)
{
    struct tide_block *expected = &pair->list[which];
    const struct tide_block block = some_block(address, &pair->random);
    struct tide_block old = {0};
    assert_true(tide_live_ready(&pair->live));
    /* The simple way comes first, as in the account. */
    if (!tide_block_packs(&block) ||
        !tide_live_add(&pair->store, &pair->live, address, tide_block_pack(&block)))
        assert_int_equal(tide_live_put(&pair->store, &pair->live, &block, &old),
                         TIDE_OK);
    assert_int_equal(old.key, expected->key);
    if (expected->key)
        assert_same_block(&old, expected);
    pair->count += !expected->key;
    *expected = block;
}

static void take(struct pair *pair, uint64_t which, uint64_t address)
{
    struct tide_block *expected = &pair->list[which];
    struct tide_block block;
    const bool taken = tide_live_take(&pair->store, &pair->live, address, &block);
    assert_int_equal(taken, expected->key != 0);
    if (taken)
        assert_same_block(&block, expected);
    pair->count -= taken;
    expected->key = 0;
}

/* A walk comes to every block once. */
static void compare_walk(struct pair *pair, uint64_t (*address_of)(uint64_t))
{
    struct tide_live_walk walk = {0};
    struct tide_block block;
    uint64_t seen = 0;
    while (tide_live_next(&pair->store, &pair->live, &walk, &block)) {
        uint64_t which = 0;
        while (which < TIDE_ADDRESSES && address_of(which) != block.address)
            which++;
        assert_true(which < TIDE_ADDRESSES);
        assert_same_block(&block, &pair->list[which]);
        seen++;
    }
    assert_int_equal(seen, pair->count);
}

/* Put and take at random among the addresses that ADDRESS_OF makes.  FACTOR 0: as the
 * store would have it. */
static void compare_with_list(uint64_t (*address_of)(uint64_t), uint64_t factor)
{
    struct pair *pair = calloc(1, sizeof(*pair));
    assert_non_null(pair);
    tide_live_store_init(&pair->store);
    if (factor) {
        pair->store.seed = 0;
        pair->store.factor = factor;
    }
    for (uint64_t step = 1; step <= TIDE_STEPS; step++) {
        const uint64_t which = any_below(&pair->random, TIDE_ADDRESSES);
        const uint64_t puts = step < TIDE_STEPS / 2 ? 3 : 2; /* grow, then shrink */
        if (any_below(&pair->random, 5) < puts)
            put(pair, which, address_of(which));
        else
            take(pair, which, address_of(which));
        assert_int_equal(pair->live.count, pair->count);
    }
    compare_walk(pair, address_of);
    tide_live_release(&pair->store, &pair->live);
    tide_live_store_release(&pair->store);
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

static uint64_t one_apart(uint64_t which)
{
    return 0x7fff00000123ull + which;
}

static uint64_t top_bits_only(uint64_t which)
{
    return which << 50;
}

static uint64_t all_the_way_up(uint64_t which)
{
    return 0 - which * 24;
}

static void agrees_with_a_list_for_ordinary_addresses(void **state)
{
    (void)state;
    compare_with_list(sixteen_apart, 0);
}

static void agrees_with_a_list_for_odd_addresses(void **state)
{
    (void)state;
    compare_with_list(top_bits_only, 0);
    compare_with_list(all_the_way_up, 0);
}

static void agrees_with_a_list_when_pages_are_full(void **state)
{
    (void)state;
    compare_with_list(one_apart, 0);
}

/* With this factor the hash is the number of the page: all land in a few places. */
static void agrees_with_a_list_when_all_collide(void **state)
{
    (void)state;
    compare_with_list(page_apart, 1ull << 40);
}

/* As blocks are born side by side, and now and then one below them: whether there is a
 * block already is known in either way to add one. */
static void adds_none_twice_where_blocks_are_born_side_by_side(void **state)
{
    (void)state;
    struct tide_live_store store;
    struct tide_pages pages = {0};
    bool there[TIDE_ADDRESSES] = {false};
    uint64_t random = 1, count = 0, appended = 0;
    tide_live_store_init(&store);
    for (uint64_t step = 0; step < TIDE_STEPS; step++) {
        const bool in_turn = any_below(&random, 64);
        const uint64_t which =
            in_turn ? step % TIDE_ADDRESSES : any_below(&random, TIDE_ADDRESSES);
        const bool dies = in_turn ? step / TIDE_ADDRESSES % 2 : any_below(&random, 2);
        const struct tide_block block = {
            .address = sixteen_apart(which), .size = which, .born = step, .key = 1};
        const struct tide_packed packed = tide_block_pack(&block);
        if (dies) {
            const struct tide_packed old =
                tide_pages_pull(&store, &pages, block.address);
            assert_int_equal(old.what != 0, there[which]);
            assert_true(!there[which] || old.what == packed.what);
            there[which] = false;
        } else {
            const bool quick = tide_pages_append(&pages, block.address, packed);
            const bool added =
                quick || tide_pages_add_new(&store, &pages, block.address, packed);
            assert_int_equal(added, !there[which]);
            there[which] = true;
            appended += quick;
        }
    }
    for (size_t i = 0; i < TIDE_ADDRESSES; i++)
        count += there[i];
    assert_int_equal(pages.count, count);
    assert_true(appended > TIDE_STEPS / 100);
    tide_pages_release(&store, &pages);
    tide_live_store_release(&store);
}

/* The longest run of places in use. */
static size_t longest_run(const struct tide_pages *pages)
{
    size_t longest = 0, run = 0;
    for (size_t i = 0; i <= pages->mask; i++) {
        run = pages->list[i].leaf ? run + 1 : 0;
        longest = run > longest ? run : longest;
    }
    return longest;
}

static void put_plain(struct tide_live_store *store, struct tide_live *live,
                      uint64_t address)
{
    const struct tide_block block = {.address = address, .size = 7, .key = 1};
    struct tide_block old;
    assert_int_equal(tide_live_put(store, live, &block, &old), TIDE_OK);
}

static void spreads_regular_addresses(void **state)
{
    (void)state;
    static uint64_t (*const patterns[])(uint64_t) = {page_apart, sixteen_apart,
                                                     top_bits_only};
    for (size_t p = 0; p < 3; p++) {
        struct tide_live_store store;
        struct tide_pages pages = {0};
        tide_live_store_init(&store);
        for (uint64_t i = 0; i < 3000; i++) {
            const uint64_t address = patterns[p](i);
            const struct tide_block block = {.address = address, .size = 7, .key = 1};
            assert_true(
                tide_pages_add(&store, &pages, address, tide_block_pack(&block)));
        }
        assert_true(longest_run(&pages) < 400);
        tide_pages_release(&store, &pages);
        tide_live_store_release(&store);
    }
}

static void holds_the_address_zero(void **state)
{
    (void)state;
    struct tide_live_store store;
    struct tide_live live = {0};
    struct tide_block other;
    tide_live_store_init(&store);
    assert_false(tide_live_take(&store, &live, 0, &other));
    put_plain(&store, &live, 0);
    assert_true(tide_live_take(&store, &live, 0, &other));
    assert_int_equal(other.size, 7);
    assert_false(tide_live_take(&store, &live, 0, &other));
    tide_live_release(&store, &live);
    tide_live_store_release(&store);
}

/* Bytes in use for leaves and pages. */
static size_t bytes_of(const struct tide_live_store *store,
                       const struct tide_live *live)
{
    return (size_t)store->fresh * 8 +
           (live->pages.list ? (live->pages.mask + 1) * sizeof(*live->pages.list) : 0);
}

/* The most bytes a block that a table of blocks APART bytes from each other takes. */
static size_t most_bytes_a_block(uint64_t apart)
{
    struct tide_live_store store;
    struct tide_live live = {0};
    size_t most = 0;
    tide_live_store_init(&store);
    for (uint64_t i = 1; i <= 300000; i++) {
        put_plain(&store, &live, 0x7fff00000000ull + i * apart);
        if (i > 50000 && bytes_of(&store, &live) / i > most)
            most = bytes_of(&store, &live) / i;
    }
    /* Beside them, the young take the same room however many blocks there are. */
    assert_true((live.young_mask + 1) * sizeof(*live.young) <= 1 << 21);
    tide_live_release(&store, &live);
    tide_live_store_release(&store);
    return most;
}

static void uses_less_than_40_bytes_a_block(void **state)
{
    (void)state;
    assert_true(most_bytes_a_block(32) < 25);
    assert_true(most_bytes_a_block(48) < 25);
    assert_true(most_bytes_a_block(80) < 30);
    assert_true(most_bytes_a_block(336) < 40);
    assert_true(most_bytes_a_block(1040) < 70); /* a page for each two */
}

static void uses_again_what_came_free(void **state)
{
    (void)state;
    struct tide_live_store store;
    struct tide_live live = {0};
    struct tide_block block;
    tide_live_store_init(&store);
    for (uint64_t i = 0; i < 20000; i++)
        put_plain(&store, &live, i * 64);
    const size_t before = bytes_of(&store, &live);
    for (uint64_t round = 1; round < 20; round++) { /* the heap wanders away */
        for (uint64_t i = 0; i < 20000; i++) {
            assert_true(
                tide_live_take(&store, &live, (round - 1) << 40 | i * 64, &block));
            put_plain(&store, &live, round << 40 | i * 64);
        }
    }
    assert_true(bytes_of(&store, &live) < 4 * before);
    tide_live_release(&store, &live);

    const uint32_t fresh = store.fresh;
    for (uint64_t i = 0; i < 20000; i++) /* another process */
        put_plain(&store, &live, i * 64);
    assert_int_equal(store.fresh, fresh);
    tide_live_release(&store, &live);
    tide_live_store_release(&store);
}

static void put_sized(struct tide_live_store *store, struct tide_live *live,
                      uint64_t number)
{
    const struct tide_block block = {
        .address = 0x10000 + 48 * number, .size = number, .key = 1, .born = number};
    struct tide_block old;
    assert_int_equal(tide_live_put(store, live, &block, &old), TIDE_OK);
    assert_int_equal(old.key, 0);
}

static void take_sized(struct tide_live_store *store, struct tide_live *live,
                       uint64_t number)
{
    struct tide_block block;
    assert_true(tide_live_take(store, live, 0x10000 + 48 * number, &block));
    assert_int_equal(block.size, number);
}

static void has_more_places_where_many_die_that_had_none(void **state)
{
    (void)state;
    const uint64_t blocks = 100000;
    struct tide_live_store store;
    struct tide_live live = {0};
    tide_live_store_init(&store);
    for (uint64_t i = 0; i < blocks; i++)
        put_sized(&store, &live, i);
    const size_t before = live.young_mask + 1, elders = live.pages.count;
    assert_true(elders > blocks / 3);
    for (uint64_t i = 1; i < blocks; i += 2) /* many an elder among them */
        take_sized(&store, &live, i);
    assert_int_equal(live.young_mask + 1, 4 * before);
    for (uint64_t i = 1; i < blocks; i += 2)
        put_sized(&store, &live, i);
    assert_true(live.pages.count < elders / 2 + elders / 10); /* those that stayed */
    for (uint64_t i = 0; i < blocks; i++)
        take_sized(&store, &live, i);
    assert_int_equal(live.count, 0);
    assert_int_equal(live.pages.count, 0);
    tide_live_release(&store, &live);
    tide_live_store_release(&store);
}

/* Of many blocks born side by side, all but every third still there, a walk by leaf meets
 * each once, and of those that are not young most beside those born before. */
static void walks_many_blocks_as_they_were_born(void **state)
{
    (void)state;
    enum { TIDE_CROWD = 300000 };
    struct tide_live_store store;
    struct tide_live live = {0};
    struct tide_live_walk walk = {0};
    struct tide_block block;
    bool *const seen = calloc(TIDE_CROWD, sizeof(*seen));
    assert_non_null(seen);
    tide_live_store_init(&store);
    for (uint64_t i = 0; i < TIDE_CROWD; i++) {
        struct tide_block old;
        block = (struct tide_block){.address = 0x10000 + i * 48, .born = i, .key = 1};
        assert_int_equal(tide_live_put(&store, &live, &block, &old), TIDE_OK);
    }
    for (uint64_t i = 0; i < TIDE_CROWD; i += 3)
        assert_true(tide_live_take(&store, &live, 0x10000 + i * 48, &block));
    tide_pages_walk_by_leaf(&store, &live.pages, &walk.pages);
    uint64_t count = 0, jumps = 0, last = 0;
    while (tide_live_next(&store, &live, &walk, &block)) {
        assert_true(block.born % 3 != 0 && !seen[block.born]);
        assert_int_equal(block.address, 0x10000 + block.born * 48);
        seen[block.born] = true;
        jumps += walk.pages.page > 0 && llabs((long long)(block.born - last)) > 1000;
        last = block.born;
        count++;
    }
    tide_pages_walk_end(&walk.pages);
    assert_int_equal(count, TIDE_CROWD / 3 * 2);
    assert_true(jumps < live.pages.used / 10);
    tide_live_release(&store, &live);
    tide_live_store_release(&store);
    free(seen);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(agrees_with_a_list_for_ordinary_addresses),
        cmocka_unit_test(agrees_with_a_list_for_odd_addresses),
        cmocka_unit_test(agrees_with_a_list_when_pages_are_full),
        cmocka_unit_test(agrees_with_a_list_when_all_collide),
        cmocka_unit_test(adds_none_twice_where_blocks_are_born_side_by_side),
        cmocka_unit_test(spreads_regular_addresses),
        cmocka_unit_test(holds_the_address_zero),
        cmocka_unit_test(uses_less_than_40_bytes_a_block),
        cmocka_unit_test(uses_again_what_came_free),
        cmocka_unit_test(has_more_places_where_many_die_that_had_none),
        cmocka_unit_test(walks_many_blocks_as_they_were_born),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
