/* view/stacks_text.c - the heaviest stacks as text, each as its innermost calls. */
#include "model/leak.h"
#include "model/path.h"
#include "view/columns.h"
#include "view/leak_text.h"
#include "view/report_text.h"
#include "view/runtime.h"
#include "view/source.h"

enum { TIDE_CALLS_SHOWN = 5 }; /* of a stack */

/* "function  file.c:12" in what is left of the line. */
static void add_call(struct tide_page *page, const struct tide_paths *paths, size_t i)
{
    const struct tide_call *const call = &paths->calls[i];
    const int room = tide_page_left(page);
    const int wanted = tide_place_columns(call->file, call->line, page->style);
    const int place = wanted > room * 2 / 5 ? room * 2 / 5 : wanted;
    tide_page_function(page, i == 0 ? TIDE_INK_BOLD : TIDE_INK_PLAIN,
                       paths->functions[call->function].name,
                       place > 0 ? room - place - 2 : room);
    if (place > 0) {
        tide_page_add(page, TIDE_INK_PLAIN, "  ");
        tide_page_place(page, call->file, call->line, tide_page_left(page));
    }
    tide_page_end(page);
}

/* A line below the first: blanks, an arrow. */
static void begin_caller(struct tide_page *page, int column)
{
    tide_page_tab(page, column);
    tide_page_add(page, TIDE_INK_DIM, tide_glyph(page->style, TIDE_GLYPH_FROM));
    tide_page_add(page, TIDE_INK_DIM, " ");
}

/* Call I is inside the library: of it, and called by it. */
static bool is_inside(const struct tide_paths *paths, size_t i)
{
    return i > 0 && i + 1 < paths->call_count &&
           tide_is_runtime(&paths->functions[paths->calls[i].function]) &&
           tide_is_runtime(&paths->functions[paths->calls[i + 1].function]);
}

static void add_hidden(struct tide_page *page, int column, size_t count)
{
    begin_caller(page, column);
    tide_page_more(page, count, "");
}

/* How many calls from I on are left out: the library's inside, and what is far out. */
static size_t count_hidden(const struct tide_paths *paths, size_t i, size_t shown)
{
    size_t end = i;
    if (shown >= TIDE_CALLS_SHOWN)
        return paths->call_count - i;
    while (end < paths->call_count && is_inside(paths, end))
        end++;
    return end - i;
}

/* The path that was walked last; its first line is begun, the others start at COLUMN.
 * One call alone is not left out: to say so takes its line. */
static void add_path(struct tide_page *page, const struct tide_paths *paths, int column,
                     bool folds)
{
    size_t shown = 0;
    for (size_t i = 0; i < paths->call_count;) {
        const size_t hidden = folds ? count_hidden(paths, i, shown) : 0;
        if (hidden > 1) {
            add_hidden(page, column, hidden);
            i += hidden;
            continue;
        }
        if (i > 0)
            begin_caller(page, column);
        add_call(page, paths, i);
        shown++;
        i++;
    }
}

/* The rows that are not shown, in one line. */
static void add_rest(struct tide_page *page, const struct tide_rows *rows,
                     const struct tide_columns *columns, size_t shown, const char *noun)
{
    struct tide_columns_values rest = {.total = rows->total_bytes, .faint = true};
    for (size_t i = shown; i < rows->stack_count; i++) {
        rest.bytes += rows->stacks[i].bytes;
        rest.count += rows->stacks[i].calls;
    }
    tide_columns_line(page, columns, &rest);
    tide_page_more(page, rows->stack_count - shown, noun);
}

static struct tide_columns measure(const struct tide_page *page,
                                   const struct tide_rows *rows, size_t shown)
{
    struct tide_columns columns = tide_columns_for(rows, page->style);
    for (size_t i = 0; i < shown; i++)
        tide_columns_measure(&columns, page->style, rows->stacks[i].bytes,
                             rows->stacks[i].calls);
    if (shown < rows->stack_count) /* the line of the rest */
        tide_columns_measure(&columns, page->style, rows->total_bytes,
                             rows->total_calls);
    return columns;
}

/* What is shown of the rows. */
struct part {
    size_t count;
    bool folds;    /* stacks are not shown whole */
    bool evidence; /* below each: when its blocks were born */
};

/* Nothing when the row is only a part of what is known of its site. */
static void add_evidence(struct tide_page *page, const struct tide_model *model,
                         const struct tide_stack_row *row, int column)
{
    const struct tide_survival *const survival =
        model->survivals ? &model->survivals[row->site] : NULL;
    struct tide_text words = {0};
    if (!survival || survival->blocks != row->calls || row->calls == 0)
        return;
    const struct tide_leak leak = tide_leak_judge(model, survival);
    tide_words_leak(&words, &leak, row->calls, page->style->units);
    tide_page_tab(page, column);
    tide_page_wrap(page, leak.kind == TIDE_LEAK_GROWING ? TIDE_INK_WARM : TIDE_INK_DIM,
                   words.bytes ? words.bytes : "", column + 2);
    tide_text_release(&words);
}

static enum tide_status add_rows(struct tide_page *page, const struct tide_model *model,
                                 const struct tide_rows *rows,
                                 const struct tide_columns *columns, struct part part)
{
    struct tide_paths paths;
    enum tide_status status = tide_paths_init(&paths, model);
    if (status)
        return status;
    paths.fold = rows->fold;
    paths.hide = rows->hide;
    for (size_t i = 0; i < part.count && !status; i++) {
        const struct tide_stack_row *const row = &rows->stacks[i];
        const struct tide_columns_values values = {
            .bytes = row->bytes, .total = rows->total_bytes, .count = row->calls};
        status = tide_paths_walk(&paths, model->sites[row->site].stack);
        tide_columns_line(page, columns, &values);
        add_path(page, &paths, tide_columns_end(columns), part.folds);
        if (paths.call_count > 0)
            tide_page_source(page, paths.calls[0].file, paths.calls[0].line);
        if (part.evidence)
            add_evidence(page, model, row, tide_columns_end(columns));
    }
    tide_paths_release(&paths);
    return status;
}

static void add_view(struct tide_page *page, const struct tide_model *model,
                     const struct tide_rows *rows, struct part part)
{
    const size_t shown = part.count;
    const struct tide_columns columns = measure(page, rows, shown);
    const struct tide_view_totals totals = tide_totals_of_rows(rows);
    tide_view_heading(page, model, &totals);
    if (shown == 0)
        return;
    tide_columns_head(page, &columns);
    tide_page_add(page, TIDE_INK_DIM, "allocated in");
    tide_page_end(page);
    if (add_rows(page, model, rows, &columns, part))
        page->out->failed = true;
    if (shown < rows->stack_count)
        add_rest(page, rows, &columns, shown,
                 tide_view_knows_callers(model->trace) ? "stack" : "place");
}

static struct part part_of(const struct tide_rows *rows, size_t limit)
{
    const size_t shown = limit && limit < rows->stack_count ? limit : rows->stack_count;
    return (struct part){.count = shown, .folds = limit > 0};
}

void tide_view_stacks(struct tide_page *page, const struct tide_model *model,
                      const struct tide_rows *rows, size_t limit)
{
    add_view(page, model, rows, part_of(rows, limit));
}

void tide_view_leaks(struct tide_page *page, const struct tide_model *model,
                     const struct tide_rows *rows, size_t limit)
{
    struct part part = part_of(rows, limit);
    part.evidence = true;
    add_view(page, model, rows, part);
}
