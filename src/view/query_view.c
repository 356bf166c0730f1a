/* view/query_view.c - the answer of a query as text: which format, which rows. */
#include "view/query_view.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/nearest.h"
#include "model/grow.h"
#include "view/names.h"

static const struct tide_query_format *const FORMATS[] = {
    &tide_query_table, &tide_query_tree,     &tide_query_json,   &tide_query_json_split,
    &tide_query_csv,   &tide_query_markdown, &tide_query_expand, &tide_query_format,
    &tide_query_cali,  &tide_query_ndjson,   &tide_query_tsv,
};
enum { TIDE_QUERY_FORMATS = sizeof(FORMATS) / sizeof(FORMATS[0]) };

const struct tide_query_format *tide_query_format_find(const char *name)
{
    for (size_t i = 0; i < TIDE_QUERY_FORMATS; i++)
        if (strcasecmp(FORMATS[i]->name, name) == 0)
            return FORMATS[i];
    return NULL;
}

/* --- Arguments ------------------------------------------------------------------------ */

static bool listed(const char *const *list, const char *word)
{
    for (; list && *list; list++)
        if (strcmp(*list, word) == 0)
            return true;
    return false;
}

const char *tide_query_argument(const struct tide_query_view *view, const char *key)
{
    const struct tide_query *const query = view->query;
    size_t place = 0;
    if (!query)
        return NULL;
    for (size_t i = 0; i < query->argument_count; i++) {
        const struct tide_argument *const argument = &query->arguments[i];
        if (argument->value.text && strcmp(argument->key.text, key) == 0)
            return argument->value.text;
        if (argument->value.text || listed(view->format->flags, argument->key.text))
            continue;
        if (view->format->places && view->format->places[place] &&
            strcmp(view->format->places[place++], key) == 0)
            return argument->key.text;
    }
    return NULL;
}

bool tide_query_flag(const struct tide_query_view *view, const char *flag)
{
    const struct tide_query *const query = view->query;
    for (size_t i = 0; query && i < query->argument_count; i++)
        if (!query->arguments[i].value.text &&
            strcmp(query->arguments[i].key.text, flag) == 0)
            return true;
    return false;
}

int tide_query_number(const struct tide_query_view *view, const char *key,
                      int otherwise)
{
    const char *const text = tide_query_argument(view, key);
    char *end;
    const long value = text ? strtol(text, &end, 10) : otherwise;
    if (value <= 0 || value > 100000)
        return text ? 100000 : otherwise; /* 0 and less: no limit */
    return (int)value;
}

static size_t count_of(const char *const *list)
{
    size_t count = 0;
    while (list && list[count])
        count++;
    return count;
}

/* Are the arguments those of the format? */
static enum tide_status check_arguments(const struct tide_query_view *view,
                                        struct tide_query_error *error)
{
    const struct tide_query_format *const format = view->format;
    const struct tide_query *const query = view->query;
    size_t places = 0;
    for (size_t i = 0; i < query->argument_count; i++) {
        const struct tide_argument *const argument = &query->arguments[i];
        const char *const key = argument->key.text;
        if (argument->value.text ? listed(format->keys, key)
                                 : listed(format->flags, key))
            continue;
        if (!argument->value.text && places++ < count_of(format->places))
            continue;
        const char *near = tide_nearest(key, format->keys, count_of(format->keys));
        if (!near)
            near = tide_nearest(key, format->flags, count_of(format->flags));
        return tide_query_blame(error, argument->key.span,
                                near ? "%s has no argument '%s'; did you mean '%s'?"
                                     : "%s has no argument '%s'",
                                format->name, key, near);
    }
    return TIDE_OK;
}

static enum tide_status find_format(struct tide_query_view *view,
                                    struct tide_query_error *error)
{
    const struct tide_query_word *const name = &view->query->format;
    view->format = name->text ? tide_query_format_find(name->text) : &tide_query_table;
    if (view->format)
        return check_arguments(view, error);
    const char *names[TIDE_QUERY_FORMATS];
    for (size_t i = 0; i < TIDE_QUERY_FORMATS; i++)
        names[i] = FORMATS[i]->name;
    const char *const near = tide_nearest(name->text, names, TIDE_QUERY_FORMATS);
    return tide_query_blame(
        error, name->span,
        near ? "there is no format '%s'; did you mean '%s'?"
             : "there is no format '%s': table, tree, json, json-split, csv, tsv, "
               "markdown, expand, format, cali, ndjson",
        name->text, near);
}

/* --- Cells ------------------------------------------------------------------------------ */

size_t tide_query_path_cell(const struct tide_plan *plan)
{
    for (size_t i = 0; i < plan->cell_count; i++) {
        const size_t slot = plan->cells[i].slot;
        if (slot != SIZE_MAX && plan->slots[slot].type == TIDE_VALUE_PATH)
            return i;
    }
    return SIZE_MAX;
}

size_t tide_query_cell_called(const struct tide_plan *plan, const char *name)
{
    for (size_t i = 0; i < plan->column_count; i++)
        if (strcmp(plan->columns[i].title, name) == 0)
            return plan->columns[i].cell;
    for (size_t i = 0; i < plan->cell_count; i++)
        if (strcmp(plan->cells[i].name, name) == 0)
            return i;
    return SIZE_MAX;
}

const char *tide_query_title(struct tide_query_view *view, size_t column)
{
    tide_text_clear(&view->text);
    tide_text_add_safe(&view->text, view->plan->columns[column].title);
    return view->text.length ? view->text.bytes : "";
}

const char *tide_query_safe(struct tide_query_view *view, struct tide_value value)
{
    tide_text_clear(&view->text);
    if (value.type == TIDE_VALUE_STRING || value.type == TIDE_VALUE_PATH) {
        struct tide_text raw = {0};
        tide_value_text(value, view->now, &raw);
        if (raw.length)
            tide_out_name(&view->text, raw.bytes);
        view->text.failed = view->text.failed || raw.failed;
        tide_text_release(&raw);
    } else {
        tide_value_text(value, view->now, &view->text);
    }
    return view->text.length ? view->text.bytes : "";
}

const char *tide_query_exact(struct tide_query_view *view, struct tide_value value)
{
    if (value.type != TIDE_VALUE_REAL)
        return tide_query_safe(view, value);
    /* As few digits as say it. */
    for (int digits = 15; digits <= 17; digits++) {
        tide_text_clear(&view->text);
        tide_text_addf(&view->text, "%.*g", digits, value.real);
        if (view->text.failed || strtod(view->text.bytes, NULL) == value.real)
            break;
    }
    return view->text.length ? view->text.bytes : "";
}

const struct tide_value *tide_query_kept(const struct tide_query_view *view,
                                         size_t number)
{
    return view->cells + number * view->plan->cell_count;
}

/* --- Rows --------------------------------------------------------------------------------- */

/* The LENGTH bytes at NAME must be something that the answer has. */
static enum tide_status check_name(const struct tide_query_view *view, const char *name,
                                   size_t length, struct tide_query_error *error)
{
    char *const copy = strndup(name, length);
    if (!copy)
        return TIDE_ENOMEM;
    enum tide_status status = TIDE_OK;
    if (tide_query_cell_called(view->plan, copy) == SIZE_MAX)
        status =
            tide_query_blame(error, view->query->format.span,
                             "%s: the answer has no '%s'", view->format->name, copy);
    free(copy);
    return status;
}

/* "a,b" */
static enum tide_status check_list(const struct tide_query_view *view, const char *list,
                                   struct tide_query_error *error)
{
    enum tide_status status = TIDE_OK;
    while (*list && !status) {
        const size_t length = strcspn(list, ",");
        status = check_name(view, list, length, error);
        list += length + (list[length] == ',');
    }
    return status;
}

/* "text %[8]a% text": what is between two % is a name; %% is none. */
static enum tide_status check_fields(const struct tide_query_view *view,
                                     const char *text, struct tide_query_error *error)
{
    enum tide_status status = TIDE_OK;
    const char *start = strchr(text, '%');
    while (start && !status) {
        const char *const name =
            start + 1 + (start[1] == '[' ? strcspn(start + 1, "]") + 1 : 0);
        const char *const end = strchr(start + 1, '%');
        if (!end)
            break;
        if (name < end)
            status = check_name(view, name, (size_t)(end - name), error);
        start = strchr(end + 1, '%');
    }
    return status;
}

/* Keys of an object differ: two columns of one title must be one and the same. */
static enum tide_status check_titles(const struct tide_query_view *view,
                                     struct tide_query_error *error)
{
    const struct tide_plan_column *const columns = view->plan->columns;
    for (size_t i = 1; i < view->plan->column_count; i++)
        for (size_t j = 0; j < i; j++)
            if (columns[i].cell != columns[j].cell &&
                strcmp(columns[i].title, columns[j].title) == 0)
                return tide_query_blame(error, view->query->format.span,
                                        "%s: two columns are called '%s'; AS names "
                                        "one of them",
                                        view->format->name, columns[i].title);
    return TIDE_OK;
}

/* Does the answer have what the format needs? */
static enum tide_status check_needs(const struct tide_query_view *view,
                                    struct tide_query_error *error)
{
    const bool tree = view->format == &tide_query_tree;
    const char *const list = tree ? tide_query_argument(view, "path-attributes") : NULL;
    if (list)
        return check_list(view, list, error);
    if (view->format == &tide_query_format) {
        const char *const text = tide_query_argument(view, "format");
        return text ? check_fields(view, text, error)
                    : tide_query_blame(error, view->query->format.span,
                                       "format needs a text: format(\"%%size%% B\")");
    }
    if (view->format == &tide_query_json || view->format == &tide_query_ndjson)
        return check_titles(view, error);
    if ((!tree && view->format != &tide_query_json_split) ||
        tide_query_path_cell(view->plan) != SIZE_MAX)
        return TIDE_OK;
    return tide_query_blame(error, view->query->format.span,
                            "%s needs a path: GROUP BY region, or stack",
                            view->format->name);
}

enum tide_status tide_query_view_begin(struct tide_query_view *view,
                                       const struct tide_plan *plan,
                                       struct tide_out *out,
                                       struct tide_query_error *error)
{
    const struct tide_query_format *const given = view->format;
    *view = (struct tide_query_view){.plan = plan,
                                     .out = out,
                                     .query = plan->query,
                                     .format = given,
                                     .width = view->width};
    enum tide_status status = given ? TIDE_OK : find_format(view, error);
    if (!status)
        status = check_needs(view, error);
    if (status)
        return status;
    view->shown = calloc(plan->column_count + 1, sizeof(*view->shown));
    if (!view->shown)
        return TIDE_ENOMEM;
    for (size_t i = 0; i < plan->column_count; i++)
        view->shown[i] = !plan->columns[i].filler || !view->format->keeps;
    view->now = &view->names;
    if (view->format->begin)
        view->format->begin(view);
    return view->status;
}

static enum tide_status keep_row(struct tide_query_view *view,
                                 const struct tide_names *names,
                                 const struct tide_value *cells)
{
    const struct tide_plan *const plan = view->plan;
    const size_t width = plan->cell_count ? plan->cell_count : 1;
    struct tide_value *const grown = tide_grown(
        view->cells, &view->row_capacity, view->row_count + 1, width * sizeof(*grown));
    if (!grown)
        return TIDE_ENOMEM;
    view->cells = grown;
    struct tide_value *const row = grown + view->row_count * plan->cell_count;
    for (size_t i = 0; i < plan->cell_count; i++)
        row[i] = tide_value_carry(cells[i], names, &view->names);
    for (size_t i = 0; i < plan->column_count; i++)
        view->shown[i] = view->shown[i] || row[plan->columns[i].cell].type;
    view->row_count++;
    return view->names.failed ? TIDE_ENOMEM : TIDE_OK;
}

enum tide_status tide_query_view_row(struct tide_query_view *view,
                                     const struct tide_names *names,
                                     const struct tide_value *cells)
{
    if (view->status)
        return view->status;
    if (view->format->keeps) {
        view->status = keep_row(view, names, cells);
        return view->status;
    }
    view->now = names;
    view->format->row(view, cells);
    view->written++;
    if (!tide_out_rest(view->out) && !view->status)
        view->status = TIDE_EIO;
    return view->status;
}

enum tide_status tide_query_view_end(struct tide_query_view *view)
{
    view->now = &view->names;
    if (!view->status && view->format->end)
        view->format->end(view);
    if (!view->status && (view->text.failed || view->out->text.failed))
        view->status = TIDE_ENOMEM;
    return view->status;
}

void tide_query_view_release(struct tide_query_view *view)
{
    if (view->format && view->format->release && view->plan)
        view->format->release(view);
    free(view->cells);
    free(view->shown);
    tide_text_release(&view->text);
    tide_names_release(&view->names);
    *view = (struct tide_query_view){0};
}
