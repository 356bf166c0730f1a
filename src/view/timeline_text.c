/* view/timeline_text.c - the live heap over time as a curve, its crest marked. */
#include <string.h>

#include "view/report_text.h"
#include "view/run_words.h"
#include "view/utf8.h"

enum {
    TIDE_CURVE_ROWS = 4,
    TIDE_CURVE_LEFT = 2,  /* margin */
    TIDE_CURVE_LEAST = 2, /* points without which there is no curve */
};

/* The stretch of the timeline under COLUMN of WIDTH, as its highest point. */
static uint64_t height_at(const struct tide_model *model, int column, int width)
{
    const uint64_t count = model->timeline_count;
    const uint64_t first = (uint64_t)column * count / (uint64_t)width;
    uint64_t end = (uint64_t)(column + 1) * count / (uint64_t)width;
    end = end > first ? end : first + 1;
    uint64_t highest = 0;
    for (uint64_t i = first; i < end && i < count; i++)
        highest = model->timeline[i] > highest ? model->timeline[i] : highest;
    return highest;
}

/* What stands in ROW (0: lowest) for a curve that is HEIGHT of TOP high there. */
static const char *cell(uint64_t height, uint64_t top, int row, bool utf8)
{
    static const char *const EIGHTHS[] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    static const char *const THIRDS[] = {" ", ".", "o", "#"};
    const int steps = utf8 ? 8 : 3;
    const double share = (double)height / (double)top;
    int filled = (int)(share * TIDE_CURVE_ROWS * steps + 0.5);
    if (filled == 0 && height > 0)
        filled = 1; /* something is not nothing */
    filled -= row * steps;
    filled = filled < 0 ? 0 : filled > steps ? steps : filled;
    return utf8 ? EIGHTHS[filled] : THIRDS[filled];
}

/* Below a curve along bytes or events: its length, and a mark under its crest. */
static void add_other_axis(struct tide_page *page, const struct tide_model *model,
                           int width)
{
    struct tide_text end = {0};
    int crest = 0;
    for (int i = 1; i < width; i++)
        if (height_at(model, i, width) > height_at(model, crest, width))
            crest = i;
    if (model->axis == TIDE_AXIS_EVENTS)
        tide_words_count(&end, model->axis_total, "event");
    else
        tide_text_addf(&end, "%s allocated",
                       tide_number_bytes(model->axis_total, page->style->units).text);
    const int last = width - (int)end.length;
    tide_page_tab(page, TIDE_CURVE_LEFT);
    if (crest > 2)
        tide_page_add(page, TIDE_INK_DIM, "0");
    tide_page_tab(page, TIDE_CURVE_LEFT + crest);
    tide_page_add(page, TIDE_INK_HOT, tide_glyph(page->style, TIDE_GLYPH_CREST));
    if (crest + 2 < last) {
        tide_page_tab(page, TIDE_CURVE_LEFT + last);
        tide_page_add(page, TIDE_INK_DIM, end.bytes ? end.bytes : "");
    }
    tide_page_end(page);
    if (crest + 2 >= last) { /* no room beside the mark */
        tide_page_tab(page, TIDE_CURVE_LEFT + (last > 0 ? last : 0));
        tide_page_add(page, TIDE_INK_DIM, end.bytes ? end.bytes : "");
        tide_page_end(page);
    }
    tide_text_release(&end);
}

/* "0 s      ^ peak ...      12.4 s" below the curve, the crest's mark in its column. */
static void add_axis(struct tide_page *page, const struct tide_model *model, int width)
{
    const struct tide_number end = tide_number_seconds(model->duration_s);
    const struct tide_number at = tide_number_seconds(model->summary[0].peak_time_s);
    double share = 0;
    if (model->duration_s > 0)
        share = model->summary[TIDE_IN_HEAP].peak_time_s / model->duration_s;
    const int crest = share >= 0 && share < 1 ? (int)(share * width) : width - 1;
    const int last = width - (int)strlen(end.text); /* where the end's label starts */
    const int label = (int)strlen(at.text) + 2;
    /* The label stands right of the mark, or left of it where the end is near. */
    const bool right = crest + label + 2 < last;
    const bool left = !right && crest - label > 5;

    tide_page_tab(page, TIDE_CURVE_LEFT);
    if (crest > 4)
        tide_page_add(page, TIDE_INK_DIM, "0 s");
    if (left) {
        tide_page_tab(page, TIDE_CURVE_LEFT + crest - label + 1);
        tide_page_add(page, TIDE_INK_PLAIN, at.text);
    }
    tide_page_tab(page, TIDE_CURVE_LEFT + crest);
    tide_page_add(page, TIDE_INK_HOT, tide_glyph(page->style, TIDE_GLYPH_CREST));
    if (right) {
        tide_page_add(page, TIDE_INK_PLAIN, " ");
        tide_page_add(page, TIDE_INK_PLAIN, at.text);
    }
    if (crest + 2 < last) {
        tide_page_tab(page, TIDE_CURVE_LEFT + last);
        tide_page_add(page, TIDE_INK_DIM, end.text);
    }
    tide_page_end(page);
}

void tide_view_timeline(struct tide_page *page, const struct tide_model *model)
{
    const int width = page->style->width - 2 * TIDE_CURVE_LEFT;
    uint64_t top = 0;
    for (int i = 0; i < width; i++) {
        const uint64_t height = model->timeline_count ? height_at(model, i, width) : 0;
        top = height > top ? height : top;
    }
    if (!page->style->bars || model->timeline_count < TIDE_CURVE_LEAST || top == 0)
        return;
    for (int row = TIDE_CURVE_ROWS - 1; row >= 0; row--) {
        struct tide_text line = {0};
        for (int i = 0; i < width; i++)
            tide_text_add(
                &line, cell(height_at(model, i, width), top, row, page->style->utf8));
        tide_page_tab(page, TIDE_CURVE_LEFT);
        tide_page_add(page, TIDE_INK_WATER, line.bytes ? line.bytes : "");
        tide_text_release(&line);
        tide_page_end(page);
    }
    if (model->axis == TIDE_AXIS_SECONDS)
        add_axis(page, model, width);
    else
        add_other_axis(page, model, width);
}
