/* query/lexer.h - a query's text in words.
 *
 * For: query/, tests/.
 */
#ifndef TIDE_QUERY_LEXER_H
#define TIDE_QUERY_LEXER_H

#include "query/ast.h"

/* Fill query->tokens from query->text. */
enum tide_status tide_query_lex(struct tide_query *query,
                                struct tide_query_error *error);

#endif
