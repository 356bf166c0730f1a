/* view/json.c - write JSON that is always valid.
 *
 * Layout: one key a line, two blanks a level, so that the text can be read and compared;
 * empty brackets stay on one line.
 */
#include "view/json.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "view/utf8.h"

static const char ROW = 'r'; /* in json->open: an object on one line */

/* Indent no deeper than this: trees of a thousand levels would be blanks only. */
enum { TIDE_JSON_INDENT_MAX = 16 };

static char innermost(const struct tide_json *json)
{
    if (json->open.length == 0)
        return '\0';
    return json->open.bytes[json->open.length - 1];
}

static void new_line(struct tide_json *json)
{
    const size_t depth = json->open.length;
    tide_text_add(json->out, "\n");
    for (size_t i = 0; i < depth && i < TIDE_JSON_INDENT_MAX; i++)
        tide_text_add(json->out, "  ");
}

static void add_unit(struct tide_json *json, uint32_t unit)
{
    tide_text_addf(json->out, "\\u%04x", unit & 0xffffu);
}

/* A character that must not stand for itself. */
static void add_escaped(struct tide_json *json, uint32_t character)
{
    if (character < 0x10000) {
        add_unit(json, character);
        return;
    }
    add_unit(json, 0xd800 + ((character - 0x10000) >> 10));
    add_unit(json, 0xdc00 + ((character - 0x10000) & 0x3ff));
}

/* How many of the LENGTH bytes at TEXT stand for themselves: names are mostly ASCII. */
static size_t plain_length(const char *text, size_t length)
{
    size_t plain = 0;
    while (plain < length && text[plain] >= ' ' && text[plain] <= '~' &&
           text[plain] != '"' && text[plain] != '\\')
        plain++;
    return plain;
}

static void add_string(struct tide_json *json, const char *value)
{
    size_t left = strlen(value);
    tide_text_add(json->out, "\"");
    while (left > 0) {
        uint32_t character;
        const size_t plain = plain_length(value, left);
        if (plain > 0) {
            tide_text_add_bytes(json->out, value, plain);
            value += plain;
            left -= plain;
            continue;
        }
        const size_t size = tide_utf8_decode(value, left, &character);
        if (size == 0)
            tide_text_addf(json->out, "\\\\x%02x", (unsigned char)*value);
        else if (character == '"' || character == '\\')
            tide_text_addf(json->out, "\\%c", *value);
        else if (!tide_utf8_shown(character))
            add_escaped(json, character);
        else
            tide_text_add_bytes(json->out, value, size);
        value += size ? size : 1;
        left -= size ? size : 1;
    }
    tide_text_add(json->out, "\"");
}

/* What stands before any value: a comma, a new line, the key. */
static void begin(struct tide_json *json, const char *key)
{
    const bool row = innermost(json) == ROW;
    if (json->comma)
        tide_text_add(json->out, row ? ", " : ",");
    if (json->open.length > 0 && !row)
        new_line(json);
    if (key) {
        add_string(json, key);
        tide_text_add(json->out, ": ");
    }
    json->comma = true;
}

static void open_bracket(struct tide_json *json, const char *key, char kind)
{
    begin(json, key);
    tide_text_add(json->out, kind == '[' ? "[" : "{");
    tide_text_add_bytes(&json->open, &kind, 1);
    json->comma = false;
}

void tide_json_open(struct tide_json *json, const char *key, char kind)
{
    open_bracket(json, key, kind);
}

void tide_json_open_row(struct tide_json *json, const char *key)
{
    open_bracket(json, key, ROW);
}

void tide_json_close(struct tide_json *json)
{
    const char kind = innermost(json);
    if (json->open.failed)
        json->out->failed = true;
    if (kind == '\0')
        return;
    json->open.bytes[--json->open.length] = '\0';
    if (json->comma && kind != ROW)
        new_line(json);
    tide_text_add(json->out, kind == '[' ? "]" : "}");
    json->comma = true;
    if (json->open.length == 0) {
        tide_text_add(json->out, "\n");
        tide_text_release(&json->open);
    }
}

void tide_json_string(struct tide_json *json, const char *key, const char *value)
{
    if (!value) {
        tide_json_null(json, key);
        return;
    }
    begin(json, key);
    add_string(json, value);
}

void tide_json_uint(struct tide_json *json, const char *key, uint64_t value)
{
    begin(json, key);
    tide_text_addf(json->out, "%" PRIu64, value);
}

void tide_json_int(struct tide_json *json, const char *key, int64_t value)
{
    begin(json, key);
    tide_text_addf(json->out, "%" PRId64, value);
}

void tide_json_number(struct tide_json *json, const char *key, double value)
{
    if (!isfinite(value)) {
        tide_json_null(json, key);
        return;
    }
    char digits[64];
    if (fabs(value) < 1e15)
        (void)snprintf(digits, sizeof(digits), "%.9f", value);
    else
        (void)snprintf(digits, sizeof(digits), "%.17g", value);
    if (strchr(digits, '.') && !strchr(digits, 'e')) { /* 1.500000000 is 1.5 */
        size_t length = strlen(digits);
        while (digits[length - 1] == '0' && digits[length - 2] != '.')
            digits[--length] = '\0';
    }
    begin(json, key);
    tide_text_add(json->out, digits);
}

void tide_json_bool(struct tide_json *json, const char *key, bool value)
{
    begin(json, key);
    tide_text_add(json->out, value ? "true" : "false");
}

void tide_json_null(struct tide_json *json, const char *key)
{
    begin(json, key);
    tide_text_add(json->out, "null");
}
