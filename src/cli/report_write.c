/* cli/report_write.c - a report, from the model to text, JSON or CSV. */
#include "cli/report_write.h"

#include <stdio.h>
#include <unistd.h>

#include "base/text.h"
#include "cli/report_default.h"
#include "model/report_cautions.h"
#include "view/gprof.h"
#include "view/passage_text.h"
#include "view/process_text.h"
#include "view/rank_text.h"
#include "view/report_json.h"
#include "view/report_text.h"
#include "view/told_text.h"

enum {
    TIDE_ROWS_TREE = 30, /* without -n */
    TIDE_ROWS_FLAT = 20,
    TIDE_ROWS_STACKS = 10,
    TIDE_SCREEN_LINES = 50,
};

/* The rows of SHAPE that are shown when -n does not say. */
static size_t limit_of(const struct tide_report_options *options, enum tide_shape shape)
{
    if (options->rows != TIDE_ROWS_UNSET)
        return (size_t)options->rows;
    if (shape == TIDE_SHAPE_FLAT || tide_shape_groups(shape))
        return TIDE_ROWS_FLAT;
    if (shape == TIDE_SHAPE_GPROF || shape == TIDE_SHAPE_RANKS)
        return 0;
    if (shape == TIDE_SHAPE_STACKS)
        return TIDE_ROWS_STACKS;
    return TIDE_ROWS_TREE;
}

/* --- What a view is made of --------------------------------------------------------- */

/* Owned. */
struct parts {
    struct tide_rows *rows, *callees;
    struct tide_groups *groups;
    struct tide_profile profile;
    bool evidence; /* show when what leaks was born */
};

static void release(struct parts *parts)
{
    tide_rows_free(parts->rows);
    tide_rows_free(parts->callees);
    tide_groups_free(parts->groups);
    tide_profile_release(&parts->profile);
}

/* Build what the view of METRIC shows in SHAPE. */
static enum tide_status build(const struct tide_model *model,
                              const struct tide_report_options *options,
                              enum tide_metric metric, enum tide_shape shape,
                              struct parts *out)
{
    struct tide_rows_request request = tide_report_request(options, metric, shape);
    enum tide_status status = TIDE_OK;
    *out = (struct parts){0};
    if (tide_shape_groups(shape)) {
        const enum tide_group_by by = (enum tide_group_by)(shape - TIDE_SHAPE_THREADS);
        status = tide_groups_ask(model, &request, by, &out->groups);
    } else if (!tide_shape_counts(shape) && !tide_shape_told(shape)) {
        status = tide_rows_ask(model, &request, &out->rows);
    }
    if (!status && shape == TIDE_SHAPE_SANDWICH) {
        request.part = TIDE_TREE_CALLEES;
        status = tide_rows_ask(model, &request, &out->callees);
    }
    if (!status && shape == TIDE_SHAPE_GPROF)
        status =
            tide_profile_build(model, out->rows, options->largest_of, &out->profile);
    if (status)
        release(out);
    return status;
}

/* --- Text -------------------------------------------------------------------------- */

static void add_shape(struct tide_page *page, const struct tide_model *model,
                      const struct parts *parts, enum tide_shape shape, size_t limit)
{
    if (shape == TIDE_SHAPE_SIZES)
        tide_view_sizes(page, model);
    else if (shape == TIDE_SHAPE_LIFETIMES)
        tide_view_lifetimes(page, model);
    else if (shape == TIDE_SHAPE_WINDOWS)
        tide_view_windows(page, model, limit);
    else if (parts->groups)
        tide_view_groups(page, model, parts->groups, limit);
    else if (shape == TIDE_SHAPE_GPROF)
        tide_view_gprof(page, model, &parts->profile, limit);
    else if (shape == TIDE_SHAPE_FLAT)
        tide_view_flat(page, model, parts->rows, limit);
    else if (shape == TIDE_SHAPE_STACKS && parts->evidence)
        tide_view_leaks(page, model, parts->rows, limit);
    else if (shape == TIDE_SHAPE_STACKS)
        tide_view_stacks(page, model, parts->rows, limit);
    else if (!tide_shape_told(shape))
        tide_view_tree(page, model, parts->rows, limit);
    if (parts->callees && parts->callees->tree_count > 1) {
        tide_page_skip(page);
        tide_view_tree(page, model, parts->callees, limit);
    }
}

/* What the program told, below the rows. */
static void add_told(struct tide_page *page, const struct tide_model *model,
                     const struct tide_told *told, enum tide_shape shape, size_t limit)
{
    const size_t before = page->out->length;
    if (shape == TIDE_SHAPE_REGIONS)
        tide_view_visits(page, told, limit);
    else if (shape == TIDE_SHAPE_LABELS)
        tide_view_label_sizes(page, told, limit);
    else if (shape == TIDE_SHAPE_TIMEMORY)
        tide_view_timemory(page, told);
    else if (shape == TIDE_SHAPE_POOLS)
        tide_view_pools(page, model, told);
    if (page->out->length > before)
        tide_page_skip(page);
}

static void add_flow(struct tide_page *page, const struct tide_model *model,
                     const struct tide_report_options *options, size_t limit)
{
    tide_view_flows(page, model, limit);
    tide_page_skip(page);
    tide_view_passages(page, model, options->passages, limit, !options->no_fold);
}

/* What is left out of the rows above. */
static void add_suppressed(struct tide_page *page,
                           const struct tide_suppressions *suppressed)
{
    if (suppressed->blocks == 0)
        return;
    if (!page->brief)
        tide_page_skip(page);
    tide_view_suppressed(page, suppressed);
}

size_t tide_report_lines(const struct tide_text *text)
{
    size_t lines = 0;
    for (size_t i = 0; i < text->length; i++)
        lines += text->bytes[i] == '\n';
    return lines;
}

/* As add_shape(), with fewer rows where ROOM.lines, unless 0, do not suffice: a tree says
 * of each caller how much of it is not shown. */
static void add_fitting(struct tide_page *page, const struct tide_model *model,
                        const struct parts *parts, enum tide_shape shape,
                        struct tide_report_room room)
{
    enum { TIDE_ROWS_LEAST = 1 };
    struct tide_text text = {0};
    struct tide_page aside = *page;
    size_t limit = room.rows;
    if (room.lines == 0) {
        add_shape(page, model, parts, shape, limit);
        return;
    }
    aside.out = &text;
    do {
        tide_text_clear(&text);
        add_shape(&aside, model, parts, shape, limit);
    } while (tide_report_lines(&text) > room.lines && limit-- > TIDE_ROWS_LEAST);
    tide_text_add_bytes(page->out, text.bytes ? text.bytes : "", text.length);
    page->out->failed |= text.failed;
    tide_text_release(&text);
}

enum tide_status tide_report_add_view(struct tide_page *page,
                                      const struct tide_model *model,
                                      const struct tide_report_options *options,
                                      enum tide_metric metric,
                                      struct tide_report_room room)
{
    const enum tide_shape shape = tide_report_shape(options, metric);
    struct parts parts;
    const enum tide_status status = build(model, options, metric, shape, &parts);
    if (status)
        return status;
    const size_t limit = room.rows ? room.rows : limit_of(options, shape);
    parts.evidence = metric == TIDE_METRIC_LEAKS && !page->brief;
    const size_t before = page->out->length;
    if (shape == TIDE_SHAPE_FLOW)
        add_flow(page, model, options, limit);
    else if (!tide_shape_told(shape) || shape == TIDE_SHAPE_WINDOWS)
        add_fitting(page, model, &parts, shape,
                    (struct tide_report_room){limit, room.lines});
    release(&parts);
    if (metric == TIDE_METRIC_LEAKS && shape != TIDE_SHAPE_GPROF)
        add_suppressed(page, options->suppressed);
    if (page->out->length > before)
        tide_page_skip(page);
    return TIDE_OK;
}

/* What is of no metric, once below them all. */
static void add_beside(struct tide_page *page, const struct tide_model *model,
                       const struct tide_report_options *options)
{
    const enum tide_shape shape = tide_report_shape(options, TIDE_METRIC_TOTAL);
    const size_t limit = limit_of(options, shape);
    if (options->process_peaks.count) {
        tide_view_process_peaks(page, model, &options->process_peaks, limit);
        tide_page_skip(page);
    }
    if (options->shapes[TIDE_SHAPE_RANKS]) {
        tide_view_ranks(page, &options->ranks, limit);
        tide_page_skip(page);
    }
    if (options->told)
        add_told(page, model, options->told, shape, limit);
}

/* --space chooses among findings too, but for its default. */
enum tide_status tide_report_find(const struct tide_model *model,
                                  const struct tide_report_options *options,
                                  struct tide_findings *out)
{
    const struct tide_findings_scope scope = {
        .suppressed = options->suppressed->sites,
        .mapped = options->space == TIDE_IN_MMAP,
        .bad_frees = options->space == TIDE_IN_HEAP ? &options->bad_frees : NULL,
    };
    return tide_findings_build(model, &scope, out);
}

/* What weakens all that follows. */
enum tide_status tide_report_add_cautions(struct tide_page *page,
                                          const struct tide_model *model)
{
    struct tide_cautions cautions;
    const enum tide_status status = tide_cautions_find(model, &cautions);
    tide_view_cautions(page, &cautions);
    tide_cautions_release(&cautions);
    return status;
}

static enum tide_status add_views(struct tide_page *page,
                                  const struct tide_model *model,
                                  const struct tide_report_options *options)
{
    const struct tide_report_room usual = {0};
    const bool counts = tide_report_counts(options);
    enum tide_status status = tide_report_add_cautions(page, model);
    if (counts && !status)
        status = tide_report_add_view(page, model, options, TIDE_METRIC_TOTAL, usual);
    for (int metric = 0; metric < TIDE_METRICS && !counts && !status; metric++) {
        if (options->views[metric])
            status = tide_report_add_view(page, model, options,
                                          (enum tide_metric)metric, usual);
    }
    if (!status)
        add_beside(page, model, options);
    return status;
}

enum tide_status tide_report_text(const struct tide_model *model,
                                  const struct tide_report_options *options,
                                  struct tide_text *out)
{
    const enum tide_units units = tide_units_chosen(options->bytes, options->si);
    const struct tide_style style =
        tide_style_detect(STDOUT_FILENO, (enum tide_color)options->color, units);
    struct tide_page page = {.out = out, .style = &style, .sources = options->sources};
    tide_view_warning(&page, model->trace);
    if (out->length > 0)
        tide_page_skip(&page);
    const bool some = tide_report_views(options) > 0 || tide_report_counts(options);
    const enum tide_status status = some ? add_views(&page, model, options)
                                         : tide_report_default(&page, model, options);
    tide_view_honesty(&page, model, options->verbose);
    if (tide_report_lines(out) >
        TIDE_SCREEN_LINES) /* what is above was scrolled away */
        tide_view_warning(&page, model->trace);
    return status;
}

/* --- JSON and CSV ------------------------------------------------------------------ */

static enum tide_metric chosen_metric(const struct tide_report_options *options)
{
    for (int metric = 0; metric < TIDE_METRICS; metric++)
        if (options->views[metric])
            return (enum tide_metric)metric;
    return TIDE_METRIC_PEAK;
}

/* Print what there is when it is much. */
static void spill(struct tide_text *text)
{
    enum { TIDE_SPILL_BYTES = 1 << 20 };
    if (text->length < TIDE_SPILL_BYTES)
        return;
    (void)fwrite(text->bytes, 1, text->length, stdout); /* main looks at ferror */
    tide_text_clear(text);
}

/* Is it of all blocks and the whole run?  Of a part nothing can be found, as in the
 * text. */
static bool is_whole(const struct tide_model *model,
                     const struct tide_report_options *options)
{
    return !tide_report_filters(options) && !tide_report_moment(options) &&
           !model->stopped && model->until_s < 0 && model->from_s <= 0;
}

enum tide_status tide_report_data(const struct tide_model *model,
                                  const struct tide_report_options *options,
                                  struct tide_text *out)
{
    const enum tide_metric metric = chosen_metric(options);
    const enum tide_shape shape = tide_report_shape(options, metric);
    struct tide_findings findings = {0};
    struct tide_cautions cautions = {0};
    struct parts parts;
    enum tide_status status = build(model, options, metric, shape, &parts);
    if (status)
        return status;
    if (options->json && is_whole(model, options))
        status = tide_report_find(model, options, &findings);
    if (!status && options->json)
        status = tide_cautions_find(model, &cautions);
    const struct tide_report_json report = {
        .model = model,
        .rows = parts.rows,
        .callees = parts.callees,
        .groups = parts.groups,
        .profile = shape == TIDE_SHAPE_GPROF ? &parts.profile : NULL,
        .findings = &findings,
        .cautions = &cautions,
        .suppressions = options->suppressed,
        .shape = shape,
        .limit = options->rows == TIDE_ROWS_UNSET ? 0 : (size_t)options->rows,
        .sources = options->sources,
        .timeline = options->timeline,
        .spill = spill,
        .told = options->told,
        .passages = options->passages,
        .process_peaks = &options->process_peaks,
        .ranks = &options->ranks,
        .fold = !options->no_fold,
    };
    if (!status && options->json)
        tide_view_report_json(out, &report);
    else if (!status)
        tide_view_report_csv(out, &report);
    tide_findings_release(&findings);
    tide_cautions_release(&cautions);
    release(&parts);
    return status;
}
