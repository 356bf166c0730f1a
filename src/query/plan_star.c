/* query/plan_star.c - what "*" is: all that rows have. */
#include <string.h>

#include "query/plan.h"
#include "query/seen_marks.h"

/* Not in "*": what costs a walk or a look at symbols more than a glance is worth, and
 * what says the same as another. */
static bool left_out(const struct tide_planner *planner, int attribute)
{
    if (!(tide_attribute_table[attribute].sources & 1u << planner->plan->wish.source))
        return true;
    switch (attribute) {
    case TIDE_ATTRIBUTE_STACK:
    case TIDE_ATTRIBUTE_PEAK:
    case TIDE_ATTRIBUTE_SPACE:
    case TIDE_ATTRIBUTE_BLOCK_LABEL:
    case TIDE_ATTRIBUTE_TIME_OFFSET_NS:
    case TIDE_ATTRIBUTE_ALLOC_REGION:
    case TIDE_ATTRIBUTE_ALLOC_THREAD:
        return true;
    case TIDE_ATTRIBUTE_TIME_OFFSET:
    case TIDE_ATTRIBUTE_FUNCTION:
    case TIDE_ATTRIBUTE_ANNOTATION:
    case TIDE_ATTRIBUTE_LOOP:
    case TIDE_ATTRIBUTE_PHASE:
        return planner->plan->wish.source != TIDE_FROM_EVENTS;
    case TIDE_ATTRIBUTE_SIZE:
        return planner->plan->wish.source == TIDE_FROM_EVENTS;
    case TIDE_ATTRIBUTE_ALLOC_TOTAL_SIZE:
        return planner->plan->wish.source != TIDE_FROM_EVENTS;
    case TIDE_ATTRIBUTE_RANK:
    case TIDE_ATTRIBUTE_TRACE:
        return !planner->options->several_traces;
    default:
        return false;
    }
}

/* Does an item of the query show CELL itself, under its own name where OWN is set? */
static bool is_item(struct tide_planner *planner, size_t cell, bool own)
{
    const struct tide_query *const query = planner->query;
    for (size_t i = 0; i < query->item_count; i++)
        if (!query->items[i].star && !(own && query->items[i].alias.text) &&
            tide_planner_find_cell(planner, &query->items[i].what) == cell)
            return true;
    return false;
}

/* Has "*" a column of CELL already? */
static bool is_filled(const struct tide_plan *plan, size_t cell)
{
    for (size_t i = 0; i < plan->column_count; i++)
        if (plan->columns[i].filler && plan->columns[i].cell == cell)
            return true;
    return false;
}

/* A column for NAME, unless there is one or no row has it. */
static void add_filler(struct tide_planner *planner, const char *name)
{
    const struct tide_query_word word = {.text = name};
    const size_t slot =
        planner->status ? SIZE_MAX : tide_planner_slot(planner, &word, false);
    if (slot == SIZE_MAX)
        return;
    const size_t known = tide_planner_cell_called(planner->plan, name);
    const size_t cell =
        known != SIZE_MAX ? known : tide_planner_add_cell(planner, name, slot);
    if (!is_item(planner, cell, true) && !is_filled(planner->plan, cell))
        tide_planner_column(planner,
                            (struct tide_plan_column){.cell = cell, .filler = true});
}

/* Add the column that is called START and REST together, if it is none yet. */
static void add_joined(struct tide_planner *planner, const char *start,
                       const char *rest)
{
    struct tide_text text = {0};
    tide_text_add(&text, start);
    tide_text_add(&text, rest);
    const char *const kept =
        text.failed ? NULL
                    : tide_arena_copy(&planner->plan->arena, text.bytes, text.length);
    tide_text_release(&text);
    if (kept)
        add_filler(planner, kept);
    else if (!planner->status)
        planner->status = TIDE_ENOMEM;
}

/* Iterations of each loop, and begins and ends of each kind of region. */
static void add_marks(struct tide_planner *planner)
{
    const struct tide_user_names *const users = planner->options->users;
    struct tide_seen_marks marks = {0};
    if (!users || planner->plan->wish.source != TIDE_FROM_EVENTS || planner->status)
        return;
    planner->status = tide_seen_marks_find(users->traces, users->trace_count, &marks);
    for (size_t i = 0; i < marks.loops.count && !planner->status; i++)
        add_joined(planner, TIDE_ITERATION_OF, marks.loops.list[i]);
    for (size_t i = 0; i < marks.kinds.count && !planner->status; i++) {
        add_joined(planner, "event.begin#", marks.kinds.list[i]);
        add_joined(planner, "event.end#", marks.kinds.list[i]);
    }
    tide_seen_marks_release(&marks);
}

void tide_planner_users(struct tide_planner *planner)
{
    const struct tide_user_names *const users = planner->options->users;
    const enum tide_query_source source = planner->plan->wish.source;
    const bool none = !users || source == TIDE_FROM_TIMELINE;
    for (size_t i = 0; !none && i < users->count && !planner->status; i++) {
        const struct tide_user_name *const user = &users->list[i];
        if (user->regions)
            continue;
        if (!user->hidden)
            add_filler(planner, user->name);
        if (source != TIDE_FROM_EVENTS)
            continue;
        add_joined(planner, "event.set#", user->name);
        add_joined(planner, "event.begin#", user->name);
        add_joined(planner, "event.end#", user->name);
    }
    add_marks(planner);
}

void tide_planner_star(struct tide_planner *planner)
{
    struct tide_plan *const plan = planner->plan;
    if (plan->grouped) {
        for (size_t i = 0; i < plan->cell_count; i++)
            if (!is_item(planner, i, false))
                tide_planner_column(planner, (struct tide_plan_column){.cell = i});
        return;
    }
    for (int i = 0; i < TIDE_ATTRIBUTES && !planner->status; i++) {
        if (!left_out(planner, i))
            add_filler(planner, tide_attribute_table[i].name);
    }
    if (plan->wish.source == TIDE_FROM_EVENTS)
        add_joined(planner, "event.set#", TIDE_THREAD_SET);
    tide_planner_users(planner);
    for (size_t i = 0; i < plan->let_count && !planner->status; i++)
        tide_planner_column(
            planner, (struct tide_plan_column){
                         .cell = tide_planner_add_cell(planner, plan->lets[i].name,
                                                       plan->lets[i].slot)});
}
