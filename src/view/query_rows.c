/* view/query_rows.c - answers that are written row by row: csv, json, expand, format. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "view/json.h"
#include "view/query_view.h"

static struct tide_text *out_of(const struct tide_query_view *view)
{
    return &view->out->text;
}

static struct tide_value cell_of(const struct tide_query_view *view, size_t column,
                                 const struct tide_value *cells)
{
    return cells[view->plan->columns[column].cell];
}

/* --- CSV, TSV ------------------------------------------------------------------------- */

static bool is_tsv(const struct tide_query_view *view)
{
    return view->format == &tide_query_tsv;
}

/* RFC 4180: in quotes, which are doubled, if there is anything that needs it.  What ends
 * a line or a field in TSV has been made safe before. */
static void add_field(struct tide_query_view *view, const char *text)
{
    struct tide_text *const out = out_of(view);
    if (is_tsv(view) || !strpbrk(text, "\",\n\r")) {
        tide_text_add(out, text);
        return;
    }
    tide_text_add(out, "\"");
    for (; *text; text++)
        tide_text_add_bytes(out, *text == '"' ? "\"\"" : text, *text == '"' ? 2 : 1);
    tide_text_add(out, "\"");
}

static void csv_begin(struct tide_query_view *view)
{
    for (size_t i = 0; i < view->plan->column_count; i++) {
        tide_text_add(out_of(view), i == 0 ? "" : is_tsv(view) ? "\t" : ",");
        add_field(view, tide_query_title(view, i));
    }
    tide_text_add(out_of(view), "\n");
}

static void csv_row(struct tide_query_view *view, const struct tide_value *cells)
{
    for (size_t i = 0; i < view->plan->column_count; i++) {
        tide_text_add(out_of(view), i == 0 ? "" : is_tsv(view) ? "\t" : ",");
        add_field(view, tide_query_exact(view, cell_of(view, i, cells)));
    }
    tide_text_add(out_of(view), "\n");
}

const struct tide_query_format tide_query_csv = {
    .name = "csv",
    .words = "a line of titles, then a line per row (RFC 4180)",
    .begin = csv_begin,
    .row = csv_row,
};

const struct tide_query_format tide_query_tsv = {
    .name = "tsv",
    .words = "the same with tabs",
    .begin = csv_begin,
    .row = csv_row,
};

/* --- JSON ------------------------------------------------------------------------------- */

/* VALUE as JSON: numbers bare, unless all is to be quoted; addresses are words. */
static void add_json(struct tide_query_view *view, struct tide_value value,
                     bool quote_all)
{
    struct tide_text *const out = out_of(view);
    const bool bare = value.type == TIDE_VALUE_BOOL || value.type == TIDE_VALUE_INT ||
                      value.type == TIDE_VALUE_UINT || value.type == TIDE_VALUE_REAL;
    if (value.type == TIDE_VALUE_NONE ||
        (value.type == TIDE_VALUE_REAL && !isfinite(value.real))) {
        tide_text_add(out, "null");
    } else if (bare && !quote_all) {
        tide_text_add(out, tide_query_exact(view, value));
    } else if (bare || value.type == TIDE_VALUE_ADDRESS) {
        tide_text_addf(out, "\"%s\"", tide_query_exact(view, value));
    } else {
        tide_text_clear(&view->text);
        tide_value_text(value, view->now, &view->text);
        tide_out_json(out, view->text.length ? view->text.bytes : "");
    }
}

/* PRETTY: a line for each value, and all of it inside the list. */
static void add_object(struct tide_query_view *view, const struct tide_value *cells,
                       bool pretty)
{
    const bool quote_all = tide_query_flag(view, "quote-all");
    const char *between = pretty ? "\n    " : "";
    tide_text_add(out_of(view), pretty ? "  {" : "{");
    for (size_t i = 0; i < view->plan->column_count; i++) {
        const struct tide_value value = cell_of(view, i, cells);
        if (!value.type || !view->shown[i])
            continue;
        tide_text_add(out_of(view), between);
        tide_out_json(out_of(view), view->plan->columns[i].title);
        tide_text_add(out_of(view), pretty ? ": " : ":");
        add_json(view, value, quote_all);
        between = pretty ? ",\n    " : ",";
    }
    tide_text_add(out_of(view), pretty ? "\n  }" : "}");
}

static bool is_split(const struct tide_query_view *view)
{
    return view->format == &tide_query_ndjson || tide_query_flag(view, "split");
}

/* What is selected twice is shown once: keys of an object differ. */
static void show_once(struct tide_query_view *view)
{
    const struct tide_plan_column *const columns = view->plan->columns;
    for (size_t i = 1; i < view->plan->column_count; i++)
        for (size_t j = 0; j < i && view->shown[i]; j++)
            view->shown[i] = strcmp(columns[i].title, columns[j].title) != 0;
}

static void json_begin(struct tide_query_view *view)
{
    show_once(view);
    if (is_split(view))
        return;
    tide_text_add(out_of(view),
                  tide_query_flag(view, "object") ? "{\"records\":[" : "[");
}

static void json_row(struct tide_query_view *view, const struct tide_value *cells)
{
    if (!is_split(view))
        tide_text_add(out_of(view), view->written ? ",\n" : "\n");
    add_object(view, cells, tide_query_flag(view, "pretty"));
    if (is_split(view))
        tide_text_add(out_of(view), "\n");
}

/* What Caliper says of attributes. */
static void add_attributes(struct tide_query_view *view)
{
    struct tide_text *const out = out_of(view);
    tide_text_addf(out, "\n],\n\"globals\":{\"tidemark.version\":\"%s\"},\n",
                   TIDE_VERSION);
    tide_text_add(out, "\"attributes\":{");
    for (size_t i = 0; i < view->plan->column_count; i++) {
        const struct tide_plan_column *const column = &view->plan->columns[i];
        tide_text_add(out, i ? ",\n" : "\n");
        tide_out_json(out, column->title);
        tide_text_addf(out, ":{\"is_global\":false,\"is_nested\":%s,",
                       column->path ? "true" : "false");
        if (column->unit) {
            tide_text_add(out, "\"attribute.unit\":");
            tide_out_json(out, column->unit);
            tide_text_add(out, ",");
        }
        tide_text_add(out, "\"cali.attribute.name\":");
        tide_out_json(out, view->plan->cells[column->cell].name);
        tide_text_add(out, "}");
    }
    tide_text_add(out, "\n}\n}\n");
}

static void json_end(struct tide_query_view *view)
{
    if (is_split(view))
        return;
    if (tide_query_flag(view, "object"))
        add_attributes(view);
    else
        tide_text_add(out_of(view), "\n]\n");
}

static const char *const JSON_FLAGS[] = {
    "object", "pretty", "quote-all", "separate-nested", "records", "split", NULL};

const struct tide_query_format tide_query_json = {
    .name = "json",
    .words = "a list of objects, one per line: (object, pretty, quote-all, split)",
    .flags = JSON_FLAGS,
    .begin = json_begin,
    .row = json_row,
    .end = json_end,
};

const struct tide_query_format tide_query_ndjson = {
    .name = "ndjson",
    .words = "an object per line, nothing around them",
    .flags = JSON_FLAGS,
    .begin = json_begin,
    .row = json_row,
    .end = json_end,
};

/* --- tidemark's own JSON ---------------------------------------------------------------- */

static void schema_begin(struct tide_query_view *view)
{
    struct tide_text *const out = out_of(view);
    tide_text_add(out, "{\n  \"schema\": \"tidemark.query/1\",\n  \"query\": ");
    tide_out_json(out, view->plan->query->text);
    tide_text_add(out, ",\n  \"columns\": [");
    for (size_t i = 0; i < view->plan->column_count; i++) {
        const struct tide_plan_column *const column = &view->plan->columns[i];
        tide_text_add(out, i ? ",\n    {\"title\": " : "\n    {\"title\": ");
        tide_out_json(out, column->title);
        tide_text_add(out, ", \"name\": ");
        tide_out_json(out, view->plan->cells[column->cell].name);
        tide_text_add(out, ", \"unit\": ");
        tide_out_json(out, column->unit);
        tide_text_add(out, "}");
    }
    tide_text_add(out, "\n  ],\n  \"rows\": [");
}

static void schema_row(struct tide_query_view *view, const struct tide_value *cells)
{
    tide_text_add(out_of(view), view->written ? ",\n    [" : "\n    [");
    for (size_t i = 0; i < view->plan->column_count; i++) {
        tide_text_add(out_of(view), i ? ", " : "");
        add_json(view, cell_of(view, i, cells), false);
    }
    tide_text_add(out_of(view), "]");
}

static void schema_end(struct tide_query_view *view)
{
    tide_text_add(out_of(view), "\n  ]\n}\n");
}

const struct tide_query_format tide_query_schema_json = {
    .name = "--json",
    .begin = schema_begin,
    .row = schema_row,
    .end = schema_end,
};

/* --- expand ------------------------------------------------------------------------------ */

static void expand_row(struct tide_query_view *view, const struct tide_value *cells)
{
    bool any = false;
    for (size_t i = 0; i < view->plan->column_count; i++) {
        const struct tide_value value = cell_of(view, i, cells);
        if (!value.type)
            continue;
        tide_text_addf(out_of(view), "%s%s=", any ? "," : "",
                       tide_query_title(view, i));
        tide_text_add(out_of(view), tide_query_safe(view, value));
        any = true;
    }
    if (any)
        tide_text_add(out_of(view), "\n");
}

const struct tide_query_format tide_query_expand = {
    .name = "expand",
    .words = "name=value,name=value",
    .row = expand_row,
};

/* --- format ------------------------------------------------------------------------------ */

/* One field of the text at *TEXT, which stands after its first %: [W]name%.  False: it
 * has no end. */
static bool add_format_field(struct tide_query_view *view, const char **text,
                             const struct tide_value *cells)
{
    char *after = NULL;
    const char *name = *text;
    long width = 0;
    if (*name == '[') {
        width = strtol(name + 1, &after, 10);
        if (*after == ']')
            name = after + 1;
    }
    const char *const end = strchr(name, '%');
    if (!end)
        return false;
    char *const copy = strndup(name, (size_t)(end - name));
    const size_t cell = copy ? tide_query_cell_called(view->plan, copy) : SIZE_MAX;
    free(copy);
    const char *const value =
        cell == SIZE_MAX ? "" : tide_query_safe(view, cells[cell]);
    tide_text_add(out_of(view), value);
    for (long i = (long)strlen(value); i < width && i < 1000; i++)
        tide_text_add(out_of(view), " ");
    *text = end + 1;
    return true;
}

static void format_row(struct tide_query_view *view, const struct tide_value *cells)
{
    const char *text = tide_query_argument(view, "format");
    while (text && *text) {
        if (*text == '%' && text[1] == '%') {
            tide_text_add(out_of(view), "%");
            text += 2;
            continue;
        }
        if (*text == '%') {
            text++;
            if (!add_format_field(view, &text, cells))
                tide_text_add(out_of(view), "%");
            continue;
        }
        tide_text_add_bytes(out_of(view), text++, 1);
    }
    tide_text_add(out_of(view), "\n");
}

static void format_begin(struct tide_query_view *view)
{
    const char *const title = tide_query_argument(view, "title");
    tide_text_add_safe(out_of(view), title);
    tide_text_add(out_of(view), title ? "\n" : "");
}

static const char *const FORMAT_KEYS[] = {"format", "title", NULL};

const struct tide_query_format tide_query_format = {
    .name = "format",
    .words = "a line per row as the text says: (\"%[8]size% at %leaf%\", title)",
    .keys = FORMAT_KEYS,
    .places = FORMAT_KEYS,
    .begin = format_begin,
    .row = format_row,
};
