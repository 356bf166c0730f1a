/* unit/test_call_graph.c - who calls whom: sums that recursion does not spoil. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "dice.h"
#include "hand_model.h"
#include "model/call_graph.h"

enum {
    TIDE_FUNCTIONS = 5,
    TIDE_STACKS = 64,
    TIDE_DEEPEST = 9,
    TIDE_BYTES = TIDE_METRIC_TOTAL * 2
};

static const struct hand_symbol symbols[] = {
    {TIDE_HAND_APP, 0x100, "main", "app.c", 10},
    {TIDE_HAND_APP, 0x200, "a", "app.c", 20},
    {TIDE_HAND_APP, 0x300, "b", "app.c", 30},
    {TIDE_HAND_APP, 0x400, "c", "other.c", 40},
    {TIDE_HAND_APP, 0x500, "d", "other.c", 50},
    {0, 0, NULL, NULL, 0},
};

static struct hand_model hand;
static uint64_t self[TIDE_FUNCTIONS], inclusive[TIDE_FUNCTIONS], total;

/* A site whose stack is random, entered into the sums above. */
static void add_random(struct dice *dice, uint64_t bytes)
{
    struct hand_frame frames[TIDE_DEEPEST] = {{TIDE_HAND_APP, 0x100}};
    bool seen[TIDE_FUNCTIONS] = {true};
    const size_t depth = 1 + (size_t)dice_roll(dice, TIDE_DEEPEST - 1);
    int last = 0;
    for (size_t i = 1; i < depth; i++) {
        last = 1 + dice_roll(dice, TIDE_FUNCTIONS - 1);
        seen[last] = true;
        frames[i] = (struct hand_frame){TIDE_HAND_APP, symbols[last].value};
    }
    self[last] += bytes;
    for (size_t i = 0; i < TIDE_FUNCTIONS; i++)
        inclusive[i] += seen[i] ? bytes : 0;
    total += bytes;
    hand_site(&hand, (struct tide_site){.stack = hand_stack(&hand, frames, depth),
                                        .bytes = bytes,
                                        .calls = 1});
}

static size_t number_of(const struct tide_call_graph *graph, uint32_t node)
{
    const char *const name = graph->paths.functions[tide_graph_function(node)].name;
    for (size_t i = 0; i < TIDE_FUNCTIONS; i++)
        if (strcmp(symbols[i].function, name) == 0)
            return i;
    fail_msg("%s", name);
    return 0;
}

static void sums_are_those_of_the_stacks(void **state)
{
    (void)state;
    struct dice dice = {.state = 7};
    struct tide_call_graph graph;
    uint64_t own[TIDE_FUNCTIONS] = {0}, in[TIDE_FUNCTIONS] = {0},
             out[TIDE_FUNCTIONS] = {0};
    hand_model_init(&hand, symbols);
    for (uint64_t i = 1; i <= TIDE_STACKS; i++)
        add_random(&dice, i);
    assert_int_equal(tide_model_symbolize_from(hand.model, &hand_source), TIDE_OK);
    assert_int_equal(tide_call_graph_build(hand.model, TIDE_IN_HEAP, &graph), TIDE_OK);
    for (size_t i = 0; i < graph.count; i++) {
        const struct tide_graph_line *const line = &graph.lines[i];
        const uint64_t bytes = line->costs.of[TIDE_BYTES];
        if (line->callee == TIDE_GRAPH_SELF)
            own[number_of(&graph, line->caller)] += bytes;
        else if (!tide_graph_again(line->callee))
            in[number_of(&graph, line->callee)] += bytes;
        if (line->caller != TIDE_GRAPH_ROOT && !tide_graph_again(line->caller))
            out[number_of(&graph, line->caller)] += bytes;
    }
    for (size_t i = 0; i < TIDE_FUNCTIONS; i++) {
        assert_int_equal(own[i], self[i]);
        assert_int_equal(in[i], inclusive[i]);  /* what its callers pay for it */
        assert_int_equal(out[i], inclusive[i]); /* what it has and what it pays */
    }
    assert_int_equal(graph.total.of[TIDE_BYTES], total);
    assert_int_equal(graph.total.of[TIDE_BYTES + 1], TIDE_STACKS);
    tide_call_graph_release(&graph);
    hand_model_release(&hand);
}

static void has_the_lines_of_calls(void **state)
{
    (void)state;
    struct tide_call_graph graph;
    hand_model_init(&hand, symbols);
    const struct hand_frame frames[] = {{TIDE_HAND_APP, 0x100}, {TIDE_HAND_APP, 0x200}};
    hand_site(&hand, (struct tide_site){.stack = hand_stack(&hand, frames, 2),
                                        .bytes = 7,
                                        .calls = 1,
                                        .live_bytes = 5,
                                        .live_blocks = 1});
    assert_int_equal(tide_model_symbolize_from(hand.model, &hand_source), TIDE_OK);
    assert_int_equal(tide_call_graph_build(hand.model, TIDE_IN_HEAP, &graph), TIDE_OK);
    assert_int_equal(graph.count, 3);
    for (size_t i = 0; i < graph.count; i++) {
        const struct tide_graph_line *const line = &graph.lines[i];
        const bool root = line->caller == TIDE_GRAPH_ROOT;
        const bool leaf = line->callee == TIDE_GRAPH_SELF;
        assert_int_equal(line->line, root ? 0 : leaf ? 20 : 10);
        assert_int_equal(line->costs.of[TIDE_METRIC_LEAKS * 2], 5);
    }
    tide_call_graph_release(&graph);
    assert_int_equal(tide_call_graph_build(hand.model, TIDE_IN_MMAP, &graph), TIDE_OK);
    assert_int_equal(graph.count, 0);
    tide_call_graph_release(&graph);
    hand_model_release(&hand);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_are_those_of_the_stacks),
        cmocka_unit_test(has_the_lines_of_calls),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
