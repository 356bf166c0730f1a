/* model/mapped.c - what mmap and its family did to the memory of a process.
 *
 * What the calls do to ranges is in map_rules.c.  A range that is committed and counted is
 * tagged TIDE_TAG_COUNTED + the number of its commit.
 *
 * Invariant: a commit's bytes are the sum of the lengths of the ranges tagged with it.
 */
#include "model/mapped.h"

#include <stdlib.h>
#include <string.h>

#include "model/grow.h"
#include "trace/format.h"

/* One event while it is being taken. */
struct step {
    struct tide_maps *maps;
    struct tide_mapped *mapped;
    const struct tide_event *event;
    uint32_t context;
    uint32_t commit; /* index + 1 of what the event committed, 0: nothing yet */
    bool released;   /* some counted memory was given up */
};

void tide_maps_release(struct tide_maps *maps)
{
    free(maps->commits);
    *maps = (struct tide_maps){0};
}

bool tide_maps_quiet_module(const char *path)
{
    static const char *const quiet[] = {
        "libc.so",     "libc-2.",     "ld-linux",    "ld-2.",
        "libjemalloc", "libtcmalloc", "libmimalloc", "libtbbmalloc",
        "libcuda.so",  "libnvidia",   "libtidemark",
    };
    const char *const slash = strrchr(path, '/');
    const char *const name = slash ? slash + 1 : path;
    for (size_t i = 0; i < sizeof(quiet) / sizeof(quiet[0]); i++) {
        if (strncmp(name, quiet[i], strlen(quiet[i])) == 0)
            return true;
    }
    return false;
}

/* --- Commits -------------------------------------------------------------------- */

static enum tide_status new_commit(struct tide_maps *maps, uint32_t key, uint32_t *out)
{
    if (maps->spare_commit) {
        *out = maps->spare_commit - 1;
        maps->spare_commit = maps->commits[*out].next;
    } else {
        if (maps->commit_count >= UINT32_MAX - TIDE_TAG_COUNTED - 1)
            return TIDE_ELIMIT;
        struct tide_commit *const commits =
            tide_grown(maps->commits, &maps->commit_capacity, maps->commit_count + 1,
                       sizeof(*commits));
        if (!commits)
            return TIDE_ENOMEM;
        maps->commits = commits;
        *out = (uint32_t)maps->commit_count++;
    }
    maps->commits[*out] = (struct tide_commit){
        .key = key,
        .born = ++maps->water->births,
    };
    return TIDE_OK;
}

/* Take BYTES off COMMIT; true when nothing of it is left. */
static bool shrink_commit(struct tide_maps *maps, uint32_t commit, uint64_t bytes)
{
    struct tide_commit *const entry = &maps->commits[commit];
    entry->bytes -= bytes;
    if (entry->bytes)
        return false;
    entry->next = maps->spare_commit;
    maps->spare_commit = commit + 1;
    return true;
}

/* The commit of this event; it is born when first asked for. */
static enum tide_status commit_of(struct step *step, uint32_t *out)
{
    if (!step->commit) {
        struct tide_maps *const maps = step->maps;
        const uint64_t ticks = step->event->ticks;
        const struct tide_key_place place = {
            .stack = step->event->stack,
            .context = step->context,
            .space = TIDE_IN_MMAP,
            .ticks = ticks,
        };
        uint32_t key;
        enum tide_status status = tide_keys_find(maps->keys, place, maps->water, &key);
        if (!status)
            status = new_commit(maps, key, &step->commit);
        if (status)
            return status;
        step->commit++;
        maps->keys->list[key].last_ticks = ticks;
        tide_key_gain(maps->keys, &maps->keys->list[key], maps->water,
                      (struct tide_gain){1, 0, ticks});
    }
    *out = step->commit - 1;
    return TIDE_OK;
}

/* --- Ranges come and go ------------------------------------------------------------- */

/* As map_rules.h has it; so are the two below. */
static enum tide_status enter(void *user, uint64_t start, uint64_t end, uint32_t kind,
                              uint32_t *tag)
{
    struct step *const step = user;
    struct tide_maps *const maps = step->maps;
    const uint64_t length = end - start;
    *tag = kind;
    if (kind >= TIDE_TAG_QUIET)
        return TIDE_OK;
    if (kind != TIDE_MAPPED_COMMITTED) {
        maps->standing[kind] += length;
        if (maps->standing[kind] > maps->highest[kind])
            maps->highest[kind] = maps->standing[kind];
        return TIDE_OK;
    }
    uint32_t commit;
    const enum tide_status status = commit_of(step, &commit);
    if (status)
        return status;
    struct tide_key *const key = &maps->keys->list[maps->commits[commit].key];
    maps->commits[commit].bytes += length;
    tide_key_gain(maps->keys, key, maps->water,
                  (struct tide_gain){0, length, step->event->ticks});
    step->mapped->bytes += length;
    *tag = TIDE_TAG_COUNTED + commit;
    return TIDE_OK;
}

static enum tide_status leave(void *user, const struct tide_range *range)
{
    struct step *const step = user;
    struct tide_maps *const maps = step->maps;
    const uint64_t length = range->end - range->start;
    if (range->tag < TIDE_TAG_QUIET)
        maps->standing[range->tag] -= length;
    if (range->tag < TIDE_TAG_COUNTED)
        return TIDE_OK;
    const uint32_t commit = range->tag - TIDE_TAG_COUNTED;
    struct tide_key *const key = &maps->keys->list[maps->commits[commit].key];
    const bool dead = shrink_commit(maps, commit, length);
    tide_key_lose(maps->keys, key, maps->water, dead, length);
    step->mapped->bytes -= length;
    step->released = true;
    return TIDE_OK;
}

static void move(void *user, uint32_t tag)
{
    const struct step *const step = user;
    step->maps->realloc_calls += tag >= TIDE_TAG_COUNTED;
}

enum tide_status tide_maps_event(struct tide_maps *maps, struct tide_mapped *mapped,
                                 const struct tide_event *event, uint32_t context)
{
    struct step step = {
        .maps = maps, .mapped = mapped, .event = event, .context = context};
    const struct tide_map_side side = {
        .ranges = &mapped->ranges,
        .quiet = event->map_call == TIDE_MAP_MMAP && event->quiet,
        .user = &step,
        .enter = enter,
        .leave = leave,
        .move = move,
    };
    tide_water_meet(maps->heap, maps->water, maps->standing[TIDE_MAPPED_SHARED]);
    const enum tide_status status = tide_map_apply(&side, event);
    maps->free_calls += step.released;
    if (mapped->bytes > mapped->peak_bytes)
        mapped->peak_bytes = mapped->bytes;
    tide_water_check(maps->water, event->ticks);
    return status;
}

uint32_t tide_maps_commit_at(const struct tide_maps *maps,
                             const struct tide_mapped *mapped, uint64_t address)
{
    const struct tide_ranges *const ranges = &mapped->ranges;
    const uint32_t found = tide_ranges_after(ranges, address);
    if (!found || ranges->list[found].start > address ||
        ranges->list[found].tag < TIDE_TAG_COUNTED)
        return 0;
    const uint32_t commit = ranges->list[found].tag - TIDE_TAG_COUNTED;
    return commit < maps->commit_count ? commit + 1 : 0;
}

enum tide_status tide_maps_retire(struct tide_maps *maps, struct tide_mapped *mapped)
{
    const struct tide_ranges *const ranges = &mapped->ranges;
    enum tide_status status = TIDE_OK;
    uint32_t found = tide_ranges_after(ranges, 0);
    tide_water_meet(maps->heap, maps->water, maps->standing[TIDE_MAPPED_SHARED]);
    while (found && !status) {
        const struct tide_range *const range = &ranges->list[found];
        const uint64_t length = range->end - range->start;
        if (range->tag < TIDE_TAG_QUIET)
            maps->standing[range->tag] -= length;
        if (range->tag >= TIDE_TAG_COUNTED) {
            const uint32_t commit = range->tag - TIDE_TAG_COUNTED;
            const uint32_t key = maps->commits[commit].key;
            const bool last = shrink_commit(maps, commit, length);
            status = tide_keys_leave(maps->keys, key, maps->water, last, length);
        }
        found = tide_ranges_after(ranges, range->end);
    }
    tide_ranges_release(&mapped->ranges);
    mapped->bytes = 0;
    return status;
}
