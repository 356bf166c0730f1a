/* view/stacks_text.c - the heaviest stacks as text, each as its innermost calls. */
#include <stdlib.h>

#include "model/leak.h"
#include "model/path.h"
#include "model/rows_alike.h"
#include "view/columns.h"
#include "view/leak_text.h"
#include "view/report_text.h"
#include "view/runtime.h"
#include "view/source.h"
#include "view/stack_text.h"

/* Call I is inside the library: of it, and called by it. */
static bool is_inside(const struct tide_paths *paths, size_t i)
{
    return i > 0 && i + 1 < paths->call_count &&
           tide_is_runtime(&paths->functions[paths->calls[i].function]) &&
           tide_is_runtime(&paths->functions[paths->calls[i + 1].function]);
}

/* Its module, if FUNCTION has no name. */
static const char *unnamed_in(const struct tide_function *function)
{
    return function->resolved || !*function->module ? NULL : function->module;
}

/* What is shown: the heaviest rows of all. */
struct part {
    const struct tide_model *model;
    const struct tide_rows *rows;
    struct tide_alikes all; /* owned */
    size_t count;           /* of them */
    bool folds;             /* stacks are not shown whole */
    bool evidence;          /* below each: when its blocks were born */
};

/* Mark the first of the COUNT CALLS by which they differ from the path that was walked
 * last. */
static void mark_difference(struct tide_stack_call *calls, size_t count,
                            const struct tide_paths *other)
{
    const size_t most = count < other->call_count ? count : other->call_count;
    for (size_t i = 0; i < most; i++) {
        const struct tide_call *const call = &other->calls[i];
        const bool function = calls[i].function != call->function;
        if (!function && calls[i].file == call->file && calls[i].line == call->line)
            continue;
        calls[i].tells = true;
        calls[i].tells_line |= !function;
        return;
    }
}

/* Mark by which of its COUNT CALLS row I differs from each other row that is shown and
 * allocates in the same function. */
static enum tide_status mark_differences(const struct part *part,
                                         struct tide_paths *paths, size_t i,
                                         struct tide_stack_call *calls, size_t count)
{
    enum { TIDE_TOLD_MOST = 64 }; /* rows: each is held against each */
    enum tide_status status = TIDE_OK;
    for (size_t k = 0; k < part->count && part->count <= TIDE_TOLD_MOST && !status;
         k++) {
        const uint32_t site = part->all.list[k].row.site;
        if (k == i)
            continue;
        status = tide_paths_walk(paths, part->model->sites[site].stack);
        if (!status && paths->call_count > 0 && count > 0 &&
            paths->calls[0].function == calls[0].function)
            mark_difference(calls, count, paths);
    }
    return status;
}

/* The path of ROW, which was walked last; its first line is begun, the others start at
 * COLUMN. */
static void add_path(struct tide_page *page, const struct part *part, size_t row,
                     struct tide_paths *paths, int column)
{
    const size_t count = paths->call_count;
    struct tide_stack_call *const calls = calloc(count + 1, sizeof(*calls));
    if (!calls) {
        page->out->failed = true;
        return;
    }
    for (size_t i = 0; i < count; i++)
        calls[i] = (struct tide_stack_call){
            .name = paths->functions[paths->calls[i].function].name,
            .function = paths->calls[i].function,
            .file = paths->calls[i].file,
            .line = paths->calls[i].line,
            .inside = is_inside(paths, i),
            .unnamed_in = unnamed_in(&paths->functions[paths->calls[i].function]),
        };
    if (page->brief && mark_differences(part, paths, row, calls, count))
        page->out->failed = true;
    tide_page_stack(page, calls, count, column, part->folds);
    free(calls);
}

/* The rows that are not shown, in one line. */
static void add_rest(struct tide_page *page, const struct part *part,
                     const struct tide_columns *columns, const char *noun)
{
    struct tide_columns_values rest = {.total = part->rows->total_bytes, .faint = true};
    for (size_t i = part->count; i < part->all.count; i++) {
        rest.bytes += part->all.list[i].row.bytes;
        rest.count += part->all.list[i].row.calls;
    }
    tide_columns_line(page, columns, &rest);
    tide_page_more(page, part->all.count - part->count, noun);
}

static struct tide_columns measure(const struct tide_page *page,
                                   const struct part *part)
{
    const struct tide_rows *const rows = part->rows;
    struct tide_columns columns = tide_columns_for(rows, page->style);
    for (size_t i = 0; i < part->count; i++)
        tide_columns_measure(&columns, page->style, part->all.list[i].row.bytes,
                             part->all.list[i].row.calls);
    if (part->count < part->all.count) /* the line of the rest */
        tide_columns_measure(&columns, page->style, rows->total_bytes,
                             rows->total_calls);
    return columns;
}

/* Nothing when the row is only a part of what is known of its sites. */
static void add_evidence(struct tide_page *page, const struct tide_model *model,
                         const struct tide_alike *alike, int column)
{
    const uint64_t calls = alike->row.calls;
    struct tide_text words = {0};
    if (!model->survivals || alike->survival.blocks != calls || calls == 0)
        return;
    const struct tide_leak leak = tide_leak_judge(model, &alike->survival);
    tide_words_leak(&words, &leak, calls, page->style->units);
    tide_page_tab(page, column);
    tide_page_wrap(page, leak.kind == TIDE_LEAK_GROWING ? TIDE_INK_WARM : TIDE_INK_DIM,
                   words.bytes ? words.bytes : "", column + 2);
    page->out->failed |= words.failed;
    tide_text_release(&words);
}

static enum tide_status add_rows(struct tide_page *page, const struct tide_model *model,
                                 const struct tide_columns *columns,
                                 const struct part *part)
{
    struct tide_paths paths;
    enum tide_status status = tide_paths_init(&paths, model);
    if (status)
        return status;
    paths.fold = part->rows->fold;
    paths.hide = part->rows->hide;
    for (size_t i = 0; i < part->count && !status; i++) {
        const struct tide_stack_row *const row = &part->all.list[i].row;
        const struct tide_columns_values values = {
            .bytes = row->bytes, .total = part->rows->total_bytes, .count = row->calls};
        status = tide_paths_walk(&paths, model->sites[row->site].stack);
        tide_columns_line(page, columns, &values);
        const struct tide_call innermost =
            paths.call_count > 0 ? paths.calls[0] : (struct tide_call){0};
        add_path(page, part, i, &paths, tide_columns_end(columns));
        tide_page_source(page, innermost.file, innermost.line);
        if (part->evidence)
            add_evidence(page, model, &part->all.list[i], tide_columns_end(columns));
    }
    tide_paths_release(&paths);
    return status;
}

static void add_table(struct tide_page *page, const struct tide_model *model,
                      const struct part *part)
{
    const struct tide_columns columns = measure(page, part);
    const struct tide_view_totals totals = tide_totals_of_rows(part->rows);
    tide_view_heading(page, model, &totals);
    if (part->count == 0)
        return;
    tide_columns_head(page, &columns);
    tide_page_add(page, TIDE_INK_DIM, "allocated in");
    tide_page_end(page);
    if (add_rows(page, model, &columns, part))
        page->out->failed = true;
    if (part->count < part->all.count)
        add_rest(page, part, &columns,
                 tide_view_knows_callers(model->trace) ? "stack" : "place");
}

static void add_view(struct tide_page *page, const struct tide_model *model,
                     const struct tide_rows *rows, size_t limit, bool evidence)
{
    struct part part = {
        .model = model, .rows = rows, .folds = limit > 0, .evidence = evidence};
    if (tide_rows_alike(model, rows, &part.all)) {
        page->out->failed = true;
        return;
    }
    part.count = limit && limit < part.all.count ? limit : part.all.count;
    add_table(page, model, &part);
    tide_alikes_release(&part.all);
}

void tide_view_stacks(struct tide_page *page, const struct tide_model *model,
                      const struct tide_rows *rows, size_t limit)
{
    add_view(page, model, rows, limit, false);
}

void tide_view_leaks(struct tide_page *page, const struct tide_model *model,
                     const struct tide_rows *rows, size_t limit)
{
    add_view(page, model, rows, limit, true);
}
