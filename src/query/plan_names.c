/* query/plan_names.c - names that the table of attributes does not have: what programs
 * set, and what follows from it.
 */
#include <stdlib.h>
#include <string.h>

#include "base/nearest.h"
#include "model/grow.h"
#include "query/plan.h"

/* Names that begin so and go on with that of a loop or an attribute. */
static const struct family {
    const char *start;
    enum tide_slot_kind kind;
    enum tide_value_type type; /* NONE: that of the attribute */
} FAMILIES[] = {
    {"iteration#", TIDE_SLOT_ITERATION, TIDE_VALUE_INT},
    {"event.set#", TIDE_SLOT_SET, TIDE_VALUE_NONE},
    {"event.begin#", TIDE_SLOT_BEGIN, TIDE_VALUE_NONE},
    {"event.end#", TIDE_SLOT_END, TIDE_VALUE_NONE},
    {"alloc.label#", TIDE_SLOT_HOLDER_LABEL, TIDE_VALUE_STRING},
    {"alloc.uid#", TIDE_SLOT_HOLDER_UID, TIDE_VALUE_UINT},
    {"alloc.index#", TIDE_SLOT_HOLDER_INDEX, TIDE_VALUE_UINT},
};

static const struct family *family_of(const char *name)
{
    for (size_t i = 0; i < sizeof(FAMILIES) / sizeof(FAMILIES[0]); i++)
        if (strncmp(name, FAMILIES[i].start, strlen(FAMILIES[i].start)) == 0)
            return &FAMILIES[i];
    return NULL;
}

/* The name most like NAME among all that a query may use; NULL: none is. */
static const char *nearest(const struct tide_planner *planner, const char *name)
{
    const struct tide_query *const query = planner->query;
    const struct tide_user_names *const users = planner->options->users;
    const size_t user_count = users ? users->count : 0;
    const char **const names =
        calloc(query->let_count + user_count + 1, sizeof(*names));
    size_t count = 0;
    for (size_t i = 0; names && i < query->let_count; i++)
        names[count++] = query->lets[i].target.text;
    for (size_t i = 0; names && i < user_count; i++)
        names[count++] = users->list[i].name;
    const char *const near = names ? tide_attribute_nearest(name, names, count) : NULL;
    free(names);
    return near;
}

static void blame_name(struct tide_planner *planner, const struct tide_query_word *name,
                       const char *near)
{
    planner->status =
        near ? tide_query_blame(planner->error, name->span,
                                "there is no attribute '%s'; did you mean '%s'?",
                                name->text, near)
             : tide_query_blame(planner->error, name->span,
                                "there is no attribute '%s'; --attributes lists them",
                                name->text);
}

/* Places must tell values of the attribute NAME apart. */
static bool want(struct tide_planner *planner, const char *name)
{
    struct tide_plan *const plan = planner->plan;
    const char **const list = tide_grown(plan->attributes, &plan->attribute_capacity,
                                         plan->wish.attribute_count + 1, sizeof(*list));
    if (!list) {
        planner->status = TIDE_ENOMEM;
        return false;
    }
    list[plan->wish.attribute_count++] = name;
    plan->attributes = list;
    plan->wish.attributes = list;
    return true;
}

/* Of a loop, of what sets an attribute, or of the block that its address lies in. */
static bool describe_family(struct tide_planner *planner,
                            const struct tide_query_word *name,
                            const struct family *family, struct tide_plan_slot *slot)
{
    struct tide_walk_wish *const wish = &planner->plan->wish;
    const char *const whose = strchr(name->text, '#') + 1;
    const struct tide_user_name *const user =
        tide_user_names_find(planner->options->users, whose);
    slot->kind = family->kind;
    slot->whose = whose;
    slot->type = family->type ? family->type : user ? user->type : TIDE_VALUE_NONE;
    if (family->kind == TIDE_SLOT_ITERATION) {
        wish->iterations = true;
        return true;
    }
    if (wish->source != TIDE_FROM_EVENTS) {
        planner->status =
            tide_query_blame(planner->error, name->span, "rows of %s have no '%s'",
                             tide_source_names[wish->source], name->text);
        return false;
    }
    if (family->kind < TIDE_SLOT_HOLDER_LABEL)
        return true;
    wish->resolve = true;
    wish->shapes = wish->shapes || family->kind == TIDE_SLOT_HOLDER_INDEX;
    return want(planner, whose);
}

bool tide_planner_describe_other(struct tide_planner *planner,
                                 const struct tide_query_word *name,
                                 struct tide_plan_slot *slot)
{
    const struct tide_plan_options *const options = planner->options;
    const struct tide_user_name *const user =
        tide_user_names_find(options->users, name->text);
    const struct family *const family = user ? NULL : family_of(name->text);
    if (family)
        return describe_family(planner, name, family, slot);
    if (!user) {
        const char *const near = nearest(planner, name->text);
        if (!options->may_be_set || (near && !name->quoted)) {
            blame_name(planner, name, near);
            return false;
        }
    }
    if (planner->plan->wish.source == TIDE_FROM_TIMELINE) {
        planner->status = tide_query_blame(planner->error, name->span,
                                           "rows of timeline have no '%s'", name->text);
        return false;
    }
    slot->kind = TIDE_SLOT_USER;
    slot->whose = name->text;
    slot->type = user ? user->type : TIDE_VALUE_NONE;
    return want(planner, name->text);
}
