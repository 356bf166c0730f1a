/* base/nearest.c - what was probably meant: edit distance, kindly applied.
 *
 * A name that the word begins counts as near, however long it is.  Else one letter in
 * three may be wrong: more, and every short name resembles every other.
 */
#include "base/nearest.h"

#include <string.h>

enum { TIDE_NEAREST_LONGEST = 63 }; /* longer words are not compared */

static size_t least(size_t a, size_t b, size_t c)
{
    const size_t ab = a < b ? a : b;
    return ab < c ? ab : c;
}

/* How many letters must be added, removed, replaced or swapped with their neighbour to
 * make A into B.  Three rows of the usual table are alive at a time. */
static size_t distance(const char *a, size_t a_length, const char *b, size_t b_length)
{
    size_t rows[3][TIDE_NEAREST_LONGEST + 1];
    for (size_t j = 0; j <= b_length; j++)
        rows[0][j] = j;
    for (size_t i = 1; i <= a_length; i++) {
        size_t *const row = rows[i % 3];
        const size_t *const above = rows[(i - 1) % 3];
        const size_t *const above2 = rows[(i + 1) % 3];
        row[0] = i;
        for (size_t j = 1; j <= b_length; j++) {
            const size_t replaced = above[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
            row[j] = least(replaced, row[j - 1] + 1, above[j] + 1);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                row[j] = least(row[j], above2[j - 2] + 1, row[j]);
        }
    }
    return rows[a_length % 3][b_length];
}

bool tide_nearly(const char *word, const char *name)
{
    const size_t length = strlen(word), name_length = strlen(name);
    return length <= TIDE_NEAREST_LONGEST && name_length <= TIDE_NEAREST_LONGEST &&
           distance(word, length, name, name_length) <= 1;
}

const char *tide_nearest(const char *word, const char *const *names, size_t count)
{
    const size_t length = strlen(word);
    if (length == 0 || length > TIDE_NEAREST_LONGEST)
        return NULL;

    const char *best = NULL;
    size_t best_distance = length < 3 ? 2 : length / 3 + 1; /* must stay below */
    for (size_t i = 0; i < count; i++) {
        const size_t name_length = strlen(names[i]);
        if (name_length > TIDE_NEAREST_LONGEST)
            continue;
        if (strncmp(word, names[i], length) == 0)
            return names[i];
        const size_t found = distance(word, length, names[i], name_length);
        if (found < best_distance) {
            best = names[i];
            best_distance = found;
        }
    }
    return best;
}
