/* query/plan.c - a query compiled: names have become numbers. */
#include "query/plan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/nearest.h"
#include "model/grow.h"

/* --- Help ------------------------------------------------------------------------------ */

void tide_planner_blame(struct tide_planner *planner, struct tide_query_span span,
                        const char *words)
{
    if (!planner->status)
        planner->status = tide_query_blame(planner->error, span, "%s", words);
}

void *tide_planner_take(struct tide_planner *planner, size_t count, size_t bytes)
{
    void *const taken = tide_arena_take(&planner->plan->arena, count * bytes + 1);
    if (!taken && !planner->status)
        planner->status = TIDE_ENOMEM;
    return taken;
}

/* Room for one more in a list of the plan. */
static void *room(struct tide_planner *planner, void *list, size_t *capacity,
                  size_t count, size_t bytes)
{
    void *const grown = tide_grown(list, capacity, count + 1, bytes);
    if (!grown && !planner->status)
        planner->status = TIDE_ENOMEM;
    return grown;
}

/* --- Slots ------------------------------------------------------------------------------ */

/* Rows of regions say it with the regions inside. */
static bool is_inclusive(enum tide_attribute_id attribute)
{
    return attribute == TIDE_ATTRIBUTE_DURATION || attribute == TIDE_ATTRIBUTE_ALLOCS ||
           attribute == TIDE_ATTRIBUTE_ALLOCATED || attribute == TIDE_ATTRIBUTE_FREES ||
           attribute == TIDE_ATTRIBUTE_FREED || attribute == TIDE_ATTRIBUTE_GROWTH;
}

/* Where no loop iterates, `iteration` is what the program itself calls so. */
static bool add_own_iteration(struct tide_planner *planner, struct tide_plan_slot *slot)
{
    const char *const name = tide_attribute_table[TIDE_ATTRIBUTE_ITERATION].name;
    const struct tide_user_name *const user =
        tide_user_names_hidden(planner->options->users, name);
    if (!user)
        return true;
    if (user->type != slot->type)
        slot->type = TIDE_VALUE_NONE;
    return tide_planner_want(planner, name);
}

/* What NAME is; false after a mistake. */
static bool describe(struct tide_planner *planner, const struct tide_query_word *name,
                     struct tide_plan_slot *slot)
{
    const enum tide_query_source source = planner->plan->wish.source;
    slot->name = name->text;
    slot->attribute = tide_attribute_find(name->text);
    if (slot->attribute == TIDE_NO_ATTRIBUTE && !name->quoted &&
        !tide_user_names_find(planner->options->users, name->text))
        slot->attribute = tide_attribute_find_alike(name->text);
    if (slot->attribute == TIDE_NO_ATTRIBUTE)
        return tide_planner_describe_other(planner, name, slot);
    if (slot->attribute == TIDE_ATTRIBUTE_REGION && planner->options->typed_regions) {
        slot->attribute = TIDE_NO_ATTRIBUTE;
        slot->kind = TIDE_SLOT_TYPED;
        slot->type = TIDE_VALUE_PATH;
        return true;
    }
    const struct tide_attribute *const about = &tide_attribute_table[slot->attribute];
    if (!(about->sources & 1u << source)) {
        tide_planner_blame_source(planner, name, about->sources);
        return false;
    }
    slot->type = about->type;
    slot->unit = about->unit;
    slot->inclusive = is_inclusive(slot->attribute);
    return slot->attribute == TIDE_ATTRIBUTE_ITERATION ||
                   slot->attribute == TIDE_ATTRIBUTE_BEGIN_ITERATION ||
                   slot->attribute == TIDE_ATTRIBUTE_END_ITERATION
               ? add_own_iteration(planner, slot)
               : true;
}

/* What the walk must know for the sake of ATTRIBUTE. */
static void wish_for(struct tide_plan *plan, enum tide_attribute_id attribute)
{
    struct tide_walk_wish *const wish = &plan->wish;
    switch ((int)attribute) {
    case TIDE_ATTRIBUTE_BLOCK_LABEL:
    case TIDE_ATTRIBUTE_LABEL:
        wish->labels = true;
        break;
    case TIDE_ATTRIBUTE_SHAPE:
        wish->shapes = wish->labels = true;
        break;
    case TIDE_ATTRIBUTE_SPACE:
        wish->every_space = true;
        break;
    case TIDE_ATTRIBUTE_PEAK:
        wish->peak = true;
        break;
    case TIDE_ATTRIBUTE_HIGH_WATER:
        wish->water = true;
        break;
    case TIDE_ATTRIBUTE_TALLY:
    case TIDE_ATTRIBUTE_OWN_COUNT:
    case TIDE_ATTRIBUTE_OWN_BYTES:
    case TIDE_ATTRIBUTE_OWN_AVERAGE:
    case TIDE_ATTRIBUTE_OWN_LARGEST:
        wish->tally = true;
        break;
    case TIDE_ATTRIBUTE_EVENT:
    case TIDE_ATTRIBUTE_ITERATION:
        wish->iterations = true;
        break;
    default:
        break;
    }
}

static size_t known_slot(const struct tide_plan *plan, const char *name)
{
    for (size_t i = 0; i < plan->slot_count; i++)
        if (!plan->slots[i].let && strcmp(plan->slots[i].name, name) == 0)
            return i;
    return SIZE_MAX;
}

/* LET targets hide attributes of the same name, from their definition on. */
static const struct tide_plan_let *known_let(const struct tide_plan *plan,
                                             const char *name)
{
    for (size_t i = 0; i < plan->let_count; i++)
        if (strcmp(plan->lets[i].name, name) == 0)
            return &plan->lets[i];
    return NULL;
}

static size_t add_slot(struct tide_planner *planner, struct tide_plan_slot slot)
{
    struct tide_plan *const plan = planner->plan;
    struct tide_plan_slot *const list = room(planner, plan->slots, &plan->slot_capacity,
                                             plan->slot_count, sizeof(*list));
    if (!list)
        return SIZE_MAX;
    plan->slots = list;
    list[plan->slot_count] = slot;
    return plan->slot_count++;
}

size_t tide_planner_slot(struct tide_planner *planner,
                         const struct tide_query_word *name, bool early)
{
    struct tide_plan *const plan = planner->plan;
    struct tide_plan_slot slot = {0};
    if (planner->status)
        return SIZE_MAX;
    const struct tide_plan_let *const let = known_let(plan, name->text);
    size_t known = let ? let->slot : known_slot(plan, name->text);
    if (known == SIZE_MAX) {
        if (!describe(planner, name, &slot))
            return SIZE_MAX;
        wish_for(plan, slot.attribute);
        known = add_slot(planner, slot);
    }
    if (known != SIZE_MAX && early)
        plan->slots[known].early = true;
    return known;
}

size_t tide_planner_let_slot(struct tide_planner *planner, const char *name, size_t let)
{
    const struct tide_plan *const plan = planner->plan;
    struct tide_plan_slot slot = {
        .name = name, .attribute = TIDE_NO_ATTRIBUTE, .let = let + 1, .early = true};
    for (size_t i = 0; i < plan->lets[let].count; i++)
        if (plan->lets[let].steps[i].kind == TIDE_STEP_NAME)
            slot.inclusive =
                slot.inclusive || plan->slots[plan->lets[let].steps[i].slot].inclusive;
    return add_slot(planner, slot);
}

/* --- Sums ------------------------------------------------------------------------------- */

/* What aggregations there are.  A title with %s is filled with the attribute. */
static const struct aggregation {
    const char *name;
    enum tide_tally_kind kind;
    bool inclusive;
    size_t attributes, parameters; /* that it needs */
    size_t more_parameters;        /* that it may have */
    const char *title;
} AGGREGATIONS[] = {
    {"count", TIDE_TALLY_COUNT, false, 0, 0, 0, "count"},
    {"sum", TIDE_TALLY_SUM, false, 1, 0, 0, "sum#%s"},
    {"min", TIDE_TALLY_MIN, false, 1, 0, 0, "min#%s"},
    {"max", TIDE_TALLY_MAX, false, 1, 0, 0, "max#%s"},
    {"any", TIDE_TALLY_ANY, false, 1, 0, 0, "any#%s"},
    {"avg", TIDE_TALLY_AVG, false, 1, 0, 0, "avg#%s"},
    {"variance", TIDE_TALLY_VARIANCE, false, 1, 0, 0, "variance#%s"},
    {"stddev", TIDE_TALLY_STDDEV, false, 1, 0, 0, "stddev#%s"},
    {"scale", TIDE_TALLY_SCALE, false, 1, 1, 0, "scale#%s"},
    {"scale_count", TIDE_TALLY_SCALE_COUNT, false, 0, 1, 0, "scount"},
    {"ratio", TIDE_TALLY_RATIO, false, 2, 0, 1, "ratio#%s"},
    {"percent_total", TIDE_TALLY_PERCENT_TOTAL, false, 1, 0, 0, "percent_total#%s"},
    {"histogram", TIDE_TALLY_HISTOGRAM, false, 1, 0, 0, "histogram#%s"},
    {"percentile", TIDE_TALLY_PERCENTILE, false, 1, 1, 0, "p"},
    {"median", TIDE_TALLY_PERCENTILE, false, 1, 0, 0, "median#%s"},
    {"count_distinct", TIDE_TALLY_COUNT_DISTINCT, false, 1, 0, 0, "count_distinct#%s"},
    {"inclusive_count", TIDE_TALLY_COUNT, true, 0, 0, 0, "icount"},
    {"inclusive_sum", TIDE_TALLY_SUM, true, 1, 0, 0, "inclusive#%s"},
    {"inclusive_min", TIDE_TALLY_MIN, true, 1, 0, 0, "imin#%s"},
    {"inclusive_max", TIDE_TALLY_MAX, true, 1, 0, 0, "imax#%s"},
    {"inclusive_scale", TIDE_TALLY_SCALE, true, 1, 1, 0, "iscale#%s"},
    {"inclusive_ratio", TIDE_TALLY_RATIO, true, 2, 0, 1, "iratio#%s"},
    {"inclusive_percent_total", TIDE_TALLY_PERCENT_TOTAL, true, 1, 0, 0,
     "ipercent_total#%s"},
};
enum { TIDE_AGGREGATIONS = sizeof(AGGREGATIONS) / sizeof(AGGREGATIONS[0]) };

/* What other tools and languages call an aggregation of ours. */
static const char *aggregation_elsewhere(const char *name)
{
    static const struct {
        const char *theirs, *ours;
    } NAMES[] = {
        {"average", "avg"},         {"mean", "avg"},
        {"total", "sum"},           {"minimum", "min"},
        {"maximum", "max"},         {"number", "count"},
        {"first", "any"},           {"last", "any"},
        {"quantile", "percentile"}, {"unique", "count_distinct"},
    };
    for (size_t i = 0; i < sizeof(NAMES) / sizeof(NAMES[0]); i++)
        if (strcasecmp(NAMES[i].theirs, name) == 0)
            return NAMES[i].ours;
    return NULL;
}

static const struct aggregation *find_aggregation(struct tide_planner *planner,
                                                  const struct tide_call *call)
{
    const char *names[TIDE_AGGREGATIONS];
    const char *const wanted =
        call->distinct && strcasecmp(call->function.text, "count") == 0
            ? "count_distinct"
            : call->function.text;
    for (size_t i = 0; i < TIDE_AGGREGATIONS; i++) {
        names[i] = AGGREGATIONS[i].name;
        if (strcasecmp(names[i], wanted) == 0)
            return &AGGREGATIONS[i];
    }
    const char *near = aggregation_elsewhere(wanted);
    if (!near)
        near = tide_nearest(wanted, names, TIDE_AGGREGATIONS);
    if (!planner->status)
        planner->status = tide_query_blame(
            planner->error, call->function.span,
            near ? "there is no aggregation '%s'; did you mean '%s'?"
                 : "there is no aggregation '%s': count, sum, min, max, "
                   "avg, median, ..., see tidemark-query(1)",
            wanted, near);
    return NULL;
}

struct example {
    char text[64];
};

static struct example example_of(const struct aggregation *about)
{
    static const char *const ATTRIBUTES[] = {"", "size", "size,usable"};
    const char *const number = about->kind == TIDE_TALLY_PERCENTILE ? "90" : "2";
    struct example example;
    (void)snprintf(example.text, sizeof(example.text), "%s(%s%s%s)", about->name,
                   ATTRIBUTES[about->attributes],
                   about->attributes && about->parameters ? "," : "",
                   about->parameters ? number : "");
    return example;
}

bool tide_planner_blame_bare(struct tide_planner *planner,
                             const struct tide_query_word *name)
{
    for (size_t i = 0; i < TIDE_AGGREGATIONS; i++) {
        if (strcasecmp(AGGREGATIONS[i].name, name->text) != 0)
            continue;
        planner->status =
            tide_query_blame(planner->error, name->span,
                             "'%s' is an aggregation: it has parentheses, as in %s",
                             name->text, example_of(&AGGREGATIONS[i]).text);
        return true;
    }
    return false;
}

/* How the result is called: "sum#size", "ratio#a/b", "p95#size". */
static const char *title_of(struct tide_planner *planner,
                            const struct aggregation *about,
                            const struct tide_call *call)
{
    struct tide_text text = {0}, attributes = {0};
    for (size_t i = 0; i < about->attributes && i < call->count; i++) {
        tide_text_add(&attributes, i ? "/" : "");
        tide_text_add(&attributes, call->arguments[i].text);
    }
    const char *const hash = strchr(about->title, '#');
    const char *const names = attributes.bytes ? attributes.bytes : "";
    if (hash)
        tide_text_addf(&text, "%.*s%s", (int)(hash + 1 - about->title), about->title,
                       names);
    else if (strcmp(about->title, "p") == 0)
        tide_text_addf(&text, "p%s#%s", call->arguments[1].text, names);
    else if (call->count && about->kind == TIDE_TALLY_COUNT)
        tide_text_addf(&text, "%s#%s", about->title, call->arguments[0].text);
    else
        tide_text_add(&text, about->title);
    const char *const kept =
        text.failed || attributes.failed
            ? NULL
            : tide_arena_copy(&planner->plan->arena, text.bytes, text.length);
    tide_text_release(&text);
    tide_text_release(&attributes);
    if (!kept && !planner->status)
        planner->status = TIDE_ENOMEM;
    return kept;
}

/* Are there as many arguments as there should be? */
static bool right_count(struct tide_planner *planner, const struct aggregation *about,
                        const struct tide_call *call)
{
    const bool counts = about->kind == TIDE_TALLY_COUNT;
    const size_t least = about->attributes + about->parameters;
    const size_t most = counts ? 1 : least + about->more_parameters;
    if (call->count >= least && call->count <= most)
        return true;
    if (!planner->status)
        planner->status = tide_query_blame(
            planner->error, call->span,
            "%s() takes %zu argument%s%s, not %zu, as in %s", call->function.text,
            counts ? (size_t)0 : least, least == 1 ? "" : "s",
            most > least ? " or one more" : "", call->count, example_of(about).text);
    return false;
}

static void read_parameter(struct tide_planner *planner, const struct tide_call *call,
                           struct tide_plan_sum *sum, size_t at)
{
    struct tide_value number;
    const bool percent = sum->kind == TIDE_TALLY_PERCENTILE;
    sum->parameter = percent ? 50 : 1;
    if (at >= call->count)
        return;
    if (!tide_planner_number(call->arguments[at].text, TIDE_UNIT_NONE, &number)) {
        tide_planner_blame(planner, call->arguments[at].span, "expected a number");
        return;
    }
    sum->parameter = tide_value_as_real(number);
    if (percent && (sum->parameter < 0 || sum->parameter > 100))
        tide_planner_blame(planner, call->arguments[at].span,
                           "a percentile is from 0 to 100");
}

static bool needs_number(enum tide_tally_kind kind)
{
    return kind != TIDE_TALLY_COUNT && kind != TIDE_TALLY_MIN &&
           kind != TIDE_TALLY_MAX && kind != TIDE_TALLY_ANY &&
           kind != TIDE_TALLY_PERCENTILE && kind != TIDE_TALLY_COUNT_DISTINCT;
}

/* Sums that climb would add up twice what has the regions inside already. */
static void check_twice(struct tide_planner *planner, const struct tide_call *call,
                        const struct tide_plan_sum *sum, size_t at, size_t slot)
{
    const char *const name = call->arguments[at].text;
    const bool adds = sum->kind != TIDE_TALLY_COUNT && sum->kind != TIDE_TALLY_MIN &&
                      sum->kind != TIDE_TALLY_MAX;
    if (!sum->inclusive || !adds || !planner->plan->slots[slot].inclusive ||
        planner->status)
        return;
    const bool time = planner->plan->slots[slot].attribute == TIDE_ATTRIBUTE_DURATION;
    planner->status = tide_query_blame(
        planner->error, call->arguments[at].span,
        time ? "'%s' has the regions inside already: sum(%s), or %s(time.duration)"
             : "'%s' has the regions inside already: sum(%s)",
        name, name, call->function.text);
}

static size_t argument_slot(struct tide_planner *planner, const struct tide_call *call,
                            size_t at, const struct tide_plan_sum *sum)
{
    const size_t slot = tide_planner_slot(planner, &call->arguments[at], false);
    if (slot == SIZE_MAX)
        return slot;
    const enum tide_value_type type = planner->plan->slots[slot].type;
    if (needs_number(sum->kind) &&
        (type == TIDE_VALUE_STRING || type == TIDE_VALUE_PATH))
        tide_planner_blame(planner, call->arguments[at].span,
                           "this is text: only count, min, max, any, percentile and "
                           "count_distinct take it");
    check_twice(planner, call, sum, at, slot);
    return slot;
}

static bool same_call(const struct tide_call *one, const struct tide_call *other)
{
    if (strcasecmp(one->function.text, other->function.text) != 0 ||
        one->count != other->count || one->distinct != other->distinct)
        return false;
    for (size_t i = 0; i < one->count; i++)
        if (strcmp(one->arguments[i].text, other->arguments[i].text) != 0)
            return false;
    return true;
}

size_t tide_planner_sum(struct tide_planner *planner, size_t call_index)
{
    struct tide_plan *const plan = planner->plan;
    const struct tide_call *const call = &planner->query->calls[call_index];
    for (size_t i = 0; i < plan->sum_count; i++)
        if (same_call(call, &planner->query->calls[plan->sums[i].call]))
            return i;
    const struct aggregation *const about = find_aggregation(planner, call);
    if (!about || !right_count(planner, about, call))
        return SIZE_MAX;
    struct tide_plan_sum sum = {.kind = about->kind,
                                .inclusive = about->inclusive,
                                .one = SIZE_MAX,
                                .other = SIZE_MAX,
                                .call = call_index};
    const bool counts = about->kind == TIDE_TALLY_COUNT;
    const size_t attributes = counts ? call->count : about->attributes;
    if (attributes > 0)
        sum.one = argument_slot(planner, call, 0, &sum);
    if (attributes > 1)
        sum.other = argument_slot(planner, call, 1, &sum);
    read_parameter(planner, call, &sum, attributes);
    sum.name = title_of(planner, about, call);
    struct tide_plan_sum *const list =
        room(planner, plan->sums, &plan->sum_capacity, plan->sum_count, sizeof(*list));
    if (!list)
        return SIZE_MAX;
    plan->sums = list;
    if (planner->status)
        return SIZE_MAX;
    list[plan->sum_count] = sum;
    return plan->sum_count++;
}

static void release_condition(struct tide_plan_condition *condition)
{
    for (size_t i = 0; i < condition->count; i++)
        tide_regex_free(condition->terms[i].regex);
}

void tide_plan_release(struct tide_plan *plan)
{
    release_condition(&plan->where);
    release_condition(&plan->having);
    for (size_t i = 0; i < plan->let_count; i++)
        release_condition(&plan->lets[i].condition);
    free(plan->attributes);
    free(plan->slots);
    free(plan->lets);
    free(plan->sums);
    free(plan->cells);
    free(plan->columns);
    free(plan->orders);
    tide_arena_release(&plan->arena);
    *plan = (struct tide_plan){0};
}
