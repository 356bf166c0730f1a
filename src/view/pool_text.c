/* view/pool_text.c - what the program's own pools gave out, as text and JSON. */
#include "view/cells.h"
#include "view/names.h"
#include "view/report_text.h"
#include "view/run_words.h"
#include "view/told_text.h"

enum { TIDE_POOL_COUNT = 10, TIDE_POOL_BYTES = 11, TIDE_POOL_NAME = 16 };

const char *tide_told_maker(const struct tide_model *model, uint32_t stack)
{
    const struct tide_stacks *const stacks = &model->stacks;
    if (!stack || stack >= stacks->node_count || !model->symbols)
        return NULL;
    const uint32_t frame = stacks->nodes[stack].frame;
    if (frame >= stacks->frame_count || !model->symbols[frame].count)
        return NULL;
    return model->symbols[frame].list[0].function;
}

static struct tide_cells pool_cells(void)
{
    struct tide_cells cells = {.words = TIDE_POOL_NAME};
    tide_cells_add(&cells, "calls", TIDE_POOL_COUNT);
    tide_cells_add(&cells, "frees", TIDE_POOL_COUNT);
    tide_cells_add(&cells, "given out", TIDE_POOL_BYTES);
    tide_cells_add(&cells, "live", TIDE_POOL_BYTES);
    tide_cells_add(&cells, "peak", TIDE_POOL_BYTES);
    return cells;
}

static struct tide_cells_row pool_row(const struct tide_told_pool *pool,
                                      enum tide_units units)
{
    return (struct tide_cells_row){.texts = {
                                       tide_number_count(pool->calls),
                                       tide_number_count(pool->free_calls),
                                       tide_number_bytes(pool->bytes, units),
                                       tide_number_bytes(pool->live_bytes, units),
                                       tide_number_bytes(pool->peak_bytes, units),
                                   }};
}

/* The peak of a part is not known. */
static struct tide_cells_row piece_row(const struct tide_told_piece *piece,
                                       enum tide_units units)
{
    return (struct tide_cells_row){
        .texts = {
            tide_number_count(piece->calls),
            tide_number_count(piece->calls - piece->live_blocks),
            tide_number_bytes(piece->bytes, units),
            tide_number_bytes(piece->live_bytes, units),
        }};
}

/* On a line of its own: what it lies in. */
static void add_holder(struct tide_page *page, const struct tide_model *model,
                       const struct tide_told_piece *piece, int column)
{
    const char *const maker = tide_told_maker(model, piece->holder_stack);
    struct tide_text words = {0};
    if (!piece->held)
        tide_text_add(&words, "in no block of the heap");
    else if (*piece->holder_label)
        tide_text_addf(&words, "in %s", piece->holder_label);
    else
        tide_text_addf(&words, "in a block by %s", maker ? maker : "[unknown]");
    if (piece->held)
        tide_text_addf(&words, ", %s",
                       tide_number_bytes(piece->holder_bytes, page->style->units).text);
    tide_page_tab(page, column);
    tide_page_name(page, TIDE_INK_DIM, words.bytes ? words.bytes : "",
                   tide_page_left(page));
    tide_page_end(page);
    tide_text_release(&words);
}

static void add_piece(struct tide_page *page, const struct tide_model *model,
                      const struct tide_cells *cells,
                      const struct tide_told_piece *piece)
{
    const struct tide_cells_row row = piece_row(piece, page->style->units);
    tide_cells_line(page, cells, &row);
    tide_page_tab(page, page->column + 4);
    tide_page_name(page, *piece->label ? TIDE_INK_PLAIN : TIDE_INK_DIM,
                   *piece->label ? piece->label : "[no label]", tide_page_left(page));
    tide_page_end(page);
    add_holder(page, model, piece, tide_cells_end(cells, page->style, 2) + 2);
}

static struct tide_cells measure(const struct tide_told *told, enum tide_units units)
{
    struct tide_cells cells = pool_cells();
    for (size_t i = 0; i < told->pool_count; i++) {
        const struct tide_cells_row row = pool_row(&told->pools[i], units);
        tide_cells_measure(&cells, &row);
    }
    for (size_t i = 0; i < told->piece_count; i++) {
        const struct tide_cells_row row = piece_row(&told->pieces[i], units);
        tide_cells_measure(&cells, &row);
    }
    return cells;
}

void tide_view_pools(struct tide_page *page, const struct tide_model *model,
                     const struct tide_told *told)
{
    if (told->pool_count == 0) {
        tide_page_heading(page, "Pools",
                          "none: see tide_pool_alloc() in tidemark/tidemark.h");
        return;
    }
    tide_page_heading(page, "Pools", "all in blocks that are counted elsewhere");
    const struct tide_cells cells = measure(told, page->style->units);
    tide_cells_head(page, &cells);
    tide_page_add(page, TIDE_INK_DIM, "  pool");
    tide_page_end(page);
    for (uint32_t i = 0, k = 0; i < told->pool_count; i++) {
        const struct tide_told_pool *const pool = &told->pools[i];
        const struct tide_cells_row row = pool_row(pool, page->style->units);
        tide_cells_line(page, &cells, &row);
        tide_page_tab(page, page->column + 2);
        tide_page_name(page, TIDE_INK_BOLD, pool->name, tide_page_left(page));
        tide_page_end(page);
        for (; k < told->piece_count && told->pieces[k].pool == i; k++)
            add_piece(page, model, &cells, &told->pieces[k]);
    }
}

static void add_piece_json(struct tide_json *json, const struct tide_model *model,
                           const struct tide_told_piece *piece)
{
    tide_json_open_row(json, NULL);
    tide_json_string(json, "label", *piece->label ? piece->label : NULL);
    tide_json_uint(json, "calls", piece->calls);
    tide_json_uint(json, "bytes", piece->bytes);
    tide_json_uint(json, "live_blocks", piece->live_blocks);
    tide_json_uint(json, "live_bytes", piece->live_bytes);
    tide_json_bool(json, "held", piece->held);
    tide_json_string(json, "holder_label",
                     *piece->holder_label ? piece->holder_label : NULL);
    tide_json_string(json, "holder_function",
                     tide_told_maker(model, piece->holder_stack));
    tide_json_uint(json, "holder_bytes", piece->holder_bytes);
    tide_json_close(json);
}

void tide_json_pools(struct tide_json *json, const struct tide_model *model,
                     const struct tide_told *told)
{
    tide_json_open(json, "pools", '[');
    for (uint32_t i = 0, k = 0; i < told->pool_count; i++) {
        const struct tide_told_pool *const pool = &told->pools[i];
        tide_json_open(json, NULL, '{');
        tide_json_string(json, "pool", pool->name);
        tide_json_uint(json, "calls", pool->calls);
        tide_json_uint(json, "bytes", pool->bytes);
        tide_json_uint(json, "free_calls", pool->free_calls);
        tide_json_uint(json, "live_blocks", pool->live_blocks);
        tide_json_uint(json, "live_bytes", pool->live_bytes);
        tide_json_uint(json, "peak_bytes", pool->peak_bytes);
        tide_json_uint(json, "unmatched_frees", pool->unmatched_frees);
        tide_json_open(json, "parts", '[');
        for (; k < told->piece_count && told->pieces[k].pool == i; k++)
            add_piece_json(json, model, &told->pieces[k]);
        tide_json_close(json);
        tide_json_close(json);
    }
    tide_json_close(json);
}
