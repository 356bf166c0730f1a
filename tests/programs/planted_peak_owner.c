/* tests/programs/planted_peak_owner.c - most of the peak is one function's. */
#include "planted.h"

enum { ROWS = 300, ROW = 64 * 1024, ROUNDS = 40 };

APART static char *make_row(unsigned number)
{
    char *const row = malloc(ROW);
    memset(row, (int)number, ROW);
    return row;
}

int main(void)
{
    static char *rows[ROWS];
    honest_work(1);
    for (unsigned i = 0; i < ROWS; i++)
        rows[i] = make_row(i);
    for (unsigned i = 0; i < ROWS; i++)
        free(rows[i]);
    for (unsigned i = 0; i < ROUNDS; i++)
        honest_work(i);
    confess("peak_owner", "make_row", (uint64_t)ROWS * ROW, ROWS);
    return 0;
}
