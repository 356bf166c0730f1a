/* tests/programs/leaks_around_peak.c - leaks before and after the heap stands highest.
 *
 * The first comes from two lines and stands at the peak.  The second comes after it, from a
 * line whose earlier blocks stood at the peak as well, but were freed.
 */
#include "planted.h"

enum {
    LARGE = 1000000,
    LARGES = 10,
    SMALL = 1000,
    SMALLS = 90,
    LATE = 1500000,
    LATES = 5,
    EARLIER = 2,
    SPIKE = 12000000,
};

static void *volatile kept[LARGES + SMALLS + LATES];
static void *volatile passing;

APART static void keep_two_sizes(void)
{
    for (int i = 0; i < LARGES; i++)
        kept[i] = malloc(LARGE);
    for (int i = LARGES; i < LARGES + SMALLS; i++)
        kept[i] = malloc(SMALL);
}

APART static void *make_later(void)
{
    void *const made = malloc(LATE);
    memset(made, 1, LATE);
    return made;
}

int main(void)
{
    void *earlier[EARLIER];
    honest_work(0);
    keep_two_sizes();
    for (int i = 0; i < EARLIER; i++)
        earlier[i] = make_later();
    passing = malloc(SPIKE);
    free(passing);
    for (int i = 0; i < EARLIER; i++)
        free(earlier[i]);
    rest(0.05);
    honest_work(1);
    for (int i = 0; i < LATES; i++)
        kept[LARGES + SMALLS + i] = make_later();
    honest_work(2);
    for (int i = 0; i < LARGES + SMALLS + LATES; i++)
        kept[i] = NULL;
    say("{\"before\": %d, \"after\": %d, \"peak\": %d}\n",
        LARGES * LARGE + SMALLS * SMALL, LATES * LATE,
        LARGES * LARGE + SMALLS * SMALL + EARLIER * LATE + SPIKE);
    return 0;
}
