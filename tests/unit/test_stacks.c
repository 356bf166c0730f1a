/* unit/test_stacks.c - the tree of stacks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "trace/stacks.h"

static uint32_t frame(struct tide_stacks *stacks, uint32_t module, uint64_t value)
{
    uint32_t number = UINT32_MAX;
    const struct tide_frame wanted = {.kind = 0, .module = module, .value = value};
    assert_int_equal(tide_stacks_frame(stacks, wanted, &number), TIDE_OK);
    return number;
}

static uint32_t child(struct tide_stacks *stacks, uint32_t parent, uint32_t of)
{
    uint32_t node = 0;
    assert_int_equal(tide_stacks_child(stacks, parent, of, &node), TIDE_OK);
    return node;
}

static void begins_with_a_root_only(void **state)
{
    (void)state;
    struct tide_stacks stacks;
    assert_int_equal(tide_stacks_init(&stacks), TIDE_OK);
    assert_int_equal(stacks.node_count, 1);
    assert_int_equal(stacks.nodes[0].depth, 0);
    assert_int_equal(stacks.frame_count, 0);
    tide_stacks_release(&stacks);
    tide_stacks_release(&stacks);
}

static void tells_frames_apart_by_module_offset_and_kind(void **state)
{
    (void)state;
    struct tide_stacks stacks;
    assert_int_equal(tide_stacks_init(&stacks), TIDE_OK);
    const uint32_t first = frame(&stacks, 1, 10);
    assert_int_equal(frame(&stacks, 1, 10), first);
    assert_int_not_equal(frame(&stacks, 2, 10), first);
    assert_int_not_equal(frame(&stacks, 1, 11), first);
    uint32_t other = first;
    const struct tide_frame kind = {.kind = 2, .module = 1, .value = 10};
    assert_int_equal(tide_stacks_frame(&stacks, kind, &other), TIDE_OK);
    assert_int_not_equal(other, first);
    assert_int_equal(stacks.frame_count, 4);
    tide_stacks_release(&stacks);
}

static void equal_paths_are_one_node(void **state)
{
    (void)state;
    struct tide_stacks stacks;
    assert_int_equal(tide_stacks_init(&stacks), TIDE_OK);
    const uint32_t a = frame(&stacks, 0, 1), b = frame(&stacks, 0, 2);
    const uint32_t ab = child(&stacks, child(&stacks, 0, a), b);
    const uint32_t ba = child(&stacks, child(&stacks, 0, b), a);
    assert_int_not_equal(ab, ba);
    assert_int_equal(child(&stacks, child(&stacks, 0, a), b), ab);
    assert_int_equal(stacks.nodes[ab].depth, 2);
    assert_int_equal(stacks.nodes[ab].frame, b);
    assert_int_equal(stacks.nodes[stacks.nodes[ab].parent].frame, a);
    assert_int_equal(stacks.node_count, 5);
    tide_stacks_release(&stacks);
}

static void keeps_its_numbers_while_it_grows(void **state)
{
    (void)state;
    enum { TIDE_WIDTH = 300, TIDE_DEPTH = 100 };
    struct tide_stacks stacks;
    assert_int_equal(tide_stacks_init(&stacks), TIDE_OK);
    uint32_t *nodes = malloc(sizeof(*nodes) * TIDE_WIDTH * TIDE_DEPTH);
    assert_non_null(nodes);
    for (int round = 0; round < 2; round++)
        for (uint32_t i = 0; i < TIDE_WIDTH; i++)
            for (uint32_t j = 0, node = 0; j < TIDE_DEPTH; j++) {
                node = child(&stacks, node, frame(&stacks, i, j));
                if (round == 0)
                    nodes[i * TIDE_DEPTH + j] = node;
                assert_int_equal(node, nodes[i * TIDE_DEPTH + j]);
            }
    assert_int_equal(stacks.node_count, TIDE_WIDTH * TIDE_DEPTH + 1);
    assert_int_equal(stacks.frame_count, TIDE_WIDTH * TIDE_DEPTH);
    free(nodes);
    tide_stacks_release(&stacks);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(begins_with_a_root_only),
        cmocka_unit_test(tells_frames_apart_by_module_offset_and_kind),
        cmocka_unit_test(equal_paths_are_one_node),
        cmocka_unit_test(keeps_its_numbers_while_it_grows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
