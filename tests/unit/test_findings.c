/* unit/test_findings.c - what the report points out, and what it must not. */
#include <time.h>

#include "findings_bench.h"
#include "model/pattern.h"

/* --- The peak ------------------------------------------------------------------------ */

static void names_who_owns_the_peak(void **state)
{
    (void)state;
    begin();
    hand_site(&hand, (struct tide_site){.stack = PARSE,
                                        .calls = 7,
                                        .freed_calls = 7,
                                        .peak_bytes = 30 * TIDE_MIB,
                                        .peak_blocks = 7,
                                        .first_ticks = 1000,
                                        .last_ticks = 2000});
    hand_site(&hand, (struct tide_site){
                         .stack = MAIN, .peak_bytes = 3 * TIDE_MIB, .peak_blocks = 1});
    build();
    found(
        "peak_owner",
        "parse (parse.c:5) holds 30.0 MiB in 7 blocks of 4.3 MiB on average at the peak, "
        "91 % of it, made from 1.0 s to 2.0 s. Beside it: main with 3.0 MiB. Less of it, or freed "
        "earlier, saves up to 30.0 MiB.");
    assert_int_equal(findings.list[0].bytes, 30 * TIDE_MIB);
    assert_int_equal(findings.list[0].gain_bytes, 30 * TIDE_MIB);
    assert_int_equal(findings.list[0].calls, 7);
    assert_int_equal(findings.list[0].stack, PARSE);
    assert_int_equal(findings.list[0].call, 0);
}

static void draws_the_line_at_a_quarter_of_the_peak(void **state)
{
    (void)state;
    begin();
    hand_site(&hand, (struct tide_site){.stack = PARSE, .peak_bytes = 10 * TIDE_MIB});
    hand_site(&hand,
              (struct tide_site){.stack = MAIN, .peak_bytes = 30 * TIDE_MIB + 1});
    build();
    assert_int_equal(findings.count, 1);
    leave(NULL);
    begin();
    hand_site(&hand, (struct tide_site){.stack = PARSE, .peak_bytes = 10 * TIDE_MIB});
    hand_site(&hand, (struct tide_site){.stack = MAIN, .peak_bytes = 30 * TIDE_MIB});
    build();
    assert_int_equal(findings.count, 2);
    leave(NULL);
    begin();
    hand_site(&hand,
              (struct tide_site){.stack = PARSE, .peak_bytes = 8 * TIDE_MIB - 1});
    build();
    assert_int_equal(findings.count, 0);
}

static void speaks_of_mapped_memory_by_its_name(void **state)
{
    (void)state;
    begin();
    hand_site(&hand, (struct tide_site){.stack = PARSE,
                                        .space = TIDE_IN_MMAP,
                                        .peak_bytes = 8 * TIDE_MIB,
                                        .peak_blocks = 1});
    build();
    found(
        "peak_owner",
        "parse (parse.c:5) holds 8.0 MiB in 1 block at the peak of mapped memory, 100 % "
        "of it, made at 0 us and never freed. Less of it, or freed earlier, saves up to "
        "8.0 MiB.");
}

static void speaks_of_mapped_memory_alone_when_asked_to(void **state)
{
    (void)state;
    begin();
    hand_site(&hand, (struct tide_site){.stack = MAIN, .peak_bytes = 30 * TIDE_MIB});
    hand_site(&hand, (struct tide_site){.stack = PARSE,
                                        .space = TIDE_IN_MMAP,
                                        .peak_bytes = 8 * TIDE_MIB});
    build();
    assert_int_equal(findings.count, 2);
    build_about((struct tide_findings_scope){.mapped = true});
    assert_int_equal(findings.count, 1);
    assert_non_null(strstr(findings.list[0].text, "parse (parse.c:5)"));
}

/* --- Memory -------------------------------------------------------------------------- */

static void points_at_tiny_blocks(void **state)
{
    (void)state;
    begin();
    hand_site(&hand, (struct tide_site){.stack = PARSE,
                                        .calls = 200000,
                                        .bytes = 200000 * 9,
                                        .freed_calls = 200000,
                                        .freed_bytes = 200000 * 9,
                                        .slack_bytes = 200000 * 15,
                                        .peak_blocks = 100000,
                                        .peak_bytes = 100000 * 9});
    hand.model->summary[TIDE_IN_HEAP].peak_usable_bytes = 2400000;
    build();
    found("tiny",
          "parse (parse.c:5) holds 100,000 blocks of 9 bytes each at the peak; the "
          "allocator adds 15 bytes to each. Keeping them in one array saves "
          "1.4 MiB, 62 % of all that the allocator holds then; tables count what was "
          "asked for.");
    hand.model->sites[0].slack_bytes = 200000 * 2;
    build();
    assert_int_equal(findings.count, 0);
}

static void points_at_what_was_never_touched(void **state)
{
    (void)state;
    begin();
    hand_site(&hand, (struct tide_site){.stack = PARSE,
                                        .calls = 1,
                                        .freed_calls = 1,
                                        .most_bytes = 512 * TIDE_MIB,
                                        .peak_bytes = 512 * TIDE_MIB,
                                        .peak_blocks = 1});
    hand.process.status_known = true;
    hand.process.rss_peak = 2 * TIDE_MIB;
    hand.trace.collector_rss_peak = 12 * TIDE_MIB; /* so much it may have had unseen */
    build();
    found(
        "oversized",
        "parse (parse.c:5) holds 512.0 MiB, but the whole process never had more than "
        "12.0 MiB in memory: at least 500.0 MiB of it were never touched. A smaller "
        "buffer will do.");
    hand.process.rss_peak = 300 * TIDE_MIB; /* most of it may have been */
    build();
    assert_int_equal(count_kind("oversized"), 0);
    hand.process.rss_peak = 2 * TIDE_MIB;
    hand.process.status_known = false; /* nobody waited for it */
    build();
    assert_int_equal(count_kind("oversized"), 0);
}

/* Addresses that a runtime or a library reserves are not memory. */
static void tells_what_is_reserved_from_what_is_used(void **state)
{
    (void)state;
    begin();
    hand_site(&hand, (struct tide_site){.stack = PARSE,
                                        .space = TIDE_IN_MMAP,
                                        .calls = 1,
                                        .most_bytes = 512 * TIDE_MIB,
                                        .peak_bytes = 512 * TIDE_MIB,
                                        .peak_blocks = 1});
    hand.process.status_known = true;
    hand.process.rss_peak = 27 * TIDE_MIB;
    build();
    found("reserved",
          "parse (parse.c:5) maps 512.0 MiB, but the process never had more than 27.0 "
          "MiB in memory: the rest is reserved, and takes addresses only.");
    assert_int_equal(findings.list[0].space, TIDE_IN_MMAP);
    hand.process.rss_peak = 300 * TIDE_MIB;
    build();
    assert_string_equal(findings.list[0].kind, "peak_owner");
    assert_non_null(
        strstr(findings.list[0].text, " 212.0 MiB of it was never touched"));
}

/* Five functions that it calls have a tenth of the peak each, no one has a quarter. */
static void names_the_function_on_whose_behalf_blocks_are_made(void **state)
{
    (void)state;
    static const uint64_t MAKERS[] = {0x700, 0xa00, 0xb00, 0xc00, 0xd00};
    begin();
    for (size_t i = 0; i < 5; i++)
        hand_site(&hand, (struct tide_site){.stack = STACK({TIDE_HAND_APP, 0x100},
                                                           {TIDE_HAND_APP, 0x200},
                                                           {TIDE_HAND_APP, MAKERS[i]}),
                                            .peak_bytes = 4 * TIDE_MIB,
                                            .peak_blocks = 1});
    for (size_t i = 0; i < 5; i++)
        hand_site(&hand, (struct tide_site){.stack = STACK({TIDE_HAND_APP, 0x100},
                                                           {TIDE_HAND_APP, MAKERS[i]}),
                                            .peak_bytes = 4 * TIDE_MIB,
                                            .peak_blocks = 1});
    build();
    assert_int_equal(findings.count, 1);
    assert_string_equal(findings.list[0].kind, "peak_owner");
    assert_non_null(strstr(findings.list[0].text,
                           "parse (parse.c:5), with what it calls, holds 20.0 MiB in 5 "
                           "blocks at the peak, 50 % of it"));
}

/* The site holds 2 MiB in CALLS - FREED blocks at the moments from FIRST to LAST. */
static void hold(uint32_t first, uint32_t last, uint64_t calls, uint64_t freed)
{
    struct tide_model *const model = hand.model;
    model->holdings = calloc(TIDE_HOLDINGS_MOMENTS, sizeof(*model->holdings));
    assert_non_null(model->holdings);
    for (uint32_t i = first; i <= last; i++)
        model->holdings[model->holding_count++] = (struct tide_holding){
            .moment = i, .bytes = 2 * TIDE_MIB, .calls = calls, .freed_calls = freed};
}

static struct tide_site images(uint64_t calls)
{
    return (struct tide_site){.stack = PARSE,
                              .calls = calls,
                              .freed_calls = calls,
                              .most_bytes = 3 * TIDE_MIB,
                              .peak_bytes = 2 * TIDE_MIB,
                              .peak_blocks = 1,
                              .last_ticks = 100};
}

static void points_at_what_outlives_its_kind(void **state)
{
    (void)state;
    begin();
    hand_site(&hand, images(20));
    hold(3, 24, 20, 19);
    build();
    found(
        "late_free",
        "2.0 MiB in 1 block from parse (parse.c:5) stayed for 7.0 s after the last of "
        "19 others like it were gone. Freeing it with them saves 2.0 MiB for that long, "
        "100 % of the peak.");
    hand.model->sites[0].calls = 21; /* another one came later */
    build();
    assert_int_equal(findings.count, 0);
}

static void points_at_what_every_start_costs(void **state)
{
    (void)state;
    begin();
    hand_site(&hand, images(4));
    hold(1, TIDE_HOLDINGS_MOMENTS, 4, 0);
    build();
    found(
        "start_up",
        "2.0 MiB in 4 blocks of 512.0 KiB on average from parse (parse.c:5) were made within the first 100 ms "
        "and freed at the end: what every run costs from its start, 100 % of the "
        "peak. Making it when it is needed saves that for runs that do not need it.");
    hand.model->sites[0].freed_calls = hand.model->sites[0].freed_bytes = 0;
    build();
    assert_non_null(strstr(findings.list[0].text, " and held until the end: what "));
    hand.model->sites[0].last_ticks = 1001; /* later than a tenth of the run */
    build();
    assert_int_equal(findings.count, 0);
}

static void bears_a_peak_before_the_run(void **state)
{
    (void)state;
    begin();
    struct tide_model *const model = hand.model;
    hand_site(&hand, (struct tide_site){.stack = PARSE,
                                        .calls = 7,
                                        .freed_calls = 7,
                                        .peak_bytes = 30 * TIDE_MIB,
                                        .peak_blocks = 7});
    hold(1, TIDE_HOLDINGS_MOMENTS, 7, 0);
    model->timeline_count = 4;
    static const double PEAKS[] = {-1, -1e300, 0, 1e300};
    for (size_t i = 0; i < sizeof(PEAKS) / sizeof(PEAKS[0]); i++) {
        model->summary[TIDE_IN_HEAP].peak_time_s = PEAKS[i];
        build();
        assert_int_equal(findings.count, 1);
        assert_string_equal(findings.list[0].kind, "peak_owner");
    }
}

/* The heap stands high at another time: what one holder saves at the peak is less. */
static void says_why_less_can_be_saved_than_is_held(void **state)
{
    (void)state;
    begin();
    struct tide_model *const model = hand.model;
    hand_site(&hand, (struct tide_site){.stack = PARSE,
                                        .calls = 7,
                                        .freed_calls = 7,
                                        .peak_bytes = 30 * TIDE_MIB,
                                        .peak_blocks = 7});
    hold(1, 12, 7, 0);
    model->summary[TIDE_IN_HEAP].peak_time_s = 3;
    model->timeline_count = 4;
    model->timeline[2] = 20 * TIDE_MIB;
    build();
    assert_int_equal(findings.count, 1);
    assert_int_equal(findings.list[0].gain_bytes, 10 * TIDE_MIB);
    assert_non_null(strstr(findings.list[0].text,
                           " saves up to 10.0 MiB: at another time "
                           "the rest stands at 20.0 MiB."));
    model->timeline[2] = 3 * TIDE_MIB;
    build();
    assert_null(strstr(findings.list[0].text, "another time"));
    /* Between two moments it may be the same holder that stands high: nothing is known. */
    model->sites[0].most_bytes = 30 * TIDE_MIB;
    model->timeline[2] = 20 * TIDE_MIB;
    build();
    assert_int_equal(findings.list[0].gain_bytes, 30 * TIDE_MIB);
    model->heights[20] = 12 * TIDE_MIB; /* now it is */
    build();
    assert_int_equal(findings.list[0].gain_bytes, 18 * TIDE_MIB);
}

/* --- Whom they name ------------------------------------------------------------------ */

static void named(uint32_t stack, const char *name)
{
    hand_site(&hand, (struct tide_site){.stack = stack, .peak_bytes = 10 * TIDE_MIB});
    build();
    assert_int_equal(findings.count, 1);
    assert_memory_equal(findings.list[0].text, name, strlen(name));
    leave(NULL);
    begin();
}

static void blames_who_called_the_runtime_or_a_wrapper(void **state)
{
    (void)state;
    begin();
    named(STACK({TIDE_HAND_APP, 0x100}, {TIDE_HAND_APP, 0x200}, {TIDE_HAND_APP, 0x300},
                {TIDE_HAND_STDCXX, 0x1}),
          "parse (parse.c:5) holds ");
    named(STACK({TIDE_HAND_APP, 0x200}, {TIDE_HAND_APP, 0x400}), "parse (");
    named(STACK({TIDE_HAND_APP, 0x200}, {TIDE_HAND_APP, 0x500}, {TIDE_HAND_APP, 0x400}),
          "parse (");
    /* One place calls it: then it may as well be where things are decided. */
    named(STACK({TIDE_HAND_APP, 0x200}, {TIDE_HAND_APP, 0x600}), "Pool::allocate(");
    hand_site(&hand, (struct tide_site){.stack = STACK({TIDE_HAND_APP, 0x100},
                                                       {TIDE_HAND_APP, 0x600})});
    named(STACK({TIDE_HAND_APP, 0x200}, {TIDE_HAND_APP, 0x600}), "parse (");
    named(STACK({TIDE_HAND_APP, 0x200}, {TIDE_HAND_APP, 0x900}), "parse (");
    named(STACK({TIDE_HAND_APP, 0x200}, {TIDE_HAND_APP, 0x700}), "allocate_rows (");
    /* When there is nobody else, the innermost. */
    named(STACK({TIDE_HAND_APP, 0x400}), "xmalloc (");
}

/* A template's name has the type that it returns in front. */
static void tells_library_functions_by_their_names(void **state)
{
    (void)state;
    static const char *const library[] = {
        "std::string::append(char const*)",
        "void std::swap<int>(int&, int&)",
        "unsigned int& std::vector<unsigned int>::emplace_back<unsigned int>(int&&)",
        "std::ostream& std::operator<< <char>(std::ostream&, char const*)",
        "operator new(unsigned long)",
        "<alloc::vec::Vec<T> as core::clone::Clone>::clone",
        "malloc",
    };
    static const char *const own[] = {
        "std::vector<int> make_list<int>(int)",
        "std::map<std::string, int> const& Table::names<char>() const",
        "(anonymous namespace)::neighbours(unsigned int)",
        "void (anonymous namespace)::Index::add<std::string>(std::string const&)",
        "main",
    };
    for (size_t i = 0; i < sizeof(library) / sizeof(library[0]); i++)
        if (!tide_is_library_function(library[i]))
            fail_msg("%s", library[i]);
    for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
        if (tide_is_library_function(own[i]))
            fail_msg("%s", own[i]);
}

static void says_one_thing_of_a_function_with_all_its_stacks(void **state)
{
    (void)state;
    begin();
    leak(PARSE, 48 * TIDE_KIB, 50, WHOLE_LIFE);
    leak(STACK({TIDE_HAND_APP, 0x200}), 16 * TIDE_KIB, 50, WHOLE_LIFE);
    hand.model->sites[0].peak_bytes = 30 * TIDE_MIB; /* it owns the peak as well */
    hand.model->summary[TIDE_IN_HEAP].peak_bytes = 30 * TIDE_MIB;
    build();
    assert_int_equal(findings.count, 1);
    assert_string_equal(findings.list[0].kind, "leak_growing");
    assert_int_equal(findings.list[0].bytes, 64 * TIDE_KIB);
    assert_int_equal(findings.list[0].calls, 100);
    assert_int_equal(findings.list[0].stacks, 2);
    assert_int_equal(findings.list[0].stack, PARSE);
}

/* Two stacks that meet at one line weigh more than a third at another. */
static void names_the_heaviest_of_several_lines(void **state)
{
    (void)state;
    begin();
    const uint32_t other = STACK({TIDE_HAND_APP, 0x100}, {TIDE_HAND_APP, 0x220});
    const uint32_t more = STACK({TIDE_HAND_APP, 0x700}, {TIDE_HAND_APP, 0x220});
    leak(PARSE, 40 * TIDE_KIB, 10, 1u << 9 | 1u << 20);
    leak(other, 30 * TIDE_KIB, 4, 1u << 9 | 1u << 20);
    leak(more, 20 * TIDE_KIB, 4, 1u << 9 | 1u << 20);
    build();
    found(
        "leak",
        "90.0 KiB in 18 blocks of 4.0 to 7.5 KiB from parse (parse.c:8; 1 other line has 40.0 KiB in 10 blocks) were "
        "never freed, made from 1.0 s to 9.0 s. Freeing them saves 90.0 KiB, "
        "100 % of the peak.");
    assert_int_equal(findings.list[0].stack, other);
    leave(NULL);
    begin();
    for (uint64_t value = 0x200; value <= 0x240; value += 0x20)
        hand_site(&hand, (struct tide_site){
                             .stack = STACK({TIDE_HAND_APP, value}),
                             .peak_bytes = (int64_t)value * TIDE_MIB / 32,
                             .peak_blocks = 1,
                         });
    build();
    assert_int_equal(findings.count, 1);
    assert_non_null(
        strstr(findings.list[0].text,
               "parse (parse.c:9; 2 other lines have 33.0 MiB in 2 blocks) holds "));
}

/* It is one stack that frees late, whatever others of the function hold. */
static void names_the_line_that_frees_late(void **state)
{
    (void)state;
    begin();
    hand_site(&hand, images(20));
    hand_site(&hand, (struct tide_site){.stack = STACK({TIDE_HAND_APP, 0x220}),
                                        .most_bytes = 99 * TIDE_MIB});
    hold(3, 24, 20, 19);
    build();
    assert_int_equal(findings.count, 1);
    assert_string_equal(findings.list[0].kind, "late_free");
    assert_non_null(strstr(findings.list[0].text, " from parse (parse.c:5) stayed "));
}

static void gives_ten_at_most_the_best_first(void **state)
{
    (void)state;
    begin();
    for (uint64_t i = 0; i < 30; i++)
        leak(STACK({TIDE_HAND_APP, 0x1000 + i}), 64 * TIDE_KIB + i, 100, WHOLE_LIFE);
    hand.model->duration_s = 60;
    build();
    assert_int_equal(findings.count, 10);
    for (size_t i = 0; i < 10; i++)
        assert_int_equal(findings.list[i].bytes, 64 * TIDE_KIB + 29 - i);
}

static void finds_nothing_in_nothing(void **state)
{
    (void)state;
    begin();
    build();
    assert_int_equal(findings.count, 0);
}

/* --- Names --------------------------------------------------------------------------- */

static void shortens_names_of_any_length_at_once(void **state)
{
    (void)state;
    const size_t length = 1u << 20;
    char *const name = malloc(length + 1);
    struct tide_text out = {0};
    assert_non_null(name);
    memset(name, '(', length); /* to look for the end of each takes minutes */
    name[length] = '\0';
    const clock_t begin = clock();
    tide_found_name(&out, name);
    assert_true(clock() - begin < 5 * CLOCKS_PER_SEC);
    assert_int_equal(out.length, length);
    free(name);
    tide_text_clear(&out);
    tide_found_name(&out,
                    "std::ostream& log::operator<< <char>(std::ostream&, int) const");
    assert_string_equal(out.bytes, "std::ostream& log::operator<< <char>(...) const");
    tide_text_release(&out);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_teardown(name, leave)
    const struct CMUnitTest tests[] = {
        CASE(names_who_owns_the_peak),
        CASE(draws_the_line_at_a_quarter_of_the_peak),
        CASE(speaks_of_mapped_memory_by_its_name),
        CASE(speaks_of_mapped_memory_alone_when_asked_to),
        CASE(points_at_tiny_blocks),
        CASE(points_at_what_was_never_touched),
        CASE(tells_what_is_reserved_from_what_is_used),
        CASE(names_the_function_on_whose_behalf_blocks_are_made),
        CASE(points_at_what_outlives_its_kind),
        CASE(points_at_what_every_start_costs),
        CASE(says_why_less_can_be_saved_than_is_held),
        CASE(bears_a_peak_before_the_run),
        CASE(blames_who_called_the_runtime_or_a_wrapper),
        CASE(tells_library_functions_by_their_names),
        CASE(says_one_thing_of_a_function_with_all_its_stacks),
        CASE(names_the_heaviest_of_several_lines),
        CASE(names_the_line_that_frees_late),
        CASE(gives_ten_at_most_the_best_first),
        CASE(shortens_names_of_any_length_at_once),
        CASE(finds_nothing_in_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
