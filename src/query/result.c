/* query/result.c - how an answer comes together: sums become cells, rows get an order. */
#include "query/result.h"

#include <stdlib.h>
#include <string.h>

#include "model/grow.h"
#include "query/evaluate.h"

void tide_result_release(struct tide_result *result)
{
    free(result->cells);
    tide_names_release(&result->names);
    *result = (struct tide_result){0};
}

/* Room for one more row. */
static struct tide_value *new_row(struct tide_result *result)
{
    const size_t width = result->plan->cell_count ? result->plan->cell_count : 1;
    struct tide_value *const cells =
        tide_grown(result->cells, &result->row_capacity, result->row_count + 1,
                   width * sizeof(*cells));
    if (!cells)
        return NULL;
    result->cells = cells;
    return cells + result->row_count++ * result->plan->cell_count;
}

enum tide_status tide_result_add(struct tide_result *result,
                                 const struct tide_value *cells, size_t budget)
{
    const size_t bytes = result->plan->cell_count * sizeof(*cells);
    if (budget && (result->row_count + 1) * bytes > budget)
        return TIDE_ELIMIT;
    struct tide_value *const row = new_row(result);
    if (!row)
        return TIDE_ENOMEM;
    memcpy(row, cells, bytes);
    return TIDE_OK;
}

enum tide_status tide_result_carry(struct tide_result *result,
                                   const struct tide_result *from,
                                   const struct tide_names *from_names, size_t budget)
{
    const size_t width = result->plan->cell_count;
    for (size_t i = 0; i < from->row_count; i++) {
        const struct tide_value *const cells = tide_result_row(from, i);
        if (budget && (result->row_count + 1) * width * sizeof(*cells) > budget)
            return TIDE_ELIMIT;
        struct tide_value *const row = new_row(result);
        if (!row)
            return TIDE_ENOMEM;
        for (size_t j = 0; j < width; j++)
            row[j] = tide_value_carry(cells[j], from_names, &result->names);
    }
    return result->names.failed ? TIDE_ENOMEM : TIDE_OK;
}

/* --- Groups -------------------------------------------------------------------------------- */

static double total_of(const struct tide_group_table *table, size_t sum)
{
    double total = 0;
    for (size_t i = 0; i < table->count; i++)
        total += tide_tally_share(&tide_group_tallies(table, i)[sum]);
    return total;
}

static enum tide_status answer_groups(struct tide_result *result,
                                      struct tide_group_table *table,
                                      const double *totals)
{
    const struct tide_plan *const plan = result->plan;
    for (size_t i = 0; i < table->count; i++) {
        struct tide_value *const row = new_row(result);
        if (!row)
            return TIDE_ENOMEM;
        for (size_t j = 0; j < plan->key_count; j++)
            row[j] = tide_group_key(table, i, j);
        for (size_t j = 0; j < plan->sum_count; j++) {
            const struct tide_tally_rule rule = {
                plan->sums[j].kind, plan->sums[j].parameter, &result->names};
            bool overflow = false;
            if (table->climbed && i >= table->climbed && !plan->sums[j].inclusive)
                continue; /* no row of its own */
            row[plan->key_count + j] =
                tide_tally_value(&tide_group_tallies(table, i)[j], &rule, totals[j],
                                 &result->names, &overflow);
            result->overflows += overflow;
        }
    }
    return result->names.failed ? TIDE_ENOMEM : TIDE_OK;
}

/* Sums over everything have an answer also when there was no row. */
static enum tide_status add_empty_group(const struct tide_plan *plan,
                                        struct tide_group_table *table)
{
    size_t group;
    if (plan->key_count || table->count)
        return TIDE_OK;
    return tide_group_table_find(table, NULL, &group);
}

static enum tide_status answer(struct tide_result *result,
                               struct tide_group_table *table)
{
    const struct tide_plan *const plan = result->plan;
    double *const totals = calloc(plan->sum_count + 1, sizeof(*totals));
    enum tide_status status = totals ? add_empty_group(plan, table) : TIDE_ENOMEM;
    bool inclusive = false;
    for (size_t i = 0; i < plan->sum_count && !status; i++) {
        /* Of all groups by themselves: nothing counts twice. */
        if (plan->sums[i].kind == TIDE_TALLY_PERCENT_TOTAL)
            totals[i] = total_of(table, i);
        inclusive = inclusive || plan->sums[i].inclusive;
    }
    if (!status && inclusive)
        status = tide_group_table_climb(table, &result->names);
    if (!status)
        status = answer_groups(result, table, totals);
    free(totals);
    return status;
}

/* --- Which rows, in which order ---------------------------------------------------------------- */

static enum tide_status drop_rows(struct tide_result *result)
{
    const struct tide_plan *const plan = result->plan;
    struct tide_judge having;
    size_t kept = 0;
    if (!plan->having.count)
        return TIDE_OK;
    const enum tide_status status =
        tide_judge_begin(&having, &plan->having, &result->names);
    for (size_t i = 0; i < result->row_count && !status; i++) {
        struct tide_value *const row = result->cells + i * plan->cell_count;
        if (tide_judge_holds(&having, row))
            memmove(result->cells + kept++ * plan->cell_count, row,
                    plan->cell_count * sizeof(*row));
    }
    if (!status)
        result->row_count = kept;
    result->gave_up = result->gave_up || having.gave_up;
    tide_judge_release(&having);
    return status ? status : result->gave_up ? TIDE_ELIMIT : TIDE_OK;
}

static int by_orders(const void *one, const void *other, void *user)
{
    const struct tide_result *const result = user;
    const struct tide_plan *const plan = result->plan;
    const size_t a = *(const size_t *)one, b = *(const size_t *)other;
    for (size_t i = 0; i < plan->order_count; i++) {
        const size_t cell = plan->orders[i].cell;
        const int order =
            tide_value_compare(tide_result_row(result, a)[cell],
                               tide_result_row(result, b)[cell], &result->names);
        if (order)
            return plan->orders[i].descending ? -order : order;
    }
    return (a > b) - (a < b); /* else as they came */
}

/* Rows FIRST to END in the order of NUMBERS (NULL: as they are). */
static enum tide_status keep_rows(struct tide_result *result, const size_t *numbers,
                                  size_t first, size_t end)
{
    const size_t width = result->plan->cell_count;
    const size_t count = end > first ? end - first : 0;
    struct tide_value *const cells = calloc(count * width + 1, sizeof(*cells));
    if (!cells)
        return TIDE_ENOMEM;
    for (size_t i = 0; i < count; i++)
        memcpy(cells + i * width,
               tide_result_row(result, numbers ? numbers[first + i] : first + i),
               width * sizeof(*cells));
    free(result->cells);
    result->cells = cells;
    result->row_count = result->row_capacity = count;
    return TIDE_OK;
}

static enum tide_status order_rows(struct tide_result *result)
{
    const struct tide_plan *const plan = result->plan;
    const size_t count = result->row_count;
    if (!plan->order_count && !plan->limited && !plan->offset)
        return TIDE_OK;
    size_t *const numbers = calloc(count + 1, sizeof(*numbers));
    if (!numbers)
        return TIDE_ENOMEM;
    for (size_t i = 0; i < count; i++)
        numbers[i] = i;
    if (plan->order_count)
        qsort_r(numbers, count, sizeof(*numbers), by_orders, result);
    const size_t first = plan->offset < count ? (size_t)plan->offset : count;
    const bool cut = plan->limited && plan->limit < count - first;
    const enum tide_status status =
        keep_rows(result, numbers, first, cut ? first + (size_t)plan->limit : count);
    free(numbers);
    return status;
}

enum tide_status tide_result_finish(struct tide_result *result,
                                    struct tide_group_table *table)
{
    enum tide_status status = result->plan->grouped ? answer(result, table) : TIDE_OK;
    if (!status)
        status = drop_rows(result);
    return status ? status : order_rows(result);
}
