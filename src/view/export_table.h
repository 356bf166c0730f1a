/* view/export_table.h - tables of an SQLite file, row by row.
 *
 * For: view/.  A failure is remembered and ends the writing; look at it once, in
 * tide_tables_close().
 *
 *     struct tide_table table;
 *     tide_table_begin(&table, &tables, "modules", 2);
 *     tide_table_uint(&table, 1);
 *     tide_table_text(&table, "/bin/true");
 *     tide_table_row(&table);
 *     tide_table_end(&table);
 */
#ifndef TIDE_VIEW_EXPORT_TABLE_H
#define TIDE_VIEW_EXPORT_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tidemark/status.h>

#include "base/text.h"

enum { TIDE_TABLE_TEXTS = 8 }; /* in one row, at most */

struct tide_tables {
    void *database;          /* owned */
    struct tide_text *why;   /* borrowed: SQLite's words for the first failure */
    enum tide_status failed; /* TIDE_OK: it has not */
};

struct tide_table {
    struct tide_tables *tables; /* borrowed */
    void *insert;               /* owned: statement */
    int column;                 /* of the next value */
    struct tide_text texts[TIDE_TABLE_TEXTS];
    size_t text_count;
};

/* Open the empty file at PATH, in one transaction. */
void tide_tables_open(struct tide_tables *tables, const char *path,
                      struct tide_text *why);
void tide_tables_run(struct tide_tables *tables, const char *sql);
/* End the transaction and close the file. */
enum tide_status tide_tables_close(struct tide_tables *tables);

/* NAME is a table of so many columns, of which each row must give all. */
void tide_table_begin(struct tide_table *table, struct tide_tables *tables,
                      const char *name, int columns);
void tide_table_end(struct tide_table *table);

void tide_table_uint(struct tide_table *table, uint64_t value);
void tide_table_real(struct tide_table *table, double value);
/* Made safe; NULL is NULL. */
void tide_table_text(struct tide_table *table, const char *value);
void tide_table_null(struct tide_table *table);
/* 0 is NULL. */
void tide_table_known(struct tide_table *table, uint64_t value);
/* The row is complete. */
void tide_table_row(struct tide_table *table);

#endif
