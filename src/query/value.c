/* query/value.c - one cell: a typed value, and the names that values refer to. */
#include "query/value.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "model/grow.h"

double tide_value_as_real(struct tide_value value)
{
    switch (value.type) {
    case TIDE_VALUE_INT:
        return (double)value.integer;
    case TIDE_VALUE_REAL:
        return value.real;
    case TIDE_VALUE_BOOL:
    case TIDE_VALUE_UINT:
    case TIDE_VALUE_ADDRESS:
        return (double)value.word;
    default:
        return 0.0;
    }
}

/* --- Names -------------------------------------------------------------------------- */

void tide_names_release(struct tide_names *names)
{
    tide_pairs_release(&names->texts);
    tide_pairs_release(&names->nodes);
    free(names->strings);
    tide_intern_release(&names->interned);
    tide_arena_release(&names->arena);
    *names = (struct tide_names){0};
}

uint32_t tide_names_text(struct tide_names *names, const char *text)
{
    uint32_t number;
    if (!text)
        return 0;
    const char *const kept = tide_intern(&names->interned, &names->arena, text);
    if (!kept || tide_pairs_find(&names->texts,
                                 (struct tide_pair){.one = (uint64_t)(uintptr_t)kept},
                                 &number)) {
        names->failed = true;
        return 0;
    }
    const char **const strings = tide_grown(names->strings, &names->string_capacity,
                                            (size_t)number + 1, sizeof(const char *));
    if (!strings) {
        names->failed = true;
        return 0;
    }
    names->strings = strings;
    strings[number] = kept;
    return number + 1;
}

uint32_t tide_names_node(struct tide_names *names, uint32_t parent, uint32_t text)
{
    uint32_t number;
    if (!text)
        return parent;
    if (tide_pairs_find(&names->nodes, (struct tide_pair){parent, text}, &number)) {
        names->failed = true;
        return 0;
    }
    return number + 1;
}

const char *tide_names_string(const struct tide_names *names, uint64_t text)
{
    return text ? names->strings[text - 1] : "";
}

uint32_t tide_names_parent(const struct tide_names *names, uint64_t path)
{
    return path ? (uint32_t)names->nodes.list[path - 1].one : 0;
}

uint32_t tide_names_leaf(const struct tide_names *names, uint64_t path)
{
    return path ? (uint32_t)names->nodes.list[path - 1].other : 0;
}

uint32_t tide_names_depth(const struct tide_names *names, uint64_t path)
{
    uint32_t depth = 0;
    for (; path; path = tide_names_parent(names, path))
        depth++;
    return depth;
}

/* The texts of PATH, outermost first; the caller frees them.  NULL for no path, and
 * without memory. */
static uint32_t *list_texts(const struct tide_names *names, uint64_t path,
                            uint32_t *count)
{
    *count = tide_names_depth(names, path);
    uint32_t *const texts = *count ? malloc(*count * sizeof(*texts)) : NULL;
    for (uint32_t i = *count; texts && i; path = tide_names_parent(names, path))
        texts[--i] = tide_names_leaf(names, path);
    return texts;
}

void tide_names_path(const struct tide_names *names, uint64_t path,
                     struct tide_text *out)
{
    uint32_t count;
    uint32_t *const texts = list_texts(names, path, &count);
    out->failed = out->failed || (count && !texts);
    for (uint32_t i = 0; texts && i < count; i++) {
        tide_text_add(out, i ? "/" : "");
        tide_text_add(out, tide_names_string(names, texts[i]));
    }
    free(texts);
}

static uint32_t carry_path(uint64_t path, const struct tide_names *from,
                           struct tide_names *to)
{
    uint32_t count, carried = 0;
    uint32_t *const texts = list_texts(from, path, &count);
    to->failed = to->failed || (count && !texts);
    for (uint32_t i = 0; texts && i < count; i++)
        carried = tide_names_node(
            to, carried, tide_names_text(to, tide_names_string(from, texts[i])));
    free(texts);
    return carried;
}

struct tide_value tide_value_carry(struct tide_value value,
                                   const struct tide_names *from, struct tide_names *to)
{
    if (value.type == TIDE_VALUE_STRING)
        return tide_value_string(
            tide_names_text(to, tide_names_string(from, value.id)));
    if (value.type == TIDE_VALUE_PATH)
        return tide_value_path(carry_path(value.id, from, to));
    return value;
}

/* --- Order and text ------------------------------------------------------------------- */

/* Exact also where a real number could not tell neighbours apart. */
static int compare_numbers(struct tide_value one, struct tide_value other)
{
    const bool reals = one.type == TIDE_VALUE_REAL || other.type == TIDE_VALUE_REAL;
    if (reals) {
        const double a = tide_value_as_real(one), b = tide_value_as_real(other);
        return (a > b) - (a < b);
    }
    const bool a_low = one.type == TIDE_VALUE_INT && one.integer < 0;
    const bool b_low = other.type == TIDE_VALUE_INT && other.integer < 0;
    if (a_low || b_low) {
        if (a_low && b_low)
            return (one.integer > other.integer) - (one.integer < other.integer);
        return a_low ? -1 : 1;
    }
    return (one.word > other.word) - (one.word < other.word);
}

static int compare_paths(uint64_t one, uint64_t other, const struct tide_names *names)
{
    struct tide_text a = {0}, b = {0};
    tide_names_path(names, one, &a);
    tide_names_path(names, other, &b);
    const int order = strcmp(a.bytes ? a.bytes : "", b.bytes ? b.bytes : "");
    tide_text_release(&a);
    tide_text_release(&b);
    return order;
}

static int rank_of(struct tide_value value)
{
    if (value.type == TIDE_VALUE_NONE)
        return 0;
    return tide_value_is_number(value) ? 1 : (int)value.type;
}

int tide_value_compare(struct tide_value one, struct tide_value other,
                       const struct tide_names *names)
{
    const int rank = rank_of(one) - rank_of(other);
    if (rank)
        return rank;
    if (tide_value_is_number(one))
        return compare_numbers(one, other);
    if (one.word == other.word)
        return 0;
    if (one.type == TIDE_VALUE_STRING)
        return strcmp(tide_names_string(names, one.id),
                      tide_names_string(names, other.id));
    if (one.type == TIDE_VALUE_PATH)
        return compare_paths(one.id, other.id, names);
    return 0;
}

void tide_value_text(struct tide_value value, const struct tide_names *names,
                     struct tide_text *out)
{
    switch (value.type) {
    case TIDE_VALUE_BOOL:
        tide_text_add(out, value.word ? "true" : "false");
        break;
    case TIDE_VALUE_INT:
        tide_text_addf(out, "%" PRId64, value.integer);
        break;
    case TIDE_VALUE_UINT:
        tide_text_addf(out, "%" PRIu64, value.word);
        break;
    case TIDE_VALUE_REAL:
        tide_text_addf(out, "%f", value.real);
        break;
    case TIDE_VALUE_ADDRESS:
        tide_text_addf(out, "%" PRIx64, value.word);
        break;
    case TIDE_VALUE_STRING:
        tide_text_add(out, tide_names_string(names, value.id));
        break;
    case TIDE_VALUE_PATH:
        tide_names_path(names, value.id, out);
        break;
    default:
        break;
    }
}
