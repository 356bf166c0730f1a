/* tests/unit/test_query.c - answers of queries, against numbers worked out by hand from
 * the history in query_asker.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "query_asker.h"

/* The same over the trace twice. */
static void expect_of_two(const char *query, const char *answer)
{
    struct tide_builder *const both[] = {tide_asker_built(), tide_asker_built()};
    char *const text = tide_ask(both, 2, query);
    assert_string_equal(text, answer);
    free(text);
}

static void tells_events_in_order(void **state)
{
    (void)state;
    tide_asker_expect(
        "SELECT mem.alloc,mem.free,alloc.total_size,mem.active,region FORMAT csv",
        "mem.alloc,mem.free,alloc.total_size,mem.active,region\n"
        ",,,0,\n"
        ",,,0,\n"
        "malloc,,100,0,main\n"
        ",,,100,main\n"
        ",,,100,main/solve\n"
        "malloc,,200,100,main/solve\n"
        ",malloc,-200,300,main/solve\n"
        "calloc,,300,100,main/solve\n"
        "x,,100,400,main/solve\n"
        ",,,400,main/solve\n"
        ",malloc,-100,400,main/solve\n"
        "realloc,,150,300,main/solve\n"
        ",,,450,main/solve\n"
        "new,,8,450,main\n"
        ",calloc,-300,458,main\n"
        ",,,158,main\n"
        "malloc,,64,158,\n"
        ",malloc,-64,222,\n");
}

static void tells_begins_and_ends_of_regions(void **state)
{
    (void)state;
    tide_asker_expect(
        "SELECT event.begin#region AS b,event.end#region AS e,event.set#event AS s,"
        "alloc.region.highwatermark AS high,event,time.offset.ns AS ns "
        "WHERE NOT alloc.uid FORMAT csv",
        "b,e,s,high,event,ns\n"
        ",,,,,0\n"
        "main,,,0,,10000\n"
        "solve,,,100,,30000\n"
        ",,0,,,31000\n"
        ",,1,,0,65000\n"
        ",solve,,450,1,80000\n"
        ",main,,458,1,95000\n");
}

static void tells_blocks_with_their_lives(void **state)
{
    (void)state;
    tide_asker_expect(
        "SELECT alloc.uid AS u,mem.alloc AS a,size,usable,region,free.region,"
        "lifetime,age,live,temporary,peak FROM blocks ORDER BY u FORMAT csv",
        "u,a,size,usable,region,free.region,lifetime,age,live,temporary,peak\n"
        "1,x,100,108,main,main/solve,5e-05,5e-05,,,\n"
        "2,malloc,200,208,main/solve,main/solve,1e-06,1e-06,,true,\n"
        "3,calloc,300,308,main/solve,main,4.5e-05,4.5e-05,,,true\n"
        "4,x,150,160,main/solve,,,0.00093,true,,true\n"
        "5,new,8,16,main,,,0.000915,true,,true\n"
        "6,malloc,64,72,,,4e-06,4e-06,,true,\n");
}

static void tells_snapshots_peak_and_end(void **state)
{
    (void)state;
    tide_asker_expect(
        "SELECT snapshot,count(),sum(size) FROM snapshots GROUP BY snapshot",
        "snapshot   count sum#size \n"
        "half           2      450 \n"
        "peak           3      458 \n"
        "end of run     2      158 \n");
}

static void tells_visits_to_regions(void **state)
{
    (void)state;
    tide_asker_expect(
        "SELECT region,time.offset.ns AS ns,allocs,allocated,frees,freed,growth,"
        "mem.active,alloc.region.highwatermark AS high FROM regions FORMAT csv",
        "region,ns,allocs,allocated,frees,freed,growth,mem.active,high\n"
        "main/solve,30000,3,650,2,300,350,100,450\n"
        "main,10000,5,758,3,600,158,0,458\n");
}

static void tells_stretches_of_time(void **state)
{
    (void)state;
    tide_asker_expect(
        "SELECT count(),max(mem.peak),min(mem.active),max(blocks) FROM timeline "
        "FORMAT csv",
        "count,max#mem.peak,min#mem.active,max#blocks\n240,458,0,3\n");
}

static void groups_like_the_tutorial(void **state)
{
    (void)state;
    tide_asker_expect(
        "SELECT function,count() GROUP BY function WHERE mem.alloc FORMAT tree",
        "Path      count \n"
        "main          2 \n"
        "  solve       4 \n"
        "(outside)     1 \n");
    tide_asker_expect(
        "SELECT mem.alloc,count() GROUP BY mem.alloc WHERE mem.alloc FORMAT table",
        "mem.alloc count \n"
        "malloc        3 \n"
        "calloc        1 \n"
        "x             1 \n"
        "realloc       1 \n"
        "new           1 \n");
    tide_asker_expect("SELECT block.label,count(),sum(size) GROUP BY block.label "
                      "WHERE block.label FORMAT table",
                      "block.label count sum#size \n"
                      "x               2      250 \n"
                      "malloc          2      264 \n"
                      "calloc          1      300 \n"
                      "new             1        8 \n");
    tide_asker_expect("SELECT mem.alloc,alloc.total_size,count() "
                      "GROUP BY mem.alloc,alloc.total_size WHERE mem.alloc "
                      "ORDER BY alloc.total_size DESC LIMIT 2 FORMAT table",
                      "mem.alloc alloc.total_size count \n"
                      "calloc                 300     1 \n"
                      "malloc                 200     1 \n");
}

/* Sizes of births: 100 200 300 150 8 64. */
static void sums_up(void **state)
{
    (void)state;
    tide_asker_expect(
        "SELECT count(),sum(size),min(size),max(size),avg(size),median(size),"
        "percentile(size,90),count(DISTINCT kind),count(label),any(block.label) "
        "WHERE block.label FORMAT csv",
        "count,sum#size,min#size,max#size,avg#size,median#size,p90#size,"
        "count_distinct#kind,count#label,any#block.label\n"
        "6,822,8,300,137,100,300,4,2,x\n");
    /* mean 137, squares of differences 37^2 + 63^2 + 163^2 + 13^2 + 129^2 + 73^2 = 54046 */
    tide_asker_expect(
        "SELECT variance(size),scale(size,0.5),scale_count(3),ratio(size,usable),"
        "ratio(size,usable,870),histogram(size) WHERE block.label FORMAT expand",
        "variance#size=9007.666667,scale#size=411.000000,scount=18.000000,"
        "ratio#size/usable=0.942661,ratio#size/usable=820.114679,"
        "histogram#size=8:1 64:2 128:2 256:1\n");
    tide_asker_expect("SELECT stddev(alloc.total_size) AS s,sum(alloc.total_size) AS t,"
                      "min(alloc.total_size) AS m WHERE kind FORMAT expand",
                      "s=175.573233,t=158,m=-300\n");
}

static void says_percentages_of_all(void **state)
{
    (void)state;
    tide_asker_expect(
        "SELECT kind,percent_total(size) AS p GROUP BY kind WHERE mem.alloc "
        "FORMAT expand",
        "kind=malloc,p=44.282238\n" /* 364 of 822 */
        "kind=calloc,p=36.496350\n"
        "kind=realloc,p=18.248175\n"
        "kind=new,p=0.973236\n");
}

/* Without SELECT and GROUP BY it is Caliper's key: the attributes that are names. */
static void aggregates_by_names_unless_told(void **state)
{
    (void)state;
    tide_asker_expect("AGGREGATE count() WHERE mem.alloc FORMAT csv",
                      "region,mem.alloc,mem.free,count\n"
                      "main,malloc,,1\n"
                      "main/solve,malloc,,1\n"
                      "main/solve,calloc,,1\n"
                      "main/solve,x,,1\n"
                      "main/solve,realloc,,1\n"
                      "main,new,,1\n"
                      ",malloc,,1\n");
    tide_asker_expect(
        "AGGREGATE count() SELECT sum(size) WHERE kind,mem.alloc FORMAT csv",
        "sum#size,count\n822,6\n");
}

static void takes_what_sql_writes(void **state)
{
    (void)state;
    tide_asker_expect("SELECT COUNT(*) AS a, Sum(size) bytes, count() \"n\" "
                      "WHERE block.label FORMAT csv",
                      "a,bytes,n\n6,822,6\n");
    tide_asker_expect("SELECT count() WHERE mem.alloc AND size > 0.1k FORMAT csv",
                      "count\n3\n");
    tide_asker_expect("SELECT count() WHERE label IS NULL AND block.label FORMAT csv",
                      "count\n4\n");
    tide_asker_expect("SELECT count() WHERE label is not null, mem.alloc FORMAT csv",
                      "count\n2\n");
    tide_asker_expect(
        "LET in = LEAF() SELECT in place, COUNT(DISTINCT size) WHERE mem.alloc "
        "GROUP BY in ORDER BY place DESC LIMIT 1 FORMAT csv",
        "place,count_distinct#size\nsolve,3\n");
}

static void adds_to_the_regions_around(void **state)
{
    (void)state;
    tide_asker_expect(
        "SELECT region,count(),inclusive_count(),inclusive_sum(size),"
        "inclusive_max(size),inclusive_min(size),inclusive_scale(size,2),"
        "inclusive_ratio(size,usable),inclusive_percent_total(size) GROUP BY region "
        "WHERE block.label FORMAT expand",
        "region=main,count=2,icount=5,inclusive#size=758,imax#size=300,imin#size=8,"
        "iscale#size=1516.000000,iratio#size/usable=0.947500,"
        "ipercent_total#size=92.214112\n"
        "region=main/solve,count=3,icount=3,inclusive#size=650,imax#size=300,"
        "imin#size=150,iscale#size=1300.000000,iratio#size/usable=0.961538,"
        "ipercent_total#size=79.075426\n"
        "count=1,icount=1,inclusive#size=64,imax#size=64,imin#size=64,"
        "iscale#size=128.000000,iratio#size/usable=0.888889,"
        "ipercent_total#size=7.785888\n");
    tide_asker_expect("SELECT region,count(),inclusive_sum(size) GROUP BY region "
                      "WHERE kind,mem.alloc,region=solve FORMAT tree",
                      "Path    count inclusive#size \n"
                      "main                     650 \n"
                      "  solve     3            650 \n");
}

static void computes_with_let(void **state)
{
    (void)state;
    tide_asker_expect(
        "LET bin = truncate(size,100), twice = size * 2 + 1, "
        "q = ratio(size,usable), s = scale(size,0.5), f = first(label,kind), "
        "t = sum(size,usable), l = leaf(), big = size IF size > 150 "
        "SELECT bin,twice,q,s,f,t,l,big WHERE mem.alloc LIMIT 3 FORMAT csv",
        "bin,twice,q,s,f,t,l,big\n"
        "100,201,0.9259259259259259,50,x,208,main,\n"
        "200,401,0.9615384615384616,100,malloc,408,solve,200\n"
        "300,601,0.974025974025974,150,calloc,608,solve,300\n");
    /* There is one zero. */
    tide_asker_expect("LET zero = (size * 1.0 - 150) * 0 SELECT zero,count() "
                      "GROUP BY zero WHERE block.label FORMAT csv",
                      "zero,count\n0,6\n");
    tide_asker_expect(
        "LET a = (size - 100) * 2, b = a / 4 SELECT a,b WHERE alloc.uid = 3, "
        "mem.alloc FORMAT csv",
        "a,b\n400,100\n");
}

/* WHERE, and the blocks that pass. */
static const struct choice {
    const char *where, *uids;
} CHOICES[] = {
    {"size > 100", "2 3 4"},
    {"size >= 100", "1 2 3 4"},
    {"size < 100", "5 6"},
    {"size <= 100", "1 5 6"},
    {"size = 100", "1"},
    {"size != 100", "2 3 4 5 6"},
    {"size <> 100", "2 3 4 5 6"},
    {"NOT size > 100", "1 5 6"},
    {"NOT size = 100", "2 3 4 5 6"},
    {"size BETWEEN 100 AND 200", "1 2 4"},
    {"size NOT BETWEEN 100 AND 200", "3 5 6"},
    {"size IN (8, 300, 7)", "3 5"},
    {"size > 0.1KiB", "2 3 4"},
    {"label", "1 4"},
    {"NOT label", "2 3 5 6"},
    {"label = x", "1 4"},
    {"label != x", ""},
    {"NOT label = x", "2 3 5 6"},
    {"mem.alloc LIKE 'm%c'", "2 6"},
    {"mem.alloc NOT LIKE '%lloc'", "1 4 5"},
    {"mem.alloc ~ '^(new|x)$'", "1 4 5"},
    {"mem.alloc !~ alloc", "1 4 5"},
    {"region = main", "1 2 3 4 5"},
    {"region = solve", "2 3 4"},
    {"region = main/solve", "2 3 4"},
    {"region != solve", "1 5"},
    {"NOT region", "6"},
    {"label, size > 100", "4"},
    {"label AND size > 100 OR size = 8", "4 5"},
    {"label AND (size > 100 OR size = 8)", "4"},
    {"NOT (label OR size > 150)", "5 6"},
    {"NOT NOT label", "1 4"},
    {"live", "4 5"},
    {"live = true", "4 5"},
    {"time < 50us", "1 2 3"},
    {"time BETWEEN 0.04ms AND 70us", "2 3 4"},
    {"lifetime > 10us", "1 3"},
    {"alloc.address = 0x30000", "3"},
    {"alloc.address >= 50000", "5 6"},
    {"kind IN (new, calloc)", "3 5"},
    {"kind > malloc", "4 5"},
    {"thread.name = prog AND event = 1", "4 5 6"},
};

static void chooses_rows(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(CHOICES) / sizeof(CHOICES[0]); i++) {
        char query[256], answer[64] = "";
        (void)snprintf(query, sizeof(query),
                       "SELECT alloc.uid FROM blocks WHERE %s ORDER BY alloc.uid "
                       "FORMAT format(%%alloc.uid%%)",
                       CHOICES[i].where);
        for (const char *at = CHOICES[i].uids; *at; at++)
            if (*at != ' ') {
                const size_t length = strlen(answer);
                answer[length] = *at;
                answer[length + 1] = '\n';
            }
        tide_asker_expect(query, answer);
    }
}

static void orders_as_sql_does(void **state)
{
    (void)state;
    tide_asker_expect(
        "SELECT kind,size FROM blocks ORDER BY kind DESC,size FORMAT csv",
        "kind,size\nrealloc,150\nnew,8\nmalloc,64\nmalloc,100\nmalloc,200\n"
        "calloc,300\n");
    tide_asker_expect(
        "SELECT kind AS k,count() AS n GROUP BY kind FROM blocks "
        "HAVING n >= 1 AND sum(size) > 10 ORDER BY n DESC,k LIMIT 2 OFFSET 1 "
        "FORMAT csv",
        "k,n\ncalloc,1\nrealloc,1\n");
    tide_asker_expect("SELECT DISTINCT kind FROM blocks ORDER BY kind FORMAT csv",
                      "kind\ncalloc\nmalloc\nnew\nrealloc\n");
}

static void answers_when_there_is_nothing(void **state)
{
    (void)state;
    tide_asker_expect("SELECT count(),sum(size) WHERE size > 1G FORMAT csv",
                      "count,sum#size\n0,\n");
    tide_asker_expect("SELECT kind,count() GROUP BY kind WHERE size > 1G",
                      "kind count \n");
    tide_asker_expect("SELECT size WHERE size > 1G FORMAT json", "[\n]\n");
}

static void puts_traces_together(void **state)
{
    (void)state;
    expect_of_two("SELECT kind,count(),sum(size),count(DISTINCT size),median(size),"
                  "any(label) GROUP BY kind WHERE block.label FORMAT csv",
                  "kind,count,sum#size,count_distinct#size,median#size,any#label\n"
                  "malloc,6,728,3,100,x\n"
                  "calloc,2,600,1,300,\n"
                  "realloc,2,300,1,150,x\n"
                  "new,2,16,1,8,\n");
    expect_of_two("SELECT trace,rank,variance(size) GROUP BY trace,rank "
                  "WHERE mem.alloc FORMAT expand",
                  "trace=a,rank=0,variance#size=9007.666667\n"
                  "trace=b,rank=1,variance#size=9007.666667\n");
    expect_of_two("SELECT variance(size),max(region) WHERE mem.alloc FORMAT expand",
                  "variance#size=9007.666667,max#region=main/solve\n");
    expect_of_two("SELECT region,inclusive_sum(size) GROUP BY region WHERE mem.alloc "
                  "FORMAT tree",
                  "Path      inclusive#size \n"
                  "main                1516 \n"
                  "  solve             1300 \n"
                  "(outside)            128 \n");
}

static void multiplies_with_signs(void **state)
{
    (void)state;
    tide_asker_expect("LET less = (0 - size) * 3, more = less * (0 - 1), most = "
                      "(0 - 4611686018427387904) * 2, beyond = most * 2 SELECT "
                      "sum(size),sum(less),sum(more),max(most),count(beyond) WHERE "
                      "kind and mem.alloc and alloc.uid = 1 FORMAT csv",
                      "sum#size,sum#less,sum#more,max#most,count#beyond\n"
                      "100,-300,300,-9223372036854775808,0\noverflows: 1\n");
}

static void says_overflow(void **state)
{
    (void)state;
    tide_asker_expect(
        "LET huge = alloc.address * 40000000000000 SELECT sum(huge) WHERE mem.alloc "
        "FORMAT csv",
        "sum#huge\n\noverflows: 1\n");
    tide_asker_expect(
        "LET far = size * 1e308 * 1e10, none = far - far SELECT count(far),count(none) "
        "WHERE mem.alloc FORMAT csv",
        "count#far,count#none\n0,0\n");
    tide_asker_expect("LET huge = alloc.address * 40000000000000000 SELECT count(huge) "
                      "WHERE alloc.uid = 1 FORMAT csv",
                      "count#huge\n0\noverflows: 3\n");
}

static void refuses_too_much_memory(void **state)
{
    (void)state;
    struct tide_builder *const builder = tide_asker_built();
    char *const text = tide_ask_within(
        &builder, 1, "SELECT alloc.uid,count() GROUP BY alloc.uid", 1000);
    assert_string_equal(text, "status 9, refused\n");
    free(text);
}

static void star_leaves_out_what_is_named(void **state)
{
    (void)state;
    tide_asker_expect(
        "SELECT *,count() AS n FROM blocks GROUP BY mem.alloc "
        "AGGREGATE sum(size) HAVING n > 1 ORDER BY n,mem.alloc FORMAT csv",
        "mem.alloc,sum#size,n\nmalloc,264,2\nx,250,2\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tells_events_in_order),
        cmocka_unit_test(star_leaves_out_what_is_named),
        cmocka_unit_test(tells_begins_and_ends_of_regions),
        cmocka_unit_test(tells_blocks_with_their_lives),
        cmocka_unit_test(tells_snapshots_peak_and_end),
        cmocka_unit_test(tells_visits_to_regions),
        cmocka_unit_test(tells_stretches_of_time),
        cmocka_unit_test(groups_like_the_tutorial),
        cmocka_unit_test(sums_up),
        cmocka_unit_test(says_percentages_of_all),
        cmocka_unit_test(aggregates_by_names_unless_told),
        cmocka_unit_test(takes_what_sql_writes),
        cmocka_unit_test(adds_to_the_regions_around),
        cmocka_unit_test(computes_with_let),
        cmocka_unit_test(chooses_rows),
        cmocka_unit_test(orders_as_sql_does),
        cmocka_unit_test(answers_when_there_is_nothing),
        cmocka_unit_test(puts_traces_together),
        cmocka_unit_test(multiplies_with_signs),
        cmocka_unit_test(says_overflow),
        cmocka_unit_test(refuses_too_much_memory),
    };
    return cmocka_run_group_tests(tests, tide_asker_begin, tide_asker_end);
}
