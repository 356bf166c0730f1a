/* view/line.h - build text line by line, and know how wide the line is so far.
 *
 * For: view/, tests/.  Whatever is added is cut at the style's width, so no view can
 * print a line that is too long; the views see to it that nothing of weight is cut.
 * All text that is added goes through tide_text_add_safe() here; a view calls names.h
 * itself where it must know the width before.
 */
#ifndef TIDE_VIEW_LINE_H
#define TIDE_VIEW_LINE_H

#include <stdint.h>

#include "base/text.h"
#include "view/style.h"

struct tide_page {
    struct tide_text *out;          /* borrowed */
    const struct tide_style *style; /* borrowed */
    int column;                     /* of the line being written */
    struct tide_sources *sources;   /* borrowed; NULL: lines of source are not shown */
    bool brief;       /* save lines: no rules below headings, one line for each row */
    bool both_spaces; /* it has sections of two spaces, so that the heap's say so too */
};

/* Columns left on this line. */
int tide_page_left(const struct tide_page *page);
void tide_page_add(struct tide_page *page, enum tide_ink ink, const char *text);
/* The same of text that is safe, right-aligned in WIDTH columns. */
void tide_page_add_right(struct tide_page *page, enum tide_ink ink, const char *safe,
                         int width);
/* Blanks up to COLUMN; nothing when the line is already there. */
void tide_page_tab(struct tide_page *page, int column);
/* End the line; trailing blanks are taken away. */
void tide_page_end(struct tide_page *page);
/* An empty line. */
void tide_page_skip(struct tide_page *page);

/* A function's name, a file's, fitted into COLUMNS. */
void tide_page_function(struct tide_page *page, enum tide_ink ink, const char *name,
                        int columns);
void tide_page_name(struct tide_page *page, enum tide_ink ink, const char *name,
                    int columns);

/* Words, wrapped at blanks; all lines but the first start at column INDENT, the first
 * where the page is.  A word too long for a line is broken.  Ends the line. */
void tide_page_wrap(struct tide_page *page, enum tide_ink ink, const char *text,
                    int indent);

/* The heading of a section: "Title   detail" and, unless the page is brief, a rule. */
void tide_page_heading(struct tide_page *page, const char *title, const char *detail);

/* A bar WIDTH columns wide, filled to PART of WHOLE, in eighths of a column. */
void tide_page_bar(struct tide_page *page, uint64_t part, uint64_t whole, int width);

#endif
