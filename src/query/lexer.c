/* query/lexer.c - a query's text in words.
 *
 * A word goes on up to white space or one of , ; = < > ( ) ~ or a "!" before = or ~.  So
 * alloc.total_size, iteration#loop, 1.5MiB and a/b are words, and so is a lone *.  Quotes
 * protect what is between them, a backslash the next character.
 */
#include "query/lexer.h"

#include <stdlib.h>
#include <string.h>

#include "model/grow.h"

struct lexer {
    struct tide_query *query;
    struct tide_query_error *error;
    size_t at, capacity;
};

static char peek(const struct lexer *lexer, size_t further)
{
    const size_t at = lexer->at + further;
    if (at >= lexer->query->length)
        return '\0';
    return lexer->query->text[at];
}

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v';
}

static bool ends_word(const struct lexer *lexer)
{
    const char c = peek(lexer, 0);
    if (lexer->at >= lexer->query->length || is_space(c))
        return true;
    if (c == '!')
        return peek(lexer, 1) == '=' || peek(lexer, 1) == '~';
    return c && strchr(",;=<>()~\"'", c); /* a zero byte is part of a word */
}

static enum tide_status add(struct lexer *lexer, struct tide_token token)
{
    struct tide_query *const query = lexer->query;
    struct tide_token *const list = tide_grown(query->tokens, &lexer->capacity,
                                               query->token_count + 1, sizeof(*list));
    if (!list)
        return TIDE_ENOMEM;
    query->tokens = list;
    list[query->token_count++] = token;
    return TIDE_OK;
}

/* Signs, the longer ones first. */
static const struct sign {
    const char *text;
    enum tide_token_kind kind;
} SIGNS[] = {
    {"<=", TIDE_TOKEN_LESS_EQUAL}, {">=", TIDE_TOKEN_GREATER_EQUAL},
    {"!=", TIDE_TOKEN_UNEQUAL},    {"<>", TIDE_TOKEN_UNEQUAL},
    {"!~", TIDE_TOKEN_NO_MATCH},   {"=~", TIDE_TOKEN_MATCH},
    {"==", TIDE_TOKEN_EQUAL},      {"=", TIDE_TOKEN_EQUAL},
    {"<", TIDE_TOKEN_LESS},        {">", TIDE_TOKEN_GREATER},
    {"~", TIDE_TOKEN_MATCH},       {",", TIDE_TOKEN_COMMA},
    {";", TIDE_TOKEN_SEMICOLON},   {"(", TIDE_TOKEN_OPEN},
    {")", TIDE_TOKEN_CLOSE},
};

static const struct sign *find_sign(const struct lexer *lexer)
{
    for (size_t i = 0; i < sizeof(SIGNS) / sizeof(SIGNS[0]); i++) {
        const char *const text = SIGNS[i].text;
        if (text[0] == peek(lexer, 0) && (!text[1] || text[1] == peek(lexer, 1)))
            return &SIGNS[i];
    }
    return NULL;
}

/* What is in quotes, up to the same quote; *ENDED: it was there. */
static void read_quoted(struct lexer *lexer, struct tide_text *out, bool *ended)
{
    const char quote = peek(lexer, 0);
    lexer->at++;
    while (lexer->at < lexer->query->length) {
        char c = peek(lexer, 0);
        lexer->at++;
        if (c == quote) {
            *ended = true;
            return;
        }
        if (c == '\\' && lexer->at < lexer->query->length) {
            c = peek(lexer, 0);
            lexer->at++;
        }
        tide_text_add_bytes(out, &c, 1);
    }
    *ended = false;
}

static void read_plain(struct lexer *lexer, struct tide_text *out)
{
    while (!ends_word(lexer)) {
        char c = peek(lexer, 0);
        lexer->at++;
        if (c == '\\' && lexer->at < lexer->query->length) {
            c = peek(lexer, 0);
            lexer->at++;
        }
        tide_text_add_bytes(out, &c, 1);
    }
}

static bool at_quote(const struct lexer *lexer)
{
    return peek(lexer, 0) == '"' || peek(lexer, 0) == '\'';
}

/* TOKEN, whose text is TEXT, is complete, unless a quote in it is not (ENDED). */
static enum tide_status keep_word(struct lexer *lexer, struct tide_token token,
                                  const struct tide_text *text, bool ended)
{
    const char *const bytes = text->bytes ? text->bytes : "";
    if (!ended)
        return tide_query_blame(lexer->error, token.span, "this quote is never closed");
    if (memchr(bytes, '\0', text->length))
        return tide_query_blame(lexer->error, token.span, "a zero byte in a word");
    token.text = tide_arena_copy(&lexer->query->arena, bytes, text->length);
    return token.text && !text->failed ? add(lexer, token) : TIDE_ENOMEM;
}

/* Quotes may stand anywhere in a word: a"b c"d is one. */
static enum tide_status read_word(struct lexer *lexer)
{
    struct tide_text text = {0};
    struct tide_token token = {.kind = TIDE_TOKEN_WORD, .span = {.at = lexer->at}};
    bool ended = true;
    while (ended && lexer->at < lexer->query->length &&
           (at_quote(lexer) || !ends_word(lexer))) {
        if (at_quote(lexer)) {
            token.kind = TIDE_TOKEN_QUOTED;
            read_quoted(lexer, &text, &ended);
        } else {
            read_plain(lexer, &text);
        }
    }
    token.span.length = lexer->at - token.span.at;
    const enum tide_status status = keep_word(lexer, token, &text, ended);
    tide_text_release(&text);
    return status;
}

enum tide_status tide_query_lex(struct tide_query *query,
                                struct tide_query_error *error)
{
    struct lexer lexer = {.query = query, .error = error};
    enum tide_status status = TIDE_OK;
    while (!status && lexer.at < query->length) {
        const struct sign *const sign = find_sign(&lexer);
        if (is_space(peek(&lexer, 0))) {
            lexer.at++;
        } else if (sign) {
            const size_t length = strlen(sign->text);
            status = add(&lexer, (struct tide_token){.kind = sign->kind,
                                                     .span = {lexer.at, length},
                                                     .text = sign->text});
            lexer.at += length;
        } else {
            status = read_word(&lexer);
        }
    }
    if (!status)
        status = add(&lexer, (struct tide_token){.kind = TIDE_TOKEN_END,
                                                 .span = {query->length, 0},
                                                 .text = ""});
    return status;
}
