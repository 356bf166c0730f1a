/* query/plan_names.c - names that the table of attributes does not have: what programs
 * set, and what follows from it.
 */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/nearest.h"
#include "model/grow.h"
#include "query/plan.h"

/* Sources whose rows are in a thread: they have what it sets. */
#define TIDE_WITH_PLACES                                                           \
    (1u << TIDE_FROM_EVENTS | 1u << TIDE_FROM_BLOCKS | 1u << TIDE_FROM_SNAPSHOTS | \
     1u << TIDE_FROM_REGIONS)

/* Names that begin so and go on with that of a loop or an attribute. */
static const struct family {
    const char *start;
    enum tide_slot_kind kind;
    enum tide_value_type type; /* NONE: that of the attribute */
} FAMILIES[] = {
    {TIDE_ITERATION_OF, TIDE_SLOT_ITERATION, TIDE_VALUE_INT},
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

void tide_planner_blame_source(struct tide_planner *planner,
                               const struct tide_query_word *name, unsigned sources)
{
    struct tide_text others = {0};
    size_t count = 0;
    for (int i = 0; i < TIDE_SOURCES; i++)
        if (sources & 1u << i)
            tide_text_addf(&others, "%s%s", count++ ? ", " : "", tide_source_names[i]);
    planner->status =
        tide_query_blame(planner->error, name->span,
                         count == 1 ? "rows of %s have no '%s'; FROM %s has"
                                    : "rows of %s have no '%s'; FROM %s have",
                         tide_source_names[planner->plan->wish.source], name->text,
                         others.bytes ? others.bytes : "");
    tide_text_release(&others);
}

/* The name most like NAME among all that a query FROM SOURCES (bits) may use; NULL: none
 * is. */
static const char *nearest(const struct tide_planner *planner, const char *name,
                           unsigned sources)
{
    const struct tide_query *const query = planner->query;
    const struct tide_user_names *const users = planner->options->users;
    const bool timeline = sources == 1u << TIDE_FROM_TIMELINE;
    const size_t user_count = users && !timeline ? users->count : 0;
    const char **const names =
        calloc(query->let_count + user_count + 1, sizeof(*names));
    size_t count = 0;
    for (size_t i = 0; names && i < query->let_count; i++)
        names[count++] = query->lets[i].target.text;
    for (size_t i = 0; names && i < user_count; i++)
        names[count++] = users->list[i].name;
    const char *const near =
        names ? tide_attribute_nearest(name, sources, names, count) : NULL;
    free(names);
    return near;
}

/* Is NAME meant to be an expression, without blanks? */
static bool is_calculated(const struct tide_query_word *name)
{
    char first[64] = "";
    const size_t length = strcspn(name->text, "+-*/");
    if (name->quoted || !length || !name->text[length] || length >= sizeof(first))
        return false;
    memcpy(first, name->text, length);
    return name->text[length] != '-' || tide_attribute_find(first) != TIDE_NO_ATTRIBUTE;
}

/* What other tools and languages call an attribute of ours. */
static const char *name_elsewhere(const char *name)
{
    static const struct {
        const char *theirs, *ours;
    } NAMES[] = {
        {"bytes", "size"},         {"alloc.size", "size"},
        {"func", "leaf"},          {"caller", "leaf"},
        {"symbol", "leaf"},        {"callstack", "stack"},
        {"backtrace", "stack"},    {"address", "alloc.address"},
        {"addr", "alloc.address"}, {"library", "module"},
        {"dso", "module"},         {"pid", "process"},
        {"tid", "thread"},         {"timestamp", "time"},
        {"source", "file"},
    };
    for (size_t i = 0; i < sizeof(NAMES) / sizeof(NAMES[0]); i++)
        if (strcmp(NAMES[i].theirs, name) == 0)
            return NAMES[i].ours;
    return NULL;
}

/* There is no NAME; NEAR is one that rows have, OTHER one of rows of another source. */
static void blame_name(struct tide_planner *planner, const struct tide_query_word *name,
                       const char *near, const char *other)
{
    if (is_calculated(name)) {
        planner->status =
            tide_query_blame(planner->error, name->span,
                             "there is no attribute '%s'; only LET calculates, with "
                             "blanks around the sign: LET x = size + 1",
                             name->text);
        return;
    }
    if (!name->quoted && tide_planner_blame_bare(planner, name))
        return;
    if (name_elsewhere(name->text))
        near = name_elsewhere(name->text);
    if (other && !near) {
        const enum tide_attribute_id id = tide_attribute_find(other);
        int source = 0;
        while (!(tide_attribute_table[id].sources & 1u << source))
            source++;
        planner->status = tide_query_blame(
            planner->error, name->span,
            "there is no attribute '%s'; did you mean '%s', which FROM %s has?",
            name->text, other, tide_source_names[source]);
        return;
    }
    planner->status =
        near ? tide_query_blame(planner->error, name->span,
                                "there is no attribute '%s'; did you mean '%s'?",
                                name->text, near)
             : tide_query_blame(planner->error, name->span,
                                "there is no attribute '%s'; --attributes lists them",
                                name->text);
}

bool tide_planner_want(struct tide_planner *planner, const char *name)
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

/* Does a region, a loop or a thread set, begin or end WHOSE? */
static bool is_marked(const struct tide_user_names *users, const struct family *family,
                      const char *whose)
{
    const size_t start = strlen(TIDE_ITERATION_OF);
    if (family->kind == TIDE_SLOT_SET)
        return strcmp(whose, TIDE_THREAD_SET) == 0;
    if (family->kind != TIDE_SLOT_BEGIN && family->kind != TIDE_SLOT_END)
        return false;
    if (strncmp(whose, TIDE_ITERATION_OF, start) == 0)
        return tide_user_names_called(users, whose + start);
    return tide_attribute_is_of_regions(whose) ||
           tide_user_names_of_regions(users, whose);
}

/* Is there anything that WHOSE can mean, as far as it is known what programs name and
 * set?  Else that is said. */
static bool check_whose(struct tide_planner *planner,
                        const struct tide_query_word *name, const struct family *family,
                        const char *whose)
{
    const struct tide_user_names *const users = planner->options->users;
    const bool loop = family->kind == TIDE_SLOT_ITERATION;
    if (planner->options->may_be_set || !users || !users->trace_count)
        return true;
    const bool known =
        loop ? tide_user_names_called(users, whose)
             : tide_user_names_has(users, whose) || is_marked(users, family, whose);
    if (known)
        return true;
    const char *const near = loop ? tide_user_names_nearest_called(users, whose)
                                  : tide_user_names_nearest(users, whose);
    struct tide_text hint = {0};
    if (near)
        tide_text_addf(&hint, "; did you mean '%s%s'?", family->start, near);
    planner->status = tide_query_blame(planner->error, name->span,
                                       loop ? "the program has no loop '%s'%s"
                                            : "the program never sets '%s'%s",
                                       whose, hint.bytes ? hint.bytes : "");
    tide_text_release(&hint);
    return false;
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
    const bool loop = family->kind == TIDE_SLOT_ITERATION;
    const unsigned sources = loop ? TIDE_WITH_PLACES : 1u << TIDE_FROM_EVENTS;
    if (!(sources & 1u << wish->source)) {
        tide_planner_blame_source(planner, name, sources);
        return false;
    }
    if (!check_whose(planner, name, family, whose))
        return false;
    wish->iterations = wish->iterations || loop;
    if (loop)
        return true;
    if (family->kind < TIDE_SLOT_HOLDER_LABEL)
        return true;
    wish->resolve = true;
    wish->shapes = wish->shapes || family->kind == TIDE_SLOT_HOLDER_INDEX;
    return tide_planner_want(planner, whose);
}

/* Regions of an attribute that the table does not have. */
static bool describe_regions(struct tide_planner *planner,
                             const struct tide_query_word *name,
                             struct tide_plan_slot *slot)
{
    if (planner->plan->wish.source == TIDE_FROM_TIMELINE) {
        tide_planner_blame_source(planner, name, TIDE_WITH_PLACES);
        return false;
    }
    slot->kind = TIDE_SLOT_REGIONS;
    slot->whose = name->text;
    slot->type = TIDE_VALUE_PATH;
    return true;
}

/* May a program set NAME, which is not known?  Else that is said. */
static bool may_be_set(struct tide_planner *planner, const struct tide_query_word *name)
{
    const unsigned source = 1u << planner->plan->wish.source;
    const char *const near = nearest(planner, name->text, source);
    const char *const other =
        near ? NULL : tide_attribute_nearest(name->text, UINT_MAX, NULL, 0);
    const char *const best = near ? near : other;
    const bool misspelt = best && !name->quoted && tide_surely(name->text, best);
    if (planner->options->may_be_set && !misspelt)
        return true;
    blame_name(planner, name, near, other);
    return false;
}

bool tide_planner_describe_other(struct tide_planner *planner,
                                 const struct tide_query_word *name,
                                 struct tide_plan_slot *slot)
{
    const struct tide_plan_options *const options = planner->options;
    const struct tide_user_name *const user =
        tide_user_names_find(options->users, name->text);
    const struct family *const family = user ? NULL : family_of(name->text);
    if (!user && (tide_attribute_is_of_regions(name->text) ||
                  tide_user_names_of_regions(options->users, name->text)))
        return describe_regions(planner, name, slot);
    if (family)
        return describe_family(planner, name, family, slot);
    if (!user && !may_be_set(planner, name))
        return false;
    if (planner->plan->wish.source == TIDE_FROM_TIMELINE) {
        tide_planner_blame_source(planner, name, TIDE_WITH_PLACES);
        return false;
    }
    slot->kind = TIDE_SLOT_USER;
    slot->whose = name->text;
    slot->type = user ? user->type : TIDE_VALUE_NONE;
    return tide_planner_want(planner, name->text);
}
