/* view/query_sql.c - ask the database that `export --to sqlite` makes. */
#include "view/query_sql.h"

#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "model/grow.h"
#include "view/export_out.h"
#include "view/json.h"
#include "view/query_columns.h"
#include "view/utf8.h"

/* All cells as text: columns have widths. */
struct cells {
    struct tide_arena arena;
    const char **list; /* owned; NULL: nothing */
    size_t count, capacity;
    int columns;
};

static enum tide_status add_cell(struct cells *cells, const char *text)
{
    struct tide_text safe = {0};
    const char **const list =
        tide_grown(cells->list, &cells->capacity, cells->count + 1, sizeof(*list));
    if (!list)
        return TIDE_ENOMEM;
    cells->list = list;
    if (text)
        tide_out_name(&safe, text);
    list[cells->count++] =
        tide_arena_copy(&cells->arena, safe.bytes ? safe.bytes : "", safe.length);
    const bool failed = safe.failed || !list[cells->count - 1];
    tide_text_release(&safe);
    return failed ? TIDE_ENOMEM : TIDE_OK;
}

static bool is_number(sqlite3_stmt *statement, int column)
{
    const int type = sqlite3_column_type(statement, column);
    return type == SQLITE_INTEGER || type == SQLITE_FLOAT;
}

static enum tide_status read_row(sqlite3_stmt *statement, struct cells *cells)
{
    enum tide_status status = TIDE_OK;
    for (int i = 0; i < cells->columns && !status; i++)
        status = add_cell(cells, (const char *)sqlite3_column_text(statement, i));
    return status;
}

/* How wide each column wants to be. */
static void measure(const struct cells *cells, int *widths)
{
    const size_t columns = (size_t)cells->columns;
    for (size_t i = 0; i < columns; i++)
        widths[i] = TIDE_QUERY_LEAST;
    for (size_t i = 0; i < cells->count; i++) {
        const int width = tide_columns(cells->list[i]);
        int *const widest = &widths[i % columns];
        *widest = width > *widest ? width : *widest;
    }
}

/* Numbers stand at the right: RIGHT says which columns hold nothing else.  What does not
 * fit into ROOM stands below. */
static void add_table(struct tide_text *out, const struct cells *cells,
                      const bool *right, int room)
{
    const size_t columns = (size_t)cells->columns;
    int *const widths = calloc(columns + 1, sizeof(*widths));
    if (!widths) {
        out->failed = true;
        return;
    }
    measure(cells, widths);
    tide_query_fit(widths, right, columns, room);
    for (size_t from = 0, to; from < columns; from = to) {
        to = tide_query_block(widths, columns, from, room);
        tide_text_add(out, from ? "\n" : "");
        for (size_t i = 0; i < cells->count; i++) {
            const size_t column = i % columns;
            if (column >= from && column < to)
                tide_query_cell_add(out, cells->list[i], widths[column],
                                    right[column] && i >= columns);
            tide_text_add(out, column + 1 == columns ? "\n" : "");
        }
    }
    free(widths);
}

static void add_json_row(struct tide_json *json, sqlite3_stmt *statement, int columns)
{
    tide_json_open_row(json, NULL);
    for (int i = 0; i < columns; i++) {
        const char *const name = sqlite3_column_name(statement, i);
        const int type = sqlite3_column_type(statement, i);
        if (type == SQLITE_INTEGER)
            tide_json_int(json, name, sqlite3_column_int64(statement, i));
        else if (type == SQLITE_FLOAT)
            tide_json_number(json, name, sqlite3_column_double(statement, i));
        else
            tide_json_string(json, name,
                             (const char *)sqlite3_column_text(statement, i));
    }
    tide_json_close(json);
}

/* Take all rows of STATEMENT; returns SQLite's last word. */
static int step_all(sqlite3_stmt *statement, struct cells *cells, bool *right,
                    struct tide_json *json)
{
    int step;
    while ((step = sqlite3_step(statement)) == SQLITE_ROW) {
        for (int i = 0; i < cells->columns; i++)
            right[i] = right[i] && (is_number(statement, i) ||
                                    sqlite3_column_type(statement, i) == SQLITE_NULL);
        if (json)
            add_json_row(json, statement, cells->columns);
        else if (read_row(statement, cells))
            return SQLITE_NOMEM;
    }
    return step;
}

static int answer(sqlite3_stmt *statement, struct tide_sql_form form,
                  struct tide_text *out)
{
    const bool as_json = form.json;
    struct cells cells = {.columns = sqlite3_column_count(statement)};
    struct tide_json json = {.out = out};
    bool *const right = calloc((size_t)cells.columns + 1, sizeof(*right));
    int step = right ? SQLITE_DONE : SQLITE_NOMEM;
    for (int i = 0; right && i < cells.columns; i++) {
        right[i] = true;
        if (!as_json && add_cell(&cells, sqlite3_column_name(statement, i)))
            step = SQLITE_NOMEM;
    }
    if (as_json) {
        tide_json_open(&json, NULL, '{');
        tide_json_string(&json, "schema", "tidemark.query.sql/1");
        tide_json_open(&json, "rows", '[');
    }
    if (step == SQLITE_DONE)
        step = step_all(statement, &cells, right, as_json ? &json : NULL);
    if (as_json) {
        tide_json_close(&json);
        tide_json_close(&json);
    } else if (step == SQLITE_DONE && cells.columns) {
        add_table(out, &cells, right, form.room);
    }
    free(right);
    free(cells.list);
    tide_arena_release(&cells.arena);
    return step;
}

enum tide_status tide_query_sql(const char *path, const char *sql,
                                struct tide_sql_form form, struct tide_text *out,
                                struct tide_text *why)
{
    sqlite3 *database = NULL;
    sqlite3_stmt *statement = NULL;
    const char *rest = "";
    int result = sqlite3_open_v2(path, &database, SQLITE_OPEN_READONLY, NULL);
    if (result == SQLITE_OK)
        result = sqlite3_prepare_v2(database, sql, -1, &statement, &rest);
    if (result == SQLITE_OK && (!statement || rest[strspn(rest, "; \t\r\n")]))
        tide_text_add(why, "one statement at a time");
    else if (result == SQLITE_OK)
        result = answer(statement, form, out);
    if (result != SQLITE_OK && result != SQLITE_DONE)
        tide_text_add(why, database ? sqlite3_errmsg(database) : "out of memory");
    (void)sqlite3_finalize(statement);
    (void)sqlite3_close(database);
    if (result == SQLITE_NOMEM)
        return TIDE_ENOMEM;
    return why->length ? TIDE_EUSAGE : TIDE_OK;
}
