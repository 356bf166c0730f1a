/* query/plan_answer.c - what the answer of a query looks like: groups, cells, columns. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/nearest.h"
#include "model/grow.h"
#include "query/plan.h"

/* --- Sources and groups ------------------------------------------------------------------ */

static void read_source(struct tide_planner *planner)
{
    const struct tide_query_word *const name = &planner->query->source;
    if (!name->text)
        return;
    for (int i = 0; i < TIDE_SOURCES; i++) {
        if (strcasecmp(name->text, tide_source_names[i]) == 0) {
            planner->plan->wish.source = (enum tide_query_source)i;
            planner->plan->wish.peak = i == TIDE_FROM_SNAPSHOTS;
            planner->plan->wish.water = i == TIDE_FROM_REGIONS;
            return;
        }
    }
    const char *const near = tide_nearest(name->text, tide_source_names, TIDE_SOURCES);
    planner->status = tide_query_blame(
        planner->error, name->span,
        near ? "there is no source '%s'; did you mean '%s'?"
             : "there is no source '%s': take events, blocks, snapshots, regions or "
               "timeline",
        name->text, near);
}

static bool selects_sums(const struct tide_query *query)
{
    for (size_t i = 0; i < query->item_count; i++)
        if (!query->items[i].star && !query->items[i].what.name.text)
            return true;
    return query->aggregated_count > 0;
}

static bool selects_star(const struct tide_query *query)
{
    for (size_t i = 0; i < query->item_count; i++)
        if (query->items[i].star)
            return true;
    return !query->selects;
}

static void add_key(struct tide_planner *planner, const struct tide_query_word *name)
{
    struct tide_plan *const plan = planner->plan;
    const size_t slot = tide_planner_slot(planner, name, false);
    if (slot == SIZE_MAX)
        return;
    for (size_t i = 0; i < plan->key_count; i++)
        if (plan->keys[i] == slot)
            return;
    if (plan->key_count == TIDE_PLAN_KEYS) {
        tide_planner_blame(planner, name->span, "too many keys: 16 at most");
        return;
    }
    if (plan->path_key == SIZE_MAX && plan->slots[slot].type == TIDE_VALUE_PATH)
        plan->path_key = plan->key_count;
    plan->keys[plan->key_count++] = slot;
}

/* Without GROUP BY: what is selected beside the sums; with "*" what Caliper would take,
 * the attributes that are names. */
static void guess_keys(struct tide_planner *planner)
{
    static const struct tide_query_word NAMES[] = {
        {.text = "region"}, {.text = "mem.alloc"}, {.text = "mem.free"}};
    const struct tide_query *const query = planner->query;
    for (size_t i = 0; i < query->item_count; i++)
        if (!query->items[i].star && query->items[i].what.name.text)
            add_key(planner, &query->items[i].what.name);
    if (!selects_star(query) || query->having.count)
        return;
    for (size_t i = 0; i < sizeof(NAMES) / sizeof(NAMES[0]); i++) {
        const enum tide_attribute_id id = tide_attribute_find(NAMES[i].text);
        if (tide_attribute_table[id].sources & 1u << planner->plan->wish.source)
            add_key(planner, &NAMES[i]);
    }
}

static void read_groups(struct tide_planner *planner)
{
    const struct tide_query *const query = planner->query;
    struct tide_plan *const plan = planner->plan;
    plan->path_key = SIZE_MAX;
    plan->grouped = query->group_count > 0 || query->having.count > 0 ||
                    query->distinct || selects_sums(query);
    if (!plan->grouped)
        return;
    for (size_t i = 0; i < query->group_count && !planner->status; i++)
        add_key(planner, &query->groups[i]);
    if (!query->group_count)
        guess_keys(planner);
}

/* --- Cells -------------------------------------------------------------------------------- */

size_t tide_planner_add_cell(struct tide_planner *planner, const char *name,
                             size_t slot)
{
    struct tide_plan *const plan = planner->plan;
    struct tide_plan_cell *const list = tide_grown(plan->cells, &plan->cell_capacity,
                                                   plan->cell_count + 1, sizeof(*list));
    if (!list) {
        planner->status = TIDE_ENOMEM;
        return SIZE_MAX;
    }
    plan->cells = list;
    list[plan->cell_count] = (struct tide_plan_cell){name, slot};
    return plan->cell_count++;
}

/* OPERAND of a clause may be a sum. */
static void find_sum(struct tide_planner *planner, const struct tide_operand *operand)
{
    if (!operand->name.text && !planner->status)
        (void)tide_planner_sum(planner, operand->call);
}

/* Of ORDER BY; where nothing is grouped there are none. */
static void find_order_sum(struct tide_planner *planner,
                           const struct tide_operand *operand)
{
    if (!operand->name.text && !planner->plan->grouped)
        tide_planner_blame(
            planner, tide_operand_span(planner->query, operand),
            "nothing is grouped here: say what with GROUP BY, or SELECT this");
    find_sum(planner, operand);
}

static void check_inclusive(struct tide_planner *planner)
{
    const struct tide_plan *const plan = planner->plan;
    for (size_t i = 0; i < plan->sum_count && plan->path_key == SIZE_MAX; i++)
        if (plan->sums[i].inclusive)
            tide_planner_blame(planner, planner->query->calls[plan->sums[i].call].span,
                               "this needs a path to climb: GROUP BY region");
}

/* Sums of all clauses: they must be known before the cells are laid out. */
static void find_sums(struct tide_planner *planner)
{
    const struct tide_query *const query = planner->query;
    for (size_t i = 0; i < query->item_count; i++)
        if (!query->items[i].star)
            find_sum(planner, &query->items[i].what);
    for (size_t i = 0; i < query->aggregated_count && !planner->status; i++)
        (void)tide_planner_sum(planner, query->aggregated[i]);
    for (size_t i = 0; i < query->having.count; i++) {
        const struct tide_term *const term = &query->terms[query->having.first + i];
        if (term->kind < TIDE_TERM_NOT)
            find_sum(planner, &term->what);
    }
    for (size_t i = 0; i < query->order_count; i++)
        find_order_sum(planner, &query->orders[i].what);
    check_inclusive(planner);
}

static void lay_out(struct tide_planner *planner)
{
    struct tide_plan *const plan = planner->plan;
    if (!plan->grouped)
        return;
    for (size_t i = 0; i < plan->key_count && !planner->status; i++)
        (void)tide_planner_add_cell(planner, plan->slots[plan->keys[i]].name,
                                    plan->keys[i]);
    for (size_t i = 0; i < plan->sum_count && !planner->status; i++)
        (void)tide_planner_add_cell(planner, plan->sums[i].name, SIZE_MAX);
}

/* The title of a column is also a name for it. */
static size_t cell_titled(const struct tide_plan *plan, const char *name)
{
    for (size_t i = 0; i < plan->column_count; i++)
        if (strcmp(plan->columns[i].title, name) == 0)
            return plan->columns[i].cell;
    return SIZE_MAX;
}

size_t tide_planner_cell_called(const struct tide_plan *plan, const char *name)
{
    const size_t titled = cell_titled(plan, name);
    if (titled != SIZE_MAX)
        return titled;
    for (size_t i = 0; i < plan->cell_count; i++)
        if (strcmp(plan->cells[i].name, name) == 0)
            return i;
    /* function, path and region are the same. */
    const enum tide_attribute_id id = tide_attribute_find_alike(name);
    for (size_t i = 0; i < plan->cell_count; i++)
        if (id != TIDE_NO_ATTRIBUTE && plan->cells[i].slot != SIZE_MAX &&
            plan->slots[plan->cells[i].slot].attribute == id &&
            !plan->slots[plan->cells[i].slot].let)
            return i;
    return SIZE_MAX;
}

static void blame_cell(struct tide_planner *planner, const struct tide_query_word *name)
{
    const struct tide_plan *const plan = planner->plan;
    const char **const names = calloc(plan->cell_count + 1, sizeof(*names));
    for (size_t i = 0; names && i < plan->cell_count; i++)
        names[i] = plan->cells[i].name;
    const char *const near =
        names ? tide_nearest(name->text, names, plan->cell_count) : NULL;
    if (!planner->status) {
        if (near)
            planner->status = tide_query_blame(
                planner->error, name->span,
                "the answer has no '%s'; did you mean '%s'?", name->text, near);
        else if (tide_attribute_find(name->text) != TIDE_NO_ATTRIBUTE)
            planner->status = tide_query_blame(
                planner->error, name->span,
                "'%s' is neither grouped nor summed up: add it to GROUP BY, or take "
                "any(%s)",
                name->text, name->text);
        else if (!tide_planner_blame_bare(planner, name))
            planner->status = tide_query_blame(planner->error, name->span,
                                               "the answer has no '%s'", name->text);
    }
    free(names);
}

/* The cell that OPERAND means, in a clause about the answer. */
size_t tide_planner_find_cell(struct tide_planner *planner,
                              const struct tide_operand *operand)
{
    struct tide_plan *const plan = planner->plan;
    if (planner->status)
        return SIZE_MAX;
    if (!operand->name.text) {
        const size_t sum = tide_planner_sum(planner, operand->call);
        return sum == SIZE_MAX ? SIZE_MAX : plan->key_count + sum;
    }
    const size_t cell = tide_planner_cell_called(plan, operand->name.text);
    if (cell != SIZE_MAX)
        return cell;
    if (plan->grouped) {
        blame_cell(planner, &operand->name);
        return SIZE_MAX;
    }
    const size_t slot = tide_planner_slot(planner, &operand->name, false);
    return slot == SIZE_MAX ? SIZE_MAX
                            : tide_planner_add_cell(planner, operand->name.text, slot);
}

/* --- Columns ------------------------------------------------------------------------------ */

static bool shows_path(const struct tide_plan *plan, size_t cell)
{
    const size_t slot = plan->cells[cell].slot;
    return slot != SIZE_MAX && plan->slots[slot].type == TIDE_VALUE_PATH;
}

void tide_planner_column(struct tide_planner *planner, struct tide_plan_column column)
{
    struct tide_plan *const plan = planner->plan;
    if (column.cell == SIZE_MAX || planner->status)
        return;
    struct tide_plan_column *const list = tide_grown(
        plan->columns, &plan->column_capacity, plan->column_count + 1, sizeof(*list));
    if (!list) {
        planner->status = TIDE_ENOMEM;
        return;
    }
    plan->columns = list;
    column.path = shows_path(plan, column.cell);
    if (!column.title)
        column.title = plan->cells[column.cell].name;
    list[plan->column_count++] = column;
}

static void add_items(struct tide_planner *planner)
{
    const struct tide_query *const query = planner->query;
    if (!query->selects)
        tide_planner_star(planner);
    for (size_t i = 0; i < query->item_count && !planner->status; i++) {
        const struct tide_item *const item = &query->items[i];
        if (item->star)
            tide_planner_star(planner);
        else
            tide_planner_column(
                planner, (struct tide_plan_column){
                             .cell = tide_planner_find_cell(planner, &item->what),
                             .title = item->alias.text,
                             .unit = item->unit.text});
    }
    if (planner->options->show_users && !planner->plan->grouped)
        tide_planner_users(planner);
}

/* AGGREGATE beside SELECT: what it names is shown as well. */
static void add_aggregated(struct tide_planner *planner)
{
    const struct tide_query *const query = planner->query;
    for (size_t i = 0; i < query->aggregated_count && query->selects; i++) {
        const struct tide_operand what = {.call = query->aggregated[i]};
        const size_t cell = tide_planner_find_cell(planner, &what);
        bool shown = false;
        for (size_t j = 0; j < planner->plan->column_count; j++)
            shown = shown || planner->plan->columns[j].cell == cell;
        if (!shown)
            tide_planner_column(planner, (struct tide_plan_column){.cell = cell});
    }
}

static void read_orders(struct tide_planner *planner)
{
    const struct tide_query *const query = planner->query;
    struct tide_plan *const plan = planner->plan;
    plan->orders = calloc(query->order_count + 1, sizeof(*plan->orders));
    if (!plan->orders) {
        planner->status = TIDE_ENOMEM;
        return;
    }
    for (size_t i = 0; i < query->order_count && !planner->status; i++) {
        const size_t cell = tide_planner_find_cell(planner, &query->orders[i].what);
        plan->orders[plan->order_count++] =
            (struct tide_plan_order){cell, query->orders[i].descending};
    }
}

/* --- Conditions ---------------------------------------------------------------------------- */

static struct tide_planner_cell resolve_slot(struct tide_planner *planner,
                                             const struct tide_operand *operand)
{
    struct tide_planner_cell cell = {.index = SIZE_MAX};
    if (!operand->name.text) {
        tide_planner_blame(planner, tide_operand_span(planner->query, operand),
                           "WHERE looks at rows before they are summed up: put this "
                           "into HAVING");
        return cell;
    }
    cell.index = tide_planner_slot(planner, &operand->name, true);
    if (cell.index != SIZE_MAX) {
        cell.type = planner->plan->slots[cell.index].type;
        cell.unit = planner->plan->slots[cell.index].unit;
    }
    return cell;
}

static struct tide_planner_cell resolve_cell(struct tide_planner *planner,
                                             const struct tide_operand *operand)
{
    const struct tide_plan *const plan = planner->plan;
    struct tide_planner_cell cell = {.index = tide_planner_find_cell(planner, operand)};
    if (cell.index == SIZE_MAX)
        return cell;
    if (cell.index < plan->key_count) {
        cell.type = plan->slots[plan->keys[cell.index]].type;
        cell.unit = plan->slots[plan->keys[cell.index]].unit;
    } else {
        const struct tide_plan_sum *const sum =
            &plan->sums[cell.index - plan->key_count];
        if (sum->one != SIZE_MAX)
            cell.unit = plan->slots[sum->one].unit;
    }
    return cell;
}

enum tide_status tide_plan_make(const struct tide_query *query,
                                const struct tide_plan_options *options,
                                struct tide_plan *plan, struct tide_query_error *error)
{
    struct tide_planner planner = {
        .query = query, .options = options, .plan = plan, .error = error};
    *plan = (struct tide_plan){
        .query = query,
        .wish = {.labelled_only = options->labelled_only},
        .distinct = query->distinct,
        .limited = query->limited,
        .limit = query->limit,
        .offset = query->offset,
    };
    read_source(&planner);
    if (!planner.status)
        tide_planner_lets(&planner);
    if (!planner.status)
        plan->where = tide_planner_condition(&planner, query->where, resolve_slot);
    if (!planner.status)
        read_groups(&planner);
    if (!planner.status)
        find_sums(&planner);
    if (!planner.status)
        lay_out(&planner);
    if (!planner.status)
        add_items(&planner);
    if (!planner.status)
        add_aggregated(&planner);
    if (!planner.status)
        plan->having = tide_planner_condition(&planner, query->having, resolve_cell);
    if (!planner.status)
        read_orders(&planner);
    return planner.status;
}
