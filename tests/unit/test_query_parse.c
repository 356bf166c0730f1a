/* tests/unit/test_query_parse.c - the text of queries: what is understood, and what is
 * said, with a caret, of what is not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "dice.h"
#include "query/plan.h"
#include "view/query_view.h"

// NOLINTNEXTLINE(readability-identifier-naming): fuzz/fuzz_query.c, as libFuzzer calls it
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct tide_query query;
static struct tide_query_error error;

static enum tide_status parse(const char *text)
{
    return tide_query_parse(text, strlen(text), &query, &error);
}

static void release(void)
{
    tide_query_release(&query);
    tide_query_error_release(&error);
}

static void reads_all_clauses_in_any_order(void **state)
{
    (void)state;
    assert_int_equal(
        parse("format tree(\"a,b\", column-width=20, flag) LIMIT 5 offset 2 "
              "Order By x desc, sum(y) ASC, z GROUP BY a,\"b c\" HAVING count() > 1 "
              "where NOT a, b=1 OR c ; let q = ratio(a,b,2) if c > 1, r = a + 2 "
              "AGGREGATE count(), sum(x) from blocks SELECT DISTINCT *, a AS A UNIT B"),
        TIDE_OK);
    assert_string_equal(query.format.text, "tree");
    assert_int_equal(query.argument_count, 3);
    assert_string_equal(query.arguments[0].key.text, "a,b");
    assert_string_equal(query.arguments[1].value.text, "20");
    assert_int_equal(query.limit, 5);
    assert_int_equal(query.offset, 2);
    assert_int_equal(query.order_count, 3);
    assert_true(query.orders[0].descending);
    assert_false(query.orders[1].descending);
    assert_null(query.orders[1].what.name.text);
    assert_int_equal(query.group_count, 2);
    assert_string_equal(query.groups[1].text, "b c");
    assert_int_equal(query.let_count, 2);
    assert_int_equal(query.lets[0].count, 4);
    assert_int_equal(query.lets[0].condition.count, 1);
    assert_int_equal(query.lets[1].count, 3);
    assert_int_equal(query.aggregated_count, 2);
    assert_string_equal(query.source.text, "blocks");
    assert_true(query.distinct);
    assert_int_equal(query.item_count, 2);
    assert_string_equal(query.items[1].alias.text, "A");
    assert_string_equal(query.items[1].unit.text, "B");
    /* NOT a, b=1 OR c: a NOT b=1 c OR AND */
    static const enum tide_term_kind kinds[] = {TIDE_TERM_HAS,   TIDE_TERM_NOT,
                                                TIDE_TERM_EQUAL, TIDE_TERM_HAS,
                                                TIDE_TERM_OR,    TIDE_TERM_AND};
    assert_int_equal(query.where.count, 6);
    for (size_t i = 0; i < 6; i++)
        assert_int_equal(query.terms[query.where.first + i].kind, kinds[i]);
    release();
}

static void reads_words_with_quotes_and_escapes(void **state)
{
    (void)state;
    assert_int_equal(parse("SELECT \"a\\\"b\",c\\,d,'it''s',x\"y z\"w,\"group\""),
                     TIDE_OK);
    static const char *const names[] = {"a\"b", "c,d", "its", "xy zw", "group"};
    assert_int_equal(query.item_count, 5);
    for (size_t i = 0; i < 5; i++)
        assert_string_equal(query.items[i].what.name.text, names[i]);
    release();
}

/* What is printed. */
static void expect_mistake(const char *text, const char *words)
{
    struct tide_plan plan = {0};
    struct tide_query_view view = {0};
    struct tide_out out;
    struct tide_text said = {0};
    const struct tide_plan_options options = {0};
    tide_out_begin(&out, -1);
    enum tide_status status = parse(text);
    if (!status)
        status = tide_plan_make(&query, &options, &plan, &error);
    if (!status)
        status = tide_query_view_begin(&view, &plan, &out, &error);
    assert_int_equal(status, TIDE_EUSAGE);
    tide_query_error_text(&said, text, strlen(text), &error);
    assert_string_equal(said.bytes, words);
    tide_text_release(&said);
    tide_text_release(&out.text);
    tide_query_view_release(&view);
    tide_plan_release(&plan);
    release();
}

static const struct mistake {
    const char *text, *words;
} MISTAKES[] = {
    {"SELECT mem.aloc", "there is no attribute 'mem.aloc'; did you mean "
                        "'mem.alloc'?\n"
                        "  SELECT mem.aloc\n"
                        "         ^~~~~~~~\n"},
    {"SELCT size", "there is no 'SELCT'; did you mean SELECT?\n"
                   "  SELCT size\n"
                   "  ^~~~~\n"},
    {"SELECT size WHERE", "the query ends where a condition should follow\n"
                          "  SELECT size WHERE\n"
                          "                   ^\n"},
    {"SELECT size\nWHERE size > big FORMAT csv",
     "'big' is not a size: 1000, 64KiB, 1.5MiB\n"
     "  WHERE size > big FORMAT csv\n"
     "               ^~~\n"},
    {"SELECT size,FORMAT csv", "expected an attribute or an aggregation, not 'FORMAT'\n"
                               "  SELECT size,FORMAT csv\n"
                               "              ^~~~~~\n"},
    {"SELECT cuont()", "there is no aggregation 'cuont'; did you mean "
                       "'count'?\n"
                       "  SELECT cuont()\n"
                       "         ^~~~~\n"},
    {"SELECT sum(size,size)", "sum() takes 1 argument, not 2, as in sum(size)\n"
                              "  SELECT sum(size,size)\n"
                              "         ^~~~~~~~~~~~~~\n"},
    {"SELECT size FORMAT cvs", "there is no format 'cvs'; did you mean "
                               "'csv'?\n"
                               "  SELECT size FORMAT cvs\n"
                               "                     ^~~\n"},
    {"SELECT size FORMAT tree", "tree needs a path: GROUP BY region, or stack\n"
                                "  SELECT size FORMAT tree\n"
                                "                     ^~~~\n"},
    {"SELECT kind FORMAT tree(\"nix\")", "tree: the answer has no 'nix'\n"
                                         "  SELECT kind FORMAT tree(\"nix\")\n"
                                         "                     ^~~~\n"},
    {"SELECT kind FORMAT format(\"a %[5]kind% %% %nix%\")",
     "format: the answer has no 'nix'\n"
     "  SELECT kind FORMAT format(\"a %[5]kind% %% %nix%\")\n"
     "                     ^~~~~~\n"},
    {"SELECT size FORMAT table(colum-width=3)",
     "table has no argument 'colum-width'; did you mean 'column-width'?\n"
     "  SELECT size FORMAT table(colum-width=3)\n"
     "                           ^~~~~~~~~~~\n"},
    {"SELECT kind,size,count() GROUP BY kind",
     "'size' is neither grouped nor summed up: add it to GROUP BY, or take "
     "any(size)\n"
     "  SELECT kind,size,count() GROUP BY kind\n"
     "              ^~~~\n"},
    {"SELECT size FROM block", "there is no source 'block'; did you mean "
                               "'blocks'?\n"
                               "  SELECT size FROM block\n"
                               "                   ^~~~~\n"},
    {"SELECT rss", "rows of events have no 'rss'; FROM timeline has\n"
                   "  SELECT rss\n"
                   "         ^~~\n"},
    {"SELECT size FROM timeline",
     "rows of timeline have no 'size'; FROM events, blocks, snapshots have\n"
     "  SELECT size FROM timeline\n"
     "         ^~~~\n"},
    {"SELECT durtion",
     "there is no attribute 'durtion'; did you mean 'duration', which "
     "FROM regions has?\n"
     "  SELECT durtion\n"
     "         ^~~~~~~\n"},
    {"LET a=size-1 SELECT a",
     "there is no attribute 'size-1'; only LET calculates, with "
     "blanks around the sign: LET x = size + 1\n"
     "  LET a=size-1 SELECT a\n"
     "        ^~~~~~\n"},
    {"SELECT sum(size)/count()",
     "SELECT does not calculate: avg(a) is sum(a)/count(), ratio(a,b) is "
     "sum(a)/sum(b), scale(a,N) is N times sum(a); LET does, with each row\n"
     "  SELECT sum(size)/count()\n"
     "                  ^~~~~~\n"},
    {"SELECT kind count() GROUP BY kind", "a comma is missing before 'count'\n"
                                          "  SELECT kind count() GROUP BY kind\n"
                                          "              ^~~~~\n"},
    {"SELECT kind size", "a comma is missing before 'size'\n"
                         "  SELECT kind size\n"
                         "              ^~~~\n"},
    {"SELECT lief, count() GROUP BY leaf size",
     "a comma is missing before 'size'\n"
     "  SELECT lief, count() GROUP BY leaf size\n"
     "                                     ^~~~\n"},
    {"SELECT lief", "there is no attribute 'lief'; did you mean 'leaf'?\n"
                    "  SELECT lief\n"
                    "         ^~~~\n"},
    {"SELECT avrg(x)", "there is no aggregation 'avrg'; did you mean 'avg'?\n"
                       "  SELECT avrg(x)\n"
                       "         ^~~~\n"},
    {"SELECT mean(size)", "there is no aggregation 'mean'; did you mean 'avg'?\n"
                          "  SELECT mean(size)\n"
                          "         ^~~~\n"},
    {"SELECT top(size)",
     "there is no aggregation 'top': count, sum, min, max, avg, median, ..., see "
     "tidemark-query(1)\n"
     "  SELECT top(size)\n"
     "         ^~~\n"},
    {"SELECT leaf, sum GROUP BY leaf",
     "'sum' is an aggregation: it has parentheses, as in sum(size)\n"
     "  SELECT leaf, sum GROUP BY leaf\n"
     "               ^~~\n"},
    {"SELECT leaf WHERE size > 1 MB", "a number and its unit are one word: 1MB\n"
                                      "  SELECT leaf WHERE size > 1 MB\n"
                                      "                             ^~\n"},
    {"SELECT leaf WHERE size > 1 && leaf = main",
     "there is no '&&'; did you mean AND?\n"
     "  SELECT leaf WHERE size > 1 && leaf = main\n"
     "                             ^~\n"},
    {"SELECT leaf WHERE size > 1kB leaf = main",
     "AND or OR is missing before 'leaf'\n"
     "  SELECT leaf WHERE size > 1kB leaf = main\n"
     "                               ^~~~\n"},
    {"SELECT leaf, count() GROUP BY leaf SORT BY count",
     "there is no 'SORT'; did you mean ORDER BY?\n"
     "  SELECT leaf, count() GROUP BY leaf SORT BY count\n"
     "                                     ^~~~\n"},
    {"SELECT leaf ORDER BY leaf DECS", "there is no 'DECS'; did you mean DESC?\n"
                                       "  SELECT leaf ORDER BY leaf DECS\n"
                                       "                            ^~~~\n"},
    {"SELECT leaf FORM blocks", "there is no 'FORM'; did you mean FROM?\n"
                                "  SELECT leaf FORM blocks\n"
                                "              ^~~~\n"},
    {" ",
     "the query is empty; for example: SELECT leaf, count() FROM blocks GROUP BY leaf\n"},
    {"SELECT kind WHERE label IS 3",
     "expected NULL, as in IS NULL and IS NOT NULL, not '3'\n"
     "  SELECT kind WHERE label IS 3\n"
     "                             ^\n"},
    {"SELECT kind FROM blocks WHERE lifetime > 1m",
     "'1m' is not a time: 2s, 150ms, 1min\n"
     "  SELECT kind FROM blocks WHERE lifetime > 1m\n"
     "                                           ^~\n"},
    {"SELECT kind WHERE (size > 1", "the query ends where ')' should follow\n"
                                    "  SELECT kind WHERE (size > 1\n"
                                    "                             ^\n"},
    {"SELECT kind WHERE kind ~ '('", "missing closing parenthesis\n"
                                     "  SELECT kind WHERE kind ~ '('\n"
                                     "                           ^~~\n"},
    {"SELECT sum(kind)", "this is text: only count, min, max, any, "
                         "percentile and count_distinct take it\n"
                         "  SELECT sum(kind)\n"
                         "             ^~~~\n"},
    {"SELECT size SELECT size", "this clause is there twice\n"
                                "  SELECT size SELECT size\n"
                                "              ^~~~~~\n"},
    {"SELECT \"size", "this quote is never closed\n"
                      "  SELECT \"size\n"
                      "         ^~~~~\n"},
    {"LET a = size, a = usable SELECT a", "this name is defined twice\n"
                                          "  LET a = size, a = usable "
                                          "SELECT a\n"
                                          "                ^\n"},
    {"SELECT count() WHERE count() > 1",
     "WHERE looks at rows before they are summed up: put this into "
     "HAVING\n"
     "  SELECT count() WHERE count() > 1\n"
     "                       ^~~~~~~\n"},
    {"SELECT inclusive_sum(size) GROUP BY kind",
     "this needs a path to climb: GROUP BY region\n"
     "  SELECT inclusive_sum(size) GROUP BY kind\n"
     "         ^~~~~~~~~~~~~~~~~~~\n"},
    {"SELECT inclusive_sum(duration) FROM regions GROUP BY region",
     "'duration' has the regions inside already: sum(duration), or "
     "inclusive_sum(time.duration)\n"
     "  SELECT inclusive_sum(duration) FROM regions GROUP BY region\n"
     "                       ^~~~~~~~\n"},
    {"LET k=frees SELECT inclusive_scale(k,3) FROM regions GROUP BY region",
     "'k' has the regions inside already: sum(k)\n"
     "  LET k=frees SELECT inclusive_scale(k,3) FROM regions GROUP BY region\n"
     "                                     ^\n"},
    {"SELECT kind,size,region,label,leaf,module,file,line,time,thread WHERE size > big AND "
     "label = x AND kind = malloc",
     "'big' is not a size: 1000, 64KiB, 1.5MiB\n"
     "  ...dule,file,line,time,thread WHERE size > big AND label = x AND kind = mal...\n"
     "                                             ^~~\n"},
    {"SELECT kind,thelongestnameofallthelongestnameofallthelongestnameofall FROM events "
     "LIMIT 3",
     "there is no attribute "
     "'thelongestnameofallthelongestnameofallthelongestnameofall'; --attributes lists "
     "them\n"
     "  SELECT kind,thelongestnameofallthelongestnameofallthelongestnameofall FR...\n"
     "              ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~\n"},
    {"SELECT leaf,count",
     "'count' is an aggregation: it has parentheses, as in count()\n"
     "  SELECT leaf,count\n"
     "              ^~~~~\n"},
    {"SELECT sum FROM blocks",
     "'sum' is an aggregation: it has parentheses, as in sum(size)\n"
     "  SELECT sum FROM blocks\n"
     "         ^~~\n"},
    {"",
     "the query is empty; for example: SELECT leaf, count() FROM blocks GROUP BY leaf\n"},
};

static void points_at_mistakes(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(MISTAKES) / sizeof(MISTAKES[0]); i++)
        expect_mistake(MISTAKES[i].text, MISTAKES[i].words);
}

static void survives_deep_nesting(void **state)
{
    (void)state;
    struct tide_text text = {0};
    tide_text_add(&text, "SELECT size WHERE ");
    for (int i = 0; i < 20000; i++)
        tide_text_add(&text, "(");
    assert_int_equal(parse(text.bytes), TIDE_EUSAGE);
    assert_non_null(strstr(error.text.bytes, "nests too deeply"));
    release();
    tide_text_clear(&text);
    tide_text_add(&text, "SELECT size WHERE size");
    for (int i = 0; i < 5000; i++)
        tide_text_add(&text, " OR NOT size");
    assert_int_equal(parse(text.bytes), TIDE_OK);
    release();
    for (int i = 0; i < 5000; i++)
        tide_text_add(&text, " OR NOT size");
    assert_int_equal(parse(text.bytes), TIDE_EUSAGE); /* too long */
    release();
    tide_text_release(&text);
}

static const char *const WORDS[] = {
    "SELECT",
    "size",
    ",",
    "count()",
    "FROM",
    "blocks",
    "WHERE",
    "NOT",
    "(",
    ")",
    "=",
    ">",
    "1MiB",
    "LIKE",
    "'a%'",
    "~",
    "IN",
    "GROUP",
    "BY",
    "region",
    "LET",
    "x",
    "ratio",
    "IF",
    "ORDER",
    "DESC",
    "AS",
    "UNIT",
    "LIMIT",
    "5",
    "FORMAT",
    "tree",
    "json",
    "HAVING",
    "sum(",
    "*",
    "+",
    "-",
    "\"",
    "\\",
    "BETWEEN",
    "AND",
    "OR",
    "kind",
    "stage",
    "alloc.uid#dt",
    "event.set#stage",
    ";",
    "leaf",
    "inclusive_sum(size)",
    "count(*)",
    "IS",
    "NULL",
};

/* Words of queries in any order, and queries with a byte changed: nothing may break. */
static void survives_random_queries(void **state)
{
    (void)state;
    struct dice dice = {.state = 7};
    const int count = sizeof(WORDS) / sizeof(*WORDS);
    for (int i = 0; i < 20000; i++) {
        struct tide_text text = {0};
        for (int n = dice_roll(&dice, 20); n > 0; n--) {
            tide_text_add(&text, WORDS[dice_roll(&dice, count)]);
            tide_text_add(&text, dice_roll(&dice, 8) ? " " : "");
        }
        if (text.length && dice_roll(&dice, 3) == 0)
            text.bytes[dice_roll(&dice, (int)text.length)] =
                (char)(dice_roll(&dice, 256) - 128);
        (void)LLVMFuzzerTestOneInput((const uint8_t *)text.bytes, text.length);
        tide_text_release(&text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_all_clauses_in_any_order),
        cmocka_unit_test(reads_words_with_quotes_and_escapes),
        cmocka_unit_test(points_at_mistakes),
        cmocka_unit_test(survives_deep_nesting),
        cmocka_unit_test(survives_random_queries),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
