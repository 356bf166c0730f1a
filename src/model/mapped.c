/* model/mapped.c - what mmap and its family did to the memory of a process.
 *
 * The tag of a range says what it is: a kind, a kind that is not counted, or, for what
 * is committed and counted, the number of its commit.
 *
 * Invariant: a commit's bytes are the sum of the lengths of the ranges tagged with it.
 */
#include "model/mapped.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "model/grow.h"
#include "trace/format.h"

enum {
    TIDE_TAG_QUIET = 4,   /* + kind: not counted */
    TIDE_TAG_COMMITS = 8, /* + number of the commit */
};

#define PAGE_MASK 4095ull

/* One event while it is being taken. */
struct step {
    struct tide_maps *maps;
    struct tide_mapped *mapped;
    const struct tide_event *event;
    uint32_t context;
    uint32_t commit; /* index + 1 of what the event committed, 0: nothing yet */
    bool released;   /* some counted memory was given up */
};

struct span {
    uint64_t start, end;
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

static bool quiet_caller(const struct tide_maps *maps, uint32_t stack)
{
    const struct tide_stacks *const stacks = maps->stacks;
    if (!stacks || stack == 0 || stack >= stacks->node_count)
        return false;
    const uint32_t frame = stacks->nodes[stack].frame;
    if (frame >= stacks->frame_count)
        return false;
    const uint32_t module = stacks->frames[frame].module;
    return module < maps->quiet_module_count && maps->quiet_modules[module];
}

/* The pages that [ADDRESS, ADDRESS + LENGTH) touches; empty when there are none. */
static struct span pages(uint64_t address, uint64_t length)
{
    const uint64_t top = UINT64_MAX & ~PAGE_MASK;
    if (length == 0 || address >= top)
        return (struct span){0, 0};
    const uint64_t end =
        length > top - address ? top : (address + length + PAGE_MASK) & ~PAGE_MASK;
    return (struct span){address & ~PAGE_MASK, end};
}

/* --- Commits -------------------------------------------------------------------- */

static enum tide_status new_commit(struct tide_maps *maps, uint32_t key, uint32_t *out)
{
    if (maps->spare_commit) {
        *out = maps->spare_commit - 1;
        maps->spare_commit = maps->commits[*out].next;
    } else {
        if (maps->commit_count >= UINT32_MAX - TIDE_TAG_COMMITS - 1)
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

/* LENGTH bytes become KIND; *TAG is what their range is to be tagged with. */
static enum tide_status enter(struct step *step, uint64_t length, uint32_t kind,
                              uint32_t *tag)
{
    struct tide_maps *const maps = step->maps;
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
    *tag = TIDE_TAG_COMMITS + commit;
    return TIDE_OK;
}

/* The bytes of a range are no longer what their tag says. */
static void leave(struct step *step, const struct tide_range *range)
{
    struct tide_maps *const maps = step->maps;
    const uint64_t length = range->end - range->start;
    if (range->tag < TIDE_TAG_QUIET)
        maps->standing[range->tag] -= length;
    if (range->tag < TIDE_TAG_COMMITS)
        return;
    const uint32_t commit = range->tag - TIDE_TAG_COMMITS;
    struct tide_key *const key = &maps->keys->list[maps->commits[commit].key];
    const bool dead = shrink_commit(maps, commit, length);
    tide_key_lose(maps->keys, key, maps->water, dead, length);
    step->mapped->bytes -= length;
    step->released = true;
}

/* Nothing is known in SPAN any more. */
static enum tide_status clear(struct step *step, struct span span)
{
    struct tide_ranges *const ranges = &step->mapped->ranges;
    enum tide_status status = tide_ranges_cut(ranges, span.start);
    if (!status)
        status = tide_ranges_cut(ranges, span.end);
    if (status)
        return status;
    for (;;) {
        const uint32_t found = tide_ranges_after(ranges, span.start);
        if (!found || ranges->list[found].start >= span.end)
            return TIDE_OK;
        leave(step, &ranges->list[found]);
        tide_ranges_remove(ranges, found);
    }
}

/* SPAN, which is clear, becomes one range of KIND. */
static enum tide_status fill(struct step *step, struct span span, uint32_t kind)
{
    uint32_t tag;
    const enum tide_status status = enter(step, span.end - span.start, kind, &tag);
    if (status)
        return status;
    return tide_ranges_add(&step->mapped->ranges, span.start, span.end, tag);
}

/* --- The calls ------------------------------------------------------------------------ */

/* The kind of a range, without its commit; TIDE_TAG_QUIET as it is. */
static uint32_t kind_of(uint32_t tag)
{
    return tag >= TIDE_TAG_COMMITS ? (uint32_t)TIDE_MAPPED_COMMITTED : tag;
}

static enum tide_status on_mmap(struct step *step)
{
    const struct tide_event *const event = step->event;
    const struct span span = pages(event->address, event->size);
    const enum tide_status status = clear(step, span);
    if (status || span.start == span.end)
        return status;
    uint32_t kind = TIDE_MAPPED_COMMITTED;
    if (event->value2 & TIDE_MAP_FILE)
        kind = TIDE_MAPPED_FILE;
    else if (event->value2 & MAP_SHARED)
        kind = TIDE_MAPPED_SHARED;
    else if (event->value == PROT_NONE)
        kind = TIDE_MAPPED_RESERVED;
    if (quiet_caller(step->maps, event->stack))
        kind += TIDE_TAG_QUIET;
    return fill(step, span, kind);
}

static enum tide_status on_munmap(struct step *step)
{
    return clear(step, pages(step->event->address, step->event->size));
}

static enum tide_status on_mremap(struct step *step)
{
    const struct tide_event *const event = step->event;
    struct tide_ranges *const ranges = &step->mapped->ranges;
    const struct span new_span = pages(event->address, event->size);
    const uint64_t old_start = event->value & ~PAGE_MASK;
    const uint32_t found = tide_ranges_after(ranges, old_start);
    const bool known = found && ranges->list[found].start <= old_start;
    const uint32_t kind = known ? kind_of(ranges->list[found].tag) : 0;

    /* An old length of 0 duplicates a shared mapping: the old one stays. */
    enum tide_status status = clear(step, pages(event->value, event->value2));
    if (!status)
        status = clear(step, new_span);
    if (status || !known || new_span.start == new_span.end)
        return status;
    step->maps->realloc_calls += kind == TIDE_MAPPED_COMMITTED;
    return fill(step, new_span, kind);
}

static enum tide_status on_mprotect(struct step *step)
{
    const bool none = step->event->value == PROT_NONE;
    const uint32_t from = none ? TIDE_MAPPED_COMMITTED : TIDE_MAPPED_RESERVED;
    const uint32_t into = none ? TIDE_MAPPED_RESERVED : TIDE_MAPPED_COMMITTED;
    const struct span span = pages(step->event->address, step->event->size);
    struct tide_ranges *const ranges = &step->mapped->ranges;
    enum tide_status status = tide_ranges_cut(ranges, span.start);
    if (!status)
        status = tide_ranges_cut(ranges, span.end);

    uint64_t at = span.start;
    while (!status) {
        const uint32_t found = tide_ranges_after(ranges, at);
        if (!found || ranges->list[found].start >= span.end)
            break;
        struct tide_range *const range = &ranges->list[found];
        at = range->end;
        const uint32_t kind = kind_of(range->tag);
        if ((kind & ~(uint32_t)TIDE_TAG_QUIET) != from)
            continue;
        leave(step, range);
        const uint32_t quiet = kind & TIDE_TAG_QUIET;
        status = enter(step, range->end - range->start, into | quiet, &range->tag);
    }
    return status;
}

enum tide_status tide_maps_event(struct tide_maps *maps, struct tide_mapped *mapped,
                                 const struct tide_event *event, uint32_t context)
{
    static enum tide_status (*const take[TIDE_MAP_CALLS])(struct step *) = {
        [TIDE_MAP_MMAP] = on_mmap,     [TIDE_MAP_MUNMAP] = on_munmap,
        [TIDE_MAP_MREMAP] = on_mremap, [TIDE_MAP_MPROTECT] = on_mprotect,
        [TIDE_MAP_MADVISE] = NULL, /* the kernel may take pages: still committed */
    };
    if (event->map_call >= TIDE_MAP_CALLS || !take[event->map_call])
        return TIDE_OK;
    struct step step = {
        .maps = maps, .mapped = mapped, .event = event, .context = context};
    const enum tide_status status = take[event->map_call](&step);
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
        ranges->list[found].tag < TIDE_TAG_COMMITS)
        return 0;
    const uint32_t commit = ranges->list[found].tag - TIDE_TAG_COMMITS;
    return commit < maps->commit_count ? commit + 1 : 0;
}

enum tide_status tide_maps_retire(struct tide_maps *maps, struct tide_mapped *mapped)
{
    const struct tide_ranges *const ranges = &mapped->ranges;
    enum tide_status status = TIDE_OK;
    uint32_t found = tide_ranges_after(ranges, 0);
    while (found && !status) {
        const struct tide_range *const range = &ranges->list[found];
        const uint64_t length = range->end - range->start;
        if (range->tag < TIDE_TAG_QUIET)
            maps->standing[range->tag] -= length;
        if (range->tag >= TIDE_TAG_COMMITS) {
            const uint32_t commit = range->tag - TIDE_TAG_COMMITS;
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
