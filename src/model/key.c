/* model/key.c - keys: what is counted together, and what each held at the watermark.
 */
#include "model/key.h"

#include <stdlib.h>

#include "model/grow.h"

void tide_keys_release(struct tide_keys *keys)
{
    free(keys->list);
    free(keys->by_stack);
    free(keys->more);
    free(keys->crowded_keys);
    free(keys->crowds);
    tide_pairs_release(&keys->crowded);
    tide_pairs_release(&keys->crowd_names);
    *keys = (struct tide_keys){0};
}

static enum tide_status add_key(struct tide_keys *keys, struct tide_key_place place,
                                const struct tide_watermark *water)
{
    if (keys->count >= UINT32_MAX - 1)
        return TIDE_ELIMIT;
    struct tide_key *const list =
        tide_grown(keys->list, &keys->capacity, keys->count + 1, sizeof(*list));
    if (!list)
        return TIDE_ENOMEM;
    keys->list = list;
    list[keys->count++] = (struct tide_key){
        .stack = place.stack,
        .space = place.space,
        .context = place.context,
        .first_ticks = place.ticks,
        .last_ticks = place.ticks,
        .peak_at = water->peaks,
    };
    return TIDE_OK;
}

/* --- Crowds ------------------------------------------------------------------------- */

static enum tide_status find_crowd(struct tide_keys *keys, const struct tide_key *key,
                                   uint32_t *out)
{
    const struct tide_pair name = {key->stack, key->space};
    const enum tide_status status = tide_pairs_find(&keys->crowd_names, name, out);
    if (status)
        return status;
    struct tide_crowd *const crowds = tide_grown(keys->crowds, &keys->crowd_capacity,
                                                 (size_t)*out + 1, sizeof(*crowds));
    if (!crowds)
        return TIDE_ENOMEM;
    keys->crowds = crowds;
    return TIDE_OK;
}

/* The key at INDEX can be found by stack and context from now on. */
static enum tide_status list_crowded(struct tide_keys *keys, uint32_t index)
{
    const struct tide_key *const key = &keys->list[index];
    const struct tide_pair pair = {key->stack, key->context};
    uint32_t number;
    const enum tide_status status = tide_pairs_find(&keys->crowded, pair, &number);
    if (status)
        return status;
    uint32_t *const members = tide_grown(keys->crowded_keys, &keys->crowded_capacity,
                                         (size_t)number + 1, sizeof(*members));
    if (!members)
        return TIDE_ENOMEM;
    keys->crowded_keys = members;
    members[number] = index;
    return TIDE_OK;
}

/* KEY, so far alone with its stack or new, joins the crowd of its stack. */
static enum tide_status join_crowd(struct tide_keys *keys, uint32_t index)
{
    struct tide_key *const key = &keys->list[index];
    uint32_t crowd;
    enum tide_status status = list_crowded(keys, index);
    if (!status)
        status = find_crowd(keys, key, &crowd);
    if (status)
        return status;
    key->crowd = crowd + 1;
    struct tide_crowd *const joined = &keys->crowds[crowd];
    joined->bytes += key->bytes - key->freed_bytes;
    if (key->most_bytes > joined->most_bytes) { /* it was alone until now */
        joined->most_bytes = key->most_bytes;
        joined->most_ticks = key->most_ticks;
    }
    return TIDE_OK;
}

/* The key of PLACE, whose stack has had others. */
static enum tide_status find_in_crowd(struct tide_keys *keys,
                                      struct tide_key_place place,
                                      const struct tide_watermark *water, uint32_t last,
                                      uint32_t *out)
{
    enum tide_status status = TIDE_OK;
    if (!keys->list[last].crowd)
        status = join_crowd(keys, last);
    if (status)
        return status;
    const struct tide_pair pair = {place.stack, place.context};
    const uint32_t known = tide_pairs_known(&keys->crowded, pair);
    if (known) {
        *out = keys->crowded_keys[known - 1];
        return TIDE_OK;
    }
    status = add_key(keys, place, water);
    *out = (uint32_t)keys->count - 1;
    return status ? status : join_crowd(keys, *out);
}

/* Room for the keys of STACK. */
static enum tide_status admit_stack(struct tide_keys *keys, uint32_t stack)
{
    uint32_t *const wider = tide_grown(keys->by_stack, &keys->by_stack_capacity,
                                       (size_t)stack + 1, sizeof(*wider));
    if (!wider)
        return TIDE_ENOMEM;
    keys->by_stack = wider;
    return TIDE_OK;
}

enum tide_status tide_keys_find(struct tide_keys *keys, struct tide_key_place place,
                                const struct tide_watermark *water, uint32_t *out)
{
    enum tide_status status = admit_stack(keys, place.stack);
    if (status)
        return status;
    const uint32_t last = keys->by_stack[place.stack];
    if (!last) {
        status = add_key(keys, place, water);
        *out = (uint32_t)keys->count - 1;
    } else if (keys->list[last - 1].context == place.context) {
        *out = last - 1;
    } else {
        status = find_in_crowd(keys, place, water, last - 1, out);
    }
    if (!status)
        keys->by_stack[place.stack] = *out + 1;
    return status;
}

enum tide_status tide_keys_restore(struct tide_keys *keys, const struct tide_key *key)
{
    static const struct tide_watermark dry;
    const struct tide_key_place place = {.stack = key->stack, .context = key->context};
    const struct tide_pair name = {key->stack, key->space};
    enum tide_status status = admit_stack(keys, key->stack);
    if (status)
        return status;
    const bool alone = keys->by_stack[key->stack] == 0;
    const struct tide_pair pair = {key->stack, key->context};
    if (key->crowd ? tide_pairs_known(&keys->crowd_names, name) != key->crowd ||
                         tide_pairs_known(&keys->crowded, pair)
                   : !alone)
        return TIDE_ECORRUPT;
    status = add_key(keys, place, &dry);
    if (status)
        return status;
    const uint32_t index = (uint32_t)keys->count - 1;
    keys->list[index] = *key;
    keys->by_stack[key->stack] = index + 1;
    return key->crowd ? list_crowded(keys, index) : TIDE_OK;
}

/* --- What is rare ------------------------------------------------------------------- */

struct tide_key_more *tide_keys_more_room(struct tide_keys *keys, uint32_t key)
{
    struct tide_key_more *const more =
        tide_grown(keys->more, &keys->more_capacity, (size_t)key + 1, sizeof(*more));
    if (!more)
        return NULL;
    keys->more = more;
    return &more[key];
}

enum tide_status tide_keys_leave(struct tide_keys *keys, uint32_t key,
                                 struct tide_watermark *water, uint64_t blocks,
                                 uint64_t bytes)
{
    struct tide_key_more *const more = tide_keys_more(keys, key);
    if (!more)
        return TIDE_ENOMEM;
    more->left_blocks += blocks;
    more->left_bytes += bytes;
    tide_key_lose(keys, &keys->list[key], water, blocks, bytes);
    return TIDE_OK;
}

void tide_keys_pass(struct tide_keys *keys, uint32_t from, uint32_t to,
                    const struct tide_watermark *water, struct tide_key_part part)
{
    struct tide_key *const giver = &keys->list[from];
    struct tide_key *const taker = &keys->list[to];
    tide_key_touch(giver, water);
    tide_key_touch(taker, water);
    giver->calls--;
    taker->calls++;
    giver->bytes -= part.bytes;
    taker->bytes += part.bytes;
    giver->slack_bytes -= part.slack;
    taker->slack_bytes += part.slack;
    if (part.stood) {
        giver->peak_blocks--;
        taker->peak_blocks++;
        giver->peak_bytes = (int64_t)((uint64_t)giver->peak_bytes - part.bytes);
        taker->peak_bytes = (int64_t)((uint64_t)taker->peak_bytes + part.bytes);
    }
    const uint64_t held = taker->bytes - taker->freed_bytes;
    if (held > taker->most_bytes) {
        taker->most_bytes = held;
        taker->most_ticks = taker->last_ticks;
    }
    if (!giver->calls)
        giver->most_bytes = 0; /* all it ever had was on its way elsewhere */
}

/* A key that got a block has one free less than it has births, so what it holds is right;
 * as all sums, that of both is the same as before. */
void tide_keys_hand_on(struct tide_keys *keys, uint32_t from, uint32_t to,
                       struct tide_watermark *water, uint64_t bytes)
{
    struct tide_key *const taker = &keys->list[to];
    tide_key_lose(keys, &keys->list[from], water, 1, bytes);
    tide_key_lose(keys, taker, water, (uint64_t)-1, (uint64_t)-bytes);
    const uint64_t held = taker->bytes - taker->freed_bytes;
    if (held > taker->most_bytes) {
        taker->most_bytes = held;
        taker->most_ticks = taker->last_ticks;
    }
}

void tide_keys_finish(struct tide_keys *keys, const struct tide_watermark *waters)
{
    for (size_t i = 0; i < keys->count; i++) {
        struct tide_key *const key = &keys->list[i];
        tide_key_touch(key, &waters[key->space]);
        if (i >= keys->more_capacity)
            continue;
        key->freed_calls -= keys->more[i].left_blocks;
        key->freed_bytes -= keys->more[i].left_bytes;
    }
}
