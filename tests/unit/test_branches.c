/* tests/unit/test_branches.c - which lines of a call tree are shown. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/text.h"
#include "dice.h"
#include "model_fixture.h"
#include "view/branches.h"

static void add_many(struct fixture *fixture, const char *path, uint64_t bytes,
                     uint64_t calls)
{
    fixture_add(fixture, &(struct fixture_site){.path = path,
                                                .calls = calls,
                                                .bytes = bytes,
                                                .peak_bytes = bytes,
                                                .peak_blocks = calls});
}

static void add(struct fixture *fixture, const char *path, uint64_t bytes)
{
    add_many(fixture, path, bytes, 1);
}

static struct tide_branches build(struct fixture *fixture,
                                  struct tide_branch_options options)
{
    struct tide_branches branches;
    fixture_rows(fixture, TIDE_METRIC_PEAK);
    assert_int_equal(tide_branches_build(&fixture->rows, options, &branches), TIDE_OK);
    return branches;
}

static const char *name(const struct fixture *fixture, uint32_t row)
{
    return fixture->functions[fixture->rows.tree[row].function].name;
}

static void assert_calls(const struct fixture *fixture,
                         const struct tide_branch *branch, const char *first,
                         const char *last, uint64_t bytes)
{
    assert_int_equal(branch->kind, TIDE_BRANCH_CALLS);
    assert_string_equal(name(fixture, branch->first), first);
    assert_string_equal(name(fixture, branch->last), last);
    assert_int_equal(branch->bytes, bytes);
}

static void joins_calls_without_a_fork_into_one_line(void **state)
{
    (void)state;
    struct fixture f;
    fixture_init(&f);
    add(&f, "main;run;step;a;b", 600);
    add(&f, "main;run;step;c", 400);
    struct tide_branches b = build(&f, (struct tide_branch_options){0, 1, true, false});
    assert_int_equal(b.count, 3);
    assert_calls(&f, &b.list[0], "main", "step", 1000);
    assert_calls(&f, &b.list[1], "a", "b", 600);
    assert_calls(&f, &b.list[2], "c", "c", 400);
    assert_int_equal(b.list[0].depth, 0);
    assert_int_equal(b.list[1].depth, 1);
    assert_int_equal(b.list[1].parent, 0);
    assert_false(b.list[1].is_last);
    assert_true(b.list[2].is_last);
    tide_branches_release(&b);
    fixture_release(&f);
}

static void a_chain_goes_on_past_branches_of_no_weight(void **state)
{
    (void)state;
    struct fixture f;
    fixture_init(&f);
    add_many(&f, "main;run;work", 99500, 2);
    add(&f, "main;setup", 300);
    add(&f, "main;run;log", 200);
    struct tide_branches b =
        build(&f, (struct tide_branch_options){16, 1, true, false});
    assert_int_equal(b.count, 1);
    assert_calls(&f, &b.list[0], "main", "work", 100000);
    tide_branches_release(&b);
    fixture_release(&f);
}

static void a_chain_ends_where_most_calls_leave_it(void **state)
{
    (void)state;
    struct fixture f;
    fixture_init(&f);
    add_many(&f, "main;run;work", 99500, 40);
    add_many(&f, "main;setup", 300, 55);
    add_many(&f, "main;run;log", 200, 5);
    struct tide_branches b =
        build(&f, (struct tide_branch_options){16, 1, true, false});
    assert_int_equal(b.count, 3);
    assert_calls(&f, &b.list[0], "main", "main", 100000);
    assert_int_equal(b.list[0].calls, 100);
    assert_calls(&f, &b.list[1], "run", "work", 99700);
    assert_int_equal(b.list[1].calls, 45);
    assert_calls(&f, &b.list[2], "setup", "setup", 300);
    assert_int_equal(b.list[2].calls, 55);
    tide_branches_release(&b);
    fixture_release(&f);
}

static void sums_up_what_is_folded(void **state)
{
    (void)state;
    struct fixture f;
    fixture_init(&f);
    add(&f, "main;a", 50000);
    add(&f, "main;b", 49200);
    add(&f, "main;c", 500);
    add(&f, "main;d", 200);
    add(&f, "main;e", 100);
    struct tide_branches b =
        build(&f, (struct tide_branch_options){16, 1, true, false});
    assert_int_equal(b.count, 4);
    assert_int_equal(b.list[3].kind, TIDE_BRANCH_MORE);
    assert_int_equal(b.list[3].more, 3);
    assert_int_equal(b.list[3].bytes, 800);
    assert_int_equal(b.list[3].calls, 3);
    assert_true(b.list[3].is_last);
    tide_branches_release(&b);
    fixture_release(&f);
}

static void shows_what_a_function_allocates_itself_beside_its_callees(void **state)
{
    (void)state;
    struct fixture f;
    fixture_init(&f);
    add(&f, "main", 300);
    add(&f, "main;a", 700);
    struct tide_branches b = build(&f, (struct tide_branch_options){0, 1, true, false});
    assert_int_equal(b.count, 3);
    assert_calls(&f, &b.list[1], "a", "a", 700);
    assert_int_equal(b.list[2].kind, TIDE_BRANCH_ITSELF);
    assert_int_equal(b.list[2].bytes, 300);
    assert_int_equal(b.list[2].parent, 0);
    tide_branches_release(&b);
    fixture_release(&f);
}

static void puts_what_a_function_allocates_itself_where_it_belongs(void **state)
{
    (void)state;
    struct fixture f;
    fixture_init(&f);
    add(&f, "main", 300);
    add(&f, "main;a", 500);
    add(&f, "main;b", 200);
    struct tide_branches b = build(&f, (struct tide_branch_options){0, 1, true, false});
    assert_int_equal(b.count, 4);
    assert_calls(&f, &b.list[1], "a", "a", 500);
    assert_int_equal(b.list[2].kind, TIDE_BRANCH_ITSELF);
    assert_int_equal(b.list[2].bytes, 300);
    assert_false(b.list[2].is_last);
    assert_calls(&f, &b.list[3], "b", "b", 200);
    assert_true(b.list[3].is_last);
    tide_branches_release(&b);
    fixture_release(&f);
}

static void keeps_the_largest_lines_and_their_callers(void **state)
{
    (void)state;
    struct fixture f;
    fixture_init(&f);
    add(&f, "main;x;deep;heavy", 500);
    add(&f, "main;x;deep;lighter", 100);
    add(&f, "main;y", 300);
    add(&f, "main;z", 90);
    add(&f, "main;w", 60);
    struct tide_branches b = build(&f, (struct tide_branch_options){4, 1, true, false});
    /* main 1050, x>deep 600, heavy 500, y 300; then what is one alone, and a sum. */
    assert_int_equal(b.count, 6);
    assert_calls(&f, &b.list[0], "main", "main", 1050);
    assert_calls(&f, &b.list[1], "x", "deep", 600);
    assert_calls(&f, &b.list[2], "heavy", "heavy", 500);
    assert_calls(&f, &b.list[3], "lighter", "lighter", 100);
    assert_calls(&f, &b.list[4], "y", "y", 300);
    assert_int_equal(b.list[5].kind, TIDE_BRANCH_MORE);
    assert_int_equal(b.list[5].bytes, 150);
    tide_branches_release(&b);
    fixture_release(&f);
}

/* 100 turns of two functions, which keep half a percent each, and what they come to. */
static void a_recursion_is_one_line(void **state)
{
    (void)state;
    struct fixture f;
    struct tide_text path = {0};
    fixture_init(&f);
    tide_text_add(&path, "main");
    for (int i = 0; i < 200; i++) {
        tide_text_add(&path, i % 2 ? ";odd" : ";even");
        add(&f, path.bytes, 100);
    }
    struct tide_branches b =
        build(&f, (struct tide_branch_options){16, 1, true, false});
    assert_int_equal(b.count, 1);
    assert_calls(&f, &b.list[0], "main", "odd", 20000);
    tide_branches_release(&b);
    tide_text_add(&path, ";leaf");
    add(&f, path.bytes, 30000);
    b = build(&f, (struct tide_branch_options){16, 1, true, false});
    assert_int_equal(b.count, 3);
    assert_calls(&f, &b.list[0], "main", "odd", 50000);
    assert_calls(&f, &b.list[1], "leaf", "leaf", 30000);
    assert_int_equal(b.list[2].kind, TIDE_BRANCH_ITSELF);
    assert_int_equal(b.list[2].bytes, 20000);
    assert_int_equal(b.list[2].calls, 200);
    tide_branches_release(&b);
    tide_text_release(&path);
    fixture_release(&f);
}

static void a_recursion_ends_where_one_turn_keeps_much(void **state)
{
    (void)state;
    struct fixture f;
    fixture_init(&f);
    add(&f, "main;f", 40);
    add(&f, "main;f;f", 40);
    add(&f, "main;f;f;f", 60);
    add(&f, "main;f;f;f;f", 860);
    struct tide_branches b =
        build(&f, (struct tide_branch_options){16, 1, true, false});
    assert_int_equal(b.count, 3);
    assert_calls(&f, &b.list[0], "main", "f", 1000);
    assert_calls(&f, &b.list[1], "f", "f", 860);
    assert_int_equal(b.list[2].kind, TIDE_BRANCH_ITSELF);
    assert_int_equal(b.list[2].bytes, 140);
    tide_branches_release(&b);
    fixture_release(&f);
}

/* "1 more" would take as much room.  It goes on by its own weight; dots: not to its end. */
static void one_alone_is_not_folded(void **state)
{
    (void)state;
    struct fixture f;
    fixture_init(&f);
    add(&f, "main;a", 50000);
    add(&f, "main;b", 49400);
    add(&f, "main;c;d;e", 400);
    add(&f, "main;c;d;f", 200);
    struct tide_branches b =
        build(&f, (struct tide_branch_options){16, 1, true, false});
    assert_int_equal(b.count, 4);
    assert_calls(&f, &b.list[3], "c", "d", 600);
    assert_int_equal(b.list[3].more, 2);
    assert_int_equal(b.list[3].parent, 0);
    assert_int_equal(b.list[3].depth, 1);
    assert_true(b.list[3].is_last);
    tide_branches_release(&b);
    fixture_release(&f);
}

/* Stairs of nearly equal lines are one path, which holds what stands at its foot. */
static void a_path_is_opened_to_where_memory_branches(void **state)
{
    (void)state;
    struct fixture f;
    fixture_init(&f);
    add(&f, "main;loop;read;parse;set", 500);
    add(&f, "main;loop;read;parse;push", 340);
    add(&f, "main;loop;read;grow", 50);
    add(&f, "main;loop;read", 5);
    add(&f, "main;loop;tick", 45);
    add(&f, "main;init", 60);
    struct tide_branches b = build(&f, (struct tide_branch_options){8, 1, true, true});
    assert_int_equal(b.count, 7);
    assert_calls(&f, &b.list[0], "main", "parse", 840);
    assert_calls(&f, &b.list[1], "set", "set", 500);
    assert_calls(&f, &b.list[2], "push", "push", 340);
    assert_int_equal(b.list[2].parent, 0);
    assert_false(b.list[0].beside);
    assert_calls(&f, &b.list[3], "init", "init", 60);
    assert_calls(&f, &b.list[4], "grow", "grow", 50);
    assert_calls(&f, &b.list[5], "tick", "tick", 45);
    for (size_t i = 3; i < 6; i++) {
        assert_true(b.list[i].beside);
        assert_int_equal(b.list[i].parent, TIDE_NO_BRANCH);
        assert_int_equal(b.list[i].depth, 0);
    }
    assert_int_equal(b.list[6].kind, TIDE_BRANCH_MORE);
    assert_int_equal(b.list[6].bytes, 5);
    tide_branches_release(&b);
    fixture_release(&f);
}

static void a_path_is_opened_no_further_than_its_weight(void **state)
{
    (void)state;
    struct fixture f;
    fixture_init(&f);
    add(&f, "main;run;a", 700);
    add(&f, "main;run;b", 190);
    add(&f, "main;c", 110);
    struct tide_branches b = build(&f, (struct tide_branch_options){8, 1, true, true});
    assert_int_equal(b.count, 5);
    assert_calls(&f, &b.list[0], "main", "main", 1000);
    assert_calls(&f, &b.list[1], "run", "run", 890);
    tide_branches_release(&b);
    fixture_release(&f);
}

static void folds_nothing_when_asked_for_all(void **state)
{
    (void)state;
    struct fixture f;
    fixture_init(&f);
    add(&f, "main;a", 1000000);
    add(&f, "main;b", 1);
    struct tide_branches b = build(&f, (struct tide_branch_options){0, 0, true, false});
    assert_int_equal(b.count, 3);
    assert_calls(&f, &b.list[2], "b", "b", 1);
    tide_branches_release(&b);
    fixture_release(&f);
}

static void gives_every_row_a_line_of_its_own_without_chains(void **state)
{
    (void)state;
    struct fixture f;
    fixture_init(&f);
    add(&f, "main;run;a", 10);
    struct tide_branches b =
        build(&f, (struct tide_branch_options){0, 0, false, false});
    assert_int_equal(b.count, 3);
    assert_int_equal(b.depth, 2);
    tide_branches_release(&b);
    fixture_release(&f);
}

static void has_no_lines_for_nothing(void **state)
{
    (void)state;
    struct fixture f;
    fixture_init(&f);
    struct tide_branches b =
        build(&f, (struct tide_branch_options){16, 1, true, false});
    assert_int_equal(b.count, 0);
    tide_branches_release(&b);
    fixture_release(&f);
}

static void add_random_sites(struct fixture *fixture, struct dice *dice)
{
    static const char *const STEPS[] = {";a", ";b", ";c"};
    struct tide_text path = {0};
    for (int s = 0; s < 40; s++) {
        tide_text_clear(&path);
        tide_text_add(&path, "main");
        for (int depth = dice_roll(dice, 9); depth > 0; depth--)
            tide_text_add(&path, STEPS[dice_roll(dice, 3)]);
        const uint64_t weight = dice_roll(dice, 3) ? 1 : 100;
        add(fixture, path.bytes, (uint64_t)dice_roll(dice, 1000) * weight);
    }
    tide_text_release(&path);
}

/* What stands below line I is what the line has, if anything does. */
static void assert_adds_up(const struct tide_branches *branches, size_t i)
{
    uint64_t bytes = 0, calls = 0;
    bool any = false;
    for (size_t j = 0; j < branches->count; j++) {
        if (branches->list[j].parent != i)
            continue;
        assert_true(j > i);
        bytes += branches->list[j].bytes;
        calls += branches->list[j].calls;
        any = true;
    }
    assert_true(!any || bytes == branches->list[i].bytes);
    assert_true(!any || calls == branches->list[i].calls);
}

static bool has_lines_below(const struct tide_branches *branches, size_t i)
{
    return i + 1 < branches->count && branches->list[i + 1].parent == i;
}

/* But for those that stand where else their number would: a caller's last. */
static size_t count_calls(const struct tide_branches *branches)
{
    size_t count = 0;
    for (size_t i = 0; i < branches->count; i++)
        count += branches->list[i].kind == TIDE_BRANCH_CALLS &&
                 (!branches->list[i].is_last || has_lines_below(branches, i));
    return count;
}

/* Nothing stands for one row, but for one that leaves a chain before its end. */
static bool is_worth_its_line(const struct tide_branches *branches, size_t i)
{
    const struct tide_branch *const line = &branches->list[i];
    const struct tide_branch *const above =
        line->parent == TIDE_NO_BRANCH ? NULL : &branches->list[line->parent];
    return line->kind != TIDE_BRANCH_MORE || line->more > 1 ||
           (above && above->first != above->last);
}

/* Random trees: below each line, what is shown adds up to it; callers stand before
 * callees; no more lines than asked for. */
static void the_lines_of_a_caller_add_up_to_it(void **state)
{
    (void)state;
    struct dice dice = {5};
    for (int round = 0; round < 150; round++) {
        const unsigned percent = round % 2 ? 1 : 0;
        const size_t most = round % 3 ? 8 : 0;
        const bool opens = round % 5 < 2;
        struct fixture f;
        fixture_init(&f);
        add_random_sites(&f, &dice);
        struct tide_branches b =
            build(&f, (struct tide_branch_options){most, percent, true, opens});
        for (size_t i = 0; i < b.count; i++) {
            assert_adds_up(&b, i);
            assert_true(opens || is_worth_its_line(&b, i));
        }
        /* By weight, one that was left alone need not stand last. */
        assert_true(most == 0 || count_calls(&b) <= (opens ? most + 2 : most));
        tide_branches_release(&b);
        fixture_release(&f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(joins_calls_without_a_fork_into_one_line),
        cmocka_unit_test(a_chain_goes_on_past_branches_of_no_weight),
        cmocka_unit_test(a_chain_ends_where_most_calls_leave_it),
        cmocka_unit_test(sums_up_what_is_folded),
        cmocka_unit_test(shows_what_a_function_allocates_itself_beside_its_callees),
        cmocka_unit_test(puts_what_a_function_allocates_itself_where_it_belongs),
        cmocka_unit_test(keeps_the_largest_lines_and_their_callers),
        cmocka_unit_test(one_alone_is_not_folded),
        cmocka_unit_test(a_recursion_is_one_line),
        cmocka_unit_test(a_recursion_ends_where_one_turn_keeps_much),
        cmocka_unit_test(a_path_is_opened_to_where_memory_branches),
        cmocka_unit_test(a_path_is_opened_no_further_than_its_weight),
        cmocka_unit_test(folds_nothing_when_asked_for_all),
        cmocka_unit_test(gives_every_row_a_line_of_its_own_without_chains),
        cmocka_unit_test(has_no_lines_for_nothing),
        cmocka_unit_test(the_lines_of_a_caller_add_up_to_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
