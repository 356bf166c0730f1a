/* query/group_tally.h - what an aggregation knows of a group so far.
 *
 * For: query/, tests/.  Sums of whole numbers are kept in 128 bits, so that only the
 * answer can be too large, never a step on the way; when it is, it is said.
 */
#ifndef TIDE_QUERY_GROUP_TALLY_H
#define TIDE_QUERY_GROUP_TALLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tidemark/status.h>

#include "query/bag.h"
#include "query/value.h"

enum tide_tally_kind {
    TIDE_TALLY_COUNT, /* rows, or those that have the attribute */
    TIDE_TALLY_SUM,
    TIDE_TALLY_MIN,
    TIDE_TALLY_MAX,
    TIDE_TALLY_ANY, /* the first */
    TIDE_TALLY_AVG,
    TIDE_TALLY_SCALE,
    TIDE_TALLY_SCALE_COUNT,
    TIDE_TALLY_RATIO,
    TIDE_TALLY_PERCENT_TOTAL,
    TIDE_TALLY_VARIANCE,
    TIDE_TALLY_STDDEV,
    TIDE_TALLY_HISTOGRAM,
    TIDE_TALLY_PERCENTILE,
    TIDE_TALLY_COUNT_DISTINCT,
    TIDE_TALLIES,
};

enum { TIDE_TALLY_PLACES = 66 }; /* of a histogram: 0, 1, 2-3, 4-7, ...; below 0 */

__extension__ typedef __int128 tide_wide;

/* All zeros is empty. */
struct tide_tally {
    uint64_t count;  /* values that were taken */
    uint8_t reals;   /* one of them was real */
    uint8_t negates; /* one of them was a signed number */
    union {
        struct {
            tide_wide whole;
            double real;
        } sum;
        struct {
            double one, other;
        } sums;
        struct {
            double mean, squares; /* of the differences from the mean */
        } spread;
        struct tide_value best;
        struct tide_bag *bag; /* owned */
        uint64_t *places;     /* owned */
    };
};

/* What is to be done. */
struct tide_tally_rule {
    enum tide_tally_kind kind;
    double parameter;
    const struct tide_names *names; /* of strings that are compared */
};

/* Take ONE (and OTHER, of ratios) of a row; absent values are not counted, except by
 * COUNT without attribute, which is given a value.  *GROWN becomes how many bytes more are
 * held now. */
enum tide_status tide_tally_add(struct tide_tally *tally,
                                const struct tide_tally_rule *rule,
                                struct tide_value one, struct tide_value other,
                                size_t *grown);

/* Add FROM, whose strings are numbers of FROM_NAMES, to TALLY, whose are of TO_NAMES. */
enum tide_status tide_tally_merge(struct tide_tally *tally,
                                  const struct tide_tally_rule *rule,
                                  const struct tide_tally *from,
                                  const struct tide_names *from_names,
                                  struct tide_names *to_names);

/* What it comes to; TOTAL is that of all groups, for percentages.  *OVERFLOW is set when
 * the answer is beyond 64 bits: then there is none.  Histograms become a text in NAMES. */
struct tide_value tide_tally_value(struct tide_tally *tally,
                                   const struct tide_tally_rule *rule, double total,
                                   struct tide_names *names, bool *overflow);
/* What a percentage is of. */
double tide_tally_share(const struct tide_tally *tally);
void tide_tally_release(struct tide_tally *tally, enum tide_tally_kind kind);

#endif
