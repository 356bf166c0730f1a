/* query/parse_condition.c - conditions and expressions, by operator precedence.
 *
 * Operators wait on a stack of fixed size until what binds tighter has been read
 * (shunting-yard), so nothing here is recursive.  From loose to tight:
 *
 *     conditions    ","  OR  AND  NOT  comparison      (a comma is an AND of all)
 *     expressions   + -   * /   call
 */
#include <string.h>

#include "query/parser.h"

/* What waits. */
enum waiting {
    TIDE_WAIT_OPEN, /* "(" */
    TIDE_WAIT_CALL, /* "(" of a function */
    TIDE_WAIT_COMMA,
    TIDE_WAIT_OR,
    TIDE_WAIT_AND,
    TIDE_WAIT_NOT,
    TIDE_WAIT_ADD,
    TIDE_WAIT_SUBTRACT,
    TIDE_WAIT_MULTIPLY,
    TIDE_WAIT_DIVIDE,
};

/* How tightly each binds. */
static const int TIGHT[] = {
    [TIDE_WAIT_OPEN] = 0,   [TIDE_WAIT_CALL] = 0,     [TIDE_WAIT_COMMA] = 1,
    [TIDE_WAIT_OR] = 2,     [TIDE_WAIT_AND] = 3,      [TIDE_WAIT_NOT] = 4,
    [TIDE_WAIT_ADD] = 5,    [TIDE_WAIT_SUBTRACT] = 5, [TIDE_WAIT_MULTIPLY] = 6,
    [TIDE_WAIT_DIVIDE] = 6,
};

struct yard {
    struct tide_parser *parser;
    struct {
        enum waiting what;
        struct tide_query_word name; /* of a function */
        size_t arguments;            /* that it has so far */
    } stack[TIDE_QUERY_DEPTH];
    size_t depth;
    bool commas; /* are ANDs */
    void (*put)(struct tide_parser *parser, enum waiting what);
};

static void push(struct yard *yard, enum waiting what)
{
    if (yard->depth == TIDE_QUERY_DEPTH) {
        tide_parser_fail(yard->parser, tide_parser_here(yard->parser)->span,
                         "this nests too deeply");
        return;
    }
    yard->stack[yard->depth].what = what;
    yard->stack[yard->depth++].arguments = 0;
}

/* What binds at least as tightly as LEAST is done. */
static void settle(struct yard *yard, int least)
{
    while (yard->depth && TIGHT[yard->stack[yard->depth - 1].what] >= least)
        yard->put(yard->parser, yard->stack[--yard->depth].what);
}

/* --- Conditions ----------------------------------------------------------------------- */

static void add_term(struct tide_parser *parser, struct tide_term term)
{
    struct tide_query *const query = parser->query;
    struct tide_term *const list = tide_parser_room(
        parser, query->terms, &query->term_capacity, query->term_count, sizeof(*list));
    if (!list)
        return;
    query->terms = list;
    list[query->term_count++] = term;
}

static void put_logic(struct tide_parser *parser, enum waiting what)
{
    const enum tide_term_kind kind = what == TIDE_WAIT_NOT  ? TIDE_TERM_NOT
                                     : what == TIDE_WAIT_OR ? TIDE_TERM_OR
                                                            : TIDE_TERM_AND;
    add_term(parser, (struct tide_term){.kind = kind});
}

static void add_value(struct tide_parser *parser, struct tide_term *term)
{
    struct tide_query *const query = parser->query;
    const struct tide_query_word value = tide_parser_name(parser, "a value");
    struct tide_query_word *const list =
        tide_parser_room(parser, query->values, &query->value_capacity,
                         query->value_count, sizeof(*list));
    if (!list)
        return;
    query->values = list;
    list[query->value_count++] = value;
    term->values++;
}

static const struct comparison {
    enum tide_token_kind token;
    enum tide_term_kind kind;
    bool negated;
} COMPARISONS[] = {
    {TIDE_TOKEN_EQUAL, TIDE_TERM_EQUAL, false},
    {TIDE_TOKEN_UNEQUAL, TIDE_TERM_UNEQUAL, false},
    {TIDE_TOKEN_LESS, TIDE_TERM_LESS, false},
    {TIDE_TOKEN_LESS_EQUAL, TIDE_TERM_LESS_EQUAL, false},
    {TIDE_TOKEN_GREATER, TIDE_TERM_GREATER, false},
    {TIDE_TOKEN_GREATER_EQUAL, TIDE_TERM_GREATER_EQUAL, false},
    {TIDE_TOKEN_MATCH, TIDE_TERM_MATCH, false},
    {TIDE_TOKEN_NO_MATCH, TIDE_TERM_MATCH, true},
};

/* After "name [NOT]": a keyword and its values.  False: there is none. */
static bool read_keyword_term(struct tide_parser *parser, struct tide_term *term)
{
    if (tide_parser_keyword(parser, "LIKE")) {
        term->kind = TIDE_TERM_LIKE;
        add_value(parser, term);
    } else if (tide_parser_keyword(parser, "BETWEEN")) {
        term->kind = TIDE_TERM_BETWEEN;
        add_value(parser, term);
        if (!tide_parser_keyword(parser, "AND"))
            tide_parser_expected(parser, "AND, as in BETWEEN 1 AND 2");
        add_value(parser, term);
    } else if (tide_parser_keyword(parser, "IN")) {
        term->kind = TIDE_TERM_IN;
        if (!tide_parser_sign(parser, TIDE_TOKEN_OPEN))
            tide_parser_expected(parser, "'('");
        do
            add_value(parser, term);
        while (tide_parser_sign(parser, TIDE_TOKEN_COMMA));
        if (!tide_parser_sign(parser, TIDE_TOKEN_CLOSE))
            tide_parser_expected(parser, "')'");
    } else {
        return false;
    }
    return true;
}

/* Caliper's rule: NOT a<v is a>=v, which needs an a; NOT a=v does not. */
static enum tide_term_kind opposite(enum tide_term_kind kind)
{
    switch ((int)kind) {
    case TIDE_TERM_LESS:
        return TIDE_TERM_GREATER_EQUAL;
    case TIDE_TERM_LESS_EQUAL:
        return TIDE_TERM_GREATER;
    case TIDE_TERM_GREATER:
        return TIDE_TERM_LESS_EQUAL;
    case TIDE_TERM_GREATER_EQUAL:
        return TIDE_TERM_LESS;
    default:
        return kind;
    }
}

/* SQL's IS [NOT] NULL; *NEGATED: the row must not have it. */
static bool read_null(struct tide_parser *parser, bool *negated)
{
    if (!tide_parser_keyword(parser, "IS"))
        return false;
    *negated = !tide_parser_keyword(parser, "NOT");
    if (!tide_parser_keyword(parser, "NULL"))
        tide_parser_expected(parser, "NULL, as in IS NULL and IS NOT NULL");
    return true;
}

static void read_comparison(struct yard *yard)
{
    struct tide_parser *const parser = yard->parser;
    struct tide_term term = {.kind = TIDE_TERM_HAS,
                             .what = tide_parser_operand(parser, "a condition"),
                             .first_value = parser->query->value_count};
    bool negated = false;
    const bool asks_null = read_null(parser, &negated);
    if (!asks_null)
        negated = tide_parser_keyword(parser, "NOT");
    bool inverted = negated;
    if (!asks_null && !read_keyword_term(parser, &term)) {
        if (negated)
            tide_parser_expected(parser, "LIKE, IN or BETWEEN");
        for (size_t i = 0; i < sizeof(COMPARISONS) / sizeof(COMPARISONS[0]); i++) {
            if (term.kind != TIDE_TERM_HAS ||
                !tide_parser_sign(parser, COMPARISONS[i].token))
                continue;
            term.kind = COMPARISONS[i].kind;
            inverted = COMPARISONS[i].negated;
            add_value(parser, &term);
        }
    }
    if (yard->depth && yard->stack[yard->depth - 1].what == TIDE_WAIT_NOT &&
        opposite(term.kind) != term.kind) {
        yard->depth--;
        term.kind = opposite(term.kind);
    }
    add_term(parser, term);
    if (inverted)
        put_logic(parser, TIDE_WAIT_NOT);
}

/* NOT and "(" before a comparison. */
static void read_prefixes(struct yard *yard)
{
    for (;;) {
        if (tide_parser_keyword(yard->parser, "NOT"))
            push(yard, TIDE_WAIT_NOT);
        else if (tide_parser_sign(yard->parser, TIDE_TOKEN_OPEN))
            push(yard, TIDE_WAIT_OPEN);
        else
            return;
    }
}

/* ")" that belong to this condition. */
static void read_closes(struct yard *yard)
{
    while (tide_parser_here(yard->parser)->kind == TIDE_TOKEN_CLOSE) {
        settle(yard, 1);
        if (!yard->depth)
            return;
        yard->depth--;
        (void)tide_parser_take(yard->parser);
    }
}

/* The operator that joins the next comparison; false: the condition ends. */
static bool read_join(struct yard *yard)
{
    struct tide_parser *const parser = yard->parser;
    enum waiting join;
    if (parser->status)
        return false;
    if (yard->commas && tide_parser_sign(parser, TIDE_TOKEN_COMMA)) {
        join = TIDE_WAIT_COMMA;
    } else if (tide_parser_keyword(parser, "AND")) {
        join = TIDE_WAIT_AND;
    } else if (tide_parser_keyword(parser, "OR")) {
        join = TIDE_WAIT_OR;
    } else {
        return false;
    }
    settle(yard, TIGHT[join]);
    push(yard, join);
    return true;
}

struct tide_condition tide_parse_condition(struct tide_parser *parser, bool commas)
{
    struct yard yard = {.parser = parser, .commas = commas, .put = put_logic};
    struct tide_condition condition = {.first = parser->query->term_count};
    do {
        read_prefixes(&yard);
        read_comparison(&yard);
        read_closes(&yard);
    } while (read_join(&yard));
    settle(&yard, 1);
    if (yard.depth)
        tide_parser_expected(parser, "')'");
    condition.count = parser->query->term_count - condition.first;
    return condition;
}

/* --- Expressions ---------------------------------------------------------------------- */

static void add_step(struct tide_parser *parser, struct tide_step step)
{
    struct tide_query *const query = parser->query;
    struct tide_step *const list = tide_parser_room(
        parser, query->steps, &query->step_capacity, query->step_count, sizeof(*list));
    if (!list)
        return;
    query->steps = list;
    list[query->step_count++] = step;
}

static void put_arithmetic(struct tide_parser *parser, enum waiting what)
{
    static const enum tide_step_kind KINDS[] = {
        [TIDE_WAIT_ADD] = TIDE_STEP_ADD,
        [TIDE_WAIT_SUBTRACT] = TIDE_STEP_SUBTRACT,
        [TIDE_WAIT_MULTIPLY] = TIDE_STEP_MULTIPLY,
        [TIDE_WAIT_DIVIDE] = TIDE_STEP_DIVIDE,
    };
    add_step(parser, (struct tide_step){.kind = KINDS[what]});
}

static bool starts_number(const struct tide_query_word *name)
{
    const char *const text =
        name->text + (name->text[0] == '-' || name->text[0] == '+');
    return !name->quoted && ((*text >= '0' && *text <= '9') ||
                             (*text == '.' && text[1] >= '0' && text[1] <= '9'));
}

/* One value, with the parentheses and calls that open before it.  False: it was a call
 * without arguments. */
static void read_factor(struct yard *yard)
{
    struct tide_parser *const parser = yard->parser;
    while (!parser->status) {
        if (tide_parser_sign(parser, TIDE_TOKEN_OPEN)) {
            push(yard, TIDE_WAIT_OPEN);
            continue;
        }
        const struct tide_query_word name = tide_parser_name(parser, "a value");
        if (!tide_parser_sign(parser, TIDE_TOKEN_OPEN)) {
            add_step(parser,
                     (struct tide_step){.kind = starts_number(&name) ? TIDE_STEP_NUMBER
                                                                     : TIDE_STEP_NAME,
                                        .name = name});
            return;
        }
        push(yard, TIDE_WAIT_CALL);
        if (parser->status)
            return;
        yard->stack[yard->depth - 1].name = name;
        if (tide_parser_here(parser)->kind == TIDE_TOKEN_CLOSE)
            return;
        yard->stack[yard->depth - 1].arguments = 1;
    }
}

static void close_expression(struct yard *yard)
{
    while (!yard->parser->status &&
           tide_parser_here(yard->parser)->kind == TIDE_TOKEN_CLOSE) {
        settle(yard, 1);
        if (!yard->depth)
            return;
        (void)tide_parser_take(yard->parser);
        yard->depth--;
        if (yard->stack[yard->depth].what == TIDE_WAIT_CALL)
            add_step(
                yard->parser,
                (struct tide_step){.kind = TIDE_STEP_CALL,
                                   .name = yard->stack[yard->depth].name,
                                   .arguments = yard->stack[yard->depth].arguments});
    }
}

/* A comma inside a call: the next argument. */
static bool next_argument(struct yard *yard)
{
    if (tide_parser_here(yard->parser)->kind != TIDE_TOKEN_COMMA)
        return false;
    settle(yard, 1);
    if (!yard->depth || yard->stack[yard->depth - 1].what != TIDE_WAIT_CALL)
        return false;
    (void)tide_parser_take(yard->parser);
    yard->stack[yard->depth - 1].arguments++;
    return true;
}

static bool read_operator(struct yard *yard)
{
    static const struct {
        const char *word;
        enum waiting what;
    } OPERATORS[] = {{"+", TIDE_WAIT_ADD},
                     {"-", TIDE_WAIT_SUBTRACT},
                     {"*", TIDE_WAIT_MULTIPLY},
                     {"/", TIDE_WAIT_DIVIDE}};
    if (yard->parser->status)
        return false;
    for (size_t i = 0; i < sizeof(OPERATORS) / sizeof(OPERATORS[0]); i++) {
        if (!tide_parser_keyword(yard->parser, OPERATORS[i].word))
            continue;
        settle(yard, TIGHT[OPERATORS[i].what]);
        push(yard, OPERATORS[i].what);
        return true;
    }
    return next_argument(yard);
}

size_t tide_parse_expression(struct tide_parser *parser)
{
    struct yard yard = {.parser = parser, .put = put_arithmetic};
    const size_t first = parser->query->step_count;
    do {
        read_factor(&yard);
        close_expression(&yard);
    } while (read_operator(&yard));
    settle(&yard, 1);
    if (yard.depth)
        tide_parser_expected(parser, "')'");
    return parser->query->step_count - first;
}
