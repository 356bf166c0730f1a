/* query/text_regex.h - regular expressions that cannot take forever.
 *
 * For: query/, tests/.  Some expressions need a time that doubles with each letter of the
 * text: a match may take so many steps, and no more.
 */
#ifndef TIDE_QUERY_TEXT_REGEX_H
#define TIDE_QUERY_TEXT_REGEX_H

#include <stdbool.h>
#include <stddef.h>

struct tide_regex;       /* compiled: for all threads */
struct tide_regex_match; /* room for a match: for one thread */

enum tide_regex_answer {
    TIDE_REGEX_NO,
    TIDE_REGEX_YES,
    TIDE_REGEX_TOO_LONG, /* the match was given up */
};

/* PATTERN compiled, for the caller to free.  NULL: WHY says what is wrong with it. */
struct tide_regex *tide_regex_new(const char *pattern, char *why, size_t why_size);
void tide_regex_free(struct tide_regex *regex);

struct tide_regex_match *tide_regex_match_new(void);
void tide_regex_match_free(struct tide_regex_match *match);

/* Does REGEX match anywhere in TEXT? */
enum tide_regex_answer tide_regex_matches(const struct tide_regex *regex,
                                          struct tide_regex_match *match,
                                          const char *text);

#endif
