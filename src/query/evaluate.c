/* query/evaluate.c - conditions and LETs, on the values of a row.
 *
 * A trace has few different names and many rows: whether a text or a path passes a
 * comparison is found out once and remembered by its number.
 */
#include "query/evaluate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model/grow.h"

enum tide_status tide_judge_begin(struct tide_judge *judge,
                                  const struct tide_plan_condition *condition,
                                  struct tide_names *names)
{
    *judge = (struct tide_judge){.condition = condition, .names = names};
    judge->memos = calloc(condition->count + 1, sizeof(*judge->memos));
    judge->match = tide_regex_match_new();
    return judge->memos && judge->match ? TIDE_OK : TIDE_ENOMEM;
}

void tide_judge_release(struct tide_judge *judge)
{
    for (size_t i = 0; judge->memos && i < judge->condition->count; i++)
        free(judge->memos[i].list);
    free(judge->memos);
    tide_regex_match_free(judge->match);
    *judge = (struct tide_judge){0};
}

/* --- Texts ------------------------------------------------------------------------------ */

/* SQL's LIKE: % is any text, _ any one byte.  Only the last % may have to be tried again,
 * so this takes no recursion. */
static bool is_like(const char *text, const char *pattern)
{
    const char *again_text = NULL, *again_pattern = NULL;
    while (*text) {
        if (*pattern == '%') {
            again_pattern = ++pattern;
            again_text = text;
        } else if (*pattern == '_' || *pattern == *text) {
            pattern++;
            text++;
        } else if (again_pattern) {
            pattern = again_pattern;
            text = ++again_text;
        } else {
            return false;
        }
    }
    while (*pattern == '%')
        pattern++;
    return *pattern == '\0';
}

/* Does what stands in this ORDER to a constant pass a comparison with it? */
static bool order_passes(enum tide_term_kind kind, int order)
{
    switch ((int)kind) {
    case TIDE_TERM_EQUAL:
        return order == 0;
    case TIDE_TERM_UNEQUAL:
        return order != 0;
    case TIDE_TERM_LESS:
        return order < 0;
    case TIDE_TERM_LESS_EQUAL:
        return order <= 0;
    case TIDE_TERM_GREATER:
        return order > 0;
    default:
        return order >= 0; /* GREATER_EQUAL, and the lower end of BETWEEN */
    }
}

static bool regex_passes(struct tide_judge *judge, const struct tide_plan_term *term,
                         const char *text)
{
    if (judge->gave_up)
        return false;
    const enum tide_regex_answer answer =
        tide_regex_matches(term->regex, judge->match, text);
    judge->gave_up = answer == TIDE_REGEX_TOO_LONG;
    return answer == TIDE_REGEX_YES;
}

static bool text_passes(struct tide_judge *judge, const struct tide_plan_term *term,
                        const char *text)
{
    const struct tide_plan_constant *const constants = term->constants;
    const int order = term->constant_count ? strcmp(text, constants[0].text) : 0;
    switch (term->kind) {
    case TIDE_TERM_EQUAL:
    case TIDE_TERM_UNEQUAL:
    case TIDE_TERM_LESS:
    case TIDE_TERM_LESS_EQUAL:
    case TIDE_TERM_GREATER:
    case TIDE_TERM_GREATER_EQUAL:
        return order_passes(term->kind, order);
    case TIDE_TERM_LIKE:
        return is_like(text, constants[0].text);
    case TIDE_TERM_MATCH:
        return regex_passes(judge, term, text);
    case TIDE_TERM_BETWEEN:
        return order >= 0 && strcmp(text, constants[1].text) <= 0;
    case TIDE_TERM_IN:
        for (size_t i = 0; i < term->constant_count; i++)
            if (strcmp(text, constants[i].text) == 0)
                return true;
        return false;
    case TIDE_TERM_HAS:
    case TIDE_TERM_NOT:
    case TIDE_TERM_AND:
    case TIDE_TERM_OR:
        break;
    }
    return false;
}

/* Of a path the whole may pass, or any of its levels. */
static bool path_passes(struct tide_judge *judge, const struct tide_plan_term *term,
                        uint64_t path)
{
    struct tide_names *const names = judge->names;
    struct tide_plan_term positive = *term;
    struct tide_text whole = {0};
    if (term->kind == TIDE_TERM_UNEQUAL)
        positive.kind = TIDE_TERM_EQUAL;
    tide_names_path(names, path, &whole);
    bool passes = text_passes(judge, &positive, whole.bytes ? whole.bytes : "");
    names->failed = names->failed || whole.failed;
    tide_text_release(&whole);
    const bool levels =
        positive.kind == TIDE_TERM_EQUAL || positive.kind == TIDE_TERM_LIKE ||
        positive.kind == TIDE_TERM_MATCH || positive.kind == TIDE_TERM_IN;
    for (uint64_t at = path; levels && at && !passes; at = tide_names_parent(names, at))
        passes = text_passes(judge, &positive,
                             tide_names_string(names, tide_names_leaf(names, at)));
    return passes != (term->kind == TIDE_TERM_UNEQUAL);
}

static bool name_passes(struct tide_judge *judge, size_t index, struct tide_value value)
{
    struct tide_memo *const memo = &judge->memos[index];
    const struct tide_plan_term *const term = &judge->condition->terms[index];
    uint8_t *const list = tide_grown(memo->list, &memo->capacity,
                                     2 * ((size_t)value.id + 1), sizeof(*list));
    if (!list) {
        judge->names->failed = true;
        return false;
    }
    memo->list = list;
    const bool path = value.type == TIDE_VALUE_PATH;
    uint8_t *const known = &list[2 * value.id + path];
    if (!*known) {
        const bool passes =
            path ? path_passes(judge, term, value.id)
                 : text_passes(judge, term, tide_names_string(judge->names, value.id));
        *known = passes ? 2 : 1;
    }
    return *known == 2;
}

/* --- Numbers ---------------------------------------------------------------------------- */

static bool pattern_passes(struct tide_judge *judge, const struct tide_plan_term *term,
                           struct tide_value value)
{
    struct tide_text text = {0};
    tide_value_text(value, judge->names, &text);
    const bool passes =
        !text.failed && text_passes(judge, term, text.bytes ? text.bytes : "");
    tide_text_release(&text);
    return passes;
}

/* As compared with the constant AT; false: it is no number. */
static bool compared(const struct tide_plan_term *term, size_t at,
                     struct tide_value value, int *order)
{
    if (!term->constants[at].numeric)
        return false;
    *order = tide_value_compare(value, term->constants[at].number, NULL);
    return true;
}

static bool is_in(const struct tide_plan_term *term, struct tide_value value)
{
    int order;
    for (size_t i = 0; i < term->constant_count; i++)
        if (compared(term, i, value, &order) && order == 0)
            return true;
    return false;
}

static bool number_passes(struct tide_judge *judge, const struct tide_plan_term *term,
                          struct tide_value value)
{
    int order = 0, upper = 0;
    if (term->kind == TIDE_TERM_LIKE || term->kind == TIDE_TERM_MATCH)
        return pattern_passes(judge, term, value);
    if (term->kind == TIDE_TERM_IN)
        return is_in(term, value);
    if (!compared(term, 0, value, &order))
        return term->kind == TIDE_TERM_UNEQUAL;
    if (!order_passes(term->kind, order))
        return false;
    return term->kind != TIDE_TERM_BETWEEN ||
           (compared(term, 1, value, &upper) && upper <= 0);
}

/* --- Conditions -------------------------------------------------------------------------- */

static bool term_holds(struct tide_judge *judge, size_t index,
                       const struct tide_value *cells)
{
    const struct tide_plan_term *const term = &judge->condition->terms[index];
    const struct tide_value value = cells[term->cell];
    if (value.type == TIDE_VALUE_NONE)
        return false;
    if (term->kind == TIDE_TERM_HAS)
        return true;
    return tide_value_is_number(value) ? number_passes(judge, term, value)
                                       : name_passes(judge, index, value);
}

/* Postfix; the parser lets no more wait than TIDE_QUERY_DEPTH. */
bool tide_judge_holds(struct tide_judge *judge, const struct tide_value *cells)
{
    bool waiting[TIDE_QUERY_DEPTH + 2] = {true};
    size_t depth = 0;
    for (size_t i = 0; i < judge->condition->count; i++) {
        switch ((int)judge->condition->terms[i].kind) {
        case TIDE_TERM_NOT:
            waiting[depth - 1] = !waiting[depth - 1];
            break;
        case TIDE_TERM_AND:
            depth--;
            waiting[depth - 1] = waiting[depth - 1] && waiting[depth];
            break;
        case TIDE_TERM_OR:
            depth--;
            waiting[depth - 1] = waiting[depth - 1] || waiting[depth];
            break;
        default:
            waiting[depth++] = term_holds(judge, i, cells);
        }
    }
    return waiting[0];
}

/* --- LET ---------------------------------------------------------------------------------- */

static struct tide_value truncated(struct tide_value value, struct tide_value size)
{
    const double step = tide_value_as_real(size);
    if (step == 0.0 || !tide_value_is_number(value))
        return tide_value_none();
    const bool whole = size.type == TIDE_VALUE_UINT && size.word <= INT64_MAX;
    if (whole && value.type == TIDE_VALUE_UINT)
        return tide_value_uint(value.word - value.word % size.word);
    if (whole && value.type == TIDE_VALUE_INT)
        return tide_value_int(value.integer - value.integer % (int64_t)size.word);
    const double real = tide_value_as_real(value);
    return tide_value_real(real - fmod(real, step));
}

static struct tide_value narrowed(tide_wide whole, bool negates, uint64_t *overflow)
{
    if ((negates || whole < 0) && whole >= INT64_MIN && whole <= INT64_MAX)
        return tide_value_int((int64_t)whole);
    if (whole >= 0 && whole <= (tide_wide)UINT64_MAX)
        return tide_value_uint((uint64_t)whole);
    ++*overflow;
    return tide_value_none();
}

static tide_wide widened(struct tide_value value)
{
    return value.type == TIDE_VALUE_INT ? (tide_wide)value.integer
                                        : (tide_wide)value.word;
}

/* Of 64 bits, without their signs: clang 13 needs a library of its own to notice that a
 * product of 128 bits is too large. */
static struct tide_value multiplied(tide_wide one, tide_wide other, bool negates,
                                    uint64_t *overflow)
{
    const bool minus = (one < 0) != (other < 0);
    uint64_t product;
    if (__builtin_mul_overflow((uint64_t)(one < 0 ? -one : one),
                               (uint64_t)(other < 0 ? -other : other), &product)) {
        ++*overflow;
        return tide_value_none();
    }
    return narrowed(minus ? -(tide_wide)product : (tide_wide)product, negates,
                    overflow);
}

static struct tide_value join_reals(enum tide_step_kind kind, double one, double other)
{
    switch ((int)kind) {
    case TIDE_STEP_ADD:
        return tide_value_real(one + other);
    case TIDE_STEP_SUBTRACT:
        return tide_value_real(one - other);
    case TIDE_STEP_MULTIPLY:
        return tide_value_real(one * other);
    default:
        return other != 0.0 ? tide_value_real(one / other) : tide_value_none();
    }
}

/* Two numbers; whole ones stay whole, except when divided. */
static struct tide_value joined(enum tide_step_kind kind, struct tide_value one,
                                struct tide_value other, uint64_t *overflow)
{
    if (!tide_value_is_number(one) || !tide_value_is_number(other))
        return tide_value_none();
    if (kind == TIDE_STEP_DIVIDE || one.type == TIDE_VALUE_REAL ||
        other.type == TIDE_VALUE_REAL)
        return join_reals(kind, tide_value_as_real(one), tide_value_as_real(other));
    const bool negates = one.type == TIDE_VALUE_INT || other.type == TIDE_VALUE_INT;
    const tide_wide x = widened(one), y = widened(other);
    if (kind == TIDE_STEP_ADD)
        return narrowed(x + y, negates, overflow);
    if (kind == TIDE_STEP_SUBTRACT)
        return narrowed(x - y, negates, overflow);
    return multiplied(x, y, negates, overflow);
}

static struct tide_value scaled(struct tide_value value, struct tide_value factor)
{
    if (!tide_value_is_number(value) || !tide_value_is_number(factor))
        return tide_value_none();
    return tide_value_real(tide_value_as_real(value) * tide_value_as_real(factor));
}

static struct tide_value ratio_of(const struct tide_value *values, size_t count)
{
    const double factor = count > 2 ? tide_value_as_real(values[2]) : 1;
    const double below = tide_value_as_real(values[1]);
    if (!tide_value_is_number(values[0]) || below == 0.0)
        return tide_value_none();
    return tide_value_real(factor * tide_value_as_real(values[0]) / below);
}

static struct tide_value first_of(const struct tide_value *values, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (values[i].type)
            return values[i];
    return tide_value_none();
}

/* Of those that are there. */
static struct tide_value sum_of(const struct tide_value *values, size_t count,
                                uint64_t *overflow)
{
    struct tide_value sum = tide_value_none();
    for (size_t i = 0; i < count; i++) {
        if (!tide_value_is_number(values[i]))
            continue;
        sum = sum.type ? joined(TIDE_STEP_ADD, sum, values[i], overflow) : values[i];
    }
    return sum;
}

static struct tide_value called(const struct tide_plan_step *step,
                                const struct tide_value *values,
                                const struct tide_names *names, uint64_t *overflow)
{
    switch (step->function) {
    case TIDE_LET_RATIO:
        return ratio_of(values, step->arguments);
    case TIDE_LET_SCALE:
        return scaled(values[0], values[1]);
    case TIDE_LET_TRUNCATE:
        return truncated(values[0],
                         step->arguments > 1 ? values[1] : tide_value_uint(1));
    case TIDE_LET_FIRST:
        return first_of(values, step->arguments);
    case TIDE_LET_SUM:
        return sum_of(values, step->arguments, overflow);
    case TIDE_LET_LEAF:
        break;
    }
    if (values[0].type == TIDE_VALUE_PATH)
        return tide_value_string(tide_names_leaf(names, values[0].id));
    return values[0];
}

struct tide_value tide_let_value(const struct tide_plan_let *let,
                                 const struct tide_value *slots,
                                 const struct tide_names *names, uint64_t *overflow)
{
    struct tide_value stack[TIDE_PLAN_STACK + 1];
    size_t depth = 0;
    stack[0] = tide_value_none();
    for (size_t i = 0; i < let->count; i++) {
        const struct tide_plan_step *const step = &let->steps[i];
        if (step->kind == TIDE_STEP_NAME) {
            stack[depth++] = slots[step->slot];
        } else if (step->kind == TIDE_STEP_NUMBER) {
            stack[depth++] = step->number;
        } else if (step->kind == TIDE_STEP_CALL) {
            depth -= step->arguments;
            stack[depth] = called(step, &stack[depth], names, overflow);
            depth++;
        } else {
            depth--;
            stack[depth - 1] =
                joined(step->kind, stack[depth - 1], stack[depth], overflow);
        }
    }
    return stack[0];
}
