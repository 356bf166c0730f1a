/* view/diff_text.c - what changed, in words and by function. */
#include <string.h>

#include "view/diff_view.h"
#include "view/names.h"
#include "view/report_text.h"
#include "view/run_words.h"

enum { TIDE_LEFT = 2, TIDE_LABEL_COLUMNS = 10, TIDE_FIGURES = 6 };

/* --- The overview: all that is counted, on both sides -------------------------------- */

/* One line of it. */
struct figure {
    const char *label;
    bool counts; /* a number of calls and not of bytes */
    struct tide_change change;
};

static void fill_figures(const struct tide_diff_view *view, struct figure *figures)
{
    static const struct figure EMPTY[TIDE_FIGURES] = {
        {.label = "peak"},
        {.label = "live"},
        {.label = "blocks", .counts = true},
        {.label = "allocated"},
        {.label = "calls", .counts = true},
        {.label = "temporary", .counts = true},
    };
    memcpy(figures, EMPTY, sizeof(EMPTY));
    for (int side = 0; side < TIDE_SIDES; side++) {
        const struct tide_summary *const summary =
            &view->models[side]->summary[view->diff->space];
        const struct tide_suppressions *const hidden = view->left_out[side];
        const uint64_t values[TIDE_FIGURES] = {
            summary->peak_bytes,
            summary->live_bytes - (hidden ? hidden->bytes : 0),
            summary->live_blocks - (hidden ? hidden->blocks : 0),
            summary->allocated_bytes,
            summary->alloc_calls,
            summary->temporary_calls,
        };
        for (int i = 0; i < TIDE_FIGURES; i++)
            figures[i].change.bytes[side] = values[i];
    }
}

static struct tide_number figure_text(const struct figure *figure, int side,
                                      enum tide_units units)
{
    const uint64_t value = figure->change.bytes[side];
    return figure->counts ? tide_number_count(value) : tide_number_bytes(value, units);
}

static struct tide_number figure_difference(const struct figure *figure,
                                            enum tide_units units)
{
    const int64_t value = tide_change_bytes(&figure->change);
    return figure->counts ? tide_number_signed_count(value)
                          : tide_number_signed_bytes(value, units);
}

static void add_figures(struct tide_page *page, const struct tide_diff_view *view)
{
    const enum tide_units units = page->style->units;
    struct figure figures[TIDE_FIGURES];
    int width = 10; /* "difference" */
    fill_figures(view, figures);
    for (int i = 0; i < TIDE_FIGURES; i++)
        for (int side = 0; side < TIDE_SIDES; side++) {
            const int length =
                1 + (int)strlen(figure_text(&figures[i], side, units).text);
            width = length > width ? length : width;
        }
    static const char *const HEAD[] = {"base", "new", "difference"};
    tide_page_tab(page, TIDE_LEFT + TIDE_LABEL_COLUMNS);
    for (int i = 0; i < 3; i++)
        tide_page_add_right(page, TIDE_INK_DIM, HEAD[i], width + 2);
    tide_page_end(page);
    for (int i = 0; i < TIDE_FIGURES; i++) {
        tide_page_tab(page, TIDE_LEFT);
        tide_page_add(page, TIDE_INK_PLAIN, figures[i].label);
        tide_page_tab(page, TIDE_LEFT + TIDE_LABEL_COLUMNS);
        for (int side = 0; side < TIDE_SIDES; side++)
            tide_page_add_right(page, TIDE_INK_PLAIN,
                                figure_text(&figures[i], side, units).text, width + 2);
        tide_page_add_right(page, TIDE_INK_BOLD,
                            figure_difference(&figures[i], units).text, width + 2);
        tide_page_add_right(page, TIDE_INK_PLAIN,
                            tide_number_change(&figures[i].change).text, 10);
        tide_page_end(page);
    }
}

/* "base  NAME, at 1.2 s" */
static void add_side(struct tide_page *page, const struct tide_diff_view *view,
                     enum tide_side side)
{
    tide_page_tab(page, TIDE_LEFT);
    tide_page_add(page, TIDE_INK_DIM, side == TIDE_SIDE_BASE ? "base" : "new");
    tide_page_tab(page, TIDE_LEFT + 6);
    tide_page_name(page, TIDE_INK_PLAIN, view->names[side],
                   tide_page_left(page) > 30 ? tide_page_left(page) - 24 : 30);
    if (view->at_s[side] >= 0) {
        tide_page_add(page, TIDE_INK_PLAIN, "  at ");
        tide_page_add(page, TIDE_INK_PLAIN, tide_number_seconds(view->at_s[side]).text);
    }
    tide_page_end(page);
    const struct tide_trace *const trace = view->models[side]->trace;
    if (!trace->complete || trace->problem[0])
        tide_view_warning(page, trace);
}

/* Two builds of a program may have two names, but so have two programs. */
static void add_programs(struct tide_page *page, const struct tide_diff *diff)
{
    struct tide_text words = {0}, safe = {0};
    if (!diff->program || diff->program == diff->program_alias)
        return;
    tide_text_addf(&words,
                   "The programs differ: %s in base, %s in new. What both have by the "
                   "same name is compared.",
                   diff->program, diff->program_alias);
    tide_name_safe(&safe, words.bytes ? words.bytes : "", page->style);
    tide_page_tab(page, TIDE_LEFT);
    tide_page_wrap(page, TIDE_INK_WARM, safe.bytes ? safe.bytes : "", TIDE_LEFT);
    page->out->failed |= words.failed || safe.failed;
    tide_text_release(&words);
    tide_text_release(&safe);
}

bool tide_diff_knows_callers(const struct tide_diff_view *view)
{
    return tide_view_knows_callers(view->models[0]->trace) ||
           tide_view_knows_callers(view->models[1]->trace);
}

static void add_one_sided(struct tide_text *out, const struct tide_diff_one_sided *sum,
                          const struct tide_style *style, const char *which,
                          const char *verb)
{
    if (sum->count == 0)
        return;
    tide_text_addf(out, "%s%s %s%s %s %s.", out->length ? " " : "",
                   tide_number_count(sum->count).text, which,
                   sum->count == 1 ? "" : "s", verb,
                   tide_number_bytes(sum->bytes, style->units).text);
}

/* What only one side has. */
static void add_sides_words(struct tide_page *page, const struct tide_diff_view *view)
{
    const struct tide_diff *const diff = view->diff;
    const bool stacks = tide_diff_knows_callers(view);
    struct tide_text words = {0};
    add_one_sided(&words, &diff->added, page->style, stacks ? "new stack" : "new place",
                  diff->added.count == 1 ? "has" : "have");
    add_one_sided(&words, &diff->gone, page->style,
                  stacks ? "gone stack" : "gone place", "had");
    if (words.length > 0) {
        tide_page_skip(page);
        tide_page_tab(page, TIDE_LEFT);
        tide_page_wrap(page, TIDE_INK_PLAIN, words.bytes, TIDE_LEFT);
    }
    if (words.failed)
        page->out->failed = true;
    tide_text_release(&words);
}

/* What was left out, in one line; nothing when nothing was. */
static void add_suppressed(struct tide_page *page, const struct tide_diff_view *view)
{
    static const char *const OF[TIDE_SIDES] = {" of base", " of new"};
    struct tide_text words = {0};
    bool any = false;
    tide_text_add(&words, "Suppressed: ");
    for (int side = 0; side < TIDE_SIDES; side++) {
        const struct tide_suppressions *const left_out = view->suppressed[side];
        if (!left_out)
            continue;
        any |= left_out->blocks > 0;
        tide_text_addf(&words, "%s%s in ", side ? ", " : "",
                       tide_number_bytes(left_out->bytes, page->style->units).text);
        tide_words_count(&words, left_out->blocks, "block");
        tide_text_add(&words, OF[side]);
    }
    tide_text_add(&words, ".");
    if (any) {
        tide_page_skip(page);
        tide_page_tab(page, TIDE_LEFT);
        tide_page_wrap(page, TIDE_INK_DIM, words.bytes ? words.bytes : "", TIDE_LEFT);
    }
    page->out->failed |= words.failed;
    tide_text_release(&words);
}

/* --- Tables -------------------------------------------------------------------------- */

static const char *title_of(const struct tide_diff_view *view)
{
    static const char *const TITLES[] = {
        [TIDE_METRIC_PEAK] = "At the peak",
        [TIDE_METRIC_LEAKS] = "Live",
        [TIDE_METRIC_TOTAL] = "Allocated",
        [TIDE_METRIC_CHURN] = "Temporary",
    };
    return TITLES[view->diff->metric];
}

void tide_diff_heading(struct tide_page *page, const struct tide_diff_view *view)
{
    const struct tide_change *const total = &view->diff->total;
    struct tide_text detail = {0};
    if (view->diff->site_count == 0)
        tide_text_add(&detail, tide_diff_knows_callers(view) ? "no stack differs"
                                                             : "no place differs");
    else
        tide_text_addf(
            &detail, "%s (%s), %s %s",
            tide_number_signed_bytes(tide_change_bytes(total), page->style->units).text,
            tide_number_change(total).text,
            tide_number_signed_count(tide_change_calls(total)).text,
            tide_metric_counts(view->diff->metric));
    tide_page_heading(page, title_of(view), detail.bytes ? detail.bytes : "");
    if (detail.failed)
        page->out->failed = true;
    tide_text_release(&detail);
}

static void add_flat_row(struct tide_page *page,
                         const struct tide_diff_columns *columns,
                         const struct tide_diff_function *function)
{
    const int start = tide_diff_columns_end(columns);
    const int room = page->style->width - start;
    const int module = room / 5;
    tide_diff_columns_line(page, columns, &function->self, &function->inclusive, false);
    tide_diff_function_words(page, function->name, function->file, function->line,
                             room - module - 2);
    if (*function->module && function->name[0] != '[') {
        tide_page_tab(page, start + room - module);
        tide_page_name(page, TIDE_INK_DIM, function->module, module);
    }
    tide_page_end(page);
}

static void add_flat(struct tide_page *page, const struct tide_diff_view *view)
{
    const struct tide_diff *const diff = view->diff;
    const size_t shown = tide_rows_shown(diff->flat_count, view->limit);
    struct tide_diff_columns columns = tide_diff_columns_for(diff);
    struct tide_change rest = {{0}, {0}};
    tide_diff_heading(page, view);
    if (diff->flat_count == 0)
        return;
    for (size_t i = 0; i < diff->flat_count; i++) {
        const struct tide_diff_function *const function =
            &diff->functions[diff->flat[i]];
        tide_diff_columns_measure(&columns, page->style, &function->self,
                                  &function->inclusive);
        if (i >= shown)
            tide_change_add(&rest, &function->self);
    }
    tide_diff_columns_head(page, &columns, "function");
    for (size_t i = 0; i < shown; i++)
        add_flat_row(page, &columns, &diff->functions[diff->flat[i]]);
    if (shown < diff->flat_count) {
        tide_diff_columns_line(page, &columns, &rest, NULL, true);
        tide_page_more(page, diff->flat_count - shown, "function");
    }
}

void tide_view_diff(struct tide_page *page, const struct tide_diff_view *view)
{
    tide_page_heading(page, "Difference", "");
    add_side(page, view, TIDE_SIDE_BASE);
    add_side(page, view, TIDE_SIDE_NEW);
    add_programs(page, view->diff);
    tide_page_skip(page);
    add_figures(page, view);
    tide_page_skip(page);
    if (view->shape == TIDE_DIFF_TREE)
        tide_view_diff_tree(page, view);
    else if (view->shape == TIDE_DIFF_STACKS)
        tide_view_diff_stacks(page, view);
    else
        add_flat(page, view);
    add_sides_words(page, view);
    add_suppressed(page, view);
}
