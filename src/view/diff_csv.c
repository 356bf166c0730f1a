/* view/diff_csv.c - `tidemark diff --csv`: the rows alone, for spreadsheets. */
#include "model/diff_places.h"
#include "view/csv.h"
#include "view/diff_view.h"
#include "view/report_text.h"

enum { TIDE_DIFF_NAMES = 24 };

struct writer {
    struct tide_csv csv;
    const struct tide_diff_view *view;
};

/* The columns: what all rows have between FIRST and LAST, both NULL-terminated. */
static void add_head(struct writer *writer, const char *const *first,
                     const char *const *last)
{
    static const char *const PLACE[] = {"function", "module", "file", "line", NULL};
    const bool blocks = writer->view->diff->metric == TIDE_METRIC_PEAK ||
                        writer->view->diff->metric == TIDE_METRIC_LEAKS;
    const char *const change[] = {"bytes",      blocks ? "blocks" : "calls",
                                  "base_bytes", blocks ? "base_blocks" : "base_calls",
                                  "new_bytes",  blocks ? "new_blocks" : "new_calls",
                                  "percent",    "state",
                                  NULL};
    const char *const *const parts[] = {first, change, PLACE, last};
    const char *names[TIDE_DIFF_NAMES];
    size_t count = 0;
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
        for (const char *const *name = parts[i]; *name; name++)
            names[count++] = *name;
    names[count] = NULL;
    tide_csv_head(&writer->csv, names);
}

/* What BASE has nothing of has no percentage. */
static void add_change(struct tide_csv *csv, const struct tide_change *change)
{
    const uint64_t base = change->bytes[TIDE_SIDE_BASE];
    tide_csv_int(csv, tide_change_bytes(change));
    tide_csv_int(csv, tide_change_calls(change));
    for (int side = 0; side < TIDE_SIDES; side++) {
        tide_csv_uint(csv, change->bytes[side]);
        tide_csv_uint(csv, change->calls[side]);
    }
    tide_csv_next(csv);
    if (base)
        tide_text_addf(csv->out, "%.6f",
                       100.0 * (double)tide_change_bytes(change) / (double)base);
    tide_csv_text(csv, tide_change_word(change));
}

static void add_place(struct tide_csv *csv, const struct tide_diff_function *function,
                      const char *file, uint32_t line)
{
    tide_csv_text(csv, function->name);
    tide_csv_text(csv, function->module);
    tide_csv_text(csv, file);
    tide_csv_known(csv, file ? line : 0);
}

static void add_node_place(struct writer *writer, uint32_t index)
{
    const struct tide_diff *const diff = writer->view->diff;
    const struct tide_diff_node *const node = &diff->nodes[index];
    add_place(&writer->csv, &diff->functions[node->function], node->file, node->line);
}

static const char *const NOTHING[] = {NULL};

static void add_flat(struct writer *writer)
{
    static const char *const LAST[] = {"inclusive_bytes", "base_inclusive_bytes",
                                       "new_inclusive_bytes", NULL};
    const struct tide_diff *const diff = writer->view->diff;
    const size_t limit = writer->view->limit;
    add_head(writer, NOTHING, LAST);
    for (size_t i = 0; i < diff->flat_count && (!limit || i < limit); i++) {
        const struct tide_diff_function *const function =
            &diff->functions[diff->flat[i]];
        const struct tide_change *const all = &function->inclusive;
        add_change(&writer->csv, &function->self);
        add_place(&writer->csv, function, function->file, function->line);
        tide_csv_int(&writer->csv, tide_change_bytes(all));
        tide_csv_uint(&writer->csv, all->bytes[TIDE_SIDE_BASE]);
        tide_csv_uint(&writer->csv, all->bytes[TIDE_SIDE_NEW]);
        tide_csv_end(&writer->csv);
    }
}

/* The functions from NODE outwards, as one value. */
static void add_path(struct writer *writer, uint32_t node)
{
    const struct tide_diff *const diff = writer->view->diff;
    struct tide_text joined = {0};
    for (; node; node = diff->nodes[node].caller)
        tide_text_addf(&joined, "%s%s", joined.length ? ";" : "",
                       diff->functions[diff->nodes[node].function].name);
    tide_csv_text(&writer->csv, joined.bytes);
    writer->csv.out->failed |= joined.failed;
    tide_text_release(&joined);
}

static void add_stacks(struct writer *writer)
{
    static const char *const LAST[] = {"stack", NULL};
    const struct tide_diff *const diff = writer->view->diff;
    const size_t limit = writer->view->limit;
    add_head(writer, NOTHING, LAST);
    struct tide_diff_places places;
    enum tide_status status = tide_diff_places_init(&places, diff);
    for (size_t i = 0; i < diff->site_count && (!limit || i < limit) && !status; i++) {
        const uint32_t site = diff->sites[i];
        status = tide_diff_places_find(&places, site);
        if (places.count == 0)
            continue;
        add_change(&writer->csv, &diff->nodes[site].self);
        add_place(&writer->csv, &diff->functions[diff->nodes[site].function],
                  places.list[0].file, places.list[0].line);
        add_path(writer, site);
        tide_csv_end(&writer->csv);
    }
    writer->csv.out->failed |= status != TIDE_OK;
    tide_diff_places_release(&places);
}

/* The first child of NODE that changed enough to be shown; 0: none. */
static uint32_t shown(const struct tide_diff_view *view, uint32_t node)
{
    const struct tide_diff_node *const at = &view->diff->nodes[node];
    return node && at->changes > 0 && (!view->limit || at->rank <= view->limit) ? node
                                                                                : 0;
}

static void add_tree(struct writer *writer)
{
    static const char *const FIRST[] = {"depth", NULL};
    static const char *const LAST[] = {"self_bytes", NULL};
    const struct tide_diff_node *const nodes = writer->view->diff->nodes;
    uint32_t node = shown(writer->view, nodes[0].first_child);
    uint64_t depth = 0;
    add_head(writer, FIRST, LAST);
    while (node) {
        tide_csv_uint(&writer->csv, depth);
        add_change(&writer->csv, &nodes[node].all);
        add_node_place(writer, node);
        tide_csv_int(&writer->csv, tide_change_bytes(&nodes[node].self));
        tide_csv_end(&writer->csv);
        const uint32_t child = shown(writer->view, nodes[node].first_child);
        depth += child != 0;
        for (; !child && node && !shown(writer->view, nodes[node].next); depth--)
            node = nodes[node].caller;
        node = child ? child : nodes[node].next;
    }
}

void tide_view_diff_csv(struct tide_text *out, const struct tide_diff_view *view)
{
    struct writer writer = {.csv = {.out = out}, .view = view};
    if (view->shape == TIDE_DIFF_TREE)
        add_tree(&writer);
    else if (view->shape == TIDE_DIFF_STACKS)
        add_stacks(&writer);
    else
        add_flat(&writer);
}
