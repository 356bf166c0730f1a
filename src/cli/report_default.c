/* cli/report_default.c - the report without a view: what fits on a screen.
 *
 * Peak, churn, what was left and the findings share TIDE_LINES lines.  Findings say most in
 * a line, so they get what the least number of rows of the others leaves over; the peak's
 * tree, which comes first on the page, gets what is left then.  Sections are written aside
 * where the length of one depends on that of a later one.
 */
#include "cli/report_default.h"

#include <string.h>

#include "base/text.h"
#include "view/report_text.h"

enum {
    TIDE_LINES = 50, /* without the headline and what is said of trust */
    TIDE_TREE_ROWS = 12,
    TIDE_TREE_LEAST = 9, /* lines that findings leave to it */
    TIDE_CHURN_ROWS = 4,
    TIDE_CHURN_ROWS_ALL = 10, /* with --verbose */
    TIDE_LEFT_ROWS = 3,
    /* Where the tree of the peak would be too small. */
    TIDE_TIGHT_CHURN_ROWS = 3,
    TIDE_TIGHT_LEFT_ROWS = 1,
    TIDE_LITTLE_PART = 20, /* less than that of the peak needs no rows then */
    TIDE_FINDINGS_LEAST = 2,
    /* Where two spaces have sections. */
    TIDE_TWO_TREES_ROWS = 4,
    TIDE_TWO_TREE_LINES = 8,
    TIDE_TWO_LEFT_ROWS = 2,
    TIDE_TWO_CHURN_ROWS = 3,
    TIDE_TWO_TIGHT_CHURN_ROWS = 2,
    TIDE_TWO_FINDING_LINES = 10,
};

/* What all sections need. */
struct sections {
    struct tide_page *page;
    const struct tide_model *model;
    const struct tide_report_options *options;
    size_t overview; /* lines above all sections */
};

/* LIMIT rows on a brief page, unless the user says how many; 0: as many as are usual. */
static size_t rows_of(const struct sections *sections, size_t limit)
{
    if (sections->options->rows != TIDE_ROWS_UNSET)
        return (size_t)sections->options->rows;
    return sections->page->brief ? limit : 0;
}

/* In LINES lines, if a brief page has few; 0: as many as LIMIT rows need. */
static enum tide_status add_view(const struct sections *sections,
                                 enum tide_metric metric, size_t limit, size_t lines)
{
    const bool free =
        !sections->page->brief || sections->options->rows != TIDE_ROWS_UNSET;
    const struct tide_report_room room = {rows_of(sections, limit), free ? 0 : lines};
    return tide_report_add_view(sections->page, sections->model, sections->options,
                                metric, room);
}

/* An empty line below what was added since the page was BEFORE bytes long, if it was. */
static void end_section(const struct sections *sections, size_t before)
{
    if (sections->page->out->length > before)
        tide_page_skip(sections->page);
}

static enum tide_status add_churn(const struct sections *sections, size_t limit)
{
    struct tide_rows_request request =
        tide_report_request(sections->options, TIDE_METRIC_TOTAL, TIDE_SHAPE_FLAT);
    struct tide_rows *rows;
    request.space = TIDE_IN_HEAP;
    request.suppressed = NULL;
    if (!sections->options->sort)
        request.sort = TIDE_SORT_USUAL;
    const enum tide_status status = tide_rows_ask(sections->model, &request, &rows);
    if (status)
        return status;
    const size_t wanted = rows_of(sections, limit);
    const size_t before = sections->page->out->length;
    tide_view_churn(sections->page, rows, wanted ? wanted : TIDE_CHURN_ROWS_ALL);
    end_section(sections, before);
    tide_rows_free(rows);
    return TIDE_OK;
}

/* The findings in at most LINES lines, but some of them in any case. */
static void add_findings(const struct sections *sections,
                         const struct tide_findings *findings, size_t lines)
{
    struct tide_page *const page = sections->page;
    size_t shown = page->brief ? findings->count : 0;
    struct tide_text text = {0};
    struct tide_page aside = *page;
    aside.out = &text;
    for (;; shown--) {
        tide_text_clear(&text);
        tide_view_findings(&aside, findings, shown);
        if (shown <= TIDE_FINDINGS_LEAST || tide_report_lines(&text) <= lines)
            break;
    }
    const size_t before = page->out->length;
    if (text.bytes)
        tide_text_add_bytes(page->out, text.bytes, text.length);
    page->out->failed |= text.failed;
    tide_text_release(&text);
    end_section(sections, before);
}

/* Nothing of a heap that the program did not use. */
static bool has_heap(const struct sections *sections)
{
    const struct tide_model *const model = sections->model;
    return !sections->options->any_space || sections->options->space != TIDE_IN_HEAP ||
           model->summary[TIDE_IN_HEAP].alloc_calls > 0 ||
           model->summary[TIDE_IN_MMAP].shared_peak_bytes == 0;
}

static void add_curve(const struct sections *sections)
{
    const size_t before = sections->page->out->length;
    if (sections->options->space == TIDE_IN_HEAP)
        tide_view_timeline(sections->page, sections->model);
    end_section(sections, before);
}

/* The lines that sections have taken up to here. */
static size_t lines_taken(const struct sections *sections)
{
    return tide_report_lines(sections->page->out) - sections->overview;
}

/* What TAKEN lines leave, with the blank line below a section. */
static size_t lines_left(size_t taken)
{
    return taken + 1 < TIDE_LINES ? TIDE_LINES - taken - 1 : 1;
}

/* What was left, where that is little beside the peak: its heading. */
static enum tide_status add_little_left(const struct sections *sections)
{
    struct tide_text text = {0};
    struct tide_page aside = *sections->page;
    struct sections leaving = *sections;
    aside.out = &text;
    leaving.page = &aside;
    const enum tide_status status = add_view(&leaving, TIDE_METRIC_LEAKS, 1, 0);
    const char *const end = text.bytes ? strchr(text.bytes, '\n') : NULL;
    if (end)
        tide_text_add_bytes(sections->page->out, text.bytes,
                            (size_t)(end - text.bytes) + 1);
    tide_page_skip(sections->page);
    sections->page->out->failed |= text.failed;
    tide_text_release(&text);
    return status;
}

static enum tide_status add_left(const struct sections *sections, bool tight)
{
    const struct tide_summary *const all =
        &sections->model->summary[sections->options->space];
    const uint64_t kept = sections->options->suppressed->bytes; /* by libraries */
    const uint64_t left = all->live_bytes > kept ? all->live_bytes - kept : 0;
    const size_t rows =
        sections->page->both_spaces ? TIDE_TWO_LEFT_ROWS : TIDE_LEFT_ROWS;
    if (tight && left < all->peak_bytes / TIDE_LITTLE_PART)
        return add_little_left(sections);
    return add_view(sections, TIDE_METRIC_LEAKS, tight ? TIDE_TIGHT_LEFT_ROWS : rows,
                    0);
}

/* What stands below the tree of the peak; ABOVE lines are taken besides. */
static enum tide_status write_below(const struct sections *sections,
                                    const struct tide_findings *findings, size_t above,
                                    bool tight)
{
    const size_t churn = tight ? TIDE_TIGHT_CHURN_ROWS : TIDE_CHURN_ROWS;
    const struct tide_text *const out = sections->page->out;
    const bool used = has_heap(sections);
    enum tide_status status = used ? add_churn(sections, churn) : TIDE_OK;
    if (!status && used)
        status = add_left(sections, tight);
    if (!status)
        add_findings(sections, findings,
                     lines_left(above + TIDE_TREE_LEAST + tide_report_lines(out)));
    return status;
}

/* All sections of one space; the tree of the peak has what the others leave it, and where
 * that is too little they have fewer rows. */
static enum tide_status add_sections(const struct sections *sections,
                                     const struct tide_findings *findings)
{
    struct tide_text below = {0};
    struct tide_page aside = *sections->page;
    struct sections others = *sections;
    const bool used = has_heap(sections);
    aside.out = &below;
    others.page = &aside;
    if (used)
        add_curve(sections);
    const size_t above = lines_taken(sections);
    enum tide_status status = write_below(&others, findings, above, false);
    if (!status && sections->page->brief &&
        lines_left(above + tide_report_lines(&below)) < TIDE_TREE_LEAST) {
        tide_text_clear(&below);
        status = write_below(&others, findings, above, true);
    }
    if (!status && used)
        status = add_view(sections, TIDE_METRIC_PEAK, TIDE_TREE_ROWS,
                          lines_left(above + tide_report_lines(&below)));
    if (below.bytes)
        tide_text_add_bytes(sections->page->out, below.bytes, below.length);
    sections->page->out->failed |= below.failed;
    tide_text_release(&below);
    return status;
}

/* Put a section that was written aside, TEXT, where it belongs; one that the lines do not
 * suffice for, with TAKEN lines besides, is left out.  Return the lines it took. */
static size_t put_aside(const struct sections *sections, struct tide_text *text,
                        size_t taken)
{
    const size_t lines = tide_report_lines(text);
    const bool put = taken + lines <= TIDE_LINES || !sections->page->brief;
    if (text->bytes && put)
        tide_text_add_bytes(sections->page->out, text->bytes, text->length);
    sections->page->out->failed |= text->failed;
    tide_text_release(text);
    return put ? lines : 0;
}

/* What stands below the heap's tree, where another space has sections too. */
static enum tide_status write_below_heap(const struct sections *sections, bool tight)
{
    const enum tide_status status =
        add_churn(sections, tight ? TIDE_TWO_TIGHT_CHURN_ROWS : TIDE_TWO_CHURN_ROWS);
    return status ? status : add_left(sections, tight);
}

/* The heap below what is mapped. */
static enum tide_status add_heap(const struct sections *sections, size_t taken)
{
    struct tide_text below = {0}, curve = {0};
    struct tide_page aside = *sections->page, drawn = *sections->page;
    struct sections others = *sections, drawing = *sections;
    if (sections->model->summary[TIDE_IN_HEAP].alloc_calls == 0)
        return TIDE_OK;
    aside.out = &below;
    others.page = &aside;
    drawn.out = &curve;
    drawing.page = &drawn;
    add_curve(&drawing);
    enum tide_status status = write_below_heap(&others, false);
    if (!status && sections->page->brief &&
        lines_left(taken + tide_report_lines(&below)) < TIDE_TWO_TREE_LINES) {
        tide_text_clear(&below);
        status = write_below_heap(&others, true);
    }
    size_t besides = taken + tide_report_lines(&below);
    besides += put_aside(sections, &curve, besides + TIDE_TWO_TREE_LINES);
    if (!status)
        status = add_view(sections, TIDE_METRIC_PEAK, TIDE_TWO_TREES_ROWS,
                          lines_left(besides));
    (void)put_aside(sections, &below, 0);
    return status;
}

/* All sections of mmap, which holds most, then those of the heap, and the findings of both.
 * What is still mapped is mostly what was mapped at the peak: where lines are short it is
 * left out. */
static enum tide_status add_mapped_first(const struct sections *sections,
                                         const struct tide_findings *findings)
{
    const struct tide_suppressions none = {0}; /* those that are known are the heap's */
    struct tide_report_options options = *sections->options;
    struct tide_text below = {0}, left = {0}, found = {0};
    struct tide_page aside = *sections->page, leaving = *sections->page;
    struct tide_page finding = *sections->page;
    struct sections mapped = *sections, heap = *sections, last = *sections;
    options.space = TIDE_IN_MMAP;
    options.suppressed = &none;
    mapped.options = &options;
    aside.out = &below;
    heap.page = &aside;
    leaving.out = &left;
    finding.out = &found;
    last.page = &finding;
    add_findings(&last, findings, TIDE_TWO_FINDING_LINES);
    size_t taken = lines_taken(sections) + tide_report_lines(&found);
    enum tide_status status = add_heap(&heap, taken + TIDE_TWO_TREE_LINES);
    taken += tide_report_lines(&below);
    const size_t lines = lines_left(taken);
    if (!status)
        status = add_view(&mapped, TIDE_METRIC_PEAK, TIDE_TWO_TREES_ROWS,
                          lines < TIDE_TWO_TREE_LINES ? lines : TIDE_TWO_TREE_LINES);
    taken =
        lines_taken(sections) + tide_report_lines(&found) + tide_report_lines(&below);
    mapped.page = &leaving;
    if (!status)
        status = add_view(&mapped, TIDE_METRIC_LEAKS, TIDE_TWO_LEFT_ROWS, 0);
    (void)put_aside(sections, &left, taken);
    (void)put_aside(sections, &below, 0);
    (void)put_aside(sections, &found, 0);
    return status;
}

enum tide_status tide_report_default(struct tide_page *page,
                                     const struct tide_model *model,
                                     const struct tide_report_options *options)
{
    struct sections sections = {page, model, options, 0};
    const bool mapped = options->any_space && tide_model_leading(model) == TIDE_IN_MMAP;
    struct tide_findings findings = {0};
    tide_view_overview(page, model, options->suppressed);
    tide_page_skip(page);
    enum tide_status status = tide_report_add_cautions(page, model);
    if (!status)
        status = tide_report_find(model, options, &findings);
    sections.overview = tide_report_lines(page->out);
    page->brief = !options->verbose && options->rows != 0;
    page->both_spaces = mapped && model->summary[TIDE_IN_HEAP].alloc_calls > 0;
    if (!status)
        status = mapped ? add_mapped_first(&sections, &findings)
                        : add_sections(&sections, &findings);
    page->brief = page->both_spaces = false;
    tide_findings_release(&findings);
    return status;
}
