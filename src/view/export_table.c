/* view/export_table.c - tables of an SQLite file, row by row.
 *
 * The file has no name yet that anybody knows, and is thrown away after a failure, so it
 * needs neither a journal nor to be forced to the disk.
 */
#include "view/export_table.h"

#include <sqlite3.h>

#include "view/export_out.h"

static void fail(struct tide_tables *tables)
{
    if (tables->failed)
        return;
    tide_text_add(tables->why, sqlite3_errmsg(tables->database));
    tables->failed =
        sqlite3_errcode(tables->database) == SQLITE_NOMEM ? TIDE_ENOMEM : TIDE_EIO;
}

void tide_tables_run(struct tide_tables *tables, const char *sql)
{
    if (!tables->failed &&
        sqlite3_exec(tables->database, sql, NULL, NULL, NULL) != SQLITE_OK)
        fail(tables);
}

void tide_tables_open(struct tide_tables *tables, const char *path,
                      struct tide_text *why)
{
    sqlite3 *database = NULL;
    const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX;
    const int result = sqlite3_open_v2(path, &database, flags, NULL);
    *tables = (struct tide_tables){.database = database, .why = why};
    if (result != SQLITE_OK)
        fail(tables);
    tide_tables_run(tables, "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;"
                            "BEGIN;");
}

enum tide_status tide_tables_close(struct tide_tables *tables)
{
    tide_tables_run(tables, "COMMIT;");
    if (sqlite3_close(tables->database) != SQLITE_OK && !tables->failed)
        tables->failed = TIDE_EIO;
    tables->database = NULL;
    return tables->failed;
}

void tide_table_begin(struct tide_table *table, struct tide_tables *tables,
                      const char *name, int columns)
{
    struct tide_text sql = {0};
    sqlite3_stmt *insert = NULL;
    *table = (struct tide_table){.tables = tables, .column = 1};
    tide_text_addf(&sql, "INSERT INTO %s VALUES (?", name);
    for (int i = 1; i < columns; i++)
        tide_text_add(&sql, ", ?");
    tide_text_add(&sql, ")");
    if (!tables->failed &&
        (sql.failed || sqlite3_prepare_v2(tables->database, sql.bytes, -1, &insert,
                                          NULL) != SQLITE_OK))
        fail(tables);
    table->insert = insert;
    tide_text_release(&sql);
}

void tide_table_end(struct tide_table *table)
{
    for (size_t i = 0; i < TIDE_TABLE_TEXTS; i++)
        tide_text_release(&table->texts[i]);
    (void)sqlite3_finalize(table->insert);
    table->insert = NULL;
}

static void check(struct tide_table *table, int result)
{
    if (result != SQLITE_OK)
        fail(table->tables);
}

void tide_table_uint(struct tide_table *table, uint64_t value)
{
    if (!table->tables->failed)
        check(table,
              sqlite3_bind_int64(table->insert, table->column++, (sqlite3_int64)value));
}

void tide_table_real(struct tide_table *table, double value)
{
    if (!table->tables->failed)
        check(table, sqlite3_bind_double(table->insert, table->column++, value));
}

void tide_table_null(struct tide_table *table)
{
    if (!table->tables->failed)
        check(table, sqlite3_bind_null(table->insert, table->column++));
}

void tide_table_known(struct tide_table *table, uint64_t value)
{
    if (value)
        tide_table_uint(table, value);
    else
        tide_table_null(table);
}

void tide_table_text(struct tide_table *table, const char *value)
{
    if (!value || table->text_count == TIDE_TABLE_TEXTS) {
        tide_table_null(table);
        return;
    }
    struct tide_text *const safe = &table->texts[table->text_count++];
    tide_text_clear(safe);
    tide_out_name(safe, value);
    if (!table->tables->failed)
        check(table, sqlite3_bind_text(table->insert, table->column++,
                                       safe->length ? safe->bytes : "",
                                       (int)safe->length, SQLITE_STATIC));
}

void tide_table_row(struct tide_table *table)
{
    if (table->tables->failed)
        return;
    if (sqlite3_step(table->insert) != SQLITE_DONE)
        fail(table->tables);
    (void)sqlite3_reset(table->insert);
    table->column = 1;
    table->text_count = 0;
}
