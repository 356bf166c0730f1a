/* base/nearest.c - what was probably meant: edit distance, kindly applied.
 *
 * A name that the word begins counts as near, however long it is.  Else one letter in
 * three may be wrong: more, and every short name resembles every other.  One more may be
 * where both ends and the length are right: lief is leaf.
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

/* How many letters of a word of LENGTH may be wrong, and one more. */
static size_t limit_of(size_t length)
{
    return length < 3 ? 2 : length / 3 + 1;
}

bool tide_surely(const char *word, const char *name)
{
    const size_t length = strlen(word), name_length = strlen(name);
    return strncmp(word, name, length) == 0 ||
           (length <= TIDE_NEAREST_LONGEST && name_length <= TIDE_NEAREST_LONGEST &&
            distance(word, length, name, name_length) < limit_of(length));
}

/* Are both as long, and alike where they begin and end? */
static bool same_frame(const char *word, const char *name)
{
    enum { TIDE_FRAMED_LEAST = 4 };
    const size_t length = strlen(word);
    return length >= TIDE_FRAMED_LEAST && strlen(name) == length &&
           word[0] == name[0] && word[length - 1] == name[length - 1];
}

const char *tide_nearest(const char *word, const char *const *names, size_t count)
{
    const size_t length = strlen(word);
    if (length == 0 || length > TIDE_NEAREST_LONGEST)
        return NULL;

    const char *best = NULL;
    size_t best_distance = length + TIDE_NEAREST_LONGEST;
    for (size_t i = 0; i < count; i++) {
        const size_t name_length = strlen(names[i]);
        if (name_length > TIDE_NEAREST_LONGEST)
            continue;
        const bool begins = strncmp(word, names[i], length) == 0;
        const size_t found = begins ? 1 : distance(word, length, names[i], name_length);
        const size_t more = same_frame(word, names[i]) ? 1 : 0;
        if (found < limit_of(length) + more && found < best_distance) {
            best = names[i];
            best_distance = found;
        }
    }
    return best;
}
