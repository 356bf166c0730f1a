/* view/churn_text.c - the functions that allocate most over the run, in a few lines.
 *
 * Bytes and calls are two questions with one table: a row weighs what the larger of its two
 * shares does.
 */
#include <stdio.h>
#include <string.h>

#include "view/cells.h"
#include "view/names.h"
#include "view/report_text.h"
#include "view/utf8.h"

enum {
    TIDE_CHURN_MOST = 32, /* rows, whatever is asked for */
    TIDE_WORDS_COLUMNS = 40,
    TIDE_PLACE_GAP = 2,
};

/* The rows of ROWS that are shown. */
struct choice {
    size_t rows[TIDE_CHURN_MOST];
    size_t count;
};

static double share_of(uint64_t part, uint64_t whole)
{
    return whole ? (double)part / (double)whole : 0;
}

/* The larger of its two shares. */
static double weight_of(const struct tide_rows *rows, size_t i)
{
    const double bytes = share_of(rows->flat[i].self_bytes, rows->total_bytes);
    const double calls = share_of(rows->flat[i].self_calls, rows->total_calls);
    return bytes > calls ? bytes : calls;
}

/* The heaviest rows, LIMIT at most, heaviest first; or in the order that was asked for. */
static struct choice choose(const struct tide_rows *rows, size_t limit)
{
    struct choice choice = {.count = 0};
    const size_t most = limit < TIDE_CHURN_MOST ? limit : TIDE_CHURN_MOST;
    for (size_t i = 0; i < rows->flat_count; i++) {
        const double weight = weight_of(rows, i);
        size_t at = choice.count;
        if (rows->flat[i].self_calls == 0)
            continue;
        while (rows->sort == TIDE_SORT_USUAL && at > 0 &&
               weight_of(rows, choice.rows[at - 1]) < weight)
            at--;
        if (at == most)
            continue;
        choice.count += choice.count < most;
        for (size_t k = choice.count - 1; k > at; k--)
            choice.rows[k] = choice.rows[k - 1];
        choice.rows[at] = i;
    }
    return choice;
}

/* A share, marked when it is the larger one of its row: by that the row stands there. */
static struct tide_number marked(uint64_t part, uint64_t whole, double other)
{
    struct tide_number share = tide_number_share(part, whole);
    const size_t length = strlen(share.text);
    (void)snprintf(share.text + length, sizeof(share.text) - length,
                   share_of(part, whole) >= other ? "*" : " ");
    return share;
}

static struct tide_cells_row cells_of(const struct tide_rows *rows,
                                      const struct tide_flat_row *row,
                                      enum tide_units units)
{
    const double bytes = share_of(row->self_bytes, rows->total_bytes);
    const double calls = share_of(row->self_calls, rows->total_calls);
    const double first = bytes >= calls ? 2 : calls; /* one mark where they are equal */
    return (struct tide_cells_row){
        .texts =
            {
                tide_number_bytes(row->self_bytes, units),
                marked(row->self_bytes, rows->total_bytes, calls),
                tide_number_count(row->self_calls),
                marked(row->self_calls, rows->total_calls, first),
                tide_number_share(row->self_temporary_calls, row->self_calls),
            },
        .inks = {TIDE_INK_PLAIN, tide_ink_share(row->self_bytes, rows->total_bytes),
                 TIDE_INK_PLAIN, tide_ink_share(row->self_calls, rows->total_calls),
                 TIDE_INK_PLAIN},
    };
}

/* "libfoo.so+0x1f2e <- caller": what has no name is known by who calls it. */
static void add_caller(struct tide_page *page, const char *name, const char *caller)
{
    const char *const from = tide_glyph(page->style, TIDE_GLYPH_FROM);
    const int room = tide_page_left(page) - tide_columns(from) - 2;
    struct tide_text brief = {0};
    tide_name_brief(&brief, caller, page->style);
    const int wanted = brief.bytes ? tide_columns(brief.bytes) : 0;
    const int left = room - wanted;
    const int least = room * 2 / 5;
    tide_page_function(page, TIDE_INK_BOLD, name, left > least ? left : least);
    tide_page_add(page, TIDE_INK_DIM, " ");
    tide_page_add(page, TIDE_INK_DIM, from);
    tide_page_add(page, TIDE_INK_DIM, " ");
    tide_page_function(page, TIDE_INK_PLAIN, caller, tide_page_left(page));
    page->out->failed |= brief.failed;
    tide_text_release(&brief);
    tide_page_end(page);
}

/* "function  file.c:12 and 2 other lines" in what is left of the line; ends it. */
static void add_words(struct tide_page *page, const struct tide_rows *rows,
                      const struct tide_flat_row *row)
{
    struct tide_text others = {0};
    const char *const name = rows->functions[row->function].name;
    const int room = tide_page_left(page);
    if (row->caller < rows->function_count) {
        add_caller(page, name, rows->functions[row->caller].name);
        return;
    }
    const int place = tide_place_beside(name, row->file, row->line, room, page->style);
    tide_page_function(page, TIDE_INK_BOLD, name,
                       place > 0 ? room - place - TIDE_PLACE_GAP : room);
    if (place > 0) {
        tide_page_add(page, TIDE_INK_PLAIN, "  ");
        tide_page_place(page, row->file, row->line, place);
    }
    if (row->lines > 1)
        tide_text_addf(&others, " and %u other line%s", row->lines - 1,
                       row->lines > 2 ? "s" : "");
    if (others.bytes && tide_columns(others.bytes) <= tide_page_left(page))
        tide_page_add(page, TIDE_INK_DIM, others.bytes);
    page->out->failed |= others.failed;
    tide_text_release(&others);
    tide_page_end(page);
}

/* What the table counts and how it is sorted, in one line of a page that is wide enough. */
static void add_heading(struct tide_page *page)
{
    enum { TIDE_HEADING_WIDE = 112 };
    tide_page_heading(
        page, "Churn",
        page->style->width >= TIDE_HEADING_WIDE
            ? "what allocates most over the run, by the larger share (*); temp.: "
              "freed before the next allocation"
            : "by the larger share (*); temp.: freed before the next allocation");
}

void tide_view_churn(struct tide_page *page, const struct tide_rows *rows, size_t limit)
{
    const enum tide_units units = page->style->units;
    const struct choice choice = choose(rows, limit);
    struct tide_cells cells = {.words = TIDE_WORDS_COLUMNS};
    if (choice.count == 0 || rows->total_bytes == 0)
        return;
    add_heading(page);
    tide_cells_add(&cells, "bytes", 10);
    tide_cells_add(&cells, "share ", 10);
    tide_cells_add(&cells, "calls", 8);
    tide_cells_add(&cells, "share ", 10);
    tide_cells_add(&cells, "temp.", 9);
    for (size_t i = 0; i < choice.count; i++) {
        const struct tide_cells_row row =
            cells_of(rows, &rows->flat[choice.rows[i]], units);
        tide_cells_measure(&cells, &row);
    }
    tide_cells_head(page, &cells);
    tide_page_add(page, TIDE_INK_DIM, "  allocated in");
    tide_page_end(page);
    for (size_t i = 0; i < choice.count; i++) {
        const struct tide_flat_row *const row = &rows->flat[choice.rows[i]];
        const struct tide_cells_row line = cells_of(rows, row, units);
        tide_cells_line(page, &cells, &line);
        tide_page_add(page, TIDE_INK_PLAIN, "  ");
        add_words(page, rows, row);
    }
}
