/* view/source_text.c - lines of source below the row that they belong to. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "view/names.h"
#include "view/source.h"
#include "view/utf8.h"

enum {
    TIDE_SOURCE_INDENT = 8, /* columns: lines of source are long */
    TIDE_TAB_COLUMNS = 8,
    TIDE_SOURCE_COLUMNS = 400, /* of a line; no style is wider */
    TIDE_SOURCE_BYTES = 4 * TIDE_SOURCE_COLUMNS,
    TIDE_SOURCE_DATA = 4096, /* bytes of a line as data */
};

/* The beginning of LINE with blanks for its tabs, zero-terminated. */
static void expand(struct tide_text *out, const struct tide_source_line *line,
                   size_t most)
{
    size_t column = 0;
    for (size_t i = 0; i < line->length && out->length < most; i++) {
        const size_t blanks =
            line->start[i] == '\t' ? TIDE_TAB_COLUMNS - column % TIDE_TAB_COLUMNS : 0;
        for (size_t j = 0; j < blanks; j++)
            tide_text_add(out, " ");
        if (!blanks)
            tide_text_add_bytes(out, line->start[i] ? &line->start[i] : "?", 1);
        column += blanks ? blanks : 1;
    }
}

/* LINE as far as the page is wide, and a mark where it is cut. */
static void add_cut(struct tide_page *page, enum tide_ink ink, struct tide_text *line)
{
    const int room = tide_page_left(page);
    if (tide_columns(line->bytes) <= room) {
        tide_page_add(page, ink, line->bytes);
        return;
    }
    line->bytes[tide_columns_prefix(line->bytes, room - 1)] = '\0';
    tide_page_add(page, ink, line->bytes);
    tide_page_add(page, TIDE_INK_DIM, tide_glyph(page->style, TIDE_GLYPH_ELLIPSIS));
}

static void add_line(struct tide_page *page, const struct tide_snippet *snippet,
                     uint32_t i, bool wanted)
{
    struct tide_text plain = {0}, safe = {0};
    char number[24];
    expand(&plain, &snippet->lines[i], TIDE_SOURCE_BYTES);
    tide_name_safe(&safe, plain.bytes, page->style);
    (void)snprintf(number, sizeof(number), "%s%5" PRIu32 "  ", wanted ? ">" : " ",
                   snippet->first + i);
    const enum tide_ink ink = wanted ? TIDE_INK_BOLD : TIDE_INK_DIM;
    tide_page_add(page, ink, number);
    if (safe.bytes)
        add_cut(page, ink, &safe);
    tide_page_end(page);
    page->out->failed = page->out->failed || plain.failed || safe.failed;
    tide_text_release(&plain);
    tide_text_release(&safe);
}

/* "file.c PROBLEM" */
static void add_problem(struct tide_page *page, const char *file, const char *problem)
{
    struct tide_text words = {0};
    tide_text_add(&words, "(");
    tide_name_fit(&words, file, tide_page_left(page) - (int)strlen(problem) - 3,
                  page->style);
    tide_text_addf(&words, " %s)", problem);
    tide_page_add(page, TIDE_INK_DIM, words.bytes ? words.bytes : "");
    tide_page_end(page);
    page->out->failed = page->out->failed || words.failed;
    tide_text_release(&words);
}

void tide_page_source(struct tide_page *page, const char *file, uint32_t line)
{
    struct tide_snippet snippet;
    if (!page->sources || !file)
        return;
    tide_sources_find(page->sources, file, line, &snippet);
    if (snippet.problem || snippet.changed) {
        tide_page_tab(page, TIDE_SOURCE_INDENT);
        add_problem(page, file,
                    snippet.problem ? snippet.problem : "was changed after the run");
    }
    for (uint32_t i = 0; i < snippet.count; i++) {
        tide_page_tab(page, TIDE_SOURCE_INDENT);
        add_line(page, &snippet, i, snippet.first + i == line);
    }
}

void tide_json_source(struct tide_json *json, struct tide_sources *sources,
                      const char *file, uint32_t line)
{
    struct tide_snippet snippet;
    if (!sources)
        return;
    if (!file) {
        tide_json_null(json, "source");
        return;
    }
    tide_sources_find(sources, file, line, &snippet);
    tide_json_open_row(json, "source");
    tide_json_string(json, "problem", snippet.problem);
    tide_json_bool(json, "changed", snippet.changed);
    tide_json_uint(json, "first_line", snippet.first);
    tide_json_open(json, "lines", '[');
    for (uint32_t i = 0; i < snippet.count; i++) {
        struct tide_text plain = {0};
        tide_text_add(&plain, "");
        expand(&plain, &snippet.lines[i], TIDE_SOURCE_DATA);
        tide_json_string(json, NULL, plain.bytes ? plain.bytes : "");
        json->out->failed = json->out->failed || plain.failed;
        tide_text_release(&plain);
    }
    tide_json_close(json);
    tide_json_close(json);
}
