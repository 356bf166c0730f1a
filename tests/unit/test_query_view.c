/* tests/unit/test_query_view.c - layouts of answers, as Caliper prints them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "query_asker.h"
#include "view/query_columns.h"

static void table_stands_in_columns(void **state)
{
    (void)state;
    tide_asker_expect(
        "SELECT kind AS what,label,size,alloc.address,scale(size,0.5) AS half "
        "GROUP BY kind,label,size,alloc.address WHERE mem.alloc LIMIT 2",
        "what   label size alloc.address half       \n"
        "malloc x      100 10000          50.000000 \n"
        "malloc        200 20000         100.000000 \n");
    tide_asker_expect("SELECT region WHERE event.end#region", "region     \n"
                                                              "main/solve \n"
                                                              "main       \n");
}

static void table_cuts_what_is_too_long(void **state)
{
    (void)state;
    tide_asker_expect(
        "SELECT region,region AS abcdefghijkl WHERE event.end#region=solve "
        "FORMAT table(column-width=8)",
        "region   abc~~jkl \nmai~~lve mai~~lve \n");
}

static void narrow_terminals_cut_texts_and_not_numbers(void **state)
{
    (void)state;
    enum { TIDE_NAMES, TIDE_BYTES, TIDE_HIDDEN, TIDE_PATHS, TIDE_ALL };
    static const bool NUMERIC[TIDE_ALL] = {[TIDE_BYTES] = true};
    int widths[TIDE_ALL] = {30, 20, -1, 40};
    tide_query_fit(widths, NUMERIC, TIDE_ALL, 0);
    assert_int_equal(widths[TIDE_PATHS], 40);
    tide_query_fit(widths, NUMERIC, TIDE_ALL, 80);
    assert_int_equal(widths[TIDE_NAMES] + widths[TIDE_PATHS], 80 - 3 - 20);
    assert_int_equal(widths[TIDE_BYTES], 20);
    assert_int_equal(widths[TIDE_HIDDEN], -1);
    assert_int_equal(tide_query_block(widths, TIDE_ALL, 0, 80), TIDE_ALL);
}

static void what_still_has_no_room_stands_below(void **state)
{
    (void)state;
    static const bool NUMERIC[] = {true, true, true, false};
    int widths[] = {30, 30, 30, 200};
    tide_query_fit(widths, NUMERIC, 4, 80);
    assert_int_equal(widths[0], 30);
    assert_int_equal(widths[3], 79); /* no more than a line */
    assert_int_equal(tide_query_block(widths, 4, 0, 80), 2);
    assert_int_equal(tide_query_block(widths, 4, 2, 80), 3);
    assert_int_equal(tide_query_block(widths, 4, 3, 80), 4);
    assert_int_equal(tide_query_block(widths, 4, 0, 10), 1); /* at least one */
    assert_int_equal(tide_query_block(widths, 4, 0, 0), 4);
}

static void table_leaves_out_empty_rows(void **state)
{
    (void)state;
    tide_asker_expect("SELECT label WHERE NOT size OR label",
                      "label \nx     \nx     \nx     \n");
}

static void tree_has_a_line_per_record(void **state)
{
    (void)state;
    tide_asker_expect(
        "SELECT function,mem.alloc,count() GROUP BY function,mem.alloc WHERE mem.alloc "
        "FORMAT tree",
        "Path      mem.alloc count \n"
        "main      \n"
        " |-       malloc        1 \n"
        " |-       new           1 \n"
        "  solve   \n"
        "   |-     malloc        1 \n"
        "   |-     calloc        1 \n"
        "   |-     x             1 \n"
        "   |-     realloc       1 \n"
        "(outside) malloc        1 \n");
}

static void tree_shows_nodes_without_records(void **state)
{
    (void)state;
    tide_asker_expect("SELECT count() GROUP BY path WHERE mem.alloc=calloc FORMAT tree",
                      "Path    count \n"
                      "main    \n"
                      "  solve     1 \n");
}

static void tree_takes_other_paths(void **state)
{
    (void)state;
    tide_asker_expect(
        "SELECT count(),sum(size) AS bytes GROUP BY kind,label WHERE block.label "
        "ORDER BY bytes DESC FORMAT tree(\"kind,label\")",
        "Path    count bytes \n"
        "calloc      1   300 \n"
        "malloc      2   264 \n"
        "  x         1   100 \n"
        "realloc \n"
        "  x         1   150 \n"
        "new         1     8 \n");
    tide_asker_expect("SELECT count() GROUP BY stack WHERE block.label FORMAT tree",
                      "Path          count \n"
                      "prog+0x1000   \n"
                      "  prog+0x2000     6 \n");
}

static void tree_cuts_what_is_too_deep(void **state)
{
    (void)state;
    tide_asker_expect(
        "SELECT count() GROUP BY region WHERE label FORMAT tree(column-width=4)",
        "Path c~~t \n"
        "main    1 \n"
        "  ~~    2 \n");
    tide_asker_expect(/* no column is narrower than that */
                      "SELECT count() GROUP BY region WHERE label FORMAT tree(column-width=1)",
                      "Path c~~t \n"
                      "main    1 \n"
                      "  ~~    2 \n");
}

static void markdown_marks_numbers(void **state)
{
    (void)state;
    tide_asker_expect(
        "SELECT kind AS \"a|b\",count() GROUP BY kind WHERE mem.alloc,size>200 "
        "FORMAT markdown",
        "| a\\|b | count |\n| --- | ---: |\n| calloc | 1 |\n");
}

static void json_comes_in_shapes(void **state)
{
    (void)state;
    tide_asker_expect(
        "SELECT region,size,alloc.address AS a,label WHERE label,size>100 "
        "FORMAT json",
        "[\n{\"region\":\"main/solve\",\"size\":150,\"a\":\"40000\",\"label\":\"x\"}"
        "\n]\n");
    tide_asker_expect(
        "SELECT size,label WHERE label,size>100 FORMAT json(quote-all,split)",
        "{\"size\":\"150\",\"label\":\"x\"}\n");
    tide_asker_expect(
        "SELECT size UNIT B,region AS r WHERE label,size>100 FORMAT json(object)",
        "{\"records\":[\n{\"size\":150,\"r\":\"main/solve\"}\n],\n"
        "\"globals\":{\"tidemark.version\":\"" TIDE_VERSION "\"},\n"
        "\"attributes\":{\n"
        "\"size\":{\"is_global\":false,\"is_nested\":false,"
        "\"attribute.unit\":\"B\",\"cali.attribute.name\":\"size\"},\n"
        "\"r\":{\"is_global\":false,\"is_nested\":true,"
        "\"cali.attribute.name\":\"region\"}\n}\n}\n");
}

static void pretty_json_is_indented(void **state)
{
    (void)state;
    tide_asker_expect("SELECT mem.alloc,size FROM blocks WHERE size>=200 ORDER BY size "
                      "FORMAT json(pretty)",
                      "[\n"
                      "  {\n    \"mem.alloc\": \"malloc\",\n    \"size\": 200\n  },\n"
                      "  {\n    \"mem.alloc\": \"calloc\",\n    \"size\": 300\n  }\n"
                      "]\n");
}

static void globals_stand_above(void **state)
{
    (void)state;
    tide_asker_expect("SELECT count() FROM blocks FORMAT table(print-globals)",
                      "tidemark.version: " TIDE_VERSION "\ncount \n    6 \n");
}

static void json_split_is_hatchets(void **state)
{
    (void)state;
    tide_asker_expect(
        "SELECT count() AS Allocs,sum(size) AS Bytes UNIT B,region GROUP BY region "
        "WHERE block.label FORMAT json-split",
        "{\n  \"data\": [\n    [ 2, 108, 0 ],\n    [ 3, 650, 1 ],\n"
        "    [ 1, 64, null ]\n  ],\n"
        "  \"columns\": [ \"Allocs\", \"Bytes\", \"path\" ],\n"
        "  \"column_metadata\": [ { \"is_value\": true }, { \"is_value\": true, "
        "\"attribute.unit\": \"B\" }, { \"is_value\": false } ],\n"
        "  \"nodes\": [\n    { \"label\": \"main\", \"column\": \"path\" },\n"
        "    { \"label\": \"solve\", \"column\": \"path\", \"parent\": 0 }\n  ],\n"
        "  \"tidemark.version\": \"" TIDE_VERSION "\"\n}\n");
}

static void cali_defines_before_use(void **state)
{
    (void)state;
    tide_asker_expect(
        "SELECT region,block.label,alloc.total_size,alloc.address WHERE label,"
        "size>100 FORMAT cali",
        "__rec=node,id=12,attr=10,data=276,parent=3\n"
        "__rec=node,id=13,attr=8,data=region,parent=12\n"
        "__rec=node,id=14,attr=13,data=main\n"
        "__rec=node,id=15,attr=13,data=solve,parent=14\n"
        "__rec=node,id=16,attr=10,data=84,parent=3\n"
        "__rec=node,id=17,attr=8,data=block.label,parent=16\n"
        "__rec=node,id=18,attr=17,data=x\n"
        "__rec=node,id=19,attr=10,data=2133,parent=1\n"
        "__rec=node,id=20,attr=8,data=alloc.total_size,parent=19\n"
        "__rec=node,id=21,attr=10,data=85,parent=4\n"
        "__rec=node,id=22,attr=8,data=alloc.address,parent=21\n"
        "__rec=ctx,ref=15=18,attr=20=22,data=150=40000\n"
        "__rec=node,id=23,attr=10,data=588,parent=3\n"
        "__rec=node,id=24,attr=8,data=tidemark.version,parent=23\n"
        "__rec=node,id=25,attr=24,data=" TIDE_VERSION "\n"
        "__rec=globals,ref=25\n");
}

static void format_fills_in_a_text(void **state)
{
    (void)state;
    tide_asker_expect(
        "SELECT kind,size WHERE label FORMAT format(\"%[8]kind%|%size% B 100%%\", "
        "\"a title\")",
        "a title\nmalloc  |100 B 100%\nmalloc  |100 B 100%\nrealloc |150 B 100%\n");
}

static void tsv_and_ndjson(void **state)
{
    (void)state;
    tide_asker_expect("SELECT kind,size WHERE size>200,mem.alloc FORMAT tsv",
                      "kind\tsize\ncalloc\t300\n");
    tide_asker_expect(
        "SELECT kind,size WHERE size>200 FORMAT ndjson",
        "{\"kind\":\"calloc\",\"size\":300}\n{\"kind\":\"calloc\",\"size\":300}\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(table_stands_in_columns),
        cmocka_unit_test(table_cuts_what_is_too_long),
        cmocka_unit_test(narrow_terminals_cut_texts_and_not_numbers),
        cmocka_unit_test(what_still_has_no_room_stands_below),
        cmocka_unit_test(table_leaves_out_empty_rows),
        cmocka_unit_test(tree_has_a_line_per_record),
        cmocka_unit_test(tree_shows_nodes_without_records),
        cmocka_unit_test(tree_takes_other_paths),
        cmocka_unit_test(tree_cuts_what_is_too_deep),
        cmocka_unit_test(markdown_marks_numbers),
        cmocka_unit_test(json_comes_in_shapes),
        cmocka_unit_test(pretty_json_is_indented),
        cmocka_unit_test(globals_stand_above),
        cmocka_unit_test(json_split_is_hatchets),
        cmocka_unit_test(cali_defines_before_use),
        cmocka_unit_test(format_fills_in_a_text),
        cmocka_unit_test(tsv_and_ndjson),
    };
    return cmocka_run_group_tests(tests, tide_asker_begin, tide_asker_end);
}
