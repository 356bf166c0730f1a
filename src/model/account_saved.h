/* model/account_saved.h - an account as it lies in a checkpoint.
 *
 * For: account_save.c, account_restore.c.
 *
 * Plain arrays go as they are: an index belongs to one machine and one build.  What is
 * linked (the lanes of a process, unused commits, the tree of ranges, the table of live
 * blocks, names and what refers to them) is built anew from its members, so that nothing
 * in the file is ever followed.
 *
 *     saved_account
 *     names, regions, contexts, rests: pairs; threads
 *     crowd names: pairs; crowds; keys; more
 *     flows: pairs; flows
 *     lanes, commits, moments, open lanes
 *     of each process: saved_process, its blocks, its ranges
 */
#ifndef TIDE_MODEL_ACCOUNT_SAVED_H
#define TIDE_MODEL_ACCOUNT_SAVED_H

#include <stdint.h>

#include "model/account.h"

enum {
    TIDE_BLOCKS_AT_ONCE = 64,
    TIDE_COUNTED_TAG = 8, /* tags of ranges from here on are commits: see mapped.c */
};

/* The account without its arrays. */
struct tide_saved_account {
    uint64_t names, regions, contexts, rests, threads;
    uint64_t crowds, keys, more, flows;
    uint64_t lanes, processes, commits;
    uint64_t lanes_seen, next_end;
    uint64_t realloc_calls, failed_calls, unmatched_frees, inherited_frees;
    uint64_t replaced_blocks, unmatched_labels, oversized_labels, region_mismatches;
    uint64_t paused_frees;
    uint64_t extra_records[32];
    uint64_t alloc_kinds[16];
    uint64_t map_calls[8];
    uint64_t standing[TIDE_MAPPED_KINDS], highest[TIDE_MAPPED_KINDS];
    uint64_t map_free_calls, map_realloc_calls;
    struct tide_watermark water[TIDE_SPACES];
    uint64_t first_moment, last_moment, moment_ticks;
    int64_t sum, highest_sum;
    uint64_t open_lanes;
};

struct tide_saved_process {
    uint64_t known, forked, paused;
    struct tide_phases phases;
    uint64_t dropped;
    uint64_t blocks, ranges;
    uint64_t mapped_bytes, mapped_peak;
};

struct tide_saved_range {
    uint64_t start, end, tag;
};

#endif
