/* tests/unit/test_findings_time.c - findings that save time: what churns, grows, is handed over. */
#include "findings_bench.h"

static struct tide_site temporaries(uint32_t stack, uint64_t calls)
{
    return (struct tide_site){.stack = stack,
                              .calls = calls,
                              .bytes = calls * 64,
                              .freed_calls = calls,
                              .freed_bytes = calls * 64,
                              .temporary_calls = calls,
                              .temporary_bytes = calls * 64,
                              .first_ticks = 0,
                              .last_ticks = 4000};
}

static void points_at_churn(void **state)
{
    (void)state;
    begin();
    hand_site(&hand, temporaries(PARSE, 2000000));
    build();
    found(
        "churn",
        "parse (parse.c:5) makes 2,000,000 temporary blocks of 64 bytes each, 100 % of all "
        "allocation calls, 500,000 a second from 0 us to 4.0 s. Keeping one and using it again saves "
        "about 2,000,000 calls, some 100 ms of an unrecorded run.");
    assert_int_equal(findings.list[0].gain_calls, 2000000);
    hand.model->duration_s = 10.1; /* then it is less than a hundredth ... */
    build();
    assert_int_equal(findings.count, 1);
    hand.model->summary[TIDE_IN_HEAP].alloc_calls = 40000001; /* ... and a twentieth */
    build();
    assert_int_equal(findings.count, 0);
}

static void leaves_out_what_few_calls_or_milliseconds_are(void **state)
{
    (void)state;
    begin();
    hand_site(&hand, temporaries(PARSE, 49999));
    hand.model->duration_s = 0.01;
    build();
    assert_int_equal(findings.count, 0); /* 2.5 ms */
    leave(NULL);
    begin();
    hand_site(&hand, temporaries(PARSE, 2000000));
    hand.model->summary[TIDE_IN_HEAP].alloc_calls = 40000001;
    build();
    assert_int_equal(findings.count, 0); /* less than a twentieth of all */
}

/* Few calls, but most of what a run allocates, many times what it ever holds. */
static void weighs_churn_by_bytes(void **state)
{
    (void)state;
    begin();
    hand_site(&hand, (struct tide_site){.stack = PARSE,
                                        .calls = 200,
                                        .bytes = 200 * TIDE_MIB,
                                        .freed_calls = 200,
                                        .freed_bytes = 200 * TIDE_MIB,
                                        .most_bytes = 2 * TIDE_MIB,
                                        .last_ticks = 4000});
    hand.model->summary[TIDE_IN_HEAP].peak_bytes = 20 * TIDE_MIB;
    build();
    found(
        "churn",
        "parse (parse.c:5) makes and frees 200.0 MiB in 200 blocks of 1.0 MiB each: 100 % of all "
        "bytes that the run allocates, 100 % of all calls, 50 a second from 0 us to 4.0 s, 10 times the "
        "peak. "
        "Blocks that are kept and used again: fewer calls, hardly less time, and a peak that is up to "
        "2.0 MiB higher.");
    hand.model->summary[TIDE_IN_HEAP].peak_bytes++; /* less than ten times the peak */
    build();
    assert_int_equal(findings.count, 0);
    hand.model->summary[TIDE_IN_HEAP].peak_bytes--;
    hand.model->summary[TIDE_IN_HEAP].allocated_bytes =
        2001ull * TIDE_MIB; /* a tenth */
    build();
    assert_int_equal(findings.count, 0);
}

static void asks_for_a_pool(void **state)
{
    (void)state;
    begin();
    struct tide_site site = temporaries(PARSE, 2000000);
    site.temporary_calls = 0;
    site.temporary_bytes = 0;
    site.most_bytes = 640;
    hand_site(&hand, site);
    build();
    found(
        "pool",
        "parse (parse.c:5) makes and frees 2,000,000 blocks of 64 bytes, of which 10 "
        "blocks at most were there at once, 500,000 a second from 0 us to 4.0 s. A pool saves about "
        "1,999,990 calls, some 100 ms of an unrecorded run.");
    hand.model->sites[0].bytes--; /* not all of one size */
    build();
    assert_string_equal(findings.list[0].kind, "churn");
}

static void says_where_to_reserve(void **state)
{
    (void)state;
    begin();
    hand_site(&hand, (struct tide_site){.stack = PARSE,
                                        .calls = 1000,
                                        .bytes = 1020ull * TIDE_MIB,
                                        .freed_calls = 1000,
                                        .freed_bytes = 1020ull * TIDE_MIB,
                                        .more = {.moved_calls = 1000,
                                                 .grown_bytes = 10 * TIDE_MIB,
                                                 .crept_calls = 900,
                                                 .crept_bytes = 900 * 4 * TIDE_KIB,
                                                 .copied_calls = 500,
                                                 .copied_bytes = 700 * TIDE_MIB}});
    build();
    found(
        "growth",
        "parse (parse.c:5) grows what it holds in 900 small realloc steps, of 4.0 KiB "
        "on average; 500 of them copied it elsewhere, 700.0 MiB in all. Reserving the "
        "size here, or doubling it, saves about 900 calls, some 184 ms of an unrecorded run.");
    hand.model->sites[0].freed_bytes = 0;        /* else it is churn */
    hand.model->sites[0].more.copied_calls = 99; /* most grew where they stood */
    build();
    assert_int_equal(findings.count, 0);
    hand.model->sites[0].more.copied_calls = 500;
    hand.model->sites[0].more.copied_bytes = 350 * TIDE_MIB; /* 92 ms of 10 s */
    build();
    assert_int_equal(findings.count, 0);
}

static void knows_containers_that_grow_by_name(void **state)
{
    (void)state;
    begin();
    struct tide_site site =
        temporaries(STACK({TIDE_HAND_APP, 0x200}, {TIDE_HAND_APP, 0x800}), 2000000);
    site.temporary_calls = 0;
    site.temporary_bytes = 0;
    site.most_bytes = 64;
    hand_site(&hand, site);
    build();
    assert_int_equal(findings.count, 1);
    assert_string_equal(findings.list[0].kind, "growth");
    assert_memory_equal(findings.list[0].text, "parse (parse.c:5) grows ", 24);
}

static void points_at_blocks_that_others_free(void **state)
{
    (void)state;
    begin();
    struct tide_site site = temporaries(PARSE, 2000000);
    site.temporary_calls = 0;
    site.temporary_bytes = 0;
    site.bytes++; /* of several sizes */
    site.more.foreign_calls = 1000000;
    site.more.foreign_bytes = 64000000;
    hand_site(&hand, site);
    hand.model->summary[TIDE_IN_HEAP].free_calls = 2000000;
    build();
    found(
        "foreign_free",
        "61.0 MiB in 1,000,000 blocks of 64 bytes on average from parse (parse.c:5) were freed by another "
        "thread than the one that made them, 250,000 a second from 0 us to 4.0 s. Giving them back "
        "to their maker, or handing over more at once, saves up to 100 ms of waiting "
        "for the allocator in an unrecorded run.");
    hand.model->sites[0].more.foreign_calls--; /* less than half of them */
    build();
    assert_string_equal(findings.list[0].kind, "churn");
}

int main(void)
{
#define CASE(name) cmocka_unit_test_teardown(name, leave)
    const struct CMUnitTest tests[] = {
        CASE(points_at_churn),
        CASE(leaves_out_what_few_calls_or_milliseconds_are),
        CASE(weighs_churn_by_bytes),
        CASE(asks_for_a_pool),
        CASE(says_where_to_reserve),
        CASE(knows_containers_that_grow_by_name),
        CASE(points_at_blocks_that_others_free),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
