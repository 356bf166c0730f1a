/* query/ast.h - a query as it was written: clauses, names and conditions, in arrays.
 *
 * For: query/, view/, tests/.  Parsing looks at nothing but the text: whether names mean
 * something is seen when the query is compiled (plan.h).  Everything keeps its place in
 * the text, so that whoever finds a mistake can point at it.
 *
 *     query  := clause*                              in any order, each once
 *     clause := SELECT [DISTINCT] item {, item}      item := * | name | call [AS n] [UNIT n]
 *             | AGGREGATE call {, call}              call := name ( [arg {, arg}] )
 *             | FROM source | GROUP BY name {, name}
 *             | WHERE condition | HAVING condition
 *             | LET name = expression [IF condition] {, ...}
 *             | ORDER BY (name | call) [ASC | DESC] {, ...}
 *             | LIMIT n [OFFSET n] | OFFSET n
 *             | FORMAT name [( argument {, argument} )]
 *
 * Conditions and expressions are postfix lists, made without recursion: how deep they may
 * nest is bounded by TIDE_QUERY_DEPTH, how long they may be by memory alone.
 */
#ifndef TIDE_QUERY_AST_H
#define TIDE_QUERY_AST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tidemark/status.h>

#include "base/arena.h"
#include "base/text.h"

enum {
    TIDE_QUERY_DEPTH = 64,    /* of parentheses and operators that wait */
    TIDE_CALL_ARGUMENTS = 8,  /* of an aggregation, at most */
    TIDE_QUERY_BYTES = 65536, /* of the text, at most */
};

/* Where something stands in the text. */
struct tide_query_span {
    size_t at, length;
};

enum tide_token_kind {
    TIDE_TOKEN_END,
    TIDE_TOKEN_WORD,
    TIDE_TOKEN_QUOTED, /* a word in quotes: never a keyword */
    TIDE_TOKEN_COMMA,
    TIDE_TOKEN_SEMICOLON,
    TIDE_TOKEN_OPEN,
    TIDE_TOKEN_CLOSE,
    TIDE_TOKEN_EQUAL,
    TIDE_TOKEN_UNEQUAL,
    TIDE_TOKEN_LESS,
    TIDE_TOKEN_LESS_EQUAL,
    TIDE_TOKEN_GREATER,
    TIDE_TOKEN_GREATER_EQUAL,
    TIDE_TOKEN_MATCH,    /* ~ or =~ */
    TIDE_TOKEN_NO_MATCH, /* !~ */
};

struct tide_token {
    enum tide_token_kind kind;
    struct tide_query_span span;
    const char *text; /* without quotes and escapes; in the arena */
};

/* A word of the query. */
struct tide_query_word {
    const char *text; /* NULL: there is none */
    struct tide_query_span span;
    bool quoted;
};

/* sum(size): also where it stands for the column that it makes. */
struct tide_call {
    struct tide_query_word function;
    struct tide_query_word arguments[TIDE_CALL_ARGUMENTS];
    size_t count;
    bool distinct; /* count(DISTINCT a) */
    struct tide_query_span span;
};

/* A name or a call; exactly one of them. */
struct tide_operand {
    struct tide_query_word name; /* text NULL: it is the call */
    size_t call;                 /* index into calls */
};

struct tide_item {
    bool star;
    struct tide_operand what;
    struct tide_query_word alias, unit; /* text NULL: none */
};

struct tide_order {
    struct tide_operand what;
    bool descending;
};

enum tide_term_kind {
    TIDE_TERM_HAS, /* the row has the attribute */
    TIDE_TERM_EQUAL,
    TIDE_TERM_UNEQUAL,
    TIDE_TERM_LESS,
    TIDE_TERM_LESS_EQUAL,
    TIDE_TERM_GREATER,
    TIDE_TERM_GREATER_EQUAL,
    TIDE_TERM_LIKE,
    TIDE_TERM_MATCH,
    TIDE_TERM_IN,
    TIDE_TERM_BETWEEN,
    TIDE_TERM_NOT, /* of the one before */
    TIDE_TERM_AND, /* of the two before */
    TIDE_TERM_OR,
};

/* One part of a condition. */
struct tide_term {
    enum tide_term_kind kind;
    struct tide_operand what;   /* comparisons */
    size_t first_value, values; /* in query->values */
};

/* Postfix: COUNT terms from FIRST on in query->terms; count 0: always true. */
struct tide_condition {
    size_t first, count;
};

enum tide_step_kind {
    TIDE_STEP_NAME,
    TIDE_STEP_NUMBER, /* a literal: its text is in name */
    TIDE_STEP_CALL,   /* takes ARGUMENTS values */
    TIDE_STEP_ADD,
    TIDE_STEP_SUBTRACT,
    TIDE_STEP_MULTIPLY,
    TIDE_STEP_DIVIDE,
};

struct tide_step {
    enum tide_step_kind kind;
    struct tide_query_word name; /* of the attribute, the number or the function */
    size_t arguments;
};

struct tide_let {
    struct tide_query_word target;
    size_t first, count; /* postfix, in query->steps */
    struct tide_condition condition;
};

/* One argument of FORMAT: "text", key=value or a flag. */
struct tide_argument {
    struct tide_query_word key;   /* text NULL: none */
    struct tide_query_word value; /* text NULL: a flag */
};

struct tide_query {
    struct tide_arena arena;
    char *text; /* in the arena */
    size_t length;
    struct tide_token *tokens; /* owned; the last is END */
    size_t token_count;

    struct tide_query_word source; /* text NULL: not said */
    bool distinct;
    bool selects, aggregates; /* the clause is there */
    struct tide_item *items;  /* owned */
    size_t item_count, item_capacity;
    struct tide_call *calls; /* owned: of all clauses */
    size_t call_count, call_capacity;
    size_t *aggregated; /* owned: those of AGGREGATE */
    size_t aggregated_count, aggregated_capacity;
    struct tide_query_word *groups; /* owned */
    size_t group_count, group_capacity;
    struct tide_term *terms; /* owned */
    size_t term_count, term_capacity;
    struct tide_query_word *values; /* owned: what terms compare with */
    size_t value_count, value_capacity;
    struct tide_condition where, having;
    struct tide_step *steps; /* owned */
    size_t step_count, step_capacity;
    struct tide_let *lets; /* owned */
    size_t let_count, let_capacity;
    struct tide_order *orders; /* owned */
    size_t order_count, order_capacity;
    struct tide_query_word format;
    struct tide_argument *arguments; /* owned */
    size_t argument_count, argument_capacity;
    bool limited;
    uint64_t limit, offset;
};

/* A mistake, and where it is. */
struct tide_query_error {
    struct tide_query_span span;
    struct tide_text text; /* owned: one line */
};

/* Read TEXT of LENGTH bytes.  EUSAGE: ERROR says what is wrong.  The caller gives both
 * back in any case. */
enum tide_status tide_query_parse(const char *text, size_t length,
                                  struct tide_query *query,
                                  struct tide_query_error *error);
void tide_query_release(struct tide_query *query);
void tide_query_error_release(struct tide_query_error *error);

/* Set ERROR, unless it is set; returns EUSAGE. */
enum tide_status tide_query_blame(struct tide_query_error *error,
                                  struct tide_query_span span, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* All of the call or name. */
struct tide_query_span tide_operand_span(const struct tide_query *query,
                                         const struct tide_operand *operand);

#endif
