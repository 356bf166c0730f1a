/* view/flow_text.c - which thread freed whose blocks, as text. */
#include <stdlib.h>

#include "model/makers.h"
#include "view/calls.h"
#include "view/columns.h"
#include "view/names.h"
#include "view/report_text.h"
#include "view/run_words.h"

enum {
    TIDE_FLOWS_SHOWN = 10,
    TIDE_MAKERS_SHOWN = 5,
    TIDE_LEFT = 2,
};

/* "worker (tid 12)", "[unnamed] (3 threads)" */
static void add_thread(struct tide_text *out, const struct tide_model *model,
                       uint32_t number, const struct tide_style *style)
{
    const struct tide_key_thread *const thread = &model->key_threads[number];
    tide_name_safe(out, thread->name && *thread->name ? thread->name : "[unnamed]",
                   style);
    if (thread->count > 1) {
        tide_text_add(out, " (");
        tide_words_count(out, thread->count, "thread");
        tide_text_add(out, ")");
    } else if (thread->tid) {
        tide_text_addf(out, " (tid %u)", thread->tid);
    }
}

void tide_view_flows_short(struct tide_page *page, const struct tide_model *model)
{
    if (model->flow_count == 0)
        return;
    tide_page_skip(page);
    tide_page_heading(page, "Freed by another thread", "than the one that made them");
    const size_t shown = tide_rows_shown(model->flow_count, TIDE_FLOWS_SHOWN);
    for (size_t i = 0; i < shown; i++) {
        const struct tide_flow *const flow = &model->flows[i];
        struct tide_text words = {0};
        tide_text_addf(&words, "%s in ",
                       tide_number_bytes(flow->bytes, page->style->units).text);
        tide_words_count(&words, flow->calls, "block");
        tide_text_add(&words, " made by ");
        add_thread(&words, model, flow->from, page->style);
        tide_text_add(&words, ", freed by ");
        add_thread(&words, model, flow->to, page->style);
        tide_page_tab(page, TIDE_LEFT);
        tide_page_wrap(page, TIDE_INK_PLAIN, words.bytes ? words.bytes : "", 4);
        tide_text_release(&words);
    }
    if (shown < model->flow_count) {
        tide_page_tab(page, TIDE_LEFT);
        tide_page_more(page, model->flow_count - shown, "pair");
    }
}

/* --- The view of its own ------------------------------------------------------------- */

static void add_flow(struct tide_page *page, const struct tide_model *model,
                     const struct tide_columns *columns, const struct tide_flow *flow,
                     uint64_t total)
{
    const struct tide_columns_values values = {
        .bytes = flow->bytes, .total = total, .count = flow->calls};
    struct tide_text words = {0};
    tide_columns_line(page, columns, &values);
    add_thread(&words, model, flow->from, page->style);
    tide_text_addf(&words, " %s ", tide_glyph(page->style, TIDE_GLYPH_INTO));
    add_thread(&words, model, flow->to, page->style);
    tide_page_wrap(page, TIDE_INK_PLAIN, words.bytes ? words.bytes : "",
                   tide_columns_end(columns));
    tide_text_release(&words);
}

static void add_table(struct tide_page *page, const struct tide_model *model,
                      uint64_t total, size_t limit)
{
    const size_t shown = tide_rows_shown(model->flow_count, limit);
    struct tide_columns columns = tide_columns_of(TIDE_METRIC_LEAKS, page->style);
    for (size_t i = 0; i < shown; i++)
        tide_columns_measure(&columns, page->style, model->flows[i].bytes,
                             model->flows[i].calls);
    tide_columns_head(page, &columns);
    tide_page_add(page, TIDE_INK_DIM, "made by, freed by");
    tide_page_end(page);
    for (size_t i = 0; i < shown; i++)
        add_flow(page, model, &columns, &model->flows[i], total);
    if (shown < model->flow_count) {
        tide_page_tab(page, tide_columns_end(&columns));
        tide_page_more(page, model->flow_count - shown, "pair");
    }
}

static void add_maker(struct tide_page *page, const struct tide_columns *columns,
                      const struct tide_maker *maker, struct tide_paths *paths,
                      uint64_t total)
{
    const struct tide_columns_values values = {
        .bytes = maker->bytes, .total = total, .count = maker->calls};
    if (tide_paths_walk(paths, paths->model->sites[maker->site].stack)) {
        page->out->failed = true;
        return;
    }
    tide_columns_line(page, columns, &values);
    tide_page_call(page, paths, &paths->calls[0]);
    tide_page_end(page);
}

static void add_list(struct tide_page *page, const struct tide_makers *makers,
                     struct tide_paths *paths, uint64_t total)
{
    const size_t shown =
        makers->count < TIDE_MAKERS_SHOWN ? makers->count : TIDE_MAKERS_SHOWN;
    struct tide_columns columns = tide_columns_of(TIDE_METRIC_LEAKS, page->style);
    for (size_t i = 0; i < shown; i++)
        tide_columns_measure(&columns, page->style, makers->list[i].bytes,
                             makers->list[i].calls);
    tide_page_skip(page);
    tide_columns_head(page, &columns);
    tide_page_add(page, TIDE_INK_DIM, "most of them made in");
    tide_page_end(page);
    for (size_t i = 0; i < shown; i++)
        add_maker(page, &columns, &makers->list[i], paths, total);
}

static void add_makers(struct tide_page *page, const struct tide_model *model,
                       uint64_t total)
{
    struct tide_makers makers;
    struct tide_paths paths;
    if (tide_paths_init(&paths, model)) {
        page->out->failed = true;
        return;
    }
    paths.fold = true;
    if (tide_makers_build(model, &paths, &makers))
        page->out->failed = true;
    else
        add_list(page, &makers, &paths, total);
    tide_makers_release(&makers);
    tide_paths_release(&paths);
}

void tide_view_flows(struct tide_page *page, const struct tide_model *model,
                     size_t limit)
{
    struct tide_text detail = {0};
    uint64_t bytes = 0, calls = 0;
    for (size_t i = 0; i < model->flow_count; i++) {
        bytes += model->flows[i].bytes;
        calls += model->flows[i].calls;
    }
    if (calls == 0) {
        tide_text_add(&detail, "nothing: each thread freed only its own blocks");
    } else {
        tide_text_addf(&detail, "%s in ",
                       tide_number_bytes(bytes, page->style->units).text);
        tide_words_count(&detail, calls, "block");
        tide_text_addf(
            &detail, ", %s of all frees",
            tide_number_share(calls, model->summary[TIDE_IN_HEAP].free_calls).text);
    }
    tide_page_heading(page, "Freed by another thread",
                      detail.bytes ? detail.bytes : "");
    tide_text_release(&detail);
    if (calls > 0) {
        add_table(page, model, bytes, limit);
        add_makers(page, model, bytes);
    }
}
