/* view/query_split.c - the answer of a query as json-split, as hatchet reads it.
 *
 * Rows are lists of values.  Only the path refers to nodes, which stand in a list of
 * their own, callers before what they call; hatchet stumbles over any other reference.
 */
#include <stdlib.h>

#include "model/grow.h"
#include "view/query_view.h"

struct split {
    struct tide_query_view *view;
    size_t path;       /* cell */
    uint32_t *numbers; /* owned: by path of the names, number of its node + 1 */
    size_t capacity;
    uint64_t *nodes; /* owned: the path of each node */
    size_t count, node_capacity;
};

static bool add_node(struct split *split, uint64_t path)
{
    uint32_t *const numbers = tide_grown(split->numbers, &split->capacity,
                                         (size_t)path + 1, sizeof(*numbers));
    uint64_t *const nodes = tide_grown(split->nodes, &split->node_capacity,
                                       split->count + 1, sizeof(*nodes));
    if (numbers)
        split->numbers = numbers;
    if (nodes)
        split->nodes = nodes;
    if (!numbers || !nodes) {
        split->view->status = TIDE_ENOMEM;
        return false;
    }
    if (!numbers[path]) {
        nodes[split->count++] = path;
        numbers[path] = (uint32_t)split->count;
    }
    return true;
}

/* All nodes around PATH and its own, outermost first.  Names give outer paths smaller
 * numbers, but not in a row; so climb once for each level. */
static void add_path(struct split *split, uint64_t path)
{
    const struct tide_names *const names = &split->view->names;
    const uint32_t depth = tide_names_depth(names, path);
    uint64_t *const list = calloc(depth + 1, sizeof(*list));
    if (!list)
        split->view->status = TIDE_ENOMEM;
    for (uint32_t i = depth; list && i > 0; path = tide_names_parent(names, path))
        list[--i] = path;
    for (uint32_t i = 0; list && i < depth; i++)
        if (!add_node(split, list[i]))
            break;
    free(list);
}

static void add_value(const struct split *split, struct tide_value value)
{
    struct tide_query_view *const view = split->view;
    struct tide_text *const out = &view->out->text;
    const bool quoted = value.type == TIDE_VALUE_STRING ||
                        value.type == TIDE_VALUE_PATH ||
                        value.type == TIDE_VALUE_ADDRESS;
    if (!value.type) {
        tide_text_add(out, "null");
    } else if (quoted) {
        struct tide_text raw = {0};
        tide_value_text(value, &view->names, &raw);
        tide_out_json(out, raw.length ? raw.bytes : "");
        tide_text_release(&raw);
    } else {
        tide_text_add(out, tide_query_exact(view, value));
    }
}

static void add_path_number(const struct split *split, struct tide_value path)
{
    struct tide_text *const out = &split->view->out->text;
    if (path.type == TIDE_VALUE_PATH && split->numbers)
        tide_text_addf(out, "%u ]", split->numbers[path.id] - 1);
    else
        tide_text_add(out, "null ]");
}

static void add_rows(const struct split *split)
{
    struct tide_query_view *const view = split->view;
    struct tide_text *const out = &view->out->text;
    for (size_t row = 0; row < view->row_count && !view->status; row++) {
        const struct tide_value *const cells = tide_query_kept(view, row);
        tide_text_add(out, row ? ",\n    [ " : "\n    [ ");
        for (size_t i = 0; i < view->plan->column_count; i++) {
            const size_t cell = view->plan->columns[i].cell;
            if (cell == split->path || !view->shown[i])
                continue;
            add_value(split, cells[cell]);
            tide_text_add(out, ", ");
        }
        add_path_number(split, cells[split->path]);
        if (!tide_out_rest(view->out))
            view->status = TIDE_EIO;
    }
}

static void add_metadata(struct tide_text *out, const struct tide_plan_column *column)
{
    tide_text_add(out, "{ \"is_value\": true");
    if (column->unit) {
        tide_text_add(out, ", \"attribute.unit\": ");
        tide_out_json(out, column->unit);
    }
    tide_text_add(out, " }");
}

/* TITLES, else metadata. */
static void add_columns(const struct split *split, bool titles)
{
    struct tide_query_view *const view = split->view;
    struct tide_text *const out = &view->out->text;
    for (size_t i = 0; i < view->plan->column_count; i++) {
        const struct tide_plan_column *const column = &view->plan->columns[i];
        if (column->cell == split->path || !view->shown[i])
            continue;
        if (titles)
            tide_out_json(out, column->title);
        else
            add_metadata(out, column);
        tide_text_add(out, ", ");
    }
    tide_text_add(out, titles ? "\"path\"" : "{ \"is_value\": false }");
}

static void add_nodes(const struct split *split)
{
    const struct tide_names *const names = &split->view->names;
    struct tide_text *const out = &split->view->out->text;
    for (size_t i = 0; i < split->count; i++) {
        const uint64_t path = split->nodes[i];
        const uint32_t parent = tide_names_parent(names, path);
        tide_text_add(out, i ? ",\n    { \"label\": " : "\n    { \"label\": ");
        tide_out_json(out, tide_names_string(names, tide_names_leaf(names, path)));
        tide_text_add(out, ", \"column\": \"path\"");
        if (parent)
            tide_text_addf(out, ", \"parent\": %u", split->numbers[parent] - 1);
        tide_text_add(out, " }");
    }
}

static void split_end(struct tide_query_view *view)
{
    struct tide_text *const out = &view->out->text;
    struct split split = {.view = view, .path = tide_query_path_cell(view->plan)};
    for (size_t row = 0; row < view->row_count && !view->status; row++) {
        const struct tide_value path = tide_query_kept(view, row)[split.path];
        if (path.type == TIDE_VALUE_PATH)
            add_path(&split, path.id);
    }
    tide_text_add(out, "{\n  \"data\": [");
    if (!view->status)
        add_rows(&split);
    tide_text_add(out, "\n  ],\n  \"columns\": [ ");
    add_columns(&split, true);
    tide_text_add(out, " ],\n  \"column_metadata\": [ ");
    add_columns(&split, false);
    tide_text_add(out, " ],\n  \"nodes\": [");
    add_nodes(&split);
    tide_text_addf(out, "\n  ],\n  \"tidemark.version\": \"%s\"\n}\n", TIDE_VERSION);
    free(split.numbers);
    free(split.nodes);
}

const struct tide_query_format tide_query_json_split = {
    .name = "json-split",
    .words = "rows and nodes apart, as hatchet reads them",
    .keeps = true,
    .end = split_end,
};
