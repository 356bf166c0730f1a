/* query/group_tally.c - what an aggregation knows of a group so far. */
#include "query/group_tally.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

/* --- Take ------------------------------------------------------------------------------ */

static void add_sum(struct tide_tally *tally, struct tide_value value)
{
    if (value.type == TIDE_VALUE_REAL) {
        tally->reals = 1;
        tally->sum.real += value.real;
    } else if (value.type == TIDE_VALUE_INT) {
        tally->negates = 1;
        tally->sum.whole += value.integer;
    } else {
        tally->sum.whole += value.word;
    }
}

/* Welford: exact where a sum of squares would lose its digits. */
static void add_spread(struct tide_tally *tally, double value)
{
    const double before = value - tally->spread.mean;
    tally->spread.mean += before / (double)tally->count;
    tally->spread.squares += before * (value - tally->spread.mean);
}

static void add_best(struct tide_tally *tally, const struct tide_tally_rule *rule,
                     struct tide_value value)
{
    if (tally->count == 1) {
        tally->best = value;
        return;
    }
    if (rule->kind == TIDE_TALLY_ANY)
        return;
    const int order = tide_value_compare(value, tally->best, rule->names);
    if (rule->kind == TIDE_TALLY_MIN ? order < 0 : order > 0)
        tally->best = value;
}

/* Which place of a histogram: 0 is below 0, 1 is 0, 2 is 1, 3 is 2-3, 4 is 4-7... */
static size_t histogram_place(struct tide_value value)
{
    double real = tide_value_as_real(value);
    if (real < 0)
        return 0;
    uint64_t whole = value.word;
    if (value.type == TIDE_VALUE_REAL)
        whole = real < 18446744073709551615.0 ? (uint64_t)real : UINT64_MAX;
    return whole ? (size_t)(65 - __builtin_clzll(whole)) : 1;
}

static enum tide_status add_place(struct tide_tally *tally, size_t place,
                                  uint64_t count, size_t *grown)
{
    if (!tally->places) {
        tally->places = calloc(TIDE_TALLY_PLACES, sizeof(*tally->places));
        if (!tally->places)
            return TIDE_ENOMEM;
        *grown += TIDE_TALLY_PLACES * sizeof(*tally->places);
    }
    tally->places[place] += count;
    return TIDE_OK;
}

static enum tide_status add_bag(struct tide_tally *tally, struct tide_value value,
                                uint64_t count, size_t *grown)
{
    if (!tally->bag) {
        tally->bag = calloc(1, sizeof(*tally->bag));
        if (!tally->bag)
            return TIDE_ENOMEM;
        *grown += sizeof(*tally->bag);
    }
    return tide_bag_add(tally->bag, value, count, grown);
}

static enum tide_status add_value(struct tide_tally *tally,
                                  const struct tide_tally_rule *rule,
                                  struct tide_value value, size_t *grown)
{
    switch (rule->kind) {
    case TIDE_TALLY_MIN:
    case TIDE_TALLY_MAX:
    case TIDE_TALLY_ANY:
        add_best(tally, rule, value);
        return TIDE_OK;
    case TIDE_TALLY_SUM:
    case TIDE_TALLY_AVG:
    case TIDE_TALLY_SCALE:
    case TIDE_TALLY_PERCENT_TOTAL:
        add_sum(tally, value);
        return TIDE_OK;
    case TIDE_TALLY_VARIANCE:
    case TIDE_TALLY_STDDEV:
        add_spread(tally, tide_value_as_real(value));
        return TIDE_OK;
    case TIDE_TALLY_HISTOGRAM:
        return add_place(tally, histogram_place(value), 1, grown);
    case TIDE_TALLY_PERCENTILE:
    case TIDE_TALLY_COUNT_DISTINCT:
        return add_bag(tally, value, 1, grown);
    case TIDE_TALLY_COUNT:
    case TIDE_TALLY_SCALE_COUNT:
    case TIDE_TALLY_RATIO:
    case TIDE_TALLIES:
        break;
    }
    return TIDE_OK;
}

static bool takes_anything(enum tide_tally_kind kind)
{
    return kind == TIDE_TALLY_COUNT || kind == TIDE_TALLY_MIN ||
           kind == TIDE_TALLY_MAX || kind == TIDE_TALLY_ANY ||
           kind == TIDE_TALLY_PERCENTILE || kind == TIDE_TALLY_COUNT_DISTINCT;
}

enum tide_status tide_tally_add(struct tide_tally *tally,
                                const struct tide_tally_rule *rule,
                                struct tide_value one, struct tide_value other,
                                size_t *grown)
{
    if (rule->kind == TIDE_TALLY_RATIO) {
        tally->count += one.type || other.type;
        tally->sums.one += tide_value_as_real(one);
        tally->sums.other += tide_value_as_real(other);
        return TIDE_OK;
    }
    if (!one.type || (!tide_value_is_number(one) && !takes_anything(rule->kind)))
        return TIDE_OK;
    tally->count++;
    return add_value(tally, rule, one, grown);
}

/* --- Merge ------------------------------------------------------------------------------ */

static void merge_spread(struct tide_tally *tally, const struct tide_tally *from)
{
    const double a = (double)tally->count, b = (double)from->count;
    const double apart = from->spread.mean - tally->spread.mean;
    tally->spread.squares += from->spread.squares + apart * apart * a * b / (a + b);
    tally->spread.mean += apart * b / (a + b);
}

static enum tide_status merge_bag(struct tide_tally *tally, const struct tide_bag *from,
                                  const struct tide_names *from_names,
                                  struct tide_names *to_names)
{
    enum tide_status status = TIDE_OK;
    size_t grown = 0;
    for (size_t i = 0; i <= from->mask && !status; i++)
        if (from->places[i].count)
            status = add_bag(
                tally, tide_value_carry(from->places[i].value, from_names, to_names),
                from->places[i].count, &grown);
    return status;
}

static void merge_best(struct tide_tally *tally, const struct tide_tally_rule *rule,
                       struct tide_value value)
{
    const struct tide_tally_rule whole = {rule->kind, rule->parameter, rule->names};
    if (!tally->count) {
        tally->best = value;
        return;
    }
    struct tide_tally both = {.count = 2, .best = tally->best};
    add_best(&both, &whole, value);
    tally->best = both.best;
}

static enum tide_status merge_places(struct tide_tally *tally,
                                     const struct tide_tally *from)
{
    enum tide_status status = TIDE_OK;
    size_t grown = 0;
    for (size_t i = 0; i < TIDE_TALLY_PLACES && !status; i++)
        if (from->places[i])
            status = add_place(tally, i, from->places[i], &grown);
    return status;
}

enum tide_status tide_tally_merge(struct tide_tally *tally,
                                  const struct tide_tally_rule *rule,
                                  const struct tide_tally *from,
                                  const struct tide_names *from_names,
                                  struct tide_names *to_names)
{
    enum tide_status status = TIDE_OK;
    if (!from->count)
        return TIDE_OK;
    switch (rule->kind) {
    case TIDE_TALLY_MIN:
    case TIDE_TALLY_MAX:
    case TIDE_TALLY_ANY:
        merge_best(tally, rule, tide_value_carry(from->best, from_names, to_names));
        break;
    case TIDE_TALLY_VARIANCE:
    case TIDE_TALLY_STDDEV:
        merge_spread(tally, from);
        break;
    case TIDE_TALLY_RATIO:
        tally->sums.one += from->sums.one;
        tally->sums.other += from->sums.other;
        break;
    case TIDE_TALLY_HISTOGRAM:
        status = merge_places(tally, from);
        break;
    case TIDE_TALLY_PERCENTILE:
    case TIDE_TALLY_COUNT_DISTINCT:
        status = merge_bag(tally, from->bag, from_names, to_names);
        break;
    case TIDE_TALLY_SUM:
    case TIDE_TALLY_AVG:
    case TIDE_TALLY_SCALE:
    case TIDE_TALLY_PERCENT_TOTAL:
        tally->sum.whole += from->sum.whole;
        tally->sum.real += from->sum.real;
        break;
    case TIDE_TALLY_COUNT:
    case TIDE_TALLY_SCALE_COUNT:
    case TIDE_TALLIES:
        break;
    }
    tally->count += from->count;
    tally->reals |= from->reals;
    tally->negates |= from->negates;
    return status;
}

/* --- Answer ------------------------------------------------------------------------------ */

static double real_sum(const struct tide_tally *tally)
{
    return (double)tally->sum.whole + tally->sum.real;
}

double tide_tally_share(const struct tide_tally *tally)
{
    return real_sum(tally);
}

/* WHOLE in 64 bits; signed if one of its parts was. */
static struct tide_value narrow(const struct tide_tally *tally, tide_wide whole,
                                bool *overflow)
{
    if (tally->negates && whole >= INT64_MIN && whole <= INT64_MAX)
        return tide_value_int((int64_t)whole);
    if (!tally->negates && whole >= 0 && whole <= (tide_wide)UINT64_MAX)
        return tide_value_uint((uint64_t)whole);
    *overflow = true;
    return tide_value_none();
}

/* "1:3 4:2": lower bounds, and how many. */
static struct tide_value histogram_text(const struct tide_tally *tally,
                                        struct tide_names *names)
{
    struct tide_text text = {0};
    for (size_t i = 0; i < TIDE_TALLY_PLACES; i++) {
        if (!tally->places[i])
            continue;
        tide_text_add(&text, text.length ? " " : "");
        if (i == 0)
            tide_text_add(&text, "<0");
        else
            tide_text_addf(&text, "%" PRIu64, i == 1 ? 0 : (uint64_t)1 << (i - 2));
        tide_text_addf(&text, ":%" PRIu64, tally->places[i]);
    }
    const uint32_t id = text.failed ? 0 : tide_names_text(names, text.bytes);
    names->failed = names->failed || text.failed;
    tide_text_release(&text);
    return tide_value_string(id);
}

static struct tide_value real_value(const struct tide_tally *tally,
                                    const struct tide_tally_rule *rule, double total)
{
    switch ((int)rule->kind) {
    case TIDE_TALLY_SCALE:
        return tide_value_real(rule->parameter * real_sum(tally));
    case TIDE_TALLY_SCALE_COUNT:
        return tide_value_real(rule->parameter * (double)tally->count);
    case TIDE_TALLY_RATIO:
        return tally->sums.other != 0.0
                   ? tide_value_real(rule->parameter * tally->sums.one /
                                     tally->sums.other)
                   : tide_value_none();
    case TIDE_TALLY_PERCENT_TOTAL:
        return total > 0 ? tide_value_real(100.0 * real_sum(tally) / total)
                         : tide_value_none();
    default: {
        const double variance = tally->spread.squares / (double)tally->count;
        return tide_value_real(rule->kind == TIDE_TALLY_STDDEV ? sqrt(variance)
                                                               : variance);
    }
    }
}

struct tide_value tide_tally_value(struct tide_tally *tally,
                                   const struct tide_tally_rule *rule, double total,
                                   struct tide_names *names, bool *overflow)
{
    if (rule->kind == TIDE_TALLY_COUNT)
        return tide_value_uint(tally->count);
    if (rule->kind == TIDE_TALLY_COUNT_DISTINCT)
        return tide_value_uint(tally->bag ? tally->bag->distinct : 0);
    if (!tally->count)
        return tide_value_none();
    switch ((int)rule->kind) {
    case TIDE_TALLY_MIN:
    case TIDE_TALLY_MAX:
    case TIDE_TALLY_ANY:
        return tally->best;
    case TIDE_TALLY_SUM:
        return tally->reals ? tide_value_real(real_sum(tally))
                            : narrow(tally, tally->sum.whole, overflow);
    case TIDE_TALLY_AVG:
        return tally->reals ? tide_value_real(real_sum(tally) / (double)tally->count)
                            : narrow(tally, tally->sum.whole / (tide_wide)tally->count,
                                     overflow);
    case TIDE_TALLY_HISTOGRAM:
        return histogram_text(tally, names);
    case TIDE_TALLY_PERCENTILE:
        return tide_bag_percentile(tally->bag, rule->parameter, names);
    default:
        return real_value(tally, rule, total);
    }
}

void tide_tally_release(struct tide_tally *tally, enum tide_tally_kind kind)
{
    if (kind == TIDE_TALLY_HISTOGRAM)
        free(tally->places);
    if ((kind == TIDE_TALLY_PERCENTILE || kind == TIDE_TALLY_COUNT_DISTINCT) &&
        tally->bag) {
        tide_bag_release(tally->bag);
        free(tally->bag);
    }
    *tally = (struct tide_tally){0};
}
