/* query/text_regex.c - regular expressions that cannot take forever: PCRE2's. */
#define PCRE2_CODE_UNIT_WIDTH 8
#include "query/text_regex.h"

#include <pcre2.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    TIDE_REGEX_STEPS = 200 * 1000, /* of one match: some milliseconds */
    TIDE_REGEX_HEAP = 32 * 1024,   /* KiB */
    TIDE_REGEX_PATTERN = 16 * 1024 /* bytes */
};

struct tide_regex {
    pcre2_code *code; /* owned */
};

struct tide_regex_match {
    pcre2_match_context *context; /* owned */
    pcre2_match_data *data;       /* owned */
};

/* What stands in names is not always UTF-8; $ is the end of the text, as . is any letter. */
static pcre2_code *compile(const char *pattern, int *error)
{
    const uint32_t options = PCRE2_MATCH_INVALID_UTF | PCRE2_DOTALL |
                             PCRE2_DOLLAR_ENDONLY | PCRE2_NO_AUTO_CAPTURE |
                             PCRE2_NEVER_BACKSLASH_C;
    PCRE2_SIZE place;
    pcre2_compile_context *const context = pcre2_compile_context_create(NULL);
    pcre2_code *code = NULL;
    *error = PCRE2_ERROR_NOMEMORY;
    if (context && !pcre2_set_max_pattern_length(context, TIDE_REGEX_PATTERN))
        code = pcre2_compile((PCRE2_SPTR)pattern, PCRE2_ZERO_TERMINATED, options, error,
                             &place, context);
    pcre2_compile_context_free(context);
    return code;
}

struct tide_regex *tide_regex_new(const char *pattern, char *why, size_t why_size)
{
    PCRE2_UCHAR words[256];
    int error;
    struct tide_regex *const regex = calloc(1, sizeof(*regex));
    if (!regex) {
        (void)snprintf(why, why_size, "no memory left");
        return NULL;
    }
    regex->code = compile(pattern, &error);
    if (regex->code)
        return regex;
    (void)pcre2_get_error_message(error, words, sizeof(words));
    (void)snprintf(why, why_size, "%s", (const char *)words);
    free(regex);
    return NULL;
}

void tide_regex_free(struct tide_regex *regex)
{
    if (!regex)
        return;
    pcre2_code_free(regex->code);
    free(regex);
}

struct tide_regex_match *tide_regex_match_new(void)
{
    struct tide_regex_match *const match = calloc(1, sizeof(*match));
    if (!match)
        return NULL;
    match->context = pcre2_match_context_create(NULL);
    match->data = pcre2_match_data_create(1, NULL);
    if (!match->context || !match->data ||
        pcre2_set_match_limit(match->context, TIDE_REGEX_STEPS) ||
        pcre2_set_heap_limit(match->context, TIDE_REGEX_HEAP)) {
        tide_regex_match_free(match);
        return NULL;
    }
    return match;
}

void tide_regex_match_free(struct tide_regex_match *match)
{
    if (!match)
        return;
    pcre2_match_data_free(match->data);
    pcre2_match_context_free(match->context);
    free(match);
}

enum tide_regex_answer tide_regex_matches(const struct tide_regex *regex,
                                          struct tide_regex_match *match,
                                          const char *text)
{
    const int found = pcre2_match(regex->code, (PCRE2_SPTR)text, PCRE2_ZERO_TERMINATED,
                                  0, 0, match->data, match->context);
    if (found >= 0)
        return TIDE_REGEX_YES;
    return found == PCRE2_ERROR_NOMATCH ? TIDE_REGEX_NO : TIDE_REGEX_TOO_LONG;
}
