/* view/line.c - build text line by line, and know how wide the line is so far. */
#include "view/line.h"

#include <string.h>

#include "view/names.h"
#include "view/utf8.h"

enum { TIDE_HEADING_INDENT = 2 }; /* of a heading's further lines */

static const char BLANKS[] = "                                                        "
                             "                                                        ";

int tide_page_left(const struct tide_page *page)
{
    return page->style->width - page->column;
}

static void add_blanks(struct tide_page *page, int count)
{
    const int most = (int)sizeof(BLANKS) - 1;
    count = count < tide_page_left(page) ? count : tide_page_left(page);
    while (count > 0) {
        const int part = count < most ? count : most;
        tide_text_add_bytes(page->out, BLANKS, (size_t)part);
        page->column += part;
        count -= part;
    }
}

/* The first LENGTH bytes of SAFE, as far as they fit. */
static void add_part(struct tide_page *page, enum tide_ink ink, const char *safe,
                     size_t length)
{
    const size_t fits = tide_columns_prefix(safe, tide_page_left(page));
    struct tide_text part = {0};
    tide_text_add_bytes(&part, safe, fits < length ? fits : length);
    if (part.failed)
        page->out->failed = true;
    if (part.length > 0) {
        const bool inked = page->style->color && ink != TIDE_INK_PLAIN;
        if (inked)
            tide_text_add(page->out, tide_ink_start(ink));
        tide_text_add_bytes(page->out, part.bytes, part.length);
        if (inked)
            tide_text_add(page->out, TIDE_INK_END);
        page->column += tide_columns(part.bytes);
    }
    page->out->failed |= part.failed;
    tide_text_release(&part);
}

void tide_page_add(struct tide_page *page, enum tide_ink ink, const char *text)
{
    struct tide_text safe = {0};
    tide_text_add_safe(&safe, text);
    if (safe.bytes)
        add_part(page, ink, safe.bytes, safe.length);
    page->out->failed |= safe.failed;
    tide_text_release(&safe);
}

void tide_page_add_right(struct tide_page *page, enum tide_ink ink, const char *safe,
                         int width)
{
    add_blanks(page, width - tide_columns(safe));
    tide_page_add(page, ink, safe);
}

void tide_page_tab(struct tide_page *page, int column)
{
    add_blanks(page, column - page->column);
}

void tide_page_end(struct tide_page *page)
{
    struct tide_text *const out = page->out;
    while (out->length > 0 && out->bytes[out->length - 1] == ' ')
        out->bytes[--out->length] = '\0';
    tide_text_add(out, "\n");
    page->column = 0;
}

void tide_page_skip(struct tide_page *page)
{
    tide_text_add(page->out, "\n");
    page->column = 0;
}

static void add_fitted(struct tide_page *page, enum tide_ink ink,
                       const struct tide_text *fitted)
{
    if (fitted->failed)
        page->out->failed = true;
    if (fitted->bytes)
        tide_page_add(page, ink, fitted->bytes);
}

void tide_page_function(struct tide_page *page, enum tide_ink ink, const char *name,
                        int columns)
{
    struct tide_text fitted = {0};
    tide_name_function(&fitted, name, columns, page->style);
    add_fitted(page, ink, &fitted);
    tide_text_release(&fitted);
}

void tide_page_name(struct tide_page *page, enum tide_ink ink, const char *name,
                    int columns)
{
    struct tide_text fitted = {0};
    tide_name_fit(&fitted, name, columns, page->style);
    add_fitted(page, ink, &fitted);
    tide_text_release(&fitted);
}

/* Is the word at SAFE a unit, as "MiB" is in "MiB/s,"? */
static bool is_unit(const char *safe)
{
    static const char *const units[] = {
        "%",  "B",  "KiB", "MiB", "GiB", "TiB", "PiB", "EiB", "kB", "MB",    "GB",
        "TB", "PB", "EB",  "s",   "ms",  "us",  "min", "ns",  "h",  "bytes", "byte",
    };
    const size_t length = strcspn(safe, " ,.;:)/");
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
        if (length == strlen(units[i]) && strncmp(safe, units[i], length) == 0)
            return true;
    }
    return false;
}

/* May a line end at the blank at AT?  Not between a number and its unit. */
static bool breaks_at(const char *safe, size_t at)
{
    const bool number = at > 0 && safe[at - 1] >= '0' && safe[at - 1] <= '9';
    return safe[at] == ' ' && !(number && is_unit(safe + at + 1));
}

/* How much of SAFE goes on a line with COLUMNS left: up to a blank where there is one. */
static size_t line_length(const char *safe, int columns)
{
    const size_t fits = tide_columns_prefix(safe, columns);
    size_t length = fits;
    while (length > 0 && safe[length] && !breaks_at(safe, length))
        length--;
    return length;
}

static void wrap(struct tide_page *page, enum tide_ink ink, const char *safe,
                 int indent)
{
    while (*safe) {
        size_t length = line_length(safe, tide_page_left(page));
        if (length == 0 && page->column <= indent) /* a word longer than a line */
            length = tide_columns_prefix(safe, tide_page_left(page));
        if (length == 0 && page->column <= indent)
            break;
        add_part(page, ink, safe, length);
        safe += length;
        while (*safe == ' ')
            safe++;
        if (*safe) {
            tide_page_end(page);
            tide_page_tab(page, indent);
        }
    }
    tide_page_end(page);
}

void tide_page_wrap(struct tide_page *page, enum tide_ink ink, const char *text,
                    int indent)
{
    struct tide_text safe = {0};
    tide_text_add_safe(&safe, text);
    wrap(page, ink, safe.bytes ? safe.bytes : "", indent);
    page->out->failed |= safe.failed;
    tide_text_release(&safe);
}

static void add_rule(struct tide_page *page)
{
    const char *const rule = tide_glyph(page->style, TIDE_GLYPH_RULE);
    struct tide_text line = {0};
    for (int i = 0; i < page->style->width; i++)
        tide_text_add(&line, rule);
    add_fitted(page, TIDE_INK_DIM, &line);
    tide_text_release(&line);
    tide_page_end(page);
}

void tide_page_heading(struct tide_page *page, const char *title, const char *detail)
{
    tide_page_add(page, TIDE_INK_TITLE, title);
    if (*detail) {
        tide_page_add(page, TIDE_INK_PLAIN, "  ");
        tide_page_wrap(page, TIDE_INK_PLAIN, detail, TIDE_HEADING_INDENT);
    } else {
        tide_page_end(page);
    }
    if (!page->brief)
        add_rule(page);
}

void tide_page_bar(struct tide_page *page, uint64_t part, uint64_t whole, int width)
{
    static const char *const EIGHTHS[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
    const double filled = whole ? (double)part / (double)whole : 0.0;
    const int eighths = (int)((filled < 1.0 ? filled : 1.0) * width * 8.0 + 0.5);
    const char *const full = page->style->utf8 ? "█" : "#";
    const int start = page->column;
    struct tide_text bar = {0};
    for (int i = 0; i < eighths / 8; i++)
        tide_text_add(&bar, full);
    if (page->style->utf8)
        tide_text_add(&bar, EIGHTHS[eighths % 8]);
    add_fitted(page, TIDE_INK_WATER, &bar);
    tide_text_release(&bar);
    tide_page_tab(page, start + width);
}
