/* model/rows.c - from sites to what the views print.
 *
 * A pass over the sites that have anything of the metric, for each shape that is asked
 * for.
 */
#include <stdlib.h>
#include <string.h>

#include "model/grow.h"
#include "model/model.h"
#include "model/pattern.h"
#include "model/rows_build.h"

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

/* The sites that have anything, largest first: so the heaviest give functions their
 * lines. */
static enum tide_status list_stacks(const struct tide_model *model,
                                    const struct tide_chosen *chosen,
                                    struct tide_rows *rows)
{
    size_t capacity = 0;
    for (size_t i = 0; i < model->site_count; i++) {
        const struct tide_amount amount = chosen->sites[i];
        if (!amount.bytes && !amount.calls)
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
    }
    if (rows->stack_count)
        qsort(rows->stacks, rows->stack_count, sizeof(*rows->stacks), by_weight);
    return TIDE_OK;
}

/* The innermost call that the focus means; call_count: none. */
static size_t find_focus(const struct tide_paths *paths, const char *focus)
{
    size_t at = 0;
    while (at < paths->call_count &&
           !tide_pattern_means_function(
               focus, paths->functions[paths->calls[at].function].name))
        at++;
    return at;
}

/* The part of the path at hand that goes into the tree. */
static struct tide_branch_path part_of(const struct tide_paths *paths,
                                       const struct tide_rows_request *request)
{
    struct tide_branch_path path = {.calls = paths->calls, .count = paths->call_count};
    path.inward = request->part == TIDE_TREE_DOWN || request->part == TIDE_TREE_CALLEES;
    if (request->part != TIDE_TREE_CALLERS && request->part != TIDE_TREE_CALLEES)
        return path;
    const size_t at = find_focus(paths, request->focus);
    if (at == paths->call_count) {
        path.count = 0;
    } else if (request->part == TIDE_TREE_CALLEES) {
        path.count = at + 1;
    } else {
        path.calls += at;
        path.count -= at;
    }
    return path;
}

/* Walk the stack that is number INDEX of the rows. */
static enum tide_status walk(const struct tide_model *model,
                             const struct tide_rows *rows, struct tide_paths *paths,
                             size_t index)
{
    return tide_paths_walk(paths, model->sites[rows->stacks[index].site].stack);
}

/* While stacks are sorted. */
struct sorting {
    const struct tide_rows *rows;
    const char **names; /* owned, per site: of its innermost function */
};

static int by_column(const void *one, const void *other, void *user)
{
    const struct sorting *const sorting = user;
    const struct tide_stack_row *const a = one;
    const struct tide_stack_row *const b = other;
    int first = 0;
    if (tide_rows_by_share(sorting->rows))
        first =
            tide_rows_compare(sorting->rows, (struct tide_amount){a->bytes, a->calls},
                              (struct tide_amount){b->bytes, b->calls});
    else if (sorting->names)
        first = strcmp(sorting->names[a->site], sorting->names[b->site]);
    else if (a->calls != b->calls)
        first = a->calls < b->calls ? 1 : -1;
    return first ? first : by_weight(one, other);
}

/* Sort the stacks, which are sorted by weight, as was asked for. */
static enum tide_status sort_stacks(const struct tide_model *model,
                                    struct tide_rows *rows, struct tide_paths *paths)
{
    struct sorting sorting = {.rows = rows};
    enum tide_status status = TIDE_OK;
    if (rows->sort != TIDE_SORT_CALLS && rows->sort != TIDE_SORT_NAME &&
        !tide_rows_by_share(rows))
        return TIDE_OK;
    if (rows->sort == TIDE_SORT_NAME) {
        sorting.names = calloc(model->site_count + 1, sizeof(*sorting.names));
        if (!sorting.names)
            return TIDE_ENOMEM;
    }
    for (size_t i = 0; sorting.names && i < rows->stack_count && !status; i++) {
        status = walk(model, rows, paths, i);
        if (!status)
            sorting.names[rows->stacks[i].site] =
                paths->functions[paths->calls[0].function].name;
    }
    if (!status && rows->stack_count)
        qsort_r(rows->stacks, rows->stack_count, sizeof(*rows->stacks), by_column,
                &sorting);
    free(sorting.names);
    return status;
}

static struct tide_amount amount_of(const struct tide_rows *rows, size_t index)
{
    return (struct tide_amount){rows->stacks[index].bytes, rows->stacks[index].calls};
}

static enum tide_status add_flat(const struct tide_model *model, struct tide_rows *rows,
                                 struct tide_paths *paths)
{
    struct tide_flat_builder flat = {0};
    enum tide_status status = TIDE_OK;
    for (size_t i = 0; i < rows->stack_count && !status; i++) {
        status = walk(model, rows, paths, i);
        if (!status)
            status = tide_flat_add(&flat, rows, paths, (uint32_t)i, amount_of(rows, i));
        if (!status && !rows->filtered)
            rows->flat[paths->calls[0].function].self_temporary_calls +=
                model->sites[rows->stacks[i].site].temporary_calls;
    }
    if (!status)
        tide_flat_finish(&flat, rows);
    tide_flat_release(&flat);
    return status;
}

/* A stack of the rows, to be sorted by where it is among all stacks. */
struct placed {
    uint32_t node, index;
};

static int by_node(const void *one, const void *other)
{
    const struct placed *const a = one;
    const struct placed *const b = other;
    return (a->node > b->node) - (a->node < b->node);
}

/* The stacks in an order in which neighbours have callers in common; owned by the caller,
 * NULL without memory. */
static struct placed *order_stacks(const struct tide_model *model,
                                   const struct tide_rows *rows)
{
    struct placed *const order = calloc(rows->stack_count + 1, sizeof(*order));
    for (size_t i = 0; order && i < rows->stack_count; i++)
        order[i] =
            (struct placed){model->sites[rows->stacks[i].site].stack, (uint32_t)i};
    if (order && rows->stack_count)
        qsort(order, rows->stack_count, sizeof(*order), by_node);
    return order;
}

static enum tide_status add_tree(const struct tide_model *model,
                                 const struct tide_rows_request *request,
                                 struct tide_rows *rows, struct tide_paths *paths)
{
    struct tide_tree_builder tree = {0};
    struct placed *const order = order_stacks(model, rows);
    enum tide_status status = order ? TIDE_OK : TIDE_ENOMEM;
    for (size_t i = 0; i < rows->stack_count && !status; i++) {
        const uint32_t index = order[i].index;
        status = walk(model, rows, paths, index);
        const struct tide_branch_path path = part_of(paths, request);
        if (!status && path.count)
            status = tide_tree_add(&tree, rows, path, amount_of(rows, index), index);
    }
    if (!status)
        status = tide_tree_finish(&tree, rows);
    free(order);
    tide_tree_release(&tree);
    return status;
}

/* The tree is empty for want of the focus: how many calls of the run have it? */
static enum tide_status count_missed(const struct tide_model *model,
                                     const struct tide_rows_request *request,
                                     struct tide_rows *rows, struct tide_paths *paths)
{
    struct tide_rows_request whole = *request;
    whole.metric = TIDE_METRIC_TOTAL;
    struct tide_chosen chosen;
    enum tide_status status = tide_choose(model, &whole, false, &chosen);
    if (status)
        return status;
    for (size_t i = 0; i < model->site_count && !status; i++) {
        if (chosen.sites[i].calls == 0)
            continue;
        status = tide_paths_walk(paths, model->sites[i].stack);
        if (!status && find_focus(paths, request->focus) < paths->call_count)
            rows->missed_calls += chosen.sites[i].calls;
    }
    tide_chosen_release(&chosen);
    return status;
}

/* Functions get their lines from the heaviest stack, so the flat rows come first. */
static enum tide_status add_shapes(const struct tide_model *model,
                                   const struct tide_rows_request *request,
                                   struct tide_rows *rows, struct tide_paths *paths)
{
    enum tide_status status = TIDE_OK;
    if (!request->shapes || request->shapes & TIDE_BUILD_FLAT)
        status = add_flat(model, rows, paths);
    if (!status && (!request->shapes || request->shapes & TIDE_BUILD_TREE))
        status = add_tree(model, request, rows, paths);
    if (!status && request->part == TIDE_TREE_CALLERS && rows->tree_count <= 1)
        status = count_missed(model, request, rows, paths);
    if (!status)
        status = sort_stacks(model, rows, paths);
    rows->functions = paths->functions;
    rows->function_count = paths->function_count;
    return status;
}

/* Fill ROWS, which knows what it is. */
static enum tide_status fill(const struct tide_model *model,
                             const struct tide_rows_request *request,
                             struct tide_rows *rows)
{
    struct tide_chosen chosen;
    enum tide_status status = tide_choose(model, request, false, &chosen);
    if (status)
        return status;
    rows->total_bytes = chosen.total.bytes;
    rows->total_calls = chosen.total.calls;
    rows->whole_bytes = chosen.whole.bytes;
    rows->whole_calls = chosen.whole.calls;
    rows->filtered = chosen.filtered;
    status = list_stacks(model, &chosen, rows);
    if (!status)
        status = add_shapes(model, request, rows, rows->private_state);
    tide_chosen_release(&chosen);
    return status;
}

enum tide_status tide_rows_ask(const struct tide_model *model,
                               const struct tide_rows_request *request,
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
    paths->fold = request->fold;
    paths->hide = request->hide;
    rows->metric = request->metric;
    rows->space = request->space;
    rows->part = request->part;
    rows->fold = request->fold;
    rows->hide = request->hide;
    rows->sort = request->sort;
    rows->private_state = paths;
    status = fill(model, request, rows);
    if (status) {
        tide_rows_free(rows);
        return status;
    }
    *out = rows;
    return TIDE_OK;
}

enum tide_status tide_rows_build(const struct tide_model *model,
                                 enum tide_metric metric, enum tide_space space,
                                 struct tide_rows **out)
{
    const struct tide_rows_request request = {.metric = metric, .space = space};
    return tide_rows_ask(model, &request, out);
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
