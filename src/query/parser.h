/* query/parser.h - what the parts of the parser share.
 *
 * For: query/ only: parser.c (clauses), parse_condition.c (conditions, expressions) and
 * parse_mistakes.c.
 */
#ifndef TIDE_QUERY_PARSER_H
#define TIDE_QUERY_PARSER_H

#include "query/ast.h"

struct tide_parser {
    struct tide_query *query;
    struct tide_query_error *error;
    size_t at;               /* token */
    enum tide_status status; /* of the first mistake; then nothing is read any more */
};

const struct tide_token *tide_parser_here(const struct tide_parser *parser);
/* The token here, and go on to the next; the last one is never left. */
const struct tide_token *tide_parser_take(struct tide_parser *parser);
/* Is the next one the keyword WORD?  Then take it. */
bool tide_parser_keyword(struct tide_parser *parser, const char *word);
bool tide_parser_at_keyword(const struct tide_parser *parser, const char *word);
/* Is it of KIND?  Then take it. */
bool tide_parser_sign(struct tide_parser *parser, enum tide_token_kind kind);
/* A clause begins here, or nothing comes any more. */
bool tide_parser_at_clause(const struct tide_parser *parser);
/* A word; WHAT is what should stand here: "an attribute". */
struct tide_query_word tide_parser_name(struct tide_parser *parser, const char *what);
/* A name, or a call of a function. */
struct tide_operand tide_parser_operand(struct tide_parser *parser, const char *what);
/* The words that clauses begin with. */
enum { TIDE_CLAUSE_WORDS = 11 };
extern const char *const tide_parser_clauses[TIDE_CLAUSE_WORDS];

/* --- Mistakes: parse_mistakes.c.  Only the first one is said. --- */

/* What stands here is not what should. */
void tide_parser_expected(struct tide_parser *parser, const char *what);
void tide_parser_fail(struct tide_parser *parser, struct tide_query_span span,
                      const char *words);
/* A list goes on: take the comma.  Where one is missing between two words, say so. */
bool tide_parser_comma(struct tide_parser *parser);
/* If a word stands here that begins no clause, say that WHAT is missing before it. */
void tide_parser_blame_gap(struct tide_parser *parser, const char *what);
/* What stands here is neither ASC nor DESC, but may be meant so. */
void tide_parser_blame_direction(struct tide_parser *parser);
/* What stands here begins no clause. */
void tide_parser_blame_clause(struct tide_parser *parser);

/* Room for one more in a list of QUERY; NULL, with status set, without memory. */
void *tide_parser_room(struct tide_parser *parser, void *list, size_t *capacity,
                       size_t count, size_t bytes);

/* COMMAS: they join conditions; else they end it, as in LET ... IF a, ... */
struct tide_condition tide_parse_condition(struct tide_parser *parser, bool commas);
/* The right side of LET: steps are added to the query; returns how many. */
size_t tide_parse_expression(struct tide_parser *parser);

#endif
