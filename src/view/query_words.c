/* view/query_words.c - mistakes in queries, and the attributes that there are. */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "view/json.h"
#include "view/line.h"
#include "view/names.h"
#include "view/query_view.h"
#include "view/utf8.h"

/* Where the line with AT begins and ends. */
static void find_line(const char *text, size_t length, size_t at, size_t *from,
                      size_t *to)
{
    *from = at < length ? at : length;
    while (*from > 0 && text[*from - 1] != '\n')
        --*from;
    *to = *from;
    while (*to < length && text[*to] != '\n')
        ++*to;
}

/* Is there nothing to show between FROM and TO? */
static bool is_blank(const char *text, size_t from, size_t to)
{
    while (from < to && strchr(" \t\r", text[from]))
        from++;
    return from == to;
}

enum { TIDE_ERROR_BEFORE = 40, TIDE_ERROR_BYTES = 72 }; /* of the line that is shown */

static bool goes_on(const char *text, size_t at)
{
    return ((unsigned char)text[at] & 0xc0) == 0x80; /* a letter of several bytes */
}

/* Of a line that is too long for a terminal, what is around AT. */
static void crop(const char *text, size_t at, size_t *from, size_t *to)
{
    if (*to - *from <= TIDE_ERROR_BYTES)
        return;
    if (at - *from > TIDE_ERROR_BEFORE)
        *from = at - TIDE_ERROR_BEFORE;
    while (*from < at && goes_on(text, *from))
        ++*from;
    if (*to - *from <= TIDE_ERROR_BYTES)
        return;
    *to = *from + TIDE_ERROR_BYTES;
    while (*to > at && goes_on(text, *to))
        --*to;
}

/* Bytes FROM to TO, made safe. */
static void add_part(struct tide_text *out, const char *text, size_t from, size_t to)
{
    struct tide_text part = {0};
    tide_text_add_bytes(&part, text + from, to - from);
    if (part.length)
        tide_out_name(out, part.bytes);
    tide_text_release(&part);
}

static int width_of(const char *text, size_t from, size_t to)
{
    struct tide_text part = {0};
    add_part(&part, text, from, to);
    const int width = part.length ? tide_columns(part.bytes) : 0;
    tide_text_release(&part);
    return width;
}

/* What is wrong: it may quote a word of the query that is longer than a page. */
static void add_mistake(struct tide_text *out, const struct tide_query_error *error)
{
    enum { TIDE_MISTAKE_BYTES = 240, TIDE_MISTAKE_END = 60 };
    const char *const words = error->text.length ? error->text.bytes : "?";
    const size_t length = strlen(words);
    size_t to = TIDE_MISTAKE_BYTES - TIDE_MISTAKE_END, from = length - TIDE_MISTAKE_END;
    if (length <= TIDE_MISTAKE_BYTES) {
        tide_out_name(out, words);
        return;
    }
    while (goes_on(words, to))
        to--;
    while (goes_on(words, from))
        from++;
    add_part(out, words, 0, to);
    tide_text_add(out, "...");
    add_part(out, words, from, length);
}

void tide_query_error_text(struct tide_text *out, const char *text, size_t length,
                           const struct tide_query_error *error)
{
    size_t first, last;
    const size_t at = error->span.at < length ? error->span.at : length;
    size_t end = at + error->span.length;
    add_mistake(out, error);
    tide_text_add(out, "\n");
    find_line(text, length, at, &first, &last);
    if (is_blank(text, first, last))
        return;
    size_t from = first, to = last;
    crop(text, at, &from, &to);
    end = end > to ? to : end;
    tide_text_add(out, from > first ? "  ..." : "  ");
    add_part(out, text, from, to);
    tide_text_add(out, to < last ? "...\n" : "\n");
    tide_text_add(out, from > first ? "     " : "  ");
    for (int i = width_of(text, from, at); i > 0; i--)
        tide_text_add(out, " ");
    tide_text_add(out, "^");
    for (int i = end > at ? width_of(text, at, end) : 0; i > 1; i--)
        tide_text_add(out, "~");
    tide_text_add(out, "\n");
}

void tide_query_explained(struct tide_text *out, const char *text,
                          const struct tide_style *style)
{
    enum { TIDE_EXPLAINED_MARGIN = 8 };
    struct tide_page page = {.out = out, .style = style};
    while (*text) {
        const size_t length = strcspn(text, "\n");
        const size_t margin =
            length < TIDE_EXPLAINED_MARGIN ? length : TIDE_EXPLAINED_MARGIN;
        struct tide_text head = {0}, words = {0};
        tide_text_add_bytes(&head, text, margin);
        tide_text_add_bytes(&words, text + margin, length - margin);
        tide_page_add(&page, TIDE_INK_PLAIN, head.bytes ? head.bytes : "");
        tide_page_wrap(&page, TIDE_INK_PLAIN, words.bytes ? words.bytes : "",
                       TIDE_EXPLAINED_MARGIN);
        out->failed = out->failed || head.failed || words.failed;
        tide_text_release(&head);
        tide_text_release(&words);
        text += length + (text[length] == '\n');
    }
}

static const char *const TYPES[TIDE_VALUE_TYPES] = {
    [TIDE_VALUE_NONE] = "",       [TIDE_VALUE_BOOL] = "bool",
    [TIDE_VALUE_INT] = "int",     [TIDE_VALUE_UINT] = "uint",
    [TIDE_VALUE_REAL] = "real",   [TIDE_VALUE_ADDRESS] = "addr",
    [TIDE_VALUE_STRING] = "text", [TIDE_VALUE_PATH] = "path",
};
static const char *const UNITS[] = {
    [TIDE_UNIT_NONE] = "",          [TIDE_UNIT_BYTES] = "B",
    [TIDE_UNIT_SECONDS] = "s",      [TIDE_UNIT_MICROSECONDS] = "us",
    [TIDE_UNIT_NANOSECONDS] = "ns",
};

/* What is said of an attribute of the program. */
static const char *user_words(const struct tide_user_name *user)
{
    if (user->hidden && tide_attribute_find(user->name) == TIDE_ATTRIBUTE_ITERATION)
        return "set by the program; seen where no loop iterates";
    if (user->regions)
        return "path of the regions that the program marks by this attribute";
    if (user->hidden)
        return "set by the program; tidemark's own attribute of this name hides it";
    return user->type ? "set by the program"
                      : "set by the program, to values of several types";
}

static void add_users(struct tide_page *page,
                      const struct tide_attribute_counts *counts)
{
    struct tide_text left = {0};
    for (size_t i = 0; i < counts->users.count; i++) {
        const struct tide_user_name *const user = &counts->users.list[i];
        tide_text_clear(&left);
        tide_out_name(&left, user->name);
        for (int width = tide_columns(left.bytes ? left.bytes : ""); width < 26;
             width++)
            tide_text_add(&left, " ");
        tide_text_addf(&left, " %-4s    %10" PRIu64 "  ", TYPES[user->type],
                       counts->user_counts[i]);
        const enum tide_ink ink =
            counts->user_counts[i] && !user->hidden ? TIDE_INK_PLAIN : TIDE_INK_DIM;
        tide_page_add(page, ink, left.bytes ? left.bytes : "");
        tide_page_wrap(page, ink, user_words(user),
                       tide_columns(left.bytes ? left.bytes : ""));
    }
    tide_text_release(&left);
}

void tide_query_attributes_text(struct tide_text *out,
                                const struct tide_attribute_counts *counts,
                                enum tide_query_source source,
                                const struct tide_style *style)
{
    struct tide_page page = {.out = out, .style = style};
    struct tide_text words = {0};
    char left[128];
    const bool spaces = source != TIDE_FROM_REGIONS && source != TIDE_FROM_TIMELINE;
    tide_text_addf(&words, "%" PRIu64 " rows of %s%s", counts->rows,
                   tide_source_names[source],
                   spaces ? ", of the heap (a query that names space has all)" : "");
    tide_page_wrap(&page, TIDE_INK_PLAIN, words.bytes ? words.bytes : "", 0);
    tide_page_skip(&page);
    out->failed = out->failed || words.failed;
    tide_text_release(&words);
    (void)snprintf(left, sizeof(left), "%-26s %-4s %-2s %10s  ", "attribute", "type",
                   "", "rows");
    tide_page_add(&page, TIDE_INK_BOLD, left);
    tide_page_add(&page, TIDE_INK_BOLD, "what it is");
    tide_page_end(&page);
    for (int i = 0; i < TIDE_ATTRIBUTES; i++) {
        const struct tide_attribute *const about = &tide_attribute_table[i];
        if (!(about->sources & 1u << source))
            continue;
        (void)snprintf(left, sizeof(left), "%-26s %-4s %-2s %10" PRIu64 "  ",
                       about->name, TYPES[about->type], UNITS[about->unit],
                       counts->counts[i]);
        const enum tide_ink ink = counts->counts[i] ? TIDE_INK_PLAIN : TIDE_INK_DIM;
        tide_page_add(&page, ink, left);
        tide_page_wrap(&page, ink, about->words, (int)strlen(left));
    }
    add_users(&page, counts);
}

void tide_query_attributes_json(struct tide_text *out,
                                const struct tide_attribute_counts *counts,
                                enum tide_query_source source)
{
    struct tide_json json = {.out = out};
    tide_json_open(&json, NULL, '{');
    tide_json_string(&json, "schema", "tidemark.query.attributes/1");
    tide_json_string(&json, "source", tide_source_names[source]);
    tide_json_uint(&json, "rows", counts->rows);
    tide_json_open(&json, "attributes", '[');
    for (int i = 0; i < TIDE_ATTRIBUTES; i++) {
        const struct tide_attribute *const about = &tide_attribute_table[i];
        if (!(about->sources & 1u << source))
            continue;
        tide_json_open_row(&json, NULL);
        tide_json_string(&json, "name", about->name);
        tide_json_string(&json, "type", TYPES[about->type]);
        tide_json_string(&json, "unit",
                         *UNITS[about->unit] ? UNITS[about->unit] : NULL);
        tide_json_uint(&json, "rows", counts->counts[i]);
        tide_json_string(&json, "words", about->words);
        tide_json_close(&json);
    }
    for (size_t i = 0; i < counts->users.count; i++) {
        const struct tide_user_name *const user = &counts->users.list[i];
        tide_json_open_row(&json, NULL);
        tide_json_string(&json, "name", user->name);
        tide_json_string(&json, "type", user->type ? TYPES[user->type] : NULL);
        tide_json_string(&json, "unit", NULL);
        tide_json_uint(&json, "rows", counts->user_counts[i]);
        tide_json_string(&json, "words", user_words(user));
        tide_json_bool(&json, "hidden", user->hidden);
        tide_json_close(&json);
    }
    tide_json_close(&json);
    tide_json_close(&json);
}
