/* view/query_cali.c - the answer of a query as a .cali file, for Caliper's own tools.
 *
 * Lines of key=value parts; nodes have numbers, and each is written before its first use:
 * an attribute is a chain of type, properties and name; a path is a chain of nodes of one
 * attribute.  Numbers below 12 are predefined.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/grow.h"
#include "view/query_view.h"

enum {
    TIDE_CALI_NAME = 8,        /* cali.attribute.name */
    TIDE_CALI_PROPERTIES = 10, /* cali.attribute.prop */
    TIDE_CALI_FIRST = 12,      /* number that is free */

    TIDE_CALI_STRING = 84,   /* scope thread, no events */
    TIDE_CALI_PATH = 276,    /* scope thread, nested */
    TIDE_CALI_VALUE = 85,    /* as value */
    TIDE_CALI_METRIC = 2133, /* as value, may be summed up */
    TIDE_CALI_WATER = 2125,  /* the same of the process */
    TIDE_CALI_GLOBAL = 588,  /* scope process, of the run */
};

/* A node that was written, and what it stands for. */
struct noted {
    uint32_t *list; /* owned: by id of the names; 0: not written */
    size_t capacity;
};

struct cali {
    uint32_t next;
    uint32_t unit;      /* attribute.unit; 0: not written */
    uint32_t iteration; /* class.iteration; 0: not written */
    struct cali_kind {
        char *name; /* owned */
        uint32_t attribute;
    } * kinds; /* owned: of regions */
    size_t kind_count, kind_capacity;
    uint32_t (*attributes)[TIDE_VALUE_TYPES]; /* owned, per column and type */
    struct noted *texts, *paths;              /* owned, per column */
};

/* The number of the node of a type. */
static unsigned type_node(uint64_t type)
{
    static const unsigned NODES[TIDE_VALUE_TYPES] = {
        [TIDE_VALUE_BOOL] = 6, [TIDE_VALUE_INT] = 1,     [TIDE_VALUE_UINT] = 2,
        [TIDE_VALUE_REAL] = 5, [TIDE_VALUE_ADDRESS] = 4, [TIDE_VALUE_STRING] = 3,
        [TIDE_VALUE_PATH] = 3,
    };
    return NODES[type];
}

/* Inside strings \ , = are escaped; what a terminal would obey, a newline too, stands as
 * \xNN, as in all other text. */
static void add_escaped(struct tide_text *out, const char *text)
{
    struct tide_text safe = {0};
    tide_text_add_safe(&safe, text);
    for (const char *at = safe.bytes; at && *at; at++) {
        if (strchr("\\,=", *at))
            tide_text_add(out, "\\");
        tide_text_add_bytes(out, at, 1);
    }
    out->failed = out->failed || safe.failed;
    tide_text_release(&safe);
}

/* Write a node; returns its number. */
static uint32_t add_node(struct tide_query_view *view, uint32_t attribute,
                         const char *data, uint32_t parent)
{
    struct cali *const cali = view->state;
    struct tide_text *const out = &view->out->text;
    tide_text_addf(out, "__rec=node,id=%u,attr=%u,data=", cali->next, attribute);
    add_escaped(out, data);
    if (parent)
        tide_text_addf(out, ",parent=%u", parent);
    tide_text_add(out, "\n");
    return cali->next++;
}

/* Write an attribute; its type is the node ABOVE, or metadata below that. */
static uint32_t add_attribute(struct tide_query_view *view, const char *name,
                              unsigned properties, uint32_t above)
{
    char number[16];
    (void)snprintf(number, sizeof(number), "%u", properties);
    const uint32_t chain = add_node(view, TIDE_CALI_PROPERTIES, number, above);
    return add_node(view, TIDE_CALI_NAME, name, chain);
}

/* The attribute of COLUMN, if it is one of the rows. */
static enum tide_attribute_id source_of(const struct tide_plan *plan, size_t column)
{
    const size_t slot = plan->cells[plan->columns[column].cell].slot;
    return slot == SIZE_MAX ? TIDE_NO_ATTRIBUTE : plan->slots[slot].attribute;
}

/* Can the values of COLUMN be summed up?  Sizes can, and what was summed up before. */
static bool is_metric(const struct tide_plan *plan, size_t column)
{
    return plan->cells[plan->columns[column].cell].slot == SIZE_MAX ||
           source_of(plan, column) == TIDE_ATTRIBUTE_ALLOC_TOTAL_SIZE;
}

static unsigned properties_of(const struct tide_plan *plan, size_t column,
                              uint64_t type)
{
    if (type == TIDE_VALUE_PATH)
        return TIDE_CALI_PATH;
    if (type == TIDE_VALUE_STRING)
        return TIDE_CALI_STRING;
    if (source_of(plan, column) == TIDE_ATTRIBUTE_HIGH_WATER)
        return TIDE_CALI_WATER;
    const bool number =
        type == TIDE_VALUE_INT || type == TIDE_VALUE_UINT || type == TIDE_VALUE_REAL;
    return number && is_metric(plan, column) ? TIDE_CALI_METRIC : TIDE_CALI_VALUE;
}

static const char ITERATION[] = "iteration#";

/* The attribute that says of others that they number iterations. */
static uint32_t iteration_class(struct tide_query_view *view)
{
    struct cali *const cali = view->state;
    if (!cali->iteration)
        cali->iteration = add_attribute(view, "class.iteration", TIDE_CALI_STRING,
                                        type_node(TIDE_VALUE_BOOL));
    return cali->iteration;
}

/* Write the attribute for values of TYPE in COLUMN. */
static uint32_t new_attribute(struct tide_query_view *view, size_t column,
                              uint64_t type)
{
    struct cali *const cali = view->state;
    const struct tide_plan_column *const about = &view->plan->columns[column];
    uint32_t above = type_node(type);
    if (about->unit) {
        if (!cali->unit)
            cali->unit = add_attribute(view, "attribute.unit", TIDE_CALI_STRING,
                                       type_node(TIDE_VALUE_STRING));
        above = add_node(view, cali->unit, about->unit, above);
    }
    if (type == TIDE_VALUE_INT &&
        strncmp(about->title, ITERATION, strlen(ITERATION)) == 0)
        above = add_node(view, iteration_class(view), "true", above);
    return add_attribute(view, about->title, properties_of(view->plan, column, type),
                         above);
}

static uint32_t attribute_of(struct tide_query_view *view, size_t column, uint64_t type)
{
    struct cali *const cali = view->state;
    uint32_t *const known = &cali->attributes[column][type];
    if (!*known)
        *known = new_attribute(view, column, type);
    return *known;
}

/* The place for what was noted of ID; NULL without memory. */
static uint32_t *note_of(struct tide_query_view *view, struct noted *noted, uint64_t id)
{
    uint32_t *const list =
        tide_grown(noted->list, &noted->capacity, (size_t)id + 1, sizeof(*list));
    if (!list) {
        view->status = TIDE_ENOMEM;
        return NULL;
    }
    noted->list = list;
    return &list[id];
}

/* Does each step of the paths in COLUMN begin with what it is? */
static bool is_typed(const struct tide_plan *plan, size_t column)
{
    const size_t slot = plan->cells[plan->columns[column].cell].slot;
    return slot != SIZE_MAX && plan->slots[slot].kind == TIDE_SLOT_TYPED;
}

/* The attribute whose name is the first LENGTH bytes of TEXT: what a region is. */
static uint32_t kind_attribute(struct tide_query_view *view, const char *text,
                               size_t length)
{
    struct cali *const cali = view->state;
    for (size_t i = 0; i < cali->kind_count; i++)
        if (strlen(cali->kinds[i].name) == length &&
            strncmp(cali->kinds[i].name, text, length) == 0)
            return cali->kinds[i].attribute;
    struct cali_kind *const kinds = tide_grown(cali->kinds, &cali->kind_capacity,
                                               cali->kind_count + 1, sizeof(*kinds));
    if (kinds)
        cali->kinds = kinds;
    char *const name = kinds ? strndup(text, length) : NULL;
    if (!name) {
        view->status = TIDE_ENOMEM;
        return 0;
    }
    kinds[cali->kind_count++] = (struct cali_kind){
        name, add_attribute(view, name, TIDE_CALI_PATH, type_node(TIDE_VALUE_PATH))};
    return cali->kinds[cali->kind_count - 1].attribute;
}

/* Write a step of a path in COLUMN. */
static uint32_t step_node(struct tide_query_view *view, size_t column, const char *text,
                          uint32_t parent)
{
    const char *const end =
        is_typed(view->plan, column) ? strchr(text, TIDE_KIND_END) : NULL;
    const uint32_t attribute = end ? kind_attribute(view, text, (size_t)(end - text))
                                   : attribute_of(view, column, TIDE_VALUE_PATH);
    return add_node(view, attribute, end ? end + 1 : text, parent);
}

/* Paths: write what is missing, from the outside in. */
static uint32_t path_node(struct tide_query_view *view, size_t column, uint64_t path)
{
    struct cali *const cali = view->state;
    const uint32_t depth = tide_names_depth(&view->names, path);
    uint64_t *const chain = calloc(depth + 1, sizeof(*chain));
    uint32_t count = 0, node = 0;
    if (!chain) {
        view->status = TIDE_ENOMEM;
        return 0;
    }
    for (uint64_t at = path; at; at = tide_names_parent(&view->names, at)) {
        const uint32_t *const known = note_of(view, &cali->paths[column], at);
        if (known && *known) {
            node = *known;
            break;
        }
        chain[count++] = at;
    }
    while (count-- && !view->status) {
        const uint32_t text = tide_names_leaf(&view->names, chain[count]);
        node = step_node(view, column, tide_names_string(&view->names, text), node);
        uint32_t *const known = note_of(view, &cali->paths[column], chain[count]);
        if (known)
            *known = node;
    }
    free(chain);
    return node;
}

static uint32_t text_node(struct tide_query_view *view, size_t column, uint64_t text)
{
    struct cali *const cali = view->state;
    const uint32_t attribute = attribute_of(view, column, TIDE_VALUE_STRING);
    uint32_t *const known = note_of(view, &cali->texts[column], text);
    if (known && !*known)
        *known = add_node(view, attribute, tide_names_string(&view->names, text), 0);
    return known ? *known : 0;
}

static void cali_row(struct tide_query_view *view, const struct tide_value *cells)
{
    struct tide_text refs = {0}, attributes = {0}, data = {0};
    for (size_t i = 0; i < view->plan->column_count; i++) {
        const struct tide_value value = tide_value_carry(
            cells[view->plan->columns[i].cell], view->now, &view->names);
        if (value.type == TIDE_VALUE_PATH)
            tide_text_addf(&refs, "=%u", path_node(view, i, value.id));
        else if (value.type == TIDE_VALUE_STRING)
            tide_text_addf(&refs, "=%u", text_node(view, i, value.id));
        else if (value.type) {
            tide_text_addf(&attributes, "=%u", attribute_of(view, i, value.type));
            tide_text_addf(&data, "=%s", tide_query_exact(view, value));
        }
    }
    if (refs.length || data.length)
        tide_text_add(&view->out->text, "__rec=ctx");
    if (refs.length)
        tide_text_addf(&view->out->text, ",ref%s", refs.bytes);
    if (data.length)
        tide_text_addf(&view->out->text, ",attr%s,data%s", attributes.bytes,
                       data.bytes);
    if (refs.length || data.length)
        tide_text_add(&view->out->text, "\n");
    view->text.failed =
        view->text.failed || refs.failed || attributes.failed || data.failed;
    tide_text_release(&refs);
    tide_text_release(&attributes);
    tide_text_release(&data);
}

static void cali_begin(struct tide_query_view *view)
{
    const size_t columns = view->plan->column_count + 1;
    struct cali *const cali = calloc(1, sizeof(*cali));
    view->state = cali;
    if (cali) {
        cali->next = TIDE_CALI_FIRST;
        cali->attributes = calloc(columns, sizeof(*cali->attributes));
        cali->texts = calloc(columns, sizeof(*cali->texts));
        cali->paths = calloc(columns, sizeof(*cali->paths));
    }
    if (!cali || !cali->attributes || !cali->texts || !cali->paths)
        view->status = TIDE_ENOMEM;
}

static void cali_end(struct tide_query_view *view)
{
    const uint32_t attribute = add_attribute(view, "tidemark.version", TIDE_CALI_GLOBAL,
                                             type_node(TIDE_VALUE_STRING));
    const uint32_t node = add_node(view, attribute, TIDE_VERSION, 0);
    tide_text_addf(&view->out->text, "__rec=globals,ref=%u\n", node);
}

static void cali_release(struct tide_query_view *view)
{
    struct cali *const cali = view->state;
    if (!cali)
        return;
    for (size_t i = 0; i < view->plan->column_count; i++) {
        if (cali->texts)
            free(cali->texts[i].list);
        if (cali->paths)
            free(cali->paths[i].list);
    }
    for (size_t i = 0; i < cali->kind_count; i++)
        free(cali->kinds[i].name);
    free(cali->kinds);
    free(cali->attributes);
    free(cali->texts);
    free(cali->paths);
    free(cali);
    view->state = NULL;
}

const struct tide_query_format tide_query_cali = {
    .name = "cali",
    .words = "Caliper's own file, for cali-query and hatchet",
    .begin = cali_begin,
    .row = cali_row,
    .end = cali_end,
    .release = cali_release,
};
