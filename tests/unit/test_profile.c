/* unit/test_profile.c - functions by rank with callers and callees, against a search
 * through all stacks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "dice.h"
#include "hand_model.h"
#include "model/profile.h"
#include "view/gprof.h"

enum { TIDE_FUNCTIONS = 4, TIDE_STACKS = 60, TIDE_DEEPEST = 10 };

static const struct hand_symbol symbols[] = {
    {TIDE_HAND_APP, 0x100, "main", "app.c", 10},
    {TIDE_HAND_APP, 0x200, "a", "app.c", 20},
    {TIDE_HAND_APP, 0x300, "b\033[2J", "app.c", 30},
    {TIDE_HAND_APP, 0x400, "c", "other.c", 40},
    {0, 0, NULL, NULL, 0},
};

/* A call of a stack: which function, and how often it was called above. */
struct place {
    uint32_t function, level;
};

/* What was made: outermost first. */
struct made {
    struct place places[TIDE_DEEPEST];
    size_t depth;
    uint64_t bytes, calls, largest;
};

static struct made made[TIDE_STACKS];
static size_t made_count;
static struct hand_model hand;

static void add_stack(const uint32_t *functions, size_t depth, uint64_t bytes)
{
    struct hand_frame frames[TIDE_DEEPEST];
    uint32_t levels[TIDE_FUNCTIONS] = {0};
    struct made *const one = &made[made_count++];
    *one = (struct made){.depth = depth, .bytes = bytes, .calls = 1 + bytes % 3};
    one->largest = bytes / one->calls;
    for (size_t i = 0; i < depth; i++) {
        frames[i] = (struct hand_frame){TIDE_HAND_APP, symbols[functions[i]].value};
        one->places[i] = (struct place){functions[i], ++levels[functions[i]]};
    }
    hand_site(&hand, (struct tide_site){.stack = hand_stack(&hand, frames, depth),
                                        .bytes = bytes,
                                        .calls = one->calls});
}

static void add_random_stacks(uint64_t seed)
{
    struct dice dice = {.state = seed};
    for (uint64_t i = 0; i < TIDE_STACKS; i++) {
        uint32_t functions[TIDE_DEEPEST] = {0};
        const size_t depth = 1 + (size_t)dice_roll(&dice, TIDE_DEEPEST);
        for (size_t j = 1; j < depth; j++)
            functions[j] = (uint32_t)dice_roll(&dice, TIDE_FUNCTIONS);
        add_stack(functions, depth, 1 + (uint64_t)dice_roll(&dice, 1000));
    }
}

static struct place place_of(const struct tide_profile *profile, uint32_t node)
{
    const struct tide_profile_node *const about = &profile->nodes[node];
    if (node == TIDE_PROFILE_ROOT)
        return (struct place){UINT32_MAX, 1};
    const char *const name = profile->rows->functions[about->function].name;
    for (uint32_t i = 0; i < TIDE_FUNCTIONS; i++)
        if (strcmp(symbols[i].function, name) == 0)
            return (struct place){i, about->level};
    fail_msg("%s", name);
    return (struct place){0, 0};
}

/* Where PLACE is in ONE, + 1; 0: nowhere.  The root is in front of all. */
static size_t find(const struct made *one, struct place place)
{
    for (size_t i = 0; i < one->depth; i++)
        if (one->places[i].function == place.function &&
            one->places[i].level == place.level)
            return i + 2;
    return place.function == UINT32_MAX ? 1 : 0;
}

static void join(bool largest, const struct made *one, uint64_t *bytes, uint64_t *calls)
{
    if (!largest)
        *bytes += one->bytes;
    else if (one->largest > *bytes)
        *bytes = one->largest;
    *calls += one->calls;
}

static void check_node(const struct tide_profile *profile, uint32_t node)
{
    const struct tide_profile_node *const about = &profile->nodes[node];
    const struct place place = place_of(profile, node);
    uint64_t bytes = 0, calls = 0, self = 0, self_calls = 0;
    for (size_t i = 0; i < made_count; i++) {
        const size_t at = find(&made[i], place);
        if (at)
            join(profile->largest, &made[i], &bytes, &calls);
        if (at == made[i].depth + 1)
            join(profile->largest, &made[i], &self, &self_calls);
    }
    assert_int_equal(about->bytes, bytes);
    assert_int_equal(about->calls, calls);
    assert_int_equal(about->self_bytes, self);
    assert_int_equal(about->self_calls, self_calls);
    if (!profile->largest)
        assert_int_equal(about->children_bytes, bytes - self);
}

static void check_edge(const struct tide_profile *profile,
                       const struct tide_profile_edge *edge)
{
    const struct place caller = place_of(profile, edge->caller);
    const struct place callee = place_of(profile, edge->callee);
    uint64_t bytes = 0, calls = 0;
    for (size_t i = 0; i < made_count; i++) {
        const size_t at = find(&made[i], caller);
        if (at && find(&made[i], callee) == at + 1)
            join(profile->largest, &made[i], &bytes, &calls);
    }
    assert_true(calls > 0);
    assert_int_equal(edge->bytes, bytes);
    assert_int_equal(edge->calls, calls);
}

/* All calls of all stacks are edges, and no edge is listed twice. */
static void check_edges(const struct tide_profile *profile)
{
    uint64_t in = 0, out = 0, calls = 0;
    for (size_t i = 0; i < made_count; i++)
        calls += made[i].calls * made[i].depth;
    for (size_t i = 0; i < profile->node_count; i++) {
        const struct tide_profile_node *const node = &profile->nodes[i];
        for (size_t j = 0; j < node->caller_count; j++) {
            const struct tide_profile_edge *const edge =
                &profile->callers[node->first_caller + j];
            assert_int_equal(edge->callee, i);
            assert_true(j == 0 || edge[-1].bytes <= edge->bytes);
            check_edge(profile, edge);
            in += edge->calls;
        }
        for (size_t j = 0; j < node->callee_count; j++) {
            const struct tide_profile_edge *const edge =
                &profile->callees[node->first_callee + j];
            assert_int_equal(edge->caller, i);
            assert_true(j == 0 || edge[-1].bytes >= edge->bytes);
            out += edge->calls;
        }
    }
    assert_int_equal(in, calls);
    assert_int_equal(out, calls);
}

static void check(const struct tide_profile *profile)
{
    for (size_t i = 0; i < profile->node_count; i++) {
        const struct tide_profile_node *const node = &profile->nodes[profile->order[i]];
        assert_int_equal(node->rank, i + 1);
        assert_true(i == 0 ||
                    node->bytes <= profile->nodes[profile->order[i - 1]].bytes);
        check_node(profile, (uint32_t)i);
    }
    assert_int_equal(profile->order[0], TIDE_PROFILE_ROOT);
    check_edges(profile);
}

static void sums_are_those_of_the_stacks(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct tide_rows *rows;
        struct tide_profile profile;
        made_count = 0;
        hand_model_init(&hand, symbols);
        add_random_stacks(seed);
        assert_int_equal(tide_model_symbolize_from(hand.model, &hand_source), TIDE_OK);
        assert_int_equal(
            tide_rows_build(hand.model, TIDE_METRIC_TOTAL, TIDE_IN_HEAP, &rows),
            TIDE_OK);
        assert_int_equal(tide_profile_build(hand.model, rows, NULL, &profile), TIDE_OK);
        check(&profile);
        tide_profile_release(&profile);
        tide_rows_free(rows);
        hand_model_release(&hand);
    }
}

static void largest_blocks_are_not_added_up(void **state)
{
    (void)state;
    static const uint32_t ONE[] = {0, 1}, OTHER[] = {0, 1, 2}, THIRD[] = {0, 3};
    struct tide_rows *rows;
    struct tide_profile profile;
    made_count = 0;
    hand_model_init(&hand, symbols);
    add_stack(ONE, 2, 90);
    add_stack(OTHER, 3, 100);
    add_stack(THIRD, 2, 50);
    uint64_t *const largest = calloc(hand.model->stacks.node_count, sizeof(*largest));
    assert_non_null(largest);
    for (size_t i = 0; i < made_count; i++)
        largest[hand.model->sites[i].stack] = made[i].largest;
    assert_int_equal(tide_model_symbolize_from(hand.model, &hand_source), TIDE_OK);
    assert_int_equal(
        tide_rows_build(hand.model, TIDE_METRIC_TOTAL, TIDE_IN_HEAP, &rows), TIDE_OK);
    assert_int_equal(tide_profile_build(hand.model, rows, largest, &profile), TIDE_OK);
    check(&profile);
    assert_int_equal(profile.nodes[TIDE_PROFILE_ROOT].bytes, 90);
    assert_int_equal(profile.nodes[TIDE_PROFILE_ROOT].self_bytes, 0);
    free(largest);
    tide_profile_release(&profile);
    tide_rows_free(rows);
    hand_model_release(&hand);
}

/* --- The text ---------------------------------------------------------------------- */

static void print_in(struct tide_text *text, const struct tide_style *style)
{
    struct tide_page page = {.out = text, .style = style};
    struct tide_rows *rows;
    struct tide_profile profile;
    assert_int_equal(tide_model_symbolize_from(hand.model, &hand_source), TIDE_OK);
    assert_int_equal(
        tide_rows_build(hand.model, TIDE_METRIC_TOTAL, TIDE_IN_HEAP, &rows), TIDE_OK);
    assert_int_equal(tide_profile_build(hand.model, rows, NULL, &profile), TIDE_OK);
    tide_view_gprof(&page, hand.model, &profile, 0);
    tide_profile_release(&profile);
    tide_rows_free(rows);
}

static void print(struct tide_text *text, bool fitted)
{
    const struct tide_style style = {.width = 80, .fitted = fitted, .utf8 = true};
    print_in(text, &style);
}

static const char LAYOUT[] =
    "Counter: MEM_TOTAL\n"
    "\n"
    "----------------------------------------------------------------------\n"
    "Flat profile (self >= 0.01%)\n"
    "\n"
    "% total       Self      Calls  Function\n"
    "  99.90    999'000          1  b\\x1b[2J [4]\n"
    "   0.10      1'000          2  a'2 [5]\n"
    "   0.00          0          0  <spontaneous> [1]\n"
    "\n"
    "\n"
    "----------------------------------------------------------------------\n"
    "Flat profile (cumulative >= 1%)\n"
    "\n"
    "% total      Total      Calls  Function\n"
    "  100.0  1'000'000          3  <spontaneous> [1]\n"
    "  100.0  1'000'000          3  main [2]\n"
    "  100.0  1'000'000          3  a [3]\n"
    "   99.9    999'000          1  b\\x1b[2J [4]\n"
    "    0.1      1'000          2  a'2 [5]\n"
    "\n"
    "\n"
    "----------------------------------------------------------------------\n"
    "Call tree profile (cumulative)\n"
    "\n"
    "- - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - "
    "- - - \n"
    "Rank    % total       Self       Self / Children       Calls / Total      "
    "Function\n"
    "[1]       100.0  1'000'000          0 / 1'000'000          3              "
    "<spontaneous>\n"
    "          100.0  .........  1'000'000 / 1'000'000          3 / 3            "
    "main [2]\n"
    "- - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - "
    "- - - \n"
    "          100.0  .........  1'000'000 / 1'000'000          3 / 3            "
    "<spontaneous> [1]\n"
    "[2]       100.0  1'000'000          0 / 1'000'000          3              "
    "main\n"
    "          100.0  .........  1'000'000 / 1'000'000          3 / 3            a "
    "[3]\n"
    "- - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - "
    "- - - \n"
    "          100.0  .........  1'000'000 / 1'000'000          3 / 3            "
    "main [2]\n"
    "[3]       100.0  1'000'000          0 / 1'000'000          3              a\n"
    "           99.9  .........    999'000 / 999'000            1 / 1            "
    "b\\x1b[2J [4]\n"
    "            0.1  .........      1'000 / 1'000              2 / 2            "
    "a'2 [5]\n"
    "- - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - "
    "- - - \n"
    "           99.9  .........    999'000 / 1'000'000          1 / 3            a "
    "[3]\n"
    "[4]        99.9    999'000    999'000 / 0                  1              "
    "b\\x1b[2J\n"
    "- - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - "
    "- - - \n"
    "            0.1  .........      1'000 / 1'000'000          2 / 3            a "
    "[3]\n"
    "[5]         0.1      1'000      1'000 / 0                  2              "
    "a'2\n";

static void the_layout_is_that_of_igprof(void **state)
{
    (void)state;
    static const uint32_t ONE[] = {0, 1, 2}, OTHER[] = {0, 1, 1};
    struct tide_text text = {0};
    made_count = 0;
    hand_model_init(&hand, symbols);
    add_stack(ONE, 3, 999000);
    add_stack(OTHER, 3, 1000);
    print(&text, false);
    const char *const from = strstr(text.bytes, "Counter:");
    assert_non_null(from);
    assert_string_equal(from, LAYOUT);
    tide_text_release(&text);
    hand_model_release(&hand);
}

/* On 60 columns names have room, and no line is longer. */
static void a_narrow_terminal_has_fewer_columns(void **state)
{
    (void)state;
    static const uint32_t STACK[] = {0, 1, 2};
    const struct tide_style style = {.width = 60, .fitted = true, .utf8 = true};
    struct tide_text text = {0};
    made_count = 0;
    hand_model_init(&hand, symbols);
    add_stack(STACK, 3, 999000);
    print_in(&text, &style);
    assert_non_null(
        strstr(text.bytes, "Rank    % total     Total     Calls  Function\n"));
    assert_non_null(
        strstr(text.bytes, "          100.0   999'000         1    b\\x1b[2J [4]\n"));
    for (const char *line = text.bytes; *line;) {
        const size_t length = strcspn(line, "\n");
        assert_true(length <= 60 || strstr(line, "\xe2\x94\x80"));
        line += length + (line[length] == '\n');
    }
    tide_text_release(&text);
    hand_model_release(&hand);
}

static void of_nothing_there_are_no_shares(void **state)
{
    (void)state;
    struct tide_text text = {0};
    made_count = 0;
    hand_model_init(&hand, symbols);
    print(&text, true);
    assert_non_null(
        strstr(text.bytes, "    0.0         0         0  <spontaneous> [1]"));
    assert_null(strstr(text.bytes, "nan"));
    assert_null(strstr(text.bytes, "inf"));
    tide_text_release(&text);
    hand_model_release(&hand);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_are_those_of_the_stacks),
        cmocka_unit_test(largest_blocks_are_not_added_up),
        cmocka_unit_test(the_layout_is_that_of_igprof),
        cmocka_unit_test(a_narrow_terminal_has_fewer_columns),
        cmocka_unit_test(of_nothing_there_are_no_shares),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
