/* query/parse_mistakes.c - what is wrong with a query that cannot be read, and what was
 * probably meant.
 */
#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "base/nearest.h"
#include "query/lexer.h"
#include "query/parser.h"

void tide_parser_fail(struct tide_parser *parser, struct tide_query_span span,
                      const char *words)
{
    if (!parser->status)
        parser->status = tide_query_blame(parser->error, span, "%s", words);
}

/* The token as it was written. */
static int length_of(const struct tide_token *token)
{
    return (int)token->span.length;
}

static const char *start_of(const struct tide_parser *parser,
                            const struct tide_token *token)
{
    return parser->query->text + token->span.at;
}

void tide_parser_expected(struct tide_parser *parser, const char *what)
{
    const struct tide_token *const here = tide_parser_here(parser);
    if (parser->status)
        return;
    if (here->kind == TIDE_TOKEN_END)
        parser->status = tide_query_blame(
            parser->error, here->span, "the query ends where %s should follow", what);
    else
        parser->status =
            tide_query_blame(parser->error, here->span, "expected %s, not '%.*s'", what,
                             length_of(here), start_of(parser, here));
}

/* What a word is called here that other languages have. */
static const char *word_elsewhere(const char *word)
{
    static const struct {
        const char *theirs, *ours;
    } WORDS[] = {
        {"&&", "AND"},   {"||", "OR"},     {"SORT", "ORDER BY"}, {"FILTER", "WHERE"},
        {"IF", "WHERE"}, {"TOP", "LIMIT"}, {"HEAD", "LIMIT"},
    };
    for (size_t i = 0; i < sizeof(WORDS) / sizeof(WORDS[0]); i++)
        if (strcasecmp(WORDS[i].theirs, word) == 0)
            return WORDS[i].ours;
    return NULL;
}

/* The word of NAMES that HERE is probably meant to be; NULL: none. */
static const char *meant(const struct tide_token *here, const char *const *names,
                         size_t count)
{
    char upper[16] = "";
    for (size_t i = 0; i < sizeof(upper) - 1 && here->text[i]; i++)
        upper[i] = (char)toupper((unsigned char)here->text[i]);
    return here->kind == TIDE_TOKEN_WORD ? tide_nearest(upper, names, count) : NULL;
}

/* The clause that HERE probably begins; NULL: none. */
static const char *meant_clause(const struct tide_token *here)
{
    const char *const ours =
        here->kind == TIDE_TOKEN_WORD ? word_elsewhere(here->text) : NULL;
    return ours ? ours : meant(here, tide_parser_clauses, TIDE_CLAUSE_WORDS);
}

static void blame_word(struct tide_parser *parser, const char *ours)
{
    const struct tide_token *const here = tide_parser_here(parser);
    if (!parser->status)
        parser->status = tide_query_blame(
            parser->error, here->span, "there is no '%.*s'; did you mean %s?",
            length_of(here), start_of(parser, here), ours);
}

static bool is_number(const struct tide_token *token)
{
    return token->kind == TIDE_TOKEN_WORD && *token->text &&
           strspn(token->text, "0123456789.") == strlen(token->text);
}

void tide_parser_blame_gap(struct tide_parser *parser, const char *what)
{
    const struct tide_token *const here = tide_parser_here(parser);
    const bool word =
        here->kind == TIDE_TOKEN_QUOTED ||
        (here->kind == TIDE_TOKEN_WORD && isalpha((unsigned char)here->text[0]));
    if (parser->status || !word || tide_parser_at_clause(parser) || meant_clause(here))
        return;
    const struct tide_token *const before = here - 1; /* a list has a first word */
    if (is_number(before))
        parser->status = tide_query_blame(
            parser->error, here->span, "a number and its unit are one word: %s%.*s",
            before->text, length_of(here), start_of(parser, here));
    else
        parser->status =
            tide_query_blame(parser->error, here->span, "%s is missing before '%.*s'",
                             what, length_of(here), start_of(parser, here));
}

bool tide_parser_comma(struct tide_parser *parser)
{
    if (tide_parser_sign(parser, TIDE_TOKEN_COMMA))
        return true;
    tide_parser_blame_gap(parser, "a comma");
    return false;
}

void tide_parser_blame_direction(struct tide_parser *parser)
{
    static const char *const DIRECTIONS[] = {"ASC", "DESC"};
    const struct tide_token *const here = tide_parser_here(parser);
    const char *const near =
        tide_parser_at_clause(parser) ? NULL : meant(here, DIRECTIONS, 2);
    if (near)
        blame_word(parser, near);
}

void tide_parser_blame_clause(struct tide_parser *parser)
{
    const char *const near = meant_clause(tide_parser_here(parser));
    if (near)
        blame_word(parser, near);
    else
        tide_parser_expected(parser, "a clause (SELECT, WHERE, GROUP BY, FORMAT, ...)");
}
