/* cli/cmd_query.c - tidemark query: any question in one line. */
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/text.h"
#include "cli/command.h"
#include "cli/memory_limit.h"
#include "cli/options.h"
#include "cli/query_text.h"
#include "cli/run_query.h"
#include "cli/sql_query.h"

#define EXAMPLE "for example: 'SELECT leaf, count() FROM blocks GROUP BY leaf'"

/* In the order of enum tide_query_source. */
static const char *const SOURCE_WORDS[] = {"events",  "blocks",   "snapshots",
                                           "regions", "timeline", NULL};

struct query_options {
    const char *file;
    bool explain, attributes, json, labelled, sql;
    int source;
    uint64_t threads;
};

/* What was asked for so far: in a place that does not change, for the table. */
static struct query_options asked;

static const struct tide_option TABLE[] = {
    {.name = "query-file",
     .letter = 'q',
     .text = &asked.file,
     .value = "FILE",
     .help = "read the query from FILE; - is standard input",
     .takes = TIDE_TAKES_FILE},
    {.name = "attributes",
     .flag = &asked.attributes,
     .help = "list the attributes that rows have, and how many rows have each"},
    {.name = "from",
     .choice = &asked.source,
     .words = SOURCE_WORDS,
     .value = "SOURCE",
     .help = "which rows to list with --attributes (default: events)"},
    {.name = "explain",
     .flag = &asked.explain,
     .help = "explain what the query would do, without running it"},
    {.name = "json",
     .flag = &asked.json,
     .help = "write the answer as JSON, with schema, columns and rows"},
    {.name = "labelled",
     .flag = &asked.labelled,
     .help = "only labelled memory makes rows",
     .rare = true},
    {.name = "sql",
     .flag = &asked.sql,
     .help = "the query is SQL, on the tables of export --to sqlite"},
    {.name = "threads",
     .letter = 'j',
     .count = &asked.threads,
     .value = "N",
     .help = "read at most N traces at the same time",
     .rare = true},
    {.name = NULL},
};

static int parse(int argc, char **argv, struct query_options *options,
                 struct tide_arguments *rest)
{
    asked = *options;
    const int done = tide_options_parse(&tide_cmd_query, argc, argv, rest);
    *options = asked;
    return done;
}

static bool has_blanks(const char *word)
{
    return strpbrk(word, " \t\n") != NULL;
}

/* A file, or a trace without its ending, where no query has just this name? */
static bool is_file(const char *word)
{
    struct tide_text longer = {0};
    tide_text_addf(&longer, "%s.tide", word);
    const bool found = !has_blanks(word) && !longer.failed &&
                       (access(word, F_OK) == 0 || access(longer.bytes, F_OK) == 0);
    tide_text_release(&longer);
    return found;
}

/* It may be named without its ending. */
static bool may_be_trace(const char *word)
{
    return access(word, F_OK) == 0 || !(has_blanks(word) || strcmp(word, "-") == 0);
}

/* The query of REST, which is taken off it: the last word, or the first one where only
 * that can be it. */
static const char *take_query(struct tide_arguments *rest)
{
    const char *const last = rest->list[rest->count - 1], *const first = rest->list[0];
    const bool leads =
        !may_be_trace(first) &&
        (may_be_trace(last) || (strcmp(last, "-") == 0 && has_blanks(first)));
    rest->count--;
    rest->list += leads;
    return leads ? first : last;
}

/* Does the query lie about in several words, since it has no quotes? */
static bool has_loose_words(const struct tide_arguments *rest)
{
    for (int i = 0; i + 1 < rest->count; i++)
        if (strcasecmp(rest->list[i], "SELECT") == 0 && access(rest->list[i], F_OK))
            return true;
    return false;
}

/* The query, from where it is; takes it off REST.  -1 or the exit status. */
static int find_text(const struct query_options *options, struct tide_arguments *rest,
                     struct tide_text *out)
{
    if (options->file)
        return tide_query_read(options->file, out);
    if (rest->count == 0)
        return tide_fail_usage(&tide_cmd_query, "which query? " EXAMPLE);
    if (has_loose_words(rest))
        return tide_fail_usage(&tide_cmd_query,
                               "the query is one argument: put it in quotes");
    const char *const query = take_query(rest);
    if (strcmp(query, "-") == 0)
        return tide_query_read(query, out);
    if (is_file(query))
        return tide_fail_usage(&tide_cmd_query, "which query? '%s' is a file; " EXAMPLE,
                               query);
    tide_text_add(out, query);
    return -1;
}

static int run(int argc, char **argv)
{
    struct query_options options = {.source = -1};
    struct tide_arguments rest = {0};
    struct tide_text text = {0};
    int done = parse(argc, argv, &options, &rest);
    if (done >= 0)
        return done;
    struct tide_query_request request = {
        .fd = STDOUT_FILENO,
        .format = options.json ? &tide_query_schema_json : NULL,
        .labelled_only = options.labelled,
        .explain = options.explain,
        .budget = tide_memory_limit(),
        .threads = options.threads,
    };
    if (options.source >= 0 && !options.attributes)
        return tide_fail_usage(&tide_cmd_query,
                               "--from is for --attributes; a query says FROM itself");
    if (!options.attributes)
        done = find_text(&options, &rest, &text);
    request.traces = rest.list;
    request.trace_count = rest.count;
    request.text = text.bytes ? text.bytes : "";
    request.length = text.length;
    if (done < 0 && options.attributes)
        done = tide_list_attributes(&request,
                                    options.source < 0
                                        ? TIDE_FROM_EVENTS
                                        : (enum tide_query_source)options.source,
                                    options.json);
    else if (done < 0 && options.sql)
        done = tide_sql_query(&rest, request.text, options.json);
    else if (done < 0)
        done = tide_run_query(&request);
    tide_text_release(&text);
    return done;
}

const struct tide_command tide_cmd_query = {
    .name = "query",
    .summary = "ask a trace anything",
    .usage = "[OPTION...] [TRACE...] 'SELECT ...'",
    .help =
        "Answers one question in CalQL, the query language of Caliper.  The query is one\n"
        "argument, the last or the first; - reads it from standard input.  Several traces\n"
        "are read as one; without TRACE it is the newest trace in this folder.\n"
        "\n"
        "clauses, in any order\n"
        "  SELECT * | NAME | AGGREGATION [AS TITLE] [UNIT UNIT], ...\n"
        "  FROM events (default) | blocks | snapshots | regions | timeline\n"
        "  WHERE CONDITION      = != < <= > >= LIKE ~ IN BETWEEN, AND OR NOT ( ); a name\n"
        "                       alone: the row has it; values like 2s, 150ms, 64KiB\n"
        "  GROUP BY NAME, ...   leaf: the function that allocates; region: the path of\n"
        "                       regions that the program marked (function means this too)\n"
        "  AGGREGATE, in SELECT or alone: count() sum(a) min(a) max(a) avg(a) any(a)\n"
        "                       variance(a) stddev(a) scale(a,N) scale_count(N) median(a)\n"
        "                       ratio(a,b) percent_total(a) histogram(a)\n"
        "                       percentile(a,P) count(DISTINCT a) inclusive_sum(a) ...\n"
        "  HAVING CONDITION     a condition on groups\n"
        "  LET NAME = EXPRESSION [IF CONDITION], ...\n"
        "                       + - * / ratio() scale() truncate() first() sum() leaf()\n"
        "  ORDER BY NAME [ASC | DESC], ...   LIMIT N [OFFSET N]\n"
        "  FORMAT table | tree | json | ndjson | json-split | csv | tsv | markdown |\n"
        "         expand | format(\"TEXT\") | cali\n",
    .example = "query prog.tide 'SELECT leaf, count(), sum(size)\n"
               "         FROM blocks GROUP BY leaf ORDER BY count DESC LIMIT 10'",
    .takes = TIDE_TAKES_TRACE,
    .options = TABLE,
    .more_options = tide_memory_options,
    .run = run,
};
