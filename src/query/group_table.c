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
    table->waiting =
        calloc(TIDE_GROUP_ROWS * (plan->slot_count + 1), sizeof(*table->waiting));
    /* Nobody shall write a trace whose groups all collide. */
    if (getrandom(&table->seed, sizeof(table->seed), GRND_NONBLOCK) < 0)
        table->seed = (uint64_t)time(NULL);
    return table->slots && table->waiting ? TIDE_OK : TIDE_ENOMEM;
}

void tide_group_table_release(struct tide_group_table *table)
{
    for (size_t i = 0; i < table->count; i++)
        for (size_t j = 0; j < table->plan->sum_count; j++)
            tide_tally_release(&tide_group_tallies(table, i)[j],
                               table->plan->sums[j].kind);
    free(table->groups);
    free(table->slots);
    free(table->waiting);
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

static uint64_t hash_of(const struct tide_group_table *table, const uint64_t *words)
{
    uint64_t hash = table->seed;
    for (size_t i = 0; i <= table->plan->key_count; i++) {
        hash = (hash ^ words[i]) * 0x9e3779b97f4a7c15ull;
        hash ^= hash >> 32;
    }
    return hash;
}

static size_t place_of(const struct tide_group_table *table, const uint64_t *words,
                       uint64_t hash)
{
    const uint32_t mark = (uint32_t)(hash >> 32);
    size_t at = (size_t)hash & table->mask;
    while (table->slots[at].number &&
           (table->slots[at].hash != mark ||
            !same_words(key_words(table, table->slots[at].number - 1), words,
                        table->plan->key_count + 1)))
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
    struct tide_group_slot *const slots = calloc(capacity * 2, sizeof(*slots));
    if (!slots)
        return TIDE_ENOMEM;
    free(table->slots);
    table->slots = slots;
    table->mask = capacity * 2 - 1;
    table->capacity = capacity;
    table->held += more;
    for (size_t i = 0; i < table->count; i++) {
        const uint64_t hash = hash_of(table, key_words(table, i));
        slots[place_of(table, key_words(table, i), hash)] =
            (struct tide_group_slot){(uint32_t)i + 1, (uint32_t)(hash >> 32)};
    }
    return TIDE_OK;
}

/* The group of WORDS, new or known. */
static enum tide_status find(struct tide_group_table *table, const uint64_t *words,
                             uint64_t hash, size_t *out)
{
    size_t at = place_of(table, words, hash);
    if (!table->slots[at].number) {
        if (table->count == table->capacity) {
            const enum tide_status status = widen(table);
            if (status)
                return status;
            at = place_of(table, words, hash);
        }
        uint64_t *const group = key_words(table, table->count);
        memset(group, 0, table->group_bytes);
        memcpy(group, words, (table->plan->key_count + 1) * sizeof(*words));
        table->slots[at] =
            (struct tide_group_slot){(uint32_t)++table->count, (uint32_t)(hash >> 32)};
    }
    *out = table->slots[at].number - 1;
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
    return find(table, words, hash_of(table, words), out);
}

static struct tide_tally_rule rule_of(const struct tide_plan_sum *sum,
                                      const struct tide_names *names)
{
    return (struct tide_tally_rule){sum->kind, sum->parameter, names};
}

/* --- Rows ----------------------------------------------------------------------------- */

static struct tide_value *row_at(const struct tide_group_table *table, size_t number)
{
    return &table->waiting[number % TIDE_GROUP_ROWS * table->plan->slot_count];
}

struct tide_value *tide_group_table_row(const struct tide_group_table *table)
{
    return row_at(table, table->came);
}

static void read_keys(const struct tide_group_table *table,
                      const struct tide_value *slots, uint64_t *words)
{
    const struct tide_plan *const plan = table->plan;
    uint64_t types = 0;
    for (size_t i = 0; i < plan->key_count; i++) {
        const struct tide_value key = slots[plan->keys[i]];
        words[i] = key.word;
        types |= key.type << (4 * i);
    }
    words[plan->key_count] = types;
}

/* The row that came first counts. */
static enum tide_status count_row(struct tide_group_table *table,
                                  const struct tide_names *names)
{
    const struct tide_plan *const plan = table->plan;
    const size_t number = table->went++;
    const struct tide_value *const slots = row_at(table, number);
    uint64_t words[TIDE_PLAN_KEYS + 1];
    size_t group, grown = 0;
    read_keys(table, slots, words);
    enum tide_status status =
        find(table, words, table->hashes[number % TIDE_GROUP_ROWS], &group);
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

/* Most of the time would be spent waiting for memory: the slot of a row is fetched when it
 * comes, its group, which the slot names as a rule, when half of those before have gone. */
enum tide_status tide_group_table_take(struct tide_group_table *table,
                                       const struct tide_names *names)
{
    uint64_t words[TIDE_PLAN_KEYS + 1];
    const size_t number = table->came++;
    read_keys(table, row_at(table, number), words);
    const uint64_t hash = hash_of(table, words);
    table->hashes[number % TIDE_GROUP_ROWS] = hash;
    __builtin_prefetch(&table->slots[hash & table->mask]);
    if (table->came - table->went < TIDE_GROUP_ROWS)
        return TIDE_OK;
    const uint64_t soon =
        table->hashes[(table->went + TIDE_GROUP_ROWS / 2) % TIDE_GROUP_ROWS];
    const uint32_t group = table->slots[soon & table->mask].number;
    if (group)
        __builtin_prefetch(key_words(table, group - 1), 1);
    return count_row(table, names);
}

enum tide_status tide_group_table_settle(struct tide_group_table *table,
                                         const struct tide_names *names)
{
    enum tide_status status = TIDE_OK;
    while (table->went < table->came && !status)
        status = count_row(table, names);
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
