/* tests/unit/json_check.c - is this text JSON, and what does it say at a place? */
#include "json_check.h"

#include <stdlib.h>
#include <string.h>

#include "view/utf8.h"

enum { TIDE_JSON_DEPTH = 5000 };

static const char *skip_value(const char *at, int depth);

static const char *skip_blanks(const char *at)
{
    return at ? at + strspn(at, " \t\r\n") : NULL;
}

static const char *skip_char(const char *at, char wanted)
{
    return at && *at == wanted ? at + 1 : NULL;
}

static const char *skip_escape(const char *at)
{
    if (*at == 'u') {
        for (int i = 1; i <= 4; i++)
            if (!at[i] || !strchr("0123456789abcdefABCDEF", at[i]))
                return NULL;
        return at + 5;
    }
    return *at && strchr("\"\\/bfnrt", *at) ? at + 1 : NULL;
}

static const char *skip_string(const char *at)
{
    at = skip_char(at, '"');
    while (at && *at != '"') {
        uint32_t character;
        const size_t size = tide_utf8_decode(at, strlen(at), &character);
        if (size == 0 || character < 0x20)
            return NULL;
        at = character == '\\' ? skip_escape(at + 1) : at + size;
    }
    return skip_char(at, '"');
}

static const char *skip_digits(const char *at)
{
    const size_t digits = at ? strspn(at, "0123456789") : 0;
    return digits > 0 ? at + digits : NULL;
}

static const char *skip_number(const char *at)
{
    at += *at == '-';
    at = *at == '0' ? at + 1 : skip_digits(at);
    if (at && *at == '.')
        at = skip_digits(at + 1);
    if (at && (*at == 'e' || *at == 'E')) {
        at++;
        at += *at == '+' || *at == '-';
        at = skip_digits(at);
    }
    return at;
}

static const char *skip_key(const char *at)
{
    return skip_blanks(skip_char(skip_blanks(skip_string(at)), ':'));
}

static const char *skip_bracket(const char *at, int depth)
{
    const char close = *at == '{' ? '}' : ']';
    const bool object = *at == '{';
    at = skip_blanks(at + 1);
    if (*at == close)
        return at + 1;
    while (at) {
        if (object)
            at = skip_key(at);
        at = at ? skip_blanks(skip_value(at, depth + 1)) : NULL;
        if (at && *at == close)
            return at + 1;
        at = skip_blanks(skip_char(at, ','));
    }
    return NULL;
}

static const char *skip_word(const char *at, const char *word)
{
    return strncmp(at, word, strlen(word)) == 0 ? at + strlen(word) : NULL;
}

static const char *skip_value(const char *at, int depth)
{
    if (depth > TIDE_JSON_DEPTH)
        return NULL;
    switch (*at) {
    case '{':
    case '[':
        return skip_bracket(at, depth);
    case '"':
        return skip_string(at);
    case 't':
        return skip_word(at, "true");
    case 'f':
        return skip_word(at, "false");
    case 'n':
        return skip_word(at, "null");
    default:
        return skip_number(at);
    }
}

bool json_valid(const char *text)
{
    const char *const end = skip_blanks(skip_value(skip_blanks(text), 0));
    return end && *end == '\0';
}

/* The value of the key that is the first LENGTH bytes of KEY. */
static const char *find_key(const char *at, const char *key, size_t length)
{
    if (*at != '{')
        return NULL;
    at = skip_blanks(at + 1);
    while (at && *at == '"') {
        const char *const end = skip_string(at);
        const bool found = end && (size_t)(end - at) == length + 2 &&
                           strncmp(at + 1, key, length) == 0;
        at = skip_key(at);
        if (found)
            return at;
        at = at ? skip_blanks(skip_value(at, 0)) : NULL;
        at = skip_blanks(skip_char(at, ','));
    }
    return NULL;
}

static const char *find_element(const char *at, size_t index)
{
    if (*at != '[')
        return NULL;
    at = skip_blanks(at + 1);
    for (; at && index > 0; index--)
        at = skip_blanks(skip_char(skip_blanks(skip_value(at, 0)), ','));
    return at && *at != ']' ? at : NULL;
}

const char *json_at(const char *text, const char *path)
{
    const char *at = skip_blanks(text);
    while (at && *path) {
        if (*path == '[') {
            char *end;
            at = find_element(at, strtoul(path + 1, &end, 10));
            path = end + 1;
        } else {
            path += *path == '.';
            const size_t length = strcspn(path, ".[");
            at = find_key(at, path, length);
            path += length;
        }
    }
    return at;
}

uint64_t json_uint_at(const char *text, const char *path)
{
    const char *const at = json_at(text, path);
    const char *const end = at ? skip_digits(at) : NULL;
    if (!end || !strchr(",} \n]", *end))
        abort(); /* a whole number was promised */
    return strtoull(at, NULL, 10);
}

double json_number_at(const char *text, const char *path)
{
    const char *const at = json_at(text, path);
    if (!at || !skip_number(at))
        abort();
    return strtod(at, NULL);
}

bool json_raw_at(const char *text, const char *path, const char *raw)
{
    const char *const at = json_at(text, path);
    return at && strncmp(at, raw, strlen(raw)) == 0;
}

size_t json_count_at(const char *text, const char *path)
{
    const char *const at = json_at(text, path);
    size_t count = 0;
    while (at && find_element(at, count))
        count++;
    return count;
}
