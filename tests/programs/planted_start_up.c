/* tests/programs/planted_start_up.c - tables that are there from the start to the end. */
#include "planted.h"

enum { TABLES = 8, TABLE = 512 * 1024, PARTS = 40 };

static char *tables[TABLES];

APART static void load_tables(void)
{
    for (unsigned i = 0; i < TABLES; i++) {
        tables[i] = malloc(TABLE);
        memset(tables[i], (int)i, TABLE);
    }
}

int main(void)
{
    load_tables();
    for (unsigned i = 0; i < PARTS; i++) {
        honest_work(i);
        rest(2.0 / PARTS);
    }
    for (unsigned i = 0; i < TABLES; i++)
        free(tables[i]);
    confess("start_up", "load_tables", (uint64_t)TABLES * TABLE, TABLES);
    return 0;
}
