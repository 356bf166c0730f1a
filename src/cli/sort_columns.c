/* cli/sort_columns.c - which columns the tables of a report can be sorted by. */
#include "cli/sort_columns.h"

#include <string.h>

/* What kinds of tables have a column. */
enum {
    TIDE_OF_PATHS = 1,  /* trees and stacks */
    TIDE_OF_FLAT = 2,   /* functions */
    TIDE_OF_GROUPS = 4, /* threads, processes, labels */
    TIDE_OF_NESTED = 8, /* regions, modules, lines: a row is part of others */
    TIDE_OF_GPROF = 16,
};

/* The words that name columns; a share sorts as its number does. */
static const struct column {
    const char *word;
    enum tide_sort sort;
    unsigned kinds;
} COLUMNS[] = {
    {"bytes", TIDE_SORT_BYTES, TIDE_OF_PATHS | TIDE_OF_GROUPS},
    {"share", TIDE_SORT_BYTES, TIDE_OF_PATHS | TIDE_OF_GROUPS},
    {"self", TIDE_SORT_SELF, TIDE_OF_FLAT | TIDE_OF_NESTED | TIDE_OF_GPROF},
    {"bytes", TIDE_SORT_SELF, TIDE_OF_FLAT},
    {"inclusive", TIDE_SORT_INCLUSIVE, TIDE_OF_FLAT | TIDE_OF_GPROF},
    {"inclusive", TIDE_SORT_BYTES, TIDE_OF_NESTED},
    {"bytes", TIDE_SORT_BYTES, TIDE_OF_NESTED},
    {"share", TIDE_SORT_BYTES, TIDE_OF_NESTED},
    {"share", TIDE_SORT_SELF, TIDE_OF_FLAT},
    {"calls", TIDE_SORT_CALLS,
     TIDE_OF_PATHS | TIDE_OF_FLAT | TIDE_OF_GROUPS | TIDE_OF_NESTED},
    {"blocks", TIDE_SORT_CALLS,
     TIDE_OF_PATHS | TIDE_OF_FLAT | TIDE_OF_GROUPS | TIDE_OF_NESTED},
    {"name", TIDE_SORT_NAME,
     TIDE_OF_PATHS | TIDE_OF_FLAT | TIDE_OF_GROUPS | TIDE_OF_NESTED},
    {"function", TIDE_SORT_NAME, TIDE_OF_PATHS | TIDE_OF_FLAT},
    {"module", TIDE_SORT_MODULE, TIDE_OF_FLAT},
};

static unsigned kind_of(enum tide_shape shape)
{
    if (shape == TIDE_SHAPE_FLAT)
        return TIDE_OF_FLAT;
    if (shape == TIDE_SHAPE_GPROF)
        return TIDE_OF_GPROF;
    if (shape == TIDE_SHAPE_REGIONS || shape == TIDE_SHAPE_MODULES ||
        shape == TIDE_SHAPE_LINES)
        return TIDE_OF_NESTED;
    if (tide_shape_groups(shape))
        return TIDE_OF_GROUPS;
    return tide_shape_counts(shape) || tide_shape_told(shape) ? 0 : TIDE_OF_PATHS;
}

bool tide_sort_find(enum tide_shape shape, const char *word, enum tide_sort *out)
{
    const unsigned kind = kind_of(shape);
    for (size_t i = 0; i < sizeof(COLUMNS) / sizeof(COLUMNS[0]); i++) {
        if (!(COLUMNS[i].kinds & kind) || strcmp(COLUMNS[i].word, word) != 0)
            continue;
        *out = COLUMNS[i].sort;
        return true;
    }
    return false;
}

const char *tide_sort_words(enum tide_shape shape)
{
    switch (kind_of(shape)) {
    case TIDE_OF_PATHS:
    case TIDE_OF_GROUPS:
        return "bytes, share, calls (or blocks), name";
    case TIDE_OF_FLAT:
        return "self (or bytes), share, inclusive, calls (or blocks), name, module";
    case TIDE_OF_NESTED:
        return "inclusive (or bytes), share, self, calls (or blocks), name";
    case TIDE_OF_GPROF:
        return "self, inclusive";
    default:
        return NULL;
    }
}
