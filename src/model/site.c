/* model/site.c - sites, and the watermark of a space.
 *
 * A stack is a number, so a site is found by indexing; see site.h for the watermark.
 */
#include "model/site.h"

#include <stdlib.h>

#include "model/grow.h"

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
    free(sites->left);
    for (size_t space = 0; space < TIDE_SPACES; space++)
        free(sites->by_stack[space]);
    *sites = (struct tide_sites){0};
}

static enum tide_status add_site(struct tide_sites *sites, uint32_t stack,
                                 enum tide_space space,
                                 const struct tide_watermark *water)
{
    if (sites->count >= UINT32_MAX - 1)
        return TIDE_ELIMIT;
    struct tide_site *const list =
        tide_grown(sites->list, &sites->capacity, sites->count + 1, sizeof(*list));
    if (!list)
        return TIDE_ENOMEM;
    sites->list = list;
    list[sites->count++] = (struct tide_site){
        .stack = stack,
        .space = space,
        .saved_at = water->peaks,
    };
    return TIDE_OK;
}

enum tide_status tide_sites_find(struct tide_sites *sites, uint32_t stack,
                                 enum tide_space space,
                                 const struct tide_watermark *water, uint32_t *out)
{
    if (stack >= sites->by_stack_capacity[space]) {
        uint32_t *const wider =
            tide_grown(sites->by_stack[space], &sites->by_stack_capacity[space],
                       (size_t)stack + 1, sizeof(*wider));
        if (!wider)
            return TIDE_ENOMEM;
        sites->by_stack[space] = wider;
    }
    uint32_t *const place = &sites->by_stack[space][stack];
    if (!*place) {
        const enum tide_status status = add_site(sites, stack, space, water);
        if (status)
            return status;
        *place = (uint32_t)sites->count;
    }
    *out = *place - 1;
    return TIDE_OK;
}

enum tide_status tide_sites_leave(struct tide_sites *sites, uint32_t site,
                                  struct tide_watermark *water, struct tide_left what)
{
    struct tide_left *const left =
        tide_grown(sites->left, &sites->left_capacity, (size_t)site + 1, sizeof(*left));
    if (!left)
        return TIDE_ENOMEM;
    sites->left = left;
    sites->left[site].blocks += what.blocks;
    sites->left[site].bytes =
        (int64_t)((uint64_t)sites->left[site].bytes + (uint64_t)what.bytes);
    tide_site_hold(&sites->list[site], water, -what.blocks, -(uint64_t)what.bytes);
    return TIDE_OK;
}

void tide_sites_finish(struct tide_sites *sites, const struct tide_watermark *waters,
                       bool with_left)
{
    for (size_t i = 0; i < sites->count; i++) {
        struct tide_site *const site = &sites->list[i];
        const bool changed = site->saved_at == waters[site->space].peaks;
        site->peak_blocks = changed ? site->saved_blocks : site->live_blocks;
        site->peak_bytes = changed ? site->saved_bytes : site->live_bytes;
        if (!with_left || i >= sites->left_capacity)
            continue;
        site->live_blocks += sites->left[i].blocks;
        site->live_bytes =
            (int64_t)((uint64_t)site->live_bytes + (uint64_t)sites->left[i].bytes);
    }
}
