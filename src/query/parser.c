/* query/parser.c - the clauses of a query.
 *
 * After the first mistake nothing more is read: every function looks at parser->status
 * or only at tokens, and the last token is never left, so all loops end.
 */
#include "query/parser.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "model/grow.h"
#include "query/attribute.h"
#include "query/lexer.h"

/* --- Tokens ------------------------------------------------------------------------ */

const struct tide_token *tide_parser_here(const struct tide_parser *parser)
{
    return &parser->query->tokens[parser->at];
}

const struct tide_token *tide_parser_take(struct tide_parser *parser)
{
    const struct tide_token *const here = tide_parser_here(parser);
    if (here->kind != TIDE_TOKEN_END)
        parser->at++;
    return here;
}

bool tide_parser_at_keyword(const struct tide_parser *parser, const char *word)
{
    const struct tide_token *const here = tide_parser_here(parser);
    return here->kind == TIDE_TOKEN_WORD && strcasecmp(here->text, word) == 0;
}

bool tide_parser_keyword(struct tide_parser *parser, const char *word)
{
    if (parser->status || !tide_parser_at_keyword(parser, word))
        return false;
    (void)tide_parser_take(parser);
    return true;
}

bool tide_parser_sign(struct tide_parser *parser, enum tide_token_kind kind)
{
    if (parser->status || tide_parser_here(parser)->kind != kind)
        return false;
    (void)tide_parser_take(parser);
    return true;
}

void *tide_parser_room(struct tide_parser *parser, void *list, size_t *capacity,
                       size_t count, size_t bytes)
{
    void *const grown = tide_grown(list, capacity, count + 1, bytes);
    if (!grown && !parser->status)
        parser->status = TIDE_ENOMEM;
    return grown;
}

/* --- Words -------------------------------------------------------------------------- */

const char *const tide_parser_clauses[TIDE_CLAUSE_WORDS] = {
    "SELECT", "AGGREGATE", "FROM",   "GROUP", "WHERE", "HAVING",
    "LET",    "ORDER",     "FORMAT", "LIMIT", "OFFSET"};

bool tide_parser_at_clause(const struct tide_parser *parser)
{
    if (tide_parser_here(parser)->kind == TIDE_TOKEN_END)
        return true;
    for (size_t i = 0; i < TIDE_CLAUSE_WORDS; i++)
        if (tide_parser_at_keyword(parser, tide_parser_clauses[i]))
            return true;
    return false;
}

struct tide_query_word tide_parser_name(struct tide_parser *parser, const char *what)
{
    const struct tide_token *const here = tide_parser_here(parser);
    const bool word = here->kind == TIDE_TOKEN_WORD || here->kind == TIDE_TOKEN_QUOTED;
    if (parser->status || !word ||
        (here->kind == TIDE_TOKEN_WORD && tide_parser_at_clause(parser))) {
        tide_parser_expected(parser, what);
        return (struct tide_query_word){.text = "", .span = here->span};
    }
    (void)tide_parser_take(parser);
    return (struct tide_query_word){.text = here->text,
                                    .span = here->span,
                                    .quoted = here->kind == TIDE_TOKEN_QUOTED};
}

/* The arguments of CALL, after its parenthesis was opened; count(*) has none. */
static void read_arguments(struct tide_parser *parser, struct tide_call *call)
{
    const struct tide_token *const here = tide_parser_here(parser);
    if (here->kind == TIDE_TOKEN_WORD && strcmp(here->text, "*") == 0 &&
        here[1].kind == TIDE_TOKEN_CLOSE)
        (void)tide_parser_take(parser);
    call->distinct = tide_parser_keyword(parser, "DISTINCT");
    if (tide_parser_sign(parser, TIDE_TOKEN_CLOSE))
        return;
    do {
        const struct tide_query_word name = tide_parser_name(parser, "an argument");
        if (call->count == TIDE_CALL_ARGUMENTS)
            tide_parser_fail(parser, name.span, "too many arguments");
        else
            call->arguments[call->count++] = name;
    } while (tide_parser_comma(parser));
    if (!tide_parser_sign(parser, TIDE_TOKEN_CLOSE))
        tide_parser_expected(parser, "')'");
}

struct tide_operand tide_parser_operand(struct tide_parser *parser, const char *what)
{
    struct tide_query *const query = parser->query;
    struct tide_operand operand = {.name = tide_parser_name(parser, what)};
    if (!tide_parser_sign(parser, TIDE_TOKEN_OPEN))
        return operand;
    struct tide_call call = {.function = operand.name, .span = operand.name.span};
    read_arguments(parser, &call);
    const struct tide_query_span last = query->tokens[parser->at - 1].span;
    call.span.length = last.at + last.length - call.span.at;
    struct tide_call *const list = tide_parser_room(
        parser, query->calls, &query->call_capacity, query->call_count, sizeof(*list));
    if (!list)
        return operand;
    query->calls = list;
    list[query->call_count] = call;
    return (struct tide_operand){.name = {.text = NULL}, .call = query->call_count++};
}

struct tide_query_span tide_operand_span(const struct tide_query *query,
                                         const struct tide_operand *operand)
{
    return operand->name.text ? operand->name.span : query->calls[operand->call].span;
}

/* --- Clauses -------------------------------------------------------------------------- */

/* Is the word here a title, as in SQL without AS?  Only if the item ends after it: else a
 * comma or a clause is misspelt.  The name of an attribute is none: a comma is missing. */
static bool at_title(struct tide_parser *parser)
{
    const struct tide_token *const here = tide_parser_here(parser);
    if (here->kind == TIDE_TOKEN_QUOTED)
        return true;
    if (here->kind != TIDE_TOKEN_WORD || tide_parser_at_clause(parser) ||
        strcasecmp(here->text, "UNIT") == 0 || strchr("+-*/", here->text[0]) ||
        tide_attribute_find(here->text) != TIDE_ATTRIBUTES)
        return false;
    struct tide_parser next = *parser;
    (void)tide_parser_take(&next);
    const enum tide_token_kind kind = tide_parser_here(&next)->kind;
    return kind == TIDE_TOKEN_COMMA || kind == TIDE_TOKEN_SEMICOLON ||
           tide_parser_at_clause(&next);
}

/* Nothing is calculated in SELECT. */
static void blame_arithmetic(struct tide_parser *parser)
{
    const struct tide_token *const here = tide_parser_here(parser);
    if (here->kind == TIDE_TOKEN_WORD && here->text[0] && strchr("+-*/", here->text[0]))
        tide_parser_fail(
            parser, here->span,
            "SELECT does not calculate: avg(a) is sum(a)/count(), ratio(a,b) is "
            "sum(a)/sum(b), scale(a,N) is N times sum(a); LET does, with each row");
}

static struct tide_item read_item(struct tide_parser *parser)
{
    struct tide_item item = {0};
    const struct tide_token *const here = tide_parser_here(parser);
    if (here->kind == TIDE_TOKEN_WORD && strcmp(here->text, "*") == 0) {
        (void)tide_parser_take(parser);
        item.star = true;
        return item;
    }
    item.what = tide_parser_operand(parser, "an attribute or an aggregation");
    blame_arithmetic(parser);
    if (tide_parser_keyword(parser, "AS") || at_title(parser))
        item.alias = tide_parser_name(parser, "a name");
    if (tide_parser_keyword(parser, "UNIT"))
        item.unit = tide_parser_name(parser, "a unit");
    return item;
}

static void read_select(struct tide_parser *parser)
{
    struct tide_query *const query = parser->query;
    query->selects = true;
    query->distinct = tide_parser_keyword(parser, "DISTINCT");
    do {
        const struct tide_item item = read_item(parser);
        struct tide_item *const list =
            tide_parser_room(parser, query->items, &query->item_capacity,
                             query->item_count, sizeof(*list));
        if (!list)
            return;
        query->items = list;
        list[query->item_count++] = item;
    } while (tide_parser_comma(parser));
}

static void read_aggregate(struct tide_parser *parser)
{
    struct tide_query *const query = parser->query;
    query->aggregates = true;
    do {
        const struct tide_operand what = tide_parser_operand(parser, "an aggregation");
        if (what.name.text) {
            tide_parser_fail(parser, what.name.span,
                             "an aggregation has parentheses, as in count()");
            return;
        }
        size_t *const list =
            tide_parser_room(parser, query->aggregated, &query->aggregated_capacity,
                             query->aggregated_count, sizeof(*list));
        if (!list)
            return;
        query->aggregated = list;
        list[query->aggregated_count++] = what.call;
    } while (tide_parser_comma(parser));
}

static void read_group(struct tide_parser *parser)
{
    struct tide_query *const query = parser->query;
    if (!tide_parser_keyword(parser, "BY")) {
        tide_parser_expected(parser, "BY, as in GROUP BY");
        return;
    }
    do {
        const struct tide_query_word name = tide_parser_name(parser, "an attribute");
        struct tide_query_word *const list =
            tide_parser_room(parser, query->groups, &query->group_capacity,
                             query->group_count, sizeof(*list));
        if (!list)
            return;
        query->groups = list;
        list[query->group_count++] = name;
    } while (tide_parser_comma(parser));
}

static void read_where(struct tide_parser *parser)
{
    parser->query->where = tide_parse_condition(parser, true);
    tide_parser_blame_gap(parser, "AND or OR");
}

static void read_having(struct tide_parser *parser)
{
    parser->query->having = tide_parse_condition(parser, true);
    tide_parser_blame_gap(parser, "AND or OR");
}

static void read_from(struct tide_parser *parser)
{
    parser->query->source = tide_parser_name(parser, "a source");
}

static void read_let(struct tide_parser *parser)
{
    struct tide_query *const query = parser->query;
    do {
        struct tide_let let = {.target = tide_parser_name(parser, "a new name")};
        if (!tide_parser_sign(parser, TIDE_TOKEN_EQUAL)) {
            tide_parser_expected(parser, "'='");
            return;
        }
        let.first = query->step_count;
        let.count = tide_parse_expression(parser);
        if (tide_parser_keyword(parser, "IF"))
            let.condition = tide_parse_condition(parser, false);
        struct tide_let *const list = tide_parser_room(
            parser, query->lets, &query->let_capacity, query->let_count, sizeof(*list));
        if (!list)
            return;
        query->lets = list;
        list[query->let_count++] = let;
    } while (tide_parser_comma(parser));
}

static void read_order(struct tide_parser *parser)
{
    struct tide_query *const query = parser->query;
    if (!tide_parser_keyword(parser, "BY")) {
        tide_parser_expected(parser, "BY, as in ORDER BY");
        return;
    }
    do {
        struct tide_order order = {.what = tide_parser_operand(parser, "a column")};
        order.descending = tide_parser_keyword(parser, "DESC");
        if (!order.descending && !tide_parser_keyword(parser, "ASC"))
            tide_parser_blame_direction(parser);
        struct tide_order *const list =
            tide_parser_room(parser, query->orders, &query->order_capacity,
                             query->order_count, sizeof(*list));
        if (!list)
            return;
        query->orders = list;
        list[query->order_count++] = order;
    } while (tide_parser_comma(parser));
}

static uint64_t read_number(struct tide_parser *parser)
{
    const struct tide_query_word name = tide_parser_name(parser, "a number");
    char *end;
    errno = 0;
    const unsigned long long value = strtoull(name.text, &end, 10);
    if (name.text[0] < '0' || name.text[0] > '9' || *end || errno)
        tide_parser_fail(parser, name.span, "expected a whole number");
    return value;
}

static void read_offset(struct tide_parser *parser)
{
    parser->query->offset = read_number(parser);
}

static void read_limit(struct tide_parser *parser)
{
    parser->query->limited = true;
    parser->query->limit = read_number(parser);
}

static void read_format(struct tide_parser *parser)
{
    struct tide_query *const query = parser->query;
    /* FORMAT format is one: here no word is a keyword. */
    const struct tide_token *const here = tide_parser_here(parser);
    if (here->kind != TIDE_TOKEN_WORD && here->kind != TIDE_TOKEN_QUOTED) {
        tide_parser_expected(parser, "a format");
        return;
    }
    query->format = (struct tide_query_word){.text = here->text, .span = here->span};
    (void)tide_parser_take(parser);
    if (!tide_parser_sign(parser, TIDE_TOKEN_OPEN))
        return;
    if (tide_parser_sign(parser, TIDE_TOKEN_CLOSE))
        return;
    do {
        struct tide_argument argument = {.key =
                                             tide_parser_name(parser, "an argument")};
        if (tide_parser_sign(parser, TIDE_TOKEN_EQUAL))
            argument.value = tide_parser_name(parser, "a value");
        struct tide_argument *const list =
            tide_parser_room(parser, query->arguments, &query->argument_capacity,
                             query->argument_count, sizeof(*list));
        if (!list)
            return;
        query->arguments = list;
        list[query->argument_count++] = argument;
    } while (tide_parser_comma(parser));
    if (!tide_parser_sign(parser, TIDE_TOKEN_CLOSE))
        tide_parser_expected(parser, "')'");
}

/* --- The query ------------------------------------------------------------------------ */

/* In the order of tide_parser_clauses. */
static void (*const READERS[TIDE_CLAUSE_WORDS])(struct tide_parser *) = {
    read_select, read_aggregate, read_from,   read_group, read_where, read_having,
    read_let,    read_order,     read_format, read_limit, read_offset};

static void read_clause(struct tide_parser *parser, unsigned *seen)
{
    const struct tide_token *const here = tide_parser_here(parser);
    for (size_t i = 0; i < TIDE_CLAUSE_WORDS; i++) {
        if (!tide_parser_keyword(parser, tide_parser_clauses[i]))
            continue;
        if (*seen & 1u << i)
            tide_parser_fail(parser, here->span, "this clause is there twice");
        *seen |= 1u << i;
        READERS[i](parser);
        return;
    }
    tide_parser_blame_clause(parser);
}

enum tide_status tide_query_parse(const char *text, size_t length,
                                  struct tide_query *query,
                                  struct tide_query_error *error)
{
    struct tide_parser parser = {.query = query, .error = error};
    unsigned seen = 0;
    *query = (struct tide_query){0};
    *error = (struct tide_query_error){0};
    if (length > TIDE_QUERY_BYTES)
        return tide_query_blame(error, (struct tide_query_span){0},
                                "a query has at most %d bytes", TIDE_QUERY_BYTES);
    query->text = tide_arena_copy(&query->arena, text, length);
    if (!query->text)
        return TIDE_ENOMEM;
    query->length = length;
    parser.status = tide_query_lex(query, error);
    while (!parser.status && tide_parser_here(&parser)->kind != TIDE_TOKEN_END) {
        if (!tide_parser_sign(&parser, TIDE_TOKEN_SEMICOLON))
            read_clause(&parser, &seen);
    }
    if (!parser.status && !seen)
        tide_parser_fail(&parser, (struct tide_query_span){0},
                         "the query is empty; for example: "
                         "SELECT leaf, count() FROM blocks GROUP BY leaf");
    return parser.status;
}

void tide_query_release(struct tide_query *query)
{
    free(query->tokens);
    free(query->items);
    free(query->calls);
    free(query->aggregated);
    free(query->groups);
    free(query->terms);
    free(query->values);
    free(query->steps);
    free(query->lets);
    free(query->orders);
    free(query->arguments);
    tide_arena_release(&query->arena);
    *query = (struct tide_query){0};
}

void tide_query_error_release(struct tide_query_error *error)
{
    tide_text_release(&error->text);
    *error = (struct tide_query_error){0};
}

enum tide_status tide_query_blame(struct tide_query_error *error,
                                  struct tide_query_span span, const char *format, ...)
{
    if (error->text.length == 0) {
        va_list arguments;
        va_start(arguments, format);
        tide_text_addv(&error->text, format, arguments);
        va_end(arguments);
        error->span = span;
    }
    return TIDE_EUSAGE;
}
