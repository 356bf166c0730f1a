/* model/key.h - keys: what is counted together, and what each held at the watermark.
 *
 * For: model/, tests/.
 *
 * A key is one stack in one context (space, thread, region, label: see context.h).  The
 * watermark must say, at the end, what every key held at the highest moment; but copying
 * all keys at each new height would cost keys x heights.  So heights are counted, and a
 * key copies itself aside when it first changes after a height:
 *
 *     peaks     how often the space reached a new height (water.h)
 *     peak_at   the height count for which peak_blocks, peak_bytes are right
 *
 * A key whose peak_at is the last count changed since: the copy is what it held then.
 * Any other key did not change since, so what it holds now is what it held then.
 *
 * What a key holds is what it made less what was freed; while the account is open, what
 * was left behind by processes that have ended counts as freed.
 *
 * Most stacks have one key.  The last key of a stack is found by indexing; only the keys
 * of stacks that have several, a crowd, are in a table.  A crowd sums up what its keys
 * hold, so that the stack's own maximum is exact as well.
 */
#ifndef TIDE_MODEL_KEY_H
#define TIDE_MODEL_KEY_H

#include <stddef.h>
#include <stdint.h>

#include <tidemark/status.h>

#include "model/model.h"
#include "model/pairs.h"
#include "model/water.h"

/* All keys of one stack in one space, when there are several. */
struct tide_crowd {
    uint64_t bytes; /* held now */
    uint64_t most_bytes, most_ticks;
};

/* All zeros is ready for use. */
struct tide_keys {
    struct tide_key *list; /* owned */
    size_t count, capacity;
    uint32_t *by_stack; /* owned: the key last used + 1, by node */
    size_t by_stack_capacity;
    struct tide_key_more *more; /* owned, per key; what few keys have */
    size_t more_capacity;

    struct tide_pairs crowded;     /* (stack, context) of keys in crowds */
    uint32_t *crowded_keys;        /* owned: the key of each such pair */
    size_t crowded_capacity;       /* of crowded_keys */
    struct tide_pairs crowd_names; /* (stack, space) of each crowd */
    struct tide_crowd *crowds;     /* owned */
    size_t crowd_capacity;
};

/* Which key is meant, and when it is asked for. */
struct tide_key_place {
    uint32_t stack, context, space;
    uint64_t ticks;
};

void tide_keys_release(struct tide_keys *keys);

/* The index of the key of PLACE, new or known.  WATER is that of its space. */
enum tide_status tide_keys_find(struct tide_keys *keys, struct tide_key_place place,
                                const struct tide_watermark *water, uint32_t *out);

/* Add KEY as it was saved, when the crowds are there already; ECORRUPT when it makes no
 * sense beside those that came before. */
enum tide_status tide_keys_restore(struct tide_keys *keys, const struct tide_key *key);

/* The last used key of STACK: index + 1, else 0. */
static inline uint32_t tide_keys_last(const struct tide_keys *keys, uint32_t stack)
{
    return stack < keys->by_stack_capacity ? keys->by_stack[stack] : 0;
}

/* Make room for what is rarely counted of KEY; NULL without memory. */
struct tide_key_more *tide_keys_more_room(struct tide_keys *keys, uint32_t key);

/* What is rarely counted of KEY; NULL without memory. */
static inline struct tide_key_more *tide_keys_more(struct tide_keys *keys, uint32_t key)
{
    return key < keys->more_capacity ? &keys->more[key]
                                     : tide_keys_more_room(keys, key);
}

/* What KEY held goes with its process: it stands no more, but nothing freed it. */
enum tide_status tide_keys_leave(struct tide_keys *keys, uint32_t key,
                                 struct tide_watermark *water, uint64_t blocks,
                                 uint64_t bytes);

/* Part of what a key holds. */
struct tide_key_part {
    uint64_t bytes, slack;
    bool stood; /* at the last peak of its space already */
};
/* One block turns out to belong to another key of the same stack and space: it counts
 * there as if it always had. */
void tide_keys_pass(struct tide_keys *keys, uint32_t from, uint32_t to,
                    const struct tide_watermark *water, struct tide_key_part part);

/* One block is held by another key of the same stack and space from here on; its birth
 * counts where it did. */
void tide_keys_hand_on(struct tide_keys *keys, uint32_t from, uint32_t to,
                       struct tide_watermark *water, uint64_t bytes);

/* All is entered: say what every key held at its watermark, and take back that what
 * processes left was freed. */
void tide_keys_finish(struct tide_keys *keys, const struct tide_watermark *waters);

/* --- Every event -------------------------------------------------------------------- */

/* Before any change of what a key holds, when its space has reached PEAKS heights. */
static inline void tide_key_touch_at(struct tide_key *key, uint64_t peaks)
{
    if (key->peak_at == peaks)
        return;
    key->peak_at = peaks;
    key->peak_blocks = (int64_t)(key->calls - key->freed_calls);
    key->peak_bytes = (int64_t)(key->bytes - key->freed_bytes);
}

static inline void tide_key_touch(struct tide_key *key,
                                  const struct tide_watermark *water)
{
    tide_key_touch_at(key, water->peaks);
}

static inline void tide_crowd_gain(struct tide_crowd *crowd, uint64_t bytes,
                                   uint64_t ticks)
{
    crowd->bytes += bytes;
    if (crowd->bytes > crowd->most_bytes) {
        crowd->most_bytes = crowd->bytes;
        crowd->most_ticks = ticks;
    }
}

/* What comes to stand. */
struct tide_gain {
    uint64_t blocks, bytes, ticks;
};

static inline void tide_key_gain(const struct tide_keys *keys, struct tide_key *key,
                                 struct tide_watermark *water, struct tide_gain gain)
{
    tide_key_touch(key, water);
    key->calls += gain.blocks;
    key->bytes += gain.bytes;
    water->blocks += gain.blocks;
    water->bytes += gain.bytes;
    const uint64_t held = key->bytes - key->freed_bytes;
    if (held > key->most_bytes) {
        key->most_bytes = held;
        key->most_ticks = gain.ticks;
    }
    if (key->crowd)
        tide_crowd_gain(&keys->crowds[key->crowd - 1], gain.bytes, gain.ticks);
}

/* Blocks and bytes go. */
static inline void tide_key_lose(const struct tide_keys *keys, struct tide_key *key,
                                 struct tide_watermark *water, uint64_t blocks,
                                 uint64_t bytes)
{
    tide_key_touch(key, water);
    key->freed_calls += blocks;
    key->freed_bytes += bytes;
    water->blocks -= blocks;
    water->bytes -= bytes;
    if (key->crowd)
        keys->crowds[key->crowd - 1].bytes -= bytes;
}

#endif
