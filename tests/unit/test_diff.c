/* unit/test_diff.c - differences of models put together by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "dice.h"
#include "hand_model.h"
#include "model/diff_places.h"

enum { TIDE_FUNCTIONS = 5, TIDE_STACKS = 60, TIDE_DEEPEST = 8 };

static const struct hand_symbol base_symbols[] = {
    {TIDE_HAND_APP, 0x100, "main", "app.c", 10},
    {TIDE_HAND_APP, 0x200, "a", "app.c", 20},
    {TIDE_HAND_APP, 0x300, "b.isra.0", "app.c", 30},
    {TIDE_HAND_APP, 0x400, "c(int) [clone .constprop.1]", "app.c", 40},
    {TIDE_HAND_APP, 0x500, "d", "app.c", 50},
    {TIDE_HAND_APP, 0x600, "a", "app.c", 22},
    {TIDE_HAND_APP, 0x700, "a", "app.c", 24},
    {0, 0, NULL, NULL, 0},
};

/* Another build: other addresses, lines and clones. */
static const struct hand_symbol new_symbols[] = {
    {TIDE_HAND_APP, 0x1100, "main", "app.c", 110},
    {TIDE_HAND_APP, 0x1200, "a.part.0.cold", "app.c", 120},
    {TIDE_HAND_APP, 0x1300, "b", "app.c", 130},
    {TIDE_HAND_APP, 0x1400, "c(int)", "app.c", 140},
    {TIDE_HAND_APP, 0x1500, "d", "app.c", 150},
    {TIDE_HAND_APP, 0x1600, "a", "app.c", 122},
    {TIDE_HAND_APP, 0x1700, "a", "app.c", 124},
    {0, 0, NULL, NULL, 0},
};

static struct hand_model sides[TIDE_SIDES];

/* What the sums must be. */
static struct tide_change self[TIDE_FUNCTIONS], inclusive[TIDE_FUNCTIONS], total;

static void begin(enum tide_side side)
{
    const bool fresh = side == TIDE_SIDE_NEW;
    hand_model_init(&sides[side], fresh ? new_symbols : base_symbols);
}

static void end(enum tide_side side)
{
    assert_int_equal(tide_model_symbolize_from(sides[side].model, &hand_source),
                     TIDE_OK);
}

static struct tide_diff *compare(enum tide_metric metric)
{
    struct tide_diff *diff;
    const struct tide_diff_request request = {
        .models = {sides[TIDE_SIDE_BASE].model, sides[TIDE_SIDE_NEW].model},
        .metric = metric,
        .space = TIDE_IN_HEAP,
    };
    assert_int_equal(tide_diff_build(&request, &diff), TIDE_OK);
    return diff;
}

static void finish(struct tide_diff *diff)
{
    tide_diff_free(diff);
    hand_model_release(&sides[TIDE_SIDE_BASE]);
    hand_model_release(&sides[TIDE_SIDE_NEW]);
}

/* A site of SIDE whose stack goes through functions by number, main first. */
static void add_site(enum tide_side side, const int *functions, size_t depth,
                     uint64_t bytes)
{
    const struct hand_symbol *const symbols =
        side == TIDE_SIDE_NEW ? new_symbols : base_symbols;
    struct hand_frame frames[TIDE_DEEPEST];
    for (size_t i = 0; i < depth; i++)
        frames[i] = (struct hand_frame){TIDE_HAND_APP, symbols[functions[i]].value};
    hand_site(&sides[side],
              (struct tide_site){.stack = hand_stack(&sides[side], frames, depth),
                                 .bytes = bytes,
                                 .calls = 1});
}

static void count(struct tide_change *change, enum tide_side side, uint64_t bytes)
{
    change->bytes[side] += bytes;
    change->calls[side]++;
}

static void add_random(struct dice *dice, enum tide_side side, uint64_t bytes)
{
    int functions[TIDE_DEEPEST] = {0};
    bool seen[TIDE_FUNCTIONS] = {true};
    const size_t depth = 1 + (size_t)dice_roll(dice, TIDE_DEEPEST - 1);
    for (size_t i = 1; i < depth; i++) {
        functions[i] = 1 + (int)dice_roll(dice, TIDE_FUNCTIONS - 1);
        seen[functions[i]] = true;
    }
    for (size_t i = 0; i < TIDE_FUNCTIONS; i++)
        if (seen[i])
            count(&inclusive[i], side, bytes);
    count(&self[functions[depth - 1]], side, bytes);
    count(&total, side, bytes);
    add_site(side, functions, depth, bytes);
}

static const struct tide_diff_function *find(const struct tide_diff *diff,
                                             const char *name)
{
    for (size_t i = 0; i < diff->function_count; i++)
        if (strcmp(diff->functions[i].name, name) == 0)
            return &diff->functions[i];
    fail_msg("there is no %s", name);
    return NULL;
}

/* Every caller has what it has itself and what it calls has. */
static void check_tree(const struct tide_diff *diff)
{
    for (size_t i = 0; i < diff->node_count; i++) {
        const struct tide_diff_node *const node = &diff->nodes[i];
        int64_t bytes = tide_change_bytes(&node->self);
        uint64_t weight = UINT64_MAX;
        for (uint32_t child = node->first_child; child;
             child = diff->nodes[child].next) {
            bytes += tide_change_bytes(&diff->nodes[child].all);
            assert_true(diff->nodes[child].weight <= weight);
            weight = diff->nodes[child].weight;
        }
        assert_int_equal(bytes, tide_change_bytes(&node->all));
    }
}

/* With any number of lines, what is shown hangs together: callers come before what they
 * call, and heavier calls of a caller before lighter ones. */
static void check_ranks(const struct tide_diff *diff)
{
    uint64_t ranks = 0, forks = 0;
    for (uint32_t i = 0; i < diff->node_count; i++) {
        const struct tide_diff_node *const node = &diff->nodes[i];
        const struct tide_diff_node *const caller = &diff->nodes[node->caller];
        const struct tide_diff_node *const next = &diff->nodes[node->next];
        ranks += node->rank;
        forks = node->fork > forks ? node->fork : forks;
        assert_true(i == 0 ||
                    (caller->rank < node->rank && caller->fork <= node->fork));
        assert_true(!node->next ||
                    (node->rank < next->rank && node->fork <= next->fork));
    }
    assert_int_equal(ranks, diff->node_count * (diff->node_count - 1) / 2);
    assert_in_range(forks, diff->site_count, diff->node_count - 1);
}

static void check_sites(const struct tide_diff *diff)
{
    int64_t bytes = 0, calls = 0;
    for (size_t i = 0; i < diff->site_count; i++) {
        bytes += tide_change_bytes(&diff->nodes[diff->sites[i]].self);
        calls += tide_change_calls(&diff->nodes[diff->sites[i]].self);
    }
    assert_int_equal(bytes, tide_change_bytes(&total));
    assert_int_equal(calls, tide_change_calls(&total));
}

static void sums_are_those_of_both_sides(void **state)
{
    static const char *const NAMES[] = {"main", "a", "b", "c(int)", "d"};
    (void)state;
    struct dice dice = {.state = 11};
    for (int side = 0; side < TIDE_SIDES; side++) {
        begin((enum tide_side)side);
        for (uint64_t i = 1; i <= TIDE_STACKS; i++)
            add_random(&dice, (enum tide_side)side, i * 8);
        end((enum tide_side)side);
    }
    struct tide_diff *const diff = compare(TIDE_METRIC_TOTAL);
    assert_int_equal(diff->function_count, TIDE_FUNCTIONS);
    for (size_t i = 0; i < TIDE_FUNCTIONS; i++) {
        const struct tide_diff_function *const function = find(diff, NAMES[i]);
        assert_memory_equal(&function->self, &self[i], sizeof(self[i]));
        assert_memory_equal(&function->inclusive, &inclusive[i], sizeof(inclusive[i]));
    }
    assert_memory_equal(&diff->total, &total, sizeof(total));
    check_tree(diff);
    check_ranks(diff);
    check_sites(diff);
    finish(diff);
}

static void tells_what_is_new_and_what_is_gone(void **state)
{
    (void)state;
    const int path[] = {0, 1, 2};
    begin(TIDE_SIDE_BASE);
    add_site(TIDE_SIDE_BASE, path, 3, 100);
    add_site(TIDE_SIDE_BASE, path, 1, 7);
    end(TIDE_SIDE_BASE);
    begin(TIDE_SIDE_NEW);
    add_site(TIDE_SIDE_NEW, path, 2, 30);
    add_site(TIDE_SIDE_NEW, path, 1, 7);
    end(TIDE_SIDE_NEW);
    struct tide_diff *const diff = compare(TIDE_METRIC_TOTAL);
    assert_int_equal(diff->site_count, 2); /* main has what it had */
    const struct tide_diff_node *const first = &diff->nodes[diff->sites[0]];
    const struct tide_diff_node *const second = &diff->nodes[diff->sites[1]];
    assert_int_equal(tide_change_kind(&first->self), TIDE_CHANGE_GONE);
    assert_int_equal(tide_change_bytes(&first->self), -100);
    assert_int_equal(tide_change_kind(&second->self), TIDE_CHANGE_NEW);
    assert_int_equal(tide_change_bytes(&second->self), 30);
    assert_int_equal(second->line, 120);
    assert_int_equal(diff->added.count, 1);
    assert_int_equal(diff->added.bytes, 30);
    assert_int_equal(diff->gone.count, 1);
    assert_int_equal(diff->gone.bytes, 100);
    assert_int_equal(diff->nodes[0].weight, 130);
    finish(diff);
}

/* A side whose function a allocates so much in each of its lines. */
static void add_lines_of_a(enum tide_side side, const uint64_t bytes[3])
{
    static const int lines[3][2] = {{0, 1}, {0, 5}, {0, 6}};
    begin(side);
    for (size_t i = 0; i < 3; i++)
        if (bytes[i])
            add_site(side, lines[i], 2, bytes[i]);
    end(side);
}

/* Where a is said to have changed, when its lines have BASE and FRESH. */
static uint32_t changed_line(const uint64_t base[3], const uint64_t fresh[3])
{
    add_lines_of_a(TIDE_SIDE_BASE, base);
    add_lines_of_a(TIDE_SIDE_NEW, fresh);
    struct tide_diff *const diff = compare(TIDE_METRIC_TOTAL);
    const uint32_t line = find(diff, "a")->line;
    assert_int_equal(diff->nodes[diff->sites[0]].line, line);
    finish(diff);
    return line;
}

static void the_line_is_the_one_that_changed(void **state)
{
    static const uint64_t base[] = {900, 10, 0}, gone[] = {900, 0, 0};
    static const uint64_t first[] = {90, 10, 0}, second[] = {900, 500, 0};
    static const uint64_t third[] = {900, 10, 800};
    (void)state;
    assert_int_equal(changed_line(base, first), 120);
    assert_int_equal(changed_line(base, second), 122);
    assert_int_equal(changed_line(base, gone), 120); /* all that NEW has */
    assert_int_equal(changed_line(base, third), 0);  /* which is which? */
}

/* Function a goes on from three lines of its own: of the stacks of a row, none but its
 * own lines are shown, of callers too. */
static void a_row_of_stacks_has_the_lines_of_its_own_stacks(void **state)
{
    static const int itself[] = {0, 5}, below[] = {0, 1, 2}, other[] = {0, 6, 4};
    static const struct {
        uint64_t bytes;
        size_t depth;
        uint32_t lines[3];
    } wanted[] = {
        {500, 3, {130, 120, 110}}, {70, 3, {150, 124, 110}}, {30, 2, {122, 110}}};
    (void)state;
    begin(TIDE_SIDE_BASE);
    end(TIDE_SIDE_BASE);
    begin(TIDE_SIDE_NEW);
    add_site(TIDE_SIDE_NEW, itself, 2, 30);
    add_site(TIDE_SIDE_NEW, below, 3, 500);
    add_site(TIDE_SIDE_NEW, other, 3, 70);
    end(TIDE_SIDE_NEW);
    struct tide_diff *const diff = compare(TIDE_METRIC_TOTAL);
    struct tide_diff_places places;
    assert_int_equal(tide_diff_places_init(&places, diff), TIDE_OK);
    assert_int_equal(diff->site_count, 3);
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(tide_change_bytes(&diff->nodes[diff->sites[i]].self),
                         wanted[i].bytes);
        assert_int_equal(tide_diff_places_find(&places, diff->sites[i]), TIDE_OK);
        assert_int_equal(places.count, wanted[i].depth);
        for (size_t k = 0; k < places.count; k++)
            assert_int_equal(places.list[k].line, wanted[i].lines[k]);
    }
    tide_diff_places_release(&places);
    finish(diff);
}

/* The only site of SIDE: 10 bytes by what has no name at VALUE in MODULE. */
static void add_nameless(enum tide_side side, uint32_t module, const char *path,
                         uint64_t value)
{
    const struct hand_frame frames[] = {{module, value}};
    begin(side);
    hand_site(&sides[side],
              (struct tide_site){.stack = hand_stack(&sides[side], frames, 1),
                                 .bytes = 10,
                                 .calls = 1});
    end(side);
    sides[side].modules[module].path = path; /* hand_source knows its own paths only */
}

static void what_has_no_name_is_its_module(void **state)
{
    (void)state;
    add_nameless(TIDE_SIDE_BASE, TIDE_HAND_STDCXX, "/usr/lib/libx.so.1.2", 0x999);
    add_nameless(TIDE_SIDE_NEW, TIDE_HAND_STDCXX, "/opt/new/libx.so.2", 0x777);
    struct tide_diff *diff = compare(TIDE_METRIC_TOTAL);
    assert_int_equal(diff->site_count, 0);
    assert_string_equal(diff->functions[0].name, "[libx.so]");
    assert_string_equal(diff->functions[0].module, "libx.so");
    finish(diff);
    add_nameless(TIDE_SIDE_BASE, TIDE_HAND_STDCXX, "/usr/lib/libx.so", 0x999);
    add_nameless(TIDE_SIDE_NEW, TIDE_HAND_STDCXX, "/usr/lib/liby.so", 0x999);
    diff = compare(TIDE_METRIC_TOTAL);
    assert_int_equal(diff->site_count, 2);
    finish(diff);
}

/* SIDE is a run of the program at PATH, which holds all of it. */
static void run_program(enum tide_side side, const char *path)
{
    const int main_only[] = {0};
    begin(side);
    add_site(side, main_only, 1, 10);
    end(side);
    sides[side].modules[TIDE_HAND_APP].path = path;
    sides[side].process.exe = path;
}

static void the_program_may_have_another_name(void **state)
{
    (void)state;
    run_program(TIDE_SIDE_BASE, "/old/prog-1.0");
    run_program(TIDE_SIDE_NEW, "/new/prog-1.1");
    struct tide_diff *const diff = compare(TIDE_METRIC_TOTAL);
    assert_int_equal(diff->site_count, 0);
    assert_string_equal(diff->functions[0].module, "prog-1.0");
    finish(diff);
}

static void nothing_differs_from_nothing(void **state)
{
    (void)state;
    for (int side = 0; side < TIDE_SIDES; side++) {
        begin((enum tide_side)side);
        end((enum tide_side)side);
    }
    struct tide_diff *const diff = compare(TIDE_METRIC_PEAK);
    assert_int_equal(diff->node_count, 1);
    assert_int_equal(diff->site_count, 0);
    assert_int_equal(diff->flat_count, 0);
    assert_int_equal(tide_change_kind(&diff->total), TIDE_CHANGE_NONE);
    finish(diff);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_are_those_of_both_sides),
        cmocka_unit_test(tells_what_is_new_and_what_is_gone),
        cmocka_unit_test(the_line_is_the_one_that_changed),
        cmocka_unit_test(a_row_of_stacks_has_the_lines_of_its_own_stacks),
        cmocka_unit_test(what_has_no_name_is_its_module),
        cmocka_unit_test(the_program_may_have_another_name),
        cmocka_unit_test(nothing_differs_from_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
