/* query/plan_explain.c - what a plan will do, in words. */
#include "query/plan.h"

static void explain_source(const struct tide_plan *plan, struct tide_text *out)
{
    static const char EVENTS[] =
        "a row for each allocation, each free, each label that is given or ends, each begin "
        "and end of a region, each value that is set";
    static const char *const ROWS[TIDE_SOURCES] = {
        [TIDE_FROM_EVENTS] = EVENTS,
        [TIDE_FROM_BLOCKS] = "a row for each block",
        [TIDE_FROM_SNAPSHOTS] =
            "a row for each block of each snapshot, of the peak and of the end",
        [TIDE_FROM_REGIONS] = "a row for each visit to a region",
        [TIDE_FROM_TIMELINE] = "a row for each of 240 stretches of time",
    };
    const struct tide_walk_wish *const wish = &plan->wish;
    const bool twice = wish->peak || (wish->source == TIDE_FROM_EVENTS && wish->labels);
    tide_text_addf(out, "from    %s: %s%s\n", tide_source_names[wish->source],
                   ROWS[wish->source],
                   wish->labelled_only ? ", of labelled blocks only" : "");
    if (wish->source != TIDE_FROM_REGIONS && wish->source != TIDE_FROM_TIMELINE)
        tide_text_addf(out, "        of %s\n",
                       wish->every_space
                           ? "all spaces, since the query names space"
                           : "the heap, since the query does not name space");
    tide_text_addf(out, "walks   %s\n",
                   !twice       ? "one"
                   : wish->peak ? "two: the first finds the peak"
                                : "two if the program names anything: the first finds "
                                  "labels that come late");
}

static const char *plural(size_t count)
{
    return count == 1 ? "" : "s";
}

/* NAME may be one that the program chose. */
static void add_named(struct tide_text *out, const char *before, const char *name,
                      const char *behind)
{
    tide_text_add(out, before);
    tide_text_add_safe(out, name);
    tide_text_add(out, behind);
}

static void explain_slots(const struct tide_plan *plan, struct tide_text *out)
{
    for (size_t i = 0; i < plan->slot_count; i++)
        if (!plan->slots[i].let)
            add_named(out, i ? "        " : "take    ", plan->slots[i].name,
                      plan->slots[i].early ? "\n" : " (if the row passes)\n");
    for (size_t i = 0; i < plan->let_count; i++) {
        add_named(out, "let     ", plan->lets[i].name, "");
        tide_text_addf(out, ": %zu step%s%s\n", plan->lets[i].count,
                       plural(plan->lets[i].count),
                       plan->lets[i].condition.count ? ", on a condition" : "");
    }
    if (plan->where.count)
        tide_text_addf(out, "where   %zu term%s\n", plan->where.count,
                       plural(plan->where.count));
}

static void explain_groups(const struct tide_plan *plan, struct tide_text *out)
{
    if (!plan->grouped)
        return;
    tide_text_add(out, "group   ");
    for (size_t i = 0; i < plan->key_count; i++)
        add_named(out, i ? ", " : "by ", plan->slots[plan->keys[i]].name, "");
    tide_text_add(out, plan->key_count ? "\n" : "all rows as one\n");
    for (size_t i = 0; i < plan->sum_count; i++)
        add_named(out, "sum     ", plan->sums[i].name,
                  plan->sums[i].inclusive ? ", also into the paths around\n" : "\n");
    if (plan->having.count)
        tide_text_addf(out, "having  %zu term%s\n", plan->having.count,
                       plural(plan->having.count));
}

void tide_plan_explain(const struct tide_plan *plan, struct tide_text *out)
{
    explain_source(plan, out);
    explain_slots(plan, out);
    explain_groups(plan, out);
    for (size_t i = 0; i < plan->order_count; i++)
        add_named(out, i ? "        " : "order   ",
                  plan->cells[plan->orders[i].cell].name,
                  plan->orders[i].descending ? ", largest first\n" : "\n");
    if (plan->limited)
        tide_text_addf(out, "limit   %llu rows\n", (unsigned long long)plan->limit);
    tide_text_add(out, "show    ");
    for (size_t i = 0; i < plan->column_count; i++)
        add_named(out, i ? ", " : "", plan->columns[i].title, "");
    tide_text_add(out, "\n");
}
