/* query/group_table.c - rows that belong together: hash aggregation.
 *
 * The layout of a group: a word for each key, a word with the types of all keys (4 bits
 * each), up to a multiple of 16 bytes; then the tallies.
 */
#include "query/group_table.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

enum { TIDE_GROUPS_FIRST = 64 }; /* a power of two */

enum tide_status tide_group_table_init(struct tide_group_table *table,
                                       const struct tide_plan *plan, size_t budget)
{
    *table = (struct tide_group_table){.plan = plan, .budget = budget};
    table->key_bytes = ((plan->key_count + 1) * sizeof(uint64_t) + 15) & ~(size_t)15;
    table->group_bytes = table->key_bytes + plan->sum_count * sizeof(struct tide_tally);
    table->mask = TIDE_GROUPS_FIRST * 2 - 1;
    table->slots = calloc(table->mask + 1, sizeof(*table->slots));
    /* Nobody shall write a trace whose groups all collide. */
    if (getrandom(&table->seed, sizeof(table->seed), GRND_NONBLOCK) < 0)
        table->seed = (uint64_t)time(NULL);
    return table->slots ? TIDE_OK : TIDE_ENOMEM;
}

void tide_group_table_release(struct tide_group_table *table)
{
    for (size_t i = 0; i < table->count; i++)
        for (size_t j = 0; j < table->plan->sum_count; j++)
            tide_tally_release(&tide_group_tallies(table, i)[j],
                               table->plan->sums[j].kind);
    free(table->groups);
    free(table->slots);
    *table = (struct tide_group_table){0};
}

static uint64_t *key_words(const struct tide_group_table *table, size_t group)
{
    return (uint64_t *)(void *)(table->groups + group * table->group_bytes);
}

struct tide_value tide_group_key(const struct tide_group_table *table, size_t group,
                                 size_t key)
{
    const uint64_t *const words = key_words(table, group);
    const uint64_t types = words[table->plan->key_count];
    return (struct tide_value){.type = types >> (4 * key) & 15, .word = words[key]};
}

struct tide_tally *tide_group_tallies(const struct tide_group_table *table,
                                      size_t group)
{
    return (struct tide_tally *)(void *)(table->groups + group * table->group_bytes +
                                         table->key_bytes);
}

/* A handful of words: no call is worth it. */
static bool same_words(const uint64_t *one, const uint64_t *other, size_t count)
{
    uint64_t differ = 0;
    for (size_t i = 0; i < count; i++)
        differ |= one[i] ^ other[i];
    return !differ;
}

static size_t place_of(const struct tide_group_table *table, const uint64_t *words)
{
    const size_t count = table->plan->key_count + 1;
    uint64_t hash = table->seed;
    for (size_t i = 0; i < count; i++) {
        hash = (hash ^ words[i]) * 0x9e3779b97f4a7c15ull;
        hash ^= hash >> 32;
    }
    size_t at = (size_t)hash & table->mask;
    while (table->slots[at] &&
           !same_words(key_words(table, table->slots[at] - 1), words, count))
        at = (at + 1) & table->mask;
    return at;
}

static enum tide_status widen(struct tide_group_table *table)
{
    const size_t capacity =
        table->capacity ? table->capacity * 2 : (size_t)TIDE_GROUPS_FIRST;
    const size_t bytes = capacity * table->group_bytes;
    const size_t more =
        bytes - table->capacity * table->group_bytes + capacity * sizeof(*table->slots);
    if (table->count >= UINT32_MAX / 4)
        return TIDE_ELIMIT;
    if (table->budget && table->held + more > table->budget)
        return TIDE_ELIMIT;
    unsigned char *const groups = realloc(table->groups, bytes);
    if (!groups)
        return TIDE_ENOMEM;
    table->groups = groups;
    uint32_t *const slots = calloc(capacity * 2, sizeof(*slots));
    if (!slots)
        return TIDE_ENOMEM;
    free(table->slots);
    table->slots = slots;
    table->mask = capacity * 2 - 1;
    table->capacity = capacity;
    table->held += more;
    for (size_t i = 0; i < table->count; i++)
        slots[place_of(table, key_words(table, i))] = (uint32_t)i + 1;
    return TIDE_OK;
}

enum tide_status tide_group_table_find(struct tide_group_table *table,
                                       const struct tide_value *keys, size_t *out)
{
    const size_t count = table->plan->key_count;
    uint64_t words[TIDE_PLAN_KEYS + 1];
    words[count] = 0;
    for (size_t i = 0; i < count; i++) {
        words[i] = keys[i].word;
        words[count] |= keys[i].type << (4 * i);
    }
    size_t at = place_of(table, words);
    if (!table->slots[at]) {
        if (table->count == table->capacity) {
            const enum tide_status status = widen(table);
            if (status)
                return status;
            at = place_of(table, words);
        }
        memset(key_words(table, table->count), 0, table->group_bytes);
        memcpy(key_words(table, table->count), words, (count + 1) * sizeof(*words));
        table->slots[at] = (uint32_t)++table->count;
    }
    *out = table->slots[at] - 1;
    return TIDE_OK;
}

static struct tide_tally_rule rule_of(const struct tide_plan_sum *sum,
                                      const struct tide_names *names)
{
    return (struct tide_tally_rule){sum->kind, sum->parameter, names};
}

enum tide_status tide_group_table_take(struct tide_group_table *table,
                                       const struct tide_value *slots,
                                       const struct tide_names *names)
{
    const struct tide_plan *const plan = table->plan;
    struct tide_value keys[TIDE_PLAN_KEYS];
    size_t group, grown = 0;
    for (size_t i = 0; i < plan->key_count; i++)
        keys[i] = slots[plan->keys[i]];
    enum tide_status status = tide_group_table_find(table, keys, &group);
    for (size_t i = 0; i < plan->sum_count && !status; i++) {
        const struct tide_plan_sum *const sum = &plan->sums[i];
        struct tide_tally *const tally = &tide_group_tallies(table, group)[i];
        if (sum->one == SIZE_MAX) { /* of rows */
            tally->count++;
            continue;
        }
        const struct tide_tally_rule rule = rule_of(sum, names);
        status = tide_tally_add(
            tally, &rule, slots[sum->one],
            sum->other == SIZE_MAX ? tide_value_none() : slots[sum->other], &grown);
    }
    table->held += grown;
    if (!status && grown && table->budget && table->held > table->budget)
        status = TIDE_ELIMIT;
    return status;
}

enum tide_status tide_group_table_merge(struct tide_group_table *table,
                                        struct tide_names *names,
                                        const struct tide_group_table *from,
                                        const struct tide_names *from_names)
{
    const struct tide_plan *const plan = table->plan;
    enum tide_status status = TIDE_OK;
    for (size_t i = 0; i < from->count && !status; i++) {
        struct tide_value keys[TIDE_PLAN_KEYS] = {0};
        size_t group = 0;
        for (size_t j = 0; j < plan->key_count; j++)
            keys[j] = tide_value_carry(tide_group_key(from, i, j), from_names, names);
        status = tide_group_table_find(table, keys, &group);
        for (size_t j = 0; j < plan->sum_count && !status; j++) {
            const struct tide_tally_rule rule = rule_of(&plan->sums[j], names);
            status =
                tide_tally_merge(&tide_group_tallies(table, group)[j], &rule,
                                 &tide_group_tallies(from, i)[j], from_names, names);
        }
    }
    return status ? status : names->failed ? TIDE_ENOMEM : TIDE_OK;
}

/* --- Inclusive sums ------------------------------------------------------------------------ */

/* Add what group FROM has by itself to the inclusive sums of the group around it whose
 * path is PATH. */
static enum tide_status lift(struct tide_group_table *table,
                             const struct tide_group_table *own, size_t from,
                             uint32_t path, struct tide_names *names)
{
    const struct tide_plan *const plan = table->plan;
    struct tide_value keys[TIDE_PLAN_KEYS] = {0};
    size_t group = 0;
    for (size_t j = 0; j < plan->key_count; j++)
        keys[j] = tide_group_key(own, from, j);
    keys[plan->path_key] = tide_value_path(path);
    enum tide_status status = tide_group_table_find(table, keys, &group);
    for (size_t j = 0; j < plan->sum_count && !status; j++) {
        const struct tide_tally_rule rule = rule_of(&plan->sums[j], names);
        if (plan->sums[j].inclusive)
            status = tide_tally_merge(&tide_group_tallies(table, group)[j], &rule,
                                      &tide_group_tallies(own, from)[j], names, names);
    }
    return status;
}

enum tide_status tide_group_table_climb(struct tide_group_table *table,
                                        struct tide_names *names)
{
    const struct tide_plan *const plan = table->plan;
    struct tide_group_table own;
    if (plan->path_key == SIZE_MAX)
        return TIDE_OK;
    enum tide_status status = tide_group_table_init(&own, plan, 0);
    if (!status)
        status = tide_group_table_merge(&own, names, table, names);
    table->climbed = own.count;
    for (size_t i = 0; i < own.count && !status; i++) {
        const struct tide_value path = tide_group_key(&own, i, plan->path_key);
        if (path.type != TIDE_VALUE_PATH)
            continue;
        for (uint32_t around = tide_names_parent(names, path.id); around && !status;
             around = tide_names_parent(names, around))
            status = lift(table, &own, i, around, names);
    }
    tide_group_table_release(&own);
    return status;
}
