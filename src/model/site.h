/* model/site.h - sites, and the watermark of a space.
 *
 * For: model/, tests/.
 *
 * The watermark must say, at the end, what every site held at the highest moment; but
 * copying all sites at each new height would cost sites x heights.  So heights are
 * counted, and a site copies itself aside when it first changes after a height:
 *
 *     peaks      how often the space reached a new height
 *     saved_at   the height count for which saved_blocks, saved_bytes are right
 *
 * A site whose saved_at is the last count changed since: the copy is what it held then.
 * Any other site did not change since, so what it holds now is what it held then.
 *
 * Sums are of unsigned 64-bit words and may wrap when a trace claims impossible sizes;
 * nothing is indexed by them.
 */
#ifndef TIDE_MODEL_SITE_H
#define TIDE_MODEL_SITE_H

#include <stddef.h>
#include <stdint.h>

#include <tidemark/status.h>

#include "model/model.h"

/* One space over all processes. */
struct tide_watermark {
    uint64_t bytes, blocks, usable; /* standing now */
    uint64_t peaks;
    uint64_t peak_bytes, peak_blocks, peak_ticks;
    uint64_t peak_usable;
    uint64_t highest;           /* bytes, since whoever keeps the timeline set it */
    uint64_t peak_with_realloc; /* moments inside a realloc only */
    /* For model/peak.h. */
    uint64_t now;        /* the latest time stamp seen, of any lane */
    uint64_t peak_now;   /* the same, at the peak */
    uint64_t peak_until; /* at the latest, the peak's event had come then ... */
    uint32_t peak_lane;  /* ... in this lane */
};

/* What a site held in processes that have ended: no longer standing, never freed. */
struct tide_left {
    int64_t blocks, bytes;
};

struct tide_sites {
    struct tide_site *list; /* owned */
    size_t count, capacity;
    uint32_t *by_stack[TIDE_SPACES]; /* owned: index + 1, by node */
    size_t by_stack_capacity[TIDE_SPACES];
    struct tide_left *left; /* owned, per site; NULL until a process ended */
    size_t left_capacity;
};

void tide_sites_release(struct tide_sites *sites);

/* The index of the site of STACK in SPACE, new or known. */
enum tide_status tide_sites_find(struct tide_sites *sites, uint32_t stack,
                                 enum tide_space space,
                                 const struct tide_watermark *water, uint32_t *out);

/* The same when it is known: index + 1, else 0. */
static inline uint32_t tide_sites_known(const struct tide_sites *sites, uint32_t stack,
                                        enum tide_space space)
{
    return stack < sites->by_stack_capacity[space] ? sites->by_stack[space][stack] : 0;
}

/* What SITE held goes with its process: it stands no more. */
enum tide_status tide_sites_leave(struct tide_sites *sites, uint32_t site,
                                  struct tide_watermark *water, struct tide_left what);

/* Say what every site held at its watermark.  If WITH_LEFT, what ended processes left
 * counts as live again: it was never freed. */
void tide_sites_finish(struct tide_sites *sites, const struct tide_watermark *waters,
                       bool with_left);

/* Before any change of what a site holds. */
static inline void tide_site_touch(struct tide_site *site,
                                   const struct tide_watermark *water)
{
    if (site->saved_at == water->peaks)
        return;
    site->saved_at = water->peaks;
    site->saved_blocks = site->live_blocks;
    site->saved_bytes = site->live_bytes;
}

/* Blocks and bytes come to stand (or go, when negative). */
static inline void tide_site_hold(struct tide_site *site, struct tide_watermark *water,
                                  int64_t blocks, uint64_t bytes)
{
    tide_site_touch(site, water);
    site->live_blocks += blocks;
    site->live_bytes = (int64_t)((uint64_t)site->live_bytes + bytes);
    water->blocks += (uint64_t)blocks;
    water->bytes += bytes;
}

/* After a change that may have been a rise; true when it made a new peak. */
static inline bool tide_water_check(struct tide_watermark *water, uint64_t ticks)
{
    if (water->usable > water->peak_usable)
        water->peak_usable = water->usable;
    if (water->bytes > water->highest)
        water->highest = water->bytes;
    if (water->bytes <= water->peak_bytes)
        return false;
    water->peaks++;
    water->peak_bytes = water->bytes;
    water->peak_blocks = water->blocks;
    water->peak_ticks = ticks;
    water->peak_now = water->now;
    return true;
}

#endif
