/* tests/programs/planted_leak_once.c - a table that is made in mid-run and forgotten. */
#include "planted.h"

enum { ROUNDS = 40, TABLE = 96 * 1024 * TIDE_SCALE };

APART static void *make_table(void)
{
    char *const table = malloc(TABLE);
    memset(table, 1, TABLE);
    return table;
}

int main(void)
{
    void *volatile table = NULL;
    for (unsigned i = 0; i < ROUNDS; i++) {
        honest_work(i);
        if (i == ROUNDS / 2)
            table = make_table();
    }
    table = NULL;
    confess("leak_once", "make_table", TABLE, 1);
    return table != NULL;
}
