/* model/rows.c - from sites to what the views print.
 *
 * One pass over the sites that have anything of the metric: each stack is turned into
 * calls once, and every shape takes what it needs of them.
 */
#include <stdlib.h>

#include "model/grow.h"
#include "model/model.h"
#include "model/rows_build.h"

/* Negative only in traces that claim impossible sizes. */
static uint64_t at_least_zero(int64_t value)
{
    return value > 0 ? (uint64_t)value : 0;
}

static struct tide_amount amount_of(const struct tide_site *site,
                                    enum tide_metric metric)
{
    switch (metric) {
    case TIDE_METRIC_PEAK:
        return (struct tide_amount){at_least_zero(site->peak_bytes),
                                    at_least_zero(site->peak_blocks)};
    case TIDE_METRIC_LEAKS:
        return (struct tide_amount){at_least_zero(site->live_bytes),
                                    at_least_zero(site->live_blocks)};
    case TIDE_METRIC_TOTAL:
        return (struct tide_amount){site->bytes, site->calls};
    case TIDE_METRIC_CHURN:
        return (struct tide_amount){site->temporary_bytes, site->temporary_calls};
    }
    return (struct tide_amount){0, 0};
}

static int by_weight(const void *one, const void *other)
{
    const struct tide_stack_row *const a = one;
    const struct tide_stack_row *const b = other;
    if (a->bytes != b->bytes)
        return a->bytes < b->bytes ? 1 : -1;
    if (a->calls != b->calls)
        return a->calls < b->calls ? 1 : -1;
    return (a->site > b->site) - (a->site < b->site);
}

/* The sites that have anything, largest first: so the heaviest give functions and tree
 * rows their lines. */
static enum tide_status list_stacks(const struct tide_model *model,
                                    struct tide_rows *rows)
{
    size_t capacity = 0;
    for (size_t i = 0; i < model->site_count; i++) {
        const struct tide_site *const site = &model->sites[i];
        const struct tide_amount amount = amount_of(site, rows->metric);
        if (site->space != (uint32_t)rows->space || (!amount.bytes && !amount.calls))
            continue;
        struct tide_stack_row *const stacks =
            tide_grown(rows->stacks, &capacity, rows->stack_count + 1, sizeof(*stacks));
        if (!stacks)
            return TIDE_ENOMEM;
        rows->stacks = stacks;
        stacks[rows->stack_count++] = (struct tide_stack_row){
            .site = (uint32_t)i,
            .bytes = amount.bytes,
            .calls = amount.calls,
        };
        rows->total_bytes += amount.bytes;
        rows->total_calls += amount.calls;
    }
    if (rows->stack_count)
        qsort(rows->stacks, rows->stack_count, sizeof(*rows->stacks), by_weight);
    return TIDE_OK;
}

static enum tide_status add_shapes(const struct tide_model *model,
                                   struct tide_rows *rows, struct tide_paths *paths)
{
    struct tide_flat_builder flat = {0};
    struct tide_tree_builder tree = {0};
    enum tide_status status = TIDE_OK;
    for (size_t i = 0; i < rows->stack_count && !status; i++) {
        const struct tide_stack_row *const row = &rows->stacks[i];
        const struct tide_amount amount = {row->bytes, row->calls};
        status = tide_paths_walk(paths, model->sites[row->site].stack);
        if (!status)
            status = tide_flat_add(&flat, rows, paths, (uint32_t)i, amount);
        if (!status)
            status = tide_tree_add(&tree, rows, paths, amount);
    }
    rows->functions = paths->functions;
    rows->function_count = paths->function_count;
    if (!status)
        status = tide_tree_finish(&tree, rows);
    if (!status)
        tide_flat_finish(rows);
    tide_flat_release(&flat);
    tide_tree_release(&tree);
    return status;
}

enum tide_status tide_rows_build(const struct tide_model *model,
                                 enum tide_metric metric, enum tide_space space,
                                 struct tide_rows **out)
{
    *out = NULL;
    if (!model->symbols)
        return TIDE_EUSAGE;
    struct tide_rows *const rows = calloc(1, sizeof(*rows));
    struct tide_paths *const paths = calloc(1, sizeof(*paths));
    enum tide_status status = TIDE_ENOMEM;
    if (rows && paths)
        status = tide_paths_init(paths, model);
    if (status) {
        free(rows);
        free(paths);
        return status;
    }
    rows->metric = metric;
    rows->space = space;
    rows->private_state = paths;
    status = list_stacks(model, rows);
    if (!status)
        status = add_shapes(model, rows, paths);
    if (status) {
        tide_rows_free(rows);
        return status;
    }
    *out = rows;
    return TIDE_OK;
}

void tide_rows_free(struct tide_rows *rows)
{
    if (!rows)
        return;
    tide_paths_release(rows->private_state);
    free(rows->private_state);
    free(rows->flat);
    free(rows->stacks);
    free(rows->tree);
    free(rows);
}
