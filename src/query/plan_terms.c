/* query/plan_terms.c - conditions and LETs compiled; numbers with their units. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/nearest.h"
#include "query/plan.h"

/* --- Numbers -------------------------------------------------------------------------- */

static const struct suffix {
    const char *text;
    double factor;
    bool time; /* in seconds */
} SUFFIXES[] = {
    {"B", 1, false},
    {"K", 1024.0, false},
    {"KB", 1000.0, false},
    {"kB", 1000.0, false},
    {"KiB", 1024.0, false},
    {"M", 1048576.0, false},
    {"MB", 1e6, false},
    {"MiB", 1048576.0, false},
    {"G", 1073741824.0, false},
    {"GB", 1e9, false},
    {"GiB", 1073741824.0, false},
    {"T", 1099511627776.0, false},
    {"TB", 1e12, false},
    {"TiB", 1099511627776.0, false},
    {"ns", 1e-9, true},
    {"us", 1e-6, true},
    {"ms", 1e-3, true},
    {"s", 1, true},
    {"min", 60, true},
    {"h", 3600, true},
};

/* Sizes may be written in any case where nothing else is meant: 1m could be a minute. */
static const struct suffix *find_suffix(const char *text, enum tide_attribute_unit unit)
{
    for (size_t i = 0; i < sizeof(SUFFIXES) / sizeof(SUFFIXES[0]); i++)
        if (strcmp(SUFFIXES[i].text, text) == 0)
            return &SUFFIXES[i];
    for (size_t i = 0; i < sizeof(SUFFIXES) / sizeof(SUFFIXES[0]); i++)
        if (!SUFFIXES[i].time && strcasecmp(SUFFIXES[i].text, text) == 0 &&
            (unit == TIDE_UNIT_BYTES || strcasecmp(text, "m") != 0))
            return &SUFFIXES[i];
    return NULL;
}

/* A time of SECONDS in the unit of the attribute. */
static double in_unit(double seconds, enum tide_attribute_unit unit)
{
    if (unit == TIDE_UNIT_MICROSECONDS)
        return seconds * 1e6;
    return unit == TIDE_UNIT_NANOSECONDS ? seconds * 1e9 : seconds;
}

/* Whole numbers stay whole, so that none of their digits is lost. */
static bool read_whole(const char *text, struct tide_value *out)
{
    char *end;
    errno = 0;
    if (text[0] == '-') {
        const long long value = strtoll(text, &end, 10);
        *out = tide_value_int(value);
    } else {
        const unsigned long long value = strtoull(text, &end, 10);
        *out = tide_value_uint(value);
    }
    return !errno && *end == '\0';
}

static bool starts_number(const char *digits)
{
    digits += digits[0] == '.';
    return *digits >= '0' && *digits <= '9';
}

static bool read_hexadecimal(const char *text, struct tide_value *out)
{
    char *end;
    errno = 0;
    *out = tide_value_uint(strtoull(text, &end, 16));
    return !errno && *end == '\0';
}

/* With a point, an exponent or a unit. */
static bool read_real(const char *text, enum tide_attribute_unit unit,
                      struct tide_value *out)
{
    char *end;
    const double value = strtod(text, &end);
    const struct suffix *const suffix = *end ? find_suffix(end, unit) : NULL;
    if (end == text || !isfinite(value) || (*end && !suffix))
        return false;
    double scaled = value * (suffix ? suffix->factor : 1);
    if (suffix && suffix->time)
        scaled = in_unit(scaled, unit);
    const bool size = suffix && !suffix->time;
    const bool whole = size && scaled >= 0 && scaled < 1e19 && floor(scaled) == scaled;
    *out = whole ? tide_value_uint((uint64_t)scaled) : tide_value_real(scaled);
    return true;
}

bool tide_planner_number(const char *text, enum tide_attribute_unit unit,
                         struct tide_value *out)
{
    if (!starts_number(text + (text[0] == '-' || text[0] == '+')))
        return false;
    if (text[0] == '0' && (text[1] == 'x' || text[1] == 'X'))
        return read_hexadecimal(text, out);
    return read_whole(text, out) || read_real(text, unit, out);
}

/* --- Conditions -------------------------------------------------------------------------- */

/* Addresses are hexadecimal, with or without 0x. */
static bool read_address(const char *text, struct tide_value *out)
{
    char *end;
    errno = 0;
    *out = tide_value_uint(strtoull(text, &end, 16));
    return text[0] != '-' && text[0] != '+' && end != text && !errno && *end == '\0';
}

static bool read_flag(const char *text, struct tide_value *out)
{
    const bool yes = strcmp(text, "true") == 0 || strcmp(text, "1") == 0;
    *out = tide_value_uint(yes);
    return yes || strcmp(text, "false") == 0 || strcmp(text, "0") == 0;
}

static void read_constant(struct tide_planner *planner,
                          const struct tide_query_word *word,
                          const struct tide_planner_cell *cell,
                          struct tide_plan_constant *out)
{
    const bool is_text =
        cell->type == TIDE_VALUE_STRING || cell->type == TIDE_VALUE_PATH;
    out->text = word->text;
    if (cell->type == TIDE_VALUE_ADDRESS)
        out->numeric = read_address(word->text, &out->number);
    else if (cell->type == TIDE_VALUE_BOOL)
        out->numeric = read_flag(word->text, &out->number);
    else if (!is_text)
        out->numeric = tide_planner_number(word->text, cell->unit, &out->number);
    if (!out->numeric && !is_text && cell->type != TIDE_VALUE_NONE && !planner->status)
        planner->status = tide_query_blame(
            planner->error, word->span,
            cell->unit == TIDE_UNIT_BYTES  ? "'%s' is not a size: 1000, 64KiB, 1.5MiB"
            : cell->unit == TIDE_UNIT_NONE ? "'%s' is not a number"
                                           : "'%s' is not a time: 2s, 150ms, 1min",
            word->text);
}

static void compile_regex(struct tide_planner *planner,
                          const struct tide_query_word *word,
                          struct tide_plan_term *out)
{
    char why[256];
    out->regex = tide_regex_new(word->text, why, sizeof(why));
    if (!out->regex)
        tide_planner_blame(planner, word->span, why);
}

static void compile_term(struct tide_planner *planner, const struct tide_term *term,
                         tide_planner_resolve *resolve, struct tide_plan_term *out)
{
    out->kind = term->kind;
    if (term->kind >= TIDE_TERM_NOT)
        return;
    const struct tide_planner_cell cell = resolve(planner, &term->what);
    out->cell = cell.index;
    out->constants =
        tide_planner_take(planner, term->values + 1, sizeof(*out->constants));
    if (planner->status)
        return;
    const struct tide_query_word *const words =
        term->values ? &planner->query->values[term->first_value] : NULL;
    const bool pattern = term->kind == TIDE_TERM_LIKE || term->kind == TIDE_TERM_MATCH;
    for (size_t i = 0; i < term->values; i++) {
        const struct tide_planner_cell text = {.type = TIDE_VALUE_STRING};
        read_constant(planner, &words[i], pattern ? &text : &cell, &out->constants[i]);
    }
    out->constant_count = term->values;
    if (term->kind == TIDE_TERM_MATCH && words)
        compile_regex(planner, &words[0], out);
}

struct tide_plan_condition tide_planner_condition(struct tide_planner *planner,
                                                  struct tide_condition condition,
                                                  tide_planner_resolve *resolve)
{
    struct tide_plan_condition out = {0};
    out.terms = tide_planner_take(planner, condition.count, sizeof(*out.terms));
    for (size_t i = 0; i < condition.count && out.terms && !planner->status; i++) {
        compile_term(planner, &planner->query->terms[condition.first + i], resolve,
                     &out.terms[i]);
        out.count++;
    }
    return out;
}

/* --- LET ------------------------------------------------------------------------------ */

static const struct function {
    const char *name;
    enum tide_let_function which;
    size_t least, most;
} FUNCTIONS[] = {
    {"ratio", TIDE_LET_RATIO, 2, 3},       {"scale", TIDE_LET_SCALE, 2, 2},
    {"truncate", TIDE_LET_TRUNCATE, 1, 2}, {"first", TIDE_LET_FIRST, 1, 8},
    {"sum", TIDE_LET_SUM, 1, 8},           {"leaf", TIDE_LET_LEAF, 0, 1},
};
enum { TIDE_FUNCTIONS = sizeof(FUNCTIONS) / sizeof(FUNCTIONS[0]) };

static void compile_call(struct tide_planner *planner, const struct tide_step *step,
                         struct tide_plan_step *out)
{
    const char *names[TIDE_FUNCTIONS];
    for (size_t i = 0; i < TIDE_FUNCTIONS; i++) {
        names[i] = FUNCTIONS[i].name;
        if (strcasecmp(names[i], step->name.text) != 0)
            continue;
        out->function = FUNCTIONS[i].which;
        out->arguments = step->arguments;
        if (step->arguments < FUNCTIONS[i].least || step->arguments > FUNCTIONS[i].most)
            planner->status = tide_query_blame(
                planner->error, step->name.span, "%s() takes %zu to %zu arguments",
                step->name.text, FUNCTIONS[i].least, FUNCTIONS[i].most);
        return;
    }
    const char *const near = tide_nearest(step->name.text, names, TIDE_FUNCTIONS);
    planner->status = tide_query_blame(
        planner->error, step->name.span,
        near ? "there is no function '%s'; did you mean '%s'?"
             : "there is no function '%s': take ratio, scale, truncate, first, sum or "
               "leaf",
        step->name.text, near);
}

static void compile_step(struct tide_planner *planner, const struct tide_step *step,
                         struct tide_plan_step *out)
{
    out->kind = step->kind;
    if (step->kind == TIDE_STEP_NAME) {
        out->slot = tide_planner_slot(planner, &step->name, true);
    } else if (step->kind == TIDE_STEP_NUMBER) {
        if (!tide_planner_number(step->name.text, TIDE_UNIT_SECONDS, &out->number))
            tide_planner_blame(planner, step->name.span, "this is not a number");
    } else if (step->kind == TIDE_STEP_CALL) {
        compile_call(planner, step, out);
    }
}

/* leaf() is leaf(region). */
static struct tide_plan_step default_leaf(struct tide_planner *planner)
{
    const struct tide_query_word region = {.text = "region"};
    return (struct tide_plan_step){.kind = TIDE_STEP_NAME,
                                   .slot = tide_planner_slot(planner, &region, true)};
}

/* How many values wait after each step; too many are a mistake. */
static void check_depth(struct tide_planner *planner, const struct tide_let *let,
                        const struct tide_plan_let *out)
{
    size_t depth = 0;
    for (size_t i = 0; i < out->count; i++) {
        const struct tide_plan_step *const step = &out->steps[i];
        if (step->kind == TIDE_STEP_NAME || step->kind == TIDE_STEP_NUMBER)
            depth++;
        else if (step->kind == TIDE_STEP_CALL)
            depth = depth - step->arguments + 1;
        else
            depth--;
        if (depth > TIDE_PLAN_STACK) {
            tide_planner_blame(planner, let->target.span, "this is too complicated");
            return;
        }
    }
}

static struct tide_planner_cell resolve_let(struct tide_planner *planner,
                                            const struct tide_operand *operand)
{
    struct tide_planner_cell cell = {.index = SIZE_MAX};
    if (!operand->name.text)
        tide_planner_blame(planner, tide_operand_span(planner->query, operand),
                           "no aggregation can stand here");
    else
        cell.index = tide_planner_slot(planner, &operand->name, true);
    if (cell.index != SIZE_MAX) {
        cell.type = planner->plan->slots[cell.index].type;
        cell.unit = planner->plan->slots[cell.index].unit;
    }
    return cell;
}

static void compile_let(struct tide_planner *planner, const struct tide_let *let,
                        struct tide_plan_let *out)
{
    const struct tide_step *const steps = &planner->query->steps[let->first];
    out->steps = tide_planner_take(planner, 2 * let->count, sizeof(*out->steps));
    for (size_t i = 0; i < let->count && !planner->status; i++) {
        if (steps[i].kind == TIDE_STEP_CALL && steps[i].arguments == 0 &&
            strcasecmp(steps[i].name.text, "leaf") == 0) {
            out->steps[out->count++] = default_leaf(planner);
            out->steps[out->count].arguments = 1;
            out->steps[out->count].kind = TIDE_STEP_CALL;
            out->steps[out->count++].function = TIDE_LET_LEAF;
            continue;
        }
        compile_step(planner, &steps[i], &out->steps[out->count++]);
    }
    if (!planner->status)
        check_depth(planner, let, out);
    if (!planner->status)
        out->condition = tide_planner_condition(planner, let->condition, resolve_let);
}

/* Is the name of LET that of one before it? */
static bool defined_before(const struct tide_query *query, size_t let)
{
    for (size_t i = 0; i < let; i++)
        if (strcmp(query->lets[i].target.text, query->lets[let].target.text) == 0)
            return true;
    return false;
}

void tide_planner_lets(struct tide_planner *planner)
{
    const struct tide_query *const query = planner->query;
    struct tide_plan *const plan = planner->plan;
    plan->lets = calloc(query->let_count + 1, sizeof(*plan->lets));
    if (!plan->lets) {
        planner->status = TIDE_ENOMEM;
        return;
    }
    for (size_t i = 0; i < query->let_count && !planner->status; i++) {
        const struct tide_let *const let = &query->lets[i];
        struct tide_plan_let *const out = &plan->lets[i];
        if (defined_before(query, i))
            tide_planner_blame(planner, let->target.span, "this name is defined twice");
        out->name = let->target.text;
        if (!planner->status)
            compile_let(planner, let, out);
        if (!planner->status)
            out->slot = tide_planner_let_slot(planner, out->name, i);
        plan->let_count++; /* now it hides what had the name before */
    }
}
