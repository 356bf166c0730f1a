/* unit/test_life_table.c - blocks are found by process and address, whatever came before. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "dice.h"
#include "model/life_table.h"

enum { TIDE_PROCESSES = 3, TIDE_ADDRESSES = 2000, TIDE_STEPS = 300000 };

static uint32_t naive[TIDE_PROCESSES][TIDE_ADDRESSES]; /* entry, 0: none */

static uint64_t address_of(int at)
{
    return 0x7f0000000000u + (uint64_t)at * 16;
}

static void add(struct tide_lives *lives, uint32_t process, int at, uint64_t id)
{
    const struct tide_life life = {
        .id = id, .address = address_of(at), .process = process, .size = id * 3};
    uint32_t entry;
    assert_int_equal(tide_lives_add(lives, &life, &entry), TIDE_OK);
    assert_int_not_equal(entry, 0);
    assert_int_equal(tide_lives_put(lives, entry), TIDE_OK);
    naive[process][at] = entry;
}

static void finds_what_a_plain_array_finds(void **state)
{
    (void)state;
    struct tide_lives lives;
    struct dice dice = {.state = 42};
    size_t most = 0, alive = 0;
    memset(naive, 0, sizeof(naive));
    assert_int_equal(tide_lives_init(&lives), TIDE_OK);
    for (uint64_t step = 1; step <= TIDE_STEPS; step++) {
        const uint32_t process = (uint32_t)dice_roll(&dice, TIDE_PROCESSES);
        const int at = dice_roll(&dice, TIDE_ADDRESSES);
        const uint32_t known = naive[process][at];
        assert_int_equal(tide_lives_find(&lives, process, address_of(at)), known);
        if (!known) {
            add(&lives, process, at, step);
            alive++;
        } else {
            assert_int_equal(tide_lives_take(&lives, process, address_of(at)), known);
            assert_int_equal(lives.list[known].size, lives.list[known].id * 3);
            tide_lives_drop(&lives, known);
            naive[process][at] = 0;
            alive--;
        }
        most = alive > most ? alive : most;
    }
    assert_int_equal(lives.used, alive);
    assert_in_range(lives.count, most, most + 1); /* entries are used again */
    tide_lives_release(&lives);
}

static void takes_nothing_where_nothing_is(void **state)
{
    (void)state;
    struct tide_lives lives;
    assert_int_equal(tide_lives_init(&lives), TIDE_OK);
    assert_int_equal(tide_lives_take(&lives, 0, 0), 0);
    memset(naive, 0, sizeof(naive));
    add(&lives, 1, 5, 1);
    assert_int_equal(tide_lives_find(&lives, 0, address_of(5)), 0);
    assert_int_equal(tide_lives_take(&lives, 2, address_of(5)), 0);
    assert_int_equal(tide_lives_find(&lives, 1, address_of(5)), naive[1][5]);
    tide_lives_release(&lives);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_what_a_plain_array_finds),
        cmocka_unit_test(takes_nothing_where_nothing_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
