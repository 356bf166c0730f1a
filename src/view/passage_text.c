/* view/passage_text.c - where blocks are made and freed: text and JSON. */
#include "view/passage_text.h"

#include "model/path.h"
#include "view/calls.h"
#include "view/columns.h"
#include "view/names.h"
#include "view/report_text.h"
#include "view/run_words.h"
#include "view/utf8.h"

enum {
    TIDE_LIFE_COLUMNS = 9, /* "mean life" */
    TIDE_NAME_LEAST = 16,  /* columns of a name that was shortened */
};

/* --- Text ---------------------------------------------------------------------------- */

/* Can FUNCTION be told in what is left of the line?  A name may lose its arguments, but
 * of an address, or in a few columns, nothing would be left to know it by. */
static bool fits(const struct tide_page *page, const struct tide_function *function)
{
    struct tide_text safe = {0};
    const int room = tide_page_left(page);
    tide_name_safe(&safe, function->name, page->style);
    const int columns = safe.bytes ? tide_columns(safe.bytes) : 0;
    tide_text_release(&safe);
    return columns <= room || (function->resolved && room >= TIDE_NAME_LEAST);
}

/* The path that was walked last in what is left of the line: its innermost call with its
 * place, then as many callers as there is room for. */
static void add_path(struct tide_page *page, const struct tide_paths *paths)
{
    tide_page_call(page, paths, &paths->calls[0]);
    for (size_t i = 1; i < paths->call_count && tide_page_left(page) > 8; i++) {
        const struct tide_function *const function =
            &paths->functions[paths->calls[i].function];
        tide_page_add(page, TIDE_INK_DIM, " ");
        tide_page_add(page, TIDE_INK_DIM, tide_glyph(page->style, TIDE_GLYPH_FROM));
        tide_page_add(page, TIDE_INK_DIM, " ");
        if (!fits(page, function)) {
            tide_page_add(page, TIDE_INK_DIM,
                          tide_glyph(page->style, TIDE_GLYPH_ELLIPSIS));
            break;
        }
        tide_page_function(page, TIDE_INK_DIM, function->name, tide_page_left(page));
    }
    tide_page_end(page);
}

static void add_passage(struct tide_page *page, const struct tide_columns *columns,
                        const struct tide_passage *passage, struct tide_paths *paths,
                        uint64_t total)
{
    const struct tide_columns_values values = {
        .bytes = passage->bytes, .total = total, .count = passage->blocks};
    tide_columns_line(page, columns, &values);
    /* Time is stamped every 85 events or so, or less often: shorter lives are short, not nothing. */
    const double life = tide_passage_mean_s(passage);
    tide_page_add_right(page, TIDE_INK_PLAIN,
                        life < 0.001 ? "<0.001 s" : tide_number_seconds(life).text,
                        TIDE_LIFE_COLUMNS);
    tide_page_add(page, TIDE_INK_PLAIN, "  ");
    const int column = page->column;
    if (tide_paths_walk(paths, passage->made))
        page->out->failed = true;
    add_path(page, paths);
    tide_page_tab(page, column);
    tide_page_add(page, TIDE_INK_DIM, tide_glyph(page->style, TIDE_GLYPH_INTO));
    tide_page_add(page, TIDE_INK_DIM, " ");
    if (tide_paths_walk(paths, passage->freed))
        page->out->failed = true;
    add_path(page, paths);
}

static void add_table(struct tide_page *page, const struct tide_passages *passages,
                      struct tide_paths *paths, size_t limit)
{
    const size_t shown = limit && limit < passages->count ? limit : passages->count;
    struct tide_columns columns = tide_columns_of(TIDE_METRIC_LEAKS, page->style);
    for (size_t i = 0; i < shown; i++)
        tide_columns_measure(&columns, page->style, passages->list[i].bytes,
                             passages->list[i].blocks);
    tide_columns_head(page, &columns);
    tide_page_add_right(page, TIDE_INK_DIM, "mean life", TIDE_LIFE_COLUMNS);
    tide_page_add(page, TIDE_INK_DIM, "  made in, freed in");
    tide_page_end(page);
    for (size_t i = 0; i < shown; i++)
        add_passage(page, &columns, &passages->list[i], paths, passages->bytes);
    if (shown < passages->count) {
        tide_page_tab(page, tide_columns_end(&columns) + TIDE_LIFE_COLUMNS + 2);
        tide_page_more(page, passages->count - shown, "pair");
    }
}

static void add_heading(struct tide_page *page, const struct tide_passages *passages)
{
    struct tide_text detail = {0};
    tide_text_addf(&detail, "%s in ",
                   tide_number_bytes(passages->bytes, page->style->units).text);
    tide_words_count(&detail, passages->blocks, "block");
    tide_text_add(&detail, ", ");
    tide_words_count(&detail, passages->count, "pair");
    tide_text_add(&detail, " of stacks");
    tide_page_heading(page, "Made and freed", detail.bytes ? detail.bytes : "");
    page->out->failed |= detail.failed;
    tide_text_release(&detail);
}

void tide_view_passages(struct tide_page *page, const struct tide_model *model,
                        const struct tide_passages *passages, size_t limit, bool fold)
{
    struct tide_paths paths;
    if (!passages) {
        tide_page_wrap(page, TIDE_INK_DIM,
                       "The trace does not say where blocks were freed: tidemark run "
                       "--free-stacks records that.",
                       0);
        return;
    }
    if (tide_paths_init(&paths, model)) {
        page->out->failed = true;
        return;
    }
    paths.fold = fold;
    add_heading(page, passages);
    if (passages->count > 0)
        add_table(page, passages, &paths, limit);
    tide_paths_release(&paths);
}

/* --- JSON ---------------------------------------------------------------------------- */

void tide_json_passages(struct tide_json *json, const struct tide_report_json *report)
{
    const struct tide_passages *const passages = report->passages;
    struct tide_paths paths;
    if (!passages) {
        tide_json_null(json, "sites");
        return;
    }
    if (tide_paths_init(&paths, report->model)) {
        json->out->failed = true;
        return;
    }
    paths.fold = report->fold;
    tide_json_open(json, "sites", '[');
    for (size_t i = 0; i < passages->count; i++) {
        const struct tide_passage *const passage = &passages->list[i];
        if (report->limit > 0 && i == report->limit)
            break;
        tide_json_open_row(json, NULL);
        tide_json_uint(json, "bytes", passage->bytes);
        tide_json_uint(json, "blocks", passage->blocks);
        tide_json_number(
            json, "share",
            passages->bytes ? (double)passage->bytes / (double)passages->bytes : 0.0);
        tide_json_number(json, "mean_life_s", tide_passage_mean_s(passage));
        tide_json_calls(json, "made_in", &paths, passage->made);
        tide_json_calls(json, "freed_in", &paths, passage->freed);
        tide_json_close(json);
        tide_report_row_done(report, json->out);
    }
    tide_json_close(json);
    tide_paths_release(&paths);
}
