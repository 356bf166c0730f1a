/* model/site.c - keys summed up by stack and space.
 */
#include "model/site.h"

#include <stdlib.h>

const char *tide_space_name(enum tide_space space)
{
    static const char *const names[TIDE_SPACES] = {
        [TIDE_IN_HEAP] = "heap",
        [TIDE_IN_MMAP] = "mmap",
    };
    return (unsigned)space < TIDE_SPACES ? names[space] : "unknown";
}

void tide_sites_release(struct tide_sites *sites)
{
    free(sites->list);
    *sites = (struct tide_sites){0};
}

/* The site of KEY, new or known; BY_STACK: site + 1, of its space. */
static struct tide_site *find_site(struct tide_sites *sites, uint32_t *by_stack,
                                   const struct tide_key *key)
{
    uint32_t *const place = &by_stack[key->stack];
    if (!*place) {
        sites->list[sites->count++] = (struct tide_site){
            .stack = key->stack,
            .space = key->space,
            .first_ticks = key->first_ticks,
        };
        *place = (uint32_t)sites->count;
    }
    return &sites->list[*place - 1];
}

static void add_more(struct tide_key_more *sum, const struct tide_key_more *more)
{
    sum->moved_calls += more->moved_calls;
    sum->grown_bytes += more->grown_bytes;
    sum->crept_calls += more->crept_calls;
    sum->crept_bytes += more->crept_bytes;
    sum->copied_calls += more->copied_calls;
    sum->copied_bytes += more->copied_bytes;
    sum->foreign_calls += more->foreign_calls;
    sum->foreign_bytes += more->foreign_bytes;
    sum->left_blocks += more->left_blocks;
    sum->left_bytes += more->left_bytes;
}

static void add_key(struct tide_site *site, const struct tide_key *key)
{
    site->calls += key->calls;
    site->bytes += key->bytes;
    site->freed_calls += key->freed_calls;
    site->freed_bytes += key->freed_bytes;
    site->temporary_calls += key->temporary_calls;
    site->temporary_bytes += key->temporary_bytes;
    site->slack_bytes += key->slack_bytes;
    site->peak_blocks += key->peak_blocks;
    site->peak_bytes =
        (int64_t)((uint64_t)site->peak_bytes + (uint64_t)key->peak_bytes);
    if (key->first_ticks < site->first_ticks)
        site->first_ticks = key->first_ticks;
    if (key->last_ticks > site->last_ticks)
        site->last_ticks = key->last_ticks;
}

static void add_most(struct tide_site *site, const struct tide_keys *keys,
                     const struct tide_key *key)
{
    const struct tide_crowd *const crowd =
        key->crowd ? &keys->crowds[key->crowd - 1] : NULL;
    site->most_bytes = crowd ? crowd->most_bytes : key->most_bytes;
    site->most_ticks = crowd ? crowd->most_ticks : key->most_ticks;
}

static void settle_live(struct tide_site *site, bool with_left)
{
    uint64_t blocks = site->calls - site->freed_calls;
    uint64_t bytes = site->bytes - site->freed_bytes;
    if (!with_left) {
        blocks -= site->more.left_blocks;
        bytes -= site->more.left_bytes;
    }
    if (!site->most_bytes) /* it had its most, nothing, at once */
        site->most_ticks = site->first_ticks;
    site->live_blocks = (int64_t)blocks;
    site->live_bytes = (int64_t)bytes;
}

static void gather(struct tide_sites *sites, const struct tide_keys *keys,
                   uint32_t *by_stack[TIDE_SPACES], bool with_left)
{
    for (size_t i = 0; i < keys->count; i++) {
        const struct tide_key *const key = &keys->list[i];
        struct tide_site *const site = find_site(sites, by_stack[key->space], key);
        add_key(site, key);
        add_most(site, keys, key);
        if (i < keys->more_capacity)
            add_more(&site->more, &keys->more[i]);
    }
    for (size_t i = 0; i < sites->count; i++)
        settle_live(&sites->list[i], with_left);
}

enum tide_status tide_sites_gather(struct tide_sites *sites,
                                   const struct tide_keys *keys, bool with_left)
{
    uint32_t *by_stack[TIDE_SPACES];
    bool memory = true;
    for (size_t space = 0; space < TIDE_SPACES; space++) {
        by_stack[space] = calloc(keys->by_stack_capacity + 1, sizeof(uint32_t));
        memory = memory && by_stack[space];
    }
    sites->list = calloc(keys->count + 1, sizeof(*sites->list));
    memory = memory && sites->list;
    if (memory)
        gather(sites, keys, by_stack, with_left);
    for (size_t space = 0; space < TIDE_SPACES; space++)
        free(by_stack[space]);
    return memory ? TIDE_OK : TIDE_ENOMEM;
}
