/* view/query_view.h - the answer of a query as text.
 *
 * For: view/, cli/, tests/.  Layouts are Caliper's, where it has one: docs/query.md.
 *
 *     tide_query_view_begin(&view, &plan, &out, &error);
 *     for each row: tide_query_view_row(&view, &names, cells);
 *     tide_query_view_end(&view);
 *
 * Formats that need all rows before they can write the first (columns have widths) keep
 * them; the others write at once.
 */
#ifndef TIDE_VIEW_QUERY_VIEW_H
#define TIDE_VIEW_QUERY_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tidemark/status.h>

#include "query/ast.h"
#include "query/engine.h"
#include "query/plan.h"
#include "view/export_out.h"
#include "view/style.h"

struct tide_query_view;

struct tide_query_format {
    const char *name;
    const char *words;         /* what it is, for --help and mistakes */
    const char *const *keys;   /* of key=value, NULL-terminated */
    const char *const *flags;  /* NULL-terminated */
    const char *const *places; /* keys of values without one, in their order */
    bool keeps;                /* needs all rows first */
    void (*begin)(struct tide_query_view *view);
    void (*row)(struct tide_query_view *view, const struct tide_value *cells);
    void (*end)(struct tide_query_view *view);
    void (*release)(struct tide_query_view *view);
};

struct tide_query_view {
    const struct tide_plan *plan; /* borrowed */
    struct tide_out *out;         /* borrowed */
    const struct tide_query_format *format;
    const struct tide_query *query; /* borrowed: arguments of the format */
    struct tide_names names;        /* of the rows that are kept */
    const struct tide_names *now;   /* of the row that is being written */
    struct tide_value *cells;       /* owned: rows that are kept */
    size_t row_count, row_capacity;
    uint64_t written; /* rows */
    int width;        /* that tables keep to; 0: any; set before begin, as format */
    bool *shown;      /* owned, per column */
    struct tide_text text;
    void *state; /* the format's */
    enum tide_status status;
};

/* The format called NAME; NULL: there is none. */
const struct tide_query_format *tide_query_format_find(const char *name);

/* FORMAT of the plan's query, or the table; EUSAGE: ERROR says what is wrong with it.  To
 * be ended in any case. */
enum tide_status tide_query_view_begin(struct tide_query_view *view,
                                       const struct tide_plan *plan,
                                       struct tide_out *out,
                                       struct tide_query_error *error);
enum tide_status tide_query_view_row(struct tide_query_view *view,
                                     const struct tide_names *names,
                                     const struct tide_value *cells);
enum tide_status tide_query_view_end(struct tide_query_view *view);
void tide_query_view_release(struct tide_query_view *view);

/* The same as tidemark's own JSON: {"schema": "tidemark.query/1", ...}. */
extern const struct tide_query_format tide_query_schema_json;

/* Add what is wrong with TEXT, with a caret below the place. */
void tide_query_error_text(struct tide_text *out, const char *text, size_t length,
                           const struct tide_query_error *error);
/* Add TEXT of tide_plan_explain() in lines that fit. */
void tide_query_explained(struct tide_text *out, const char *text,
                          const struct tide_style *style);
/* Add a table of attributes with what they mean and how many rows have them. */
void tide_query_attributes_text(struct tide_text *out,
                                const struct tide_attribute_counts *counts,
                                enum tide_query_source source,
                                const struct tide_style *style);
void tide_query_attributes_json(struct tide_text *out,
                                const struct tide_attribute_counts *counts,
                                enum tide_query_source source);

/* --- For the formats: query_*.c ----------------------------------------------------- */

extern const struct tide_query_format tide_query_table, tide_query_tree,
    tide_query_markdown, tide_query_csv, tide_query_tsv, tide_query_json,
    tide_query_ndjson, tide_query_expand, tide_query_format, tide_query_cali,
    tide_query_json_split;

/* The value of argument KEY (or the one in the place of it); NULL: not given. */
const char *tide_query_argument(const struct tide_query_view *view, const char *key);
bool tide_query_flag(const struct tide_query_view *view, const char *flag);
/* What is known of the run, above a table, if it is asked for. */
void tide_query_globals(const struct tide_query_view *view);
/* The number of KEY, or OTHERWISE. */
int tide_query_number(const struct tide_query_view *view, const char *key,
                      int otherwise);
/* Where "path" is: the first cell that holds one; SIZE_MAX: none does. */
size_t tide_query_path_cell(const struct tide_plan *plan);
size_t tide_query_cell_called(const struct tide_plan *plan, const char *name);
/* Row NUMBER of those that are kept. */
const struct tide_value *tide_query_kept(const struct tide_query_view *view,
                                         size_t number);
/* The title of COLUMN as text that a terminal does not obey; view->text is used for it. */
const char *tide_query_title(struct tide_query_view *view, size_t column);
/* VALUE as such text, in view->text as well. */
const char *tide_query_safe(struct tide_query_view *view, struct tide_value value);
/* Reals with all their digits. */
const char *tide_query_exact(struct tide_query_view *view, struct tide_value value);

#endif
