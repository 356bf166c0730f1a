/* tests/unit/test_query_values.c - attributes that programs set, in traces made by hand:
 * what no recorder would write as well.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "query_asker.h"

enum {
    TIDE_ASKED_A = 1,
    TIDE_ASKED_B = 2,
    TIDE_ASKED_TEXT = 3,
    TIDE_ASKED_ITERATION = 4,
    TIDE_ASKED_NOBODY = 99
};

struct fixture {
    struct tide_builder *builder;
    struct tide_lane_out *lane;
    uint64_t next;
};

static void attribute(const struct fixture *f, uint64_t name, uint64_t type)
{
    const uint64_t values[] = {name, type};
    tide_builder_note(&f->builder->notes[0], TIDE_NOTE_ATTRIBUTE, values, 2, NULL);
}

static void say(const struct fixture *f, uint64_t name, uint64_t how, uint64_t value)
{
    const uint64_t values[] = {name, how, value};
    tide_out_extra(f->lane, TIDE_EXTRA_ATTRIBUTE, values, 3);
}

static void set(const struct fixture *f, uint64_t name, uint64_t type, uint64_t value)
{
    say(f, name, TIDE_ATTRIBUTE_HOW(type, TIDE_ATTRIBUTE_SET), value);
}

static void begin(const struct fixture *f, uint64_t name, uint64_t value)
{
    say(f, name, TIDE_ATTRIBUTE_HOW(TIDE_ATTRIBUTE_INT, TIDE_ATTRIBUTE_BEGIN), value);
}

static void end(const struct fixture *f, uint64_t name)
{
    say(f, name, TIDE_ATTRIBUTE_HOW(0, TIDE_ATTRIBUTE_END), 0);
}

/* A block whose size says which it is. */
static void block(struct fixture *f)
{
    f->next++;
    tide_out_alloc(f->lane,
                   (struct tide_out_birth){.address = f->next << 12, .size = f->next},
                   (struct tide_out_stack){0});
}

static int set_up(void **state)
{
    static struct fixture f;
    const uint64_t facts[] = {100, 99, 500, 0, 0};
    static const char *const names[] = {"a", "b", "text", "iteration"};
    f = (struct fixture){.builder = tide_builder_new()};
    tide_builder_note(&f.builder->notes[0], TIDE_NOTE_PROCESS, facts, 5, NULL);
    for (uint64_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        const uint64_t id = i + 1;
        const char *name[] = {names[i], NULL};
        tide_builder_note(&f.builder->notes[0], TIDE_NOTE_NAME, &id, 1, name);
    }
    f.lane = tide_builder_lane(f.builder, 0, 0);
    tide_out_sync(f.lane, 1, 0);
    *state = &f;
    return 0;
}

static int tear_down(void **state)
{
    tide_builder_free(((struct fixture *)*state)->builder);
    return 0;
}

static void expect(const struct fixture *f, const char *query, const char *answer)
{
    char *const text = tide_ask(&f->builder, 1, query);
    assert_string_equal(text, answer);
    free(text);
}

static void values_have_the_type_that_was_set_last(void **state)
{
    struct fixture *const f = *state;
    const double half = 0.5;
    uint64_t bits;
    memcpy(&bits, &half, sizeof(bits));
    attribute(f, TIDE_ASKED_A, TIDE_ATTRIBUTE_INT);
    attribute(f, TIDE_ASKED_A, TIDE_ATTRIBUTE_DOUBLE);
    attribute(f, TIDE_ASKED_A, TIDE_ATTRIBUTE_STRING);
    attribute(f, TIDE_ASKED_A, TIDE_ATTRIBUTE_STRING); /* as from another process */
    attribute(f, TIDE_ASKED_NOBODY, TIDE_ATTRIBUTE_INT);
    attribute(f, TIDE_ASKED_B, 5); /* no such type */
    block(f);
    set(f, TIDE_ASKED_A, TIDE_ATTRIBUTE_INT, 5); /* zigzag */
    block(f);
    set(f, TIDE_ASKED_A, TIDE_ATTRIBUTE_DOUBLE, bits);
    block(f);
    set(f, TIDE_ASKED_A, TIDE_ATTRIBUTE_STRING, TIDE_ASKED_TEXT);
    block(f);
    set(f, TIDE_ASKED_A, TIDE_ATTRIBUTE_STRING, TIDE_ASKED_NOBODY);
    block(f);
    set(f, TIDE_ASKED_A, TIDE_ATTRIBUTE_POINTER, 0xabcd);
    block(f);
    tide_builder_finish(f->builder);
    expect(f, "SELECT size,a FROM blocks FORMAT csv",
           "size,a\n1,\n2,-3\n3,0.5\n4,text\n5,?\n6,abcd\n");
    expect(f, "SELECT count() WHERE mem.alloc,a=-3 FORMAT csv", "count\n1\n");
    expect(f, "SELECT count() WHERE mem.alloc,a=text FORMAT csv", "count\n1\n");
    expect(f, "SELECT c FORMAT csv",
           "there is no attribute 'c'; did you mean 'a'?\n"
           "  SELECT c FORMAT csv\n"
           "         ^\n");
}

static void ends_find_their_begin_whatever_comes(void **state)
{
    struct fixture *const f = *state;
    attribute(f, TIDE_ASKED_A, TIDE_ATTRIBUTE_INT);
    attribute(f, TIDE_ASKED_B, TIDE_ATTRIBUTE_INT);
    end(f, TIDE_ASKED_A); /* nothing began */
    set(f, TIDE_ASKED_B, TIDE_ATTRIBUTE_INT, 2);
    for (uint64_t i = 0; i < 100; i++) /* more than are followed */
        begin(f, TIDE_ASKED_A, 2 * i);
    for (uint64_t i = 0; i < 98; i++)
        end(f, TIDE_ASKED_A);
    block(f);
    say(f, TIDE_ASKED_A, TIDE_ATTRIBUTE_HOW(0, TIDE_ATTRIBUTE_UNSET), 0);
    block(f);
    say(f, TIDE_ASKED_B, TIDE_ATTRIBUTE_HOW(TIDE_ATTRIBUTE_INT, 9),
        4); /* no such step */
    say(f, TIDE_ASKED_B, TIDE_ATTRIBUTE_HOW(9, TIDE_ATTRIBUTE_SET),
        4); /* no such type */
    block(f);
    const uint64_t tid = 7;
    tide_out_extra(f->lane, TIDE_EXTRA_THREAD_BEGIN, &tid, 1); /* it has none */
    block(f);
    tide_builder_finish(f->builder);
    expect(f, "SELECT size,a,b FROM blocks FORMAT csv",
           "size,a,b\n1,1,1\n2,,1\n3,,1\n4,,\n");
}

static void several_traces_may_differ(void **state)
{
    struct fixture *const f = *state;
    attribute(f, TIDE_ASKED_A, TIDE_ATTRIBUTE_INT);
    set(f, TIDE_ASKED_A, TIDE_ATTRIBUTE_INT, 2);
    block(f);
    tide_builder_finish(f->builder);
    struct tide_builder *const both[] = {f->builder, tide_asker_trace()};
    char *const text = tide_ask(both, 2,
                                "SELECT trace,a,count() FROM blocks GROUP BY trace,a "
                                "FORMAT csv");
    assert_string_equal(text, "trace,a,count\na,1,1\nb,,6\n");
    free(text);
    tide_builder_free(both[1]);
}

/* 5, set in front of a loop whose second iteration is 9. */
static void the_program_has_iterations_of_its_own_outside_of_loops(void **state)
{
    struct fixture *const f = *state;
    const uint64_t loop = TIDE_ASKED_B, nine = 18; /* zigzag */
    attribute(f, TIDE_ASKED_ITERATION, TIDE_ATTRIBUTE_INT);
    begin(f, TIDE_ASKED_ITERATION, 10);
    block(f);
    tide_out_extra(f->lane, TIDE_EXTRA_LOOP_BEGIN, &loop, 1);
    block(f);
    tide_out_extra(f->lane, TIDE_EXTRA_ITERATION, &nine, 1);
    block(f);
    tide_out_extra(f->lane, TIDE_EXTRA_REGION_END, &loop, 1);
    end(f, TIDE_ASKED_ITERATION);
    block(f);
    tide_builder_finish(f->builder);
    expect(f, "SELECT size,iteration FROM blocks FORMAT csv",
           "size,iteration\n1,5\n2,5\n3,9\n4,\n");
    expect(f, "SELECT size FROM blocks WHERE iteration=5 FORMAT csv", "size\n1\n2\n");
    expect(f,
           "SELECT event.begin#iteration AS b,event.end#iteration AS e,iteration "
           "WHERE event.begin#iteration OR event.end#iteration FORMAT csv",
           "b,e,iteration\n5,,5\n9,,5\n,9,9\n,5,5\n");
}

static void a_star_has_each_column_once(void **state)
{
    struct fixture *const f = *state;
    attribute(f, TIDE_ASKED_ITERATION, TIDE_ATTRIBUTE_INT);
    begin(f, TIDE_ASKED_ITERATION, 10);
    end(f, TIDE_ASKED_ITERATION);
    tide_builder_finish(f->builder);
    char *const text = tide_ask(&f->builder, 1, "SELECT * FORMAT csv");
    const char *const first = strstr(text, "event.begin#iteration");
    assert_non_null(first);
    assert_null(strstr(first + 1, "event.begin#iteration"));
    free(text);
}

static void iterations_of_the_program_may_be_text(void **state)
{
    struct fixture *const f = *state;
    attribute(f, TIDE_ASKED_ITERATION, TIDE_ATTRIBUTE_STRING);
    set(f, TIDE_ASKED_ITERATION, TIDE_ATTRIBUTE_STRING, TIDE_ASKED_TEXT);
    block(f);
    tide_builder_finish(f->builder);
    expect(f, "SELECT size FROM blocks WHERE iteration=text FORMAT csv", "size\n1\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(values_have_the_type_that_was_set_last, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(ends_find_their_begin_whatever_comes, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(several_traces_may_differ, set_up, tear_down),
        cmocka_unit_test_setup_teardown(
            the_program_has_iterations_of_its_own_outside_of_loops, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_star_has_each_column_once, set_up, tear_down),
        cmocka_unit_test_setup_teardown(iterations_of_the_program_may_be_text, set_up,
                                        tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
