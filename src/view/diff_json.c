/* view/diff_json.c - `tidemark diff --json`: a contract with scripts.
 *
 * Keys are only ever added; a change of meaning is a new schema number.
 * docs/man/tidemark-diff.1 lists them.
 */
#include <stdio.h>
#include <stdlib.h>

#include "model/diff_places.h"
#include "view/diff_view.h"
#include "view/report_json.h"
#include "view/report_json_tree.h"
#include "view/report_text.h"
#include "view/run_words.h"

struct writer {
    struct tide_json json;
    const struct tide_diff_view *view;
    uint32_t *deferred; /* owned: nodes whose children come later */
    size_t deferred_count, deferred_capacity;
};

static const char *counts_of(const struct writer *writer)
{
    return tide_metric_counts(writer->view->diff->metric);
}

/* KEY after PREFIX. */
static void add_int(struct writer *writer, const char *prefix, const char *key,
                    int64_t value)
{
    char name[64];
    (void)snprintf(name, sizeof(name), "%s%s", prefix, key);
    tide_json_int(&writer->json, name, value);
}

static void add_uint(struct writer *writer, const char *prefix, const char *key,
                     uint64_t value)
{
    char name[64];
    (void)snprintf(name, sizeof(name), "%s%s", prefix, key);
    tide_json_uint(&writer->json, name, value);
}

/* All that is known of CHANGE. */
static void add_change(struct writer *writer, const struct tide_change *change)
{
    const uint64_t base = change->bytes[TIDE_SIDE_BASE];
    const char *const counts = counts_of(writer);
    add_int(writer, "", "bytes", tide_change_bytes(change));
    add_int(writer, "", counts, tide_change_calls(change));
    add_uint(writer, "base_", "bytes", base);
    add_uint(writer, "base_", counts, change->calls[TIDE_SIDE_BASE]);
    add_uint(writer, "new_", "bytes", change->bytes[TIDE_SIDE_NEW]);
    add_uint(writer, "new_", counts, change->calls[TIDE_SIDE_NEW]);
    if (base)
        tide_json_number(&writer->json, "percent",
                         100.0 * (double)tide_change_bytes(change) / (double)base);
    else
        tide_json_null(&writer->json, "percent");
    tide_json_string(&writer->json, "state", tide_change_word(change));
}

static void add_place(struct tide_json *json, const struct tide_diff_function *function,
                      const char *file, uint32_t line)
{
    tide_json_string(json, "function", function->name);
    tide_json_string(json, "module", function->module);
    tide_json_string(json, "file", file);
    if (file && line > 0)
        tide_json_uint(json, "line", line);
    else
        tide_json_null(json, "line");
}

static void add_node_place(struct writer *writer, uint32_t index)
{
    const struct tide_diff *const diff = writer->view->diff;
    const struct tide_diff_node *const node = &diff->nodes[index];
    add_place(&writer->json, &diff->functions[node->function], node->file, node->line);
}

/* --- Rows ---------------------------------------------------------------------------- */

static void add_flat_rows(struct writer *writer)
{
    const struct tide_diff *const diff = writer->view->diff;
    const size_t limit = writer->view->limit;
    for (size_t i = 0; i < diff->flat_count && (!limit || i < limit); i++) {
        const struct tide_diff_function *const function =
            &diff->functions[diff->flat[i]];
        const struct tide_change *const all = &function->inclusive;
        tide_json_open_row(&writer->json, NULL);
        add_change(writer, &function->self);
        tide_json_int(&writer->json, "inclusive_bytes", tide_change_bytes(all));
        add_int(writer, "inclusive_", counts_of(writer), tide_change_calls(all));
        tide_json_uint(&writer->json, "base_inclusive_bytes",
                       all->bytes[TIDE_SIDE_BASE]);
        tide_json_uint(&writer->json, "new_inclusive_bytes", all->bytes[TIDE_SIDE_NEW]);
        tide_json_string(&writer->json, "inclusive_state", tide_change_word(all));
        add_place(&writer->json, function, function->file, function->line);
        tide_json_close(&writer->json);
    }
}

/* The stacks that end in SITE; PLACES are theirs. */
static void add_stack_row(struct writer *writer, const struct tide_diff_places *places,
                          uint32_t site)
{
    const struct tide_diff *const diff = places->diff;
    const struct tide_diff_place *place = places->list;
    tide_json_open_row(&writer->json, NULL);
    add_change(writer, &diff->nodes[site].self);
    if (places->count > 0)
        add_place(&writer->json, &diff->functions[diff->nodes[site].function],
                  place->file, place->line);
    tide_json_open(&writer->json, "stack", '[');
    for (size_t i = 0; i < places->count; i++, place++) {
        tide_json_open_row(&writer->json, NULL);
        add_place(&writer->json, &diff->functions[diff->nodes[site].function],
                  place->file, place->line);
        tide_json_close(&writer->json);
        site = diff->nodes[site].caller;
    }
    tide_json_close(&writer->json);
    tide_json_close(&writer->json);
}

static void add_stack_rows(struct writer *writer)
{
    const struct tide_diff *const diff = writer->view->diff;
    const size_t limit = writer->view->limit;
    struct tide_diff_places places;
    enum tide_status status = tide_diff_places_init(&places, diff);
    for (size_t i = 0; i < diff->site_count && (!limit || i < limit) && !status; i++) {
        status = tide_diff_places_find(&places, diff->sites[i]);
        add_stack_row(writer, &places, diff->sites[i]);
    }
    writer->json.out->failed |= status != TIDE_OK;
    tide_diff_places_release(&places);
}

static bool is_written(const struct writer *writer, uint32_t node)
{
    const struct tide_diff_node *const at = &writer->view->diff->nodes[node];
    const size_t limit = writer->view->limit;
    return node && at->changes > 0 && (!limit || at->rank <= limit);
}

/* The children of NODE come later. */
static void defer(struct writer *writer, uint32_t node)
{
    if (writer->deferred_count == writer->deferred_capacity) {
        const size_t wanted = writer->deferred_capacity * 2 + 8;
        uint32_t *const list = reallocarray(writer->deferred, wanted, sizeof(*list));
        if (!list) {
            writer->json.out->failed = true;
            return;
        }
        writer->deferred = list;
        writer->deferred_capacity = wanted;
    }
    writer->deferred[writer->deferred_count++] = node;
}

static void open_node(struct writer *writer, uint32_t index, bool deferred)
{
    const struct tide_diff_node *const node = &writer->view->diff->nodes[index];
    tide_json_open_row(&writer->json, NULL);
    add_change(writer, &node->all);
    add_int(writer, "self_", "bytes", tide_change_bytes(&node->self));
    add_int(writer, "self_", counts_of(writer), tide_change_calls(&node->self));
    add_node_place(writer, index);
    if (deferred) {
        tide_json_uint(&writer->json, "deeper", writer->deferred_count);
        defer(writer, index);
    }
    tide_json_open(&writer->json, "children", '[');
}

static void close_node(struct writer *writer)
{
    tide_json_close(&writer->json); /* children */
    tide_json_close(&writer->json); /* the row */
}

/* Close NODE, which is LEVEL deep, and all callers below TOP that have no more children;
 * the next node, 0: none. */
static uint32_t leave(struct writer *writer, uint32_t node, uint32_t top,
                      uint32_t *level)
{
    const struct tide_diff_node *const nodes = writer->view->diff->nodes;
    for (; node != top; node = nodes[node].caller) {
        close_node(writer);
        if (is_written(writer, nodes[node].next))
            return nodes[node].next;
        --*level;
    }
    return 0;
}

/* The rows of what TOP calls. */
static void add_tree_rows(struct writer *writer, uint32_t top)
{
    const struct tide_diff_node *const nodes = writer->view->diff->nodes;
    uint32_t level = 1;
    uint32_t node = nodes[top].first_child;
    node = is_written(writer, node) ? node : 0;
    while (node) {
        const uint32_t child = nodes[node].first_child;
        const bool calls = is_written(writer, child);
        const bool deepest = level == TIDE_JSON_LEVELS;
        open_node(writer, node, calls && deepest);
        level += calls && !deepest;
        node = calls && !deepest ? child : leave(writer, node, top, &level);
    }
}

/* See report_json_tree.h. */
static void add_deeper(struct writer *writer)
{
    if (writer->deferred_count == 0)
        return;
    tide_json_open(&writer->json, "deeper", '[');
    for (size_t i = 0; i < writer->deferred_count; i++) { /* it may become more */
        tide_json_open(&writer->json, NULL, '[');
        add_tree_rows(writer, writer->deferred[i]);
        tide_json_close(&writer->json);
    }
    tide_json_close(&writer->json);
}

/* --- The rest ------------------------------------------------------------------------ */

static void add_side(struct writer *writer, const char *key, enum tide_side side)
{
    const struct tide_diff_view *const view = writer->view;
    const struct tide_model *const model = view->models[side];
    struct tide_text command = {0};
    tide_words_command(&command, model->trace->argv);
    tide_json_open(&writer->json, key, '{');
    tide_json_string(&writer->json, "name", view->names[side]);
    tide_json_string(&writer->json, "trace", model->trace->path);
    tide_json_string(&writer->json, "command", command.bytes ? command.bytes : "");
    if (view->at_s[side] >= 0)
        tide_json_number(&writer->json, "at_s", view->at_s[side]);
    else
        tide_json_null(&writer->json, "at_s");
    tide_json_number(&writer->json, "duration_s", model->duration_s);
    tide_json_bool(&writer->json, "complete", model->trace->complete);
    tide_json_open(&writer->json, "summary", '{');
    tide_json_summary(&writer->json, &model->summary[view->diff->space]);
    tide_json_left(&writer->json, &model->summary[view->diff->space],
                   view->left_out[side]);
    tide_json_close(&writer->json);
    if (view->suppressed[side])
        tide_json_suppressed(&writer->json, view->suppressed[side]);
    else
        tide_json_null(&writer->json, "suppressed");
    tide_json_close(&writer->json);
    tide_text_release(&command);
}

static void add_one_sided(struct writer *writer, const char *key,
                          const struct tide_diff_one_sided *sum)
{
    tide_json_open_row(&writer->json, key);
    tide_json_uint(&writer->json, "count", sum->count);
    tide_json_uint(&writer->json, "bytes", sum->bytes);
    tide_json_uint(&writer->json, counts_of(writer), sum->calls);
    tide_json_close(&writer->json);
}

static void add_rows(struct writer *writer)
{
    tide_json_open(&writer->json, "rows", '[');
    if (writer->view->shape == TIDE_DIFF_TREE)
        add_tree_rows(writer, 0);
    else if (writer->view->shape == TIDE_DIFF_STACKS)
        add_stack_rows(writer);
    else
        add_flat_rows(writer);
    tide_json_close(&writer->json);
    add_deeper(writer);
    free(writer->deferred);
}

void tide_view_diff_json(struct tide_text *out, const struct tide_diff_view *view)
{
    static const char *const SHAPES[] = {
        [TIDE_DIFF_FLAT] = "flat",
        [TIDE_DIFF_TREE] = "tree",
        [TIDE_DIFF_STACKS] = "stacks",
    };
    const struct tide_diff *const diff = view->diff;
    struct writer writer = {.json = {.out = out}, .view = view};
    struct tide_json *const json = &writer.json;
    tide_json_open(json, NULL, '{');
    tide_json_string(json, "schema", TIDE_DIFF_SCHEMA);
    tide_json_string(json, "view", tide_metric_name(diff->metric));
    tide_json_string(json, "shape", SHAPES[view->shape]);
    tide_json_string(json, "space", tide_space_name(diff->space));
    add_side(&writer, "base", TIDE_SIDE_BASE);
    add_side(&writer, "new", TIDE_SIDE_NEW);
    tide_json_open_row(json, "total");
    add_change(&writer, &diff->total);
    tide_json_close(json);
    add_one_sided(&writer, "new_stacks", &diff->added);
    add_one_sided(&writer, "gone_stacks", &diff->gone);
    add_rows(&writer);
    tide_json_close(json);
}
