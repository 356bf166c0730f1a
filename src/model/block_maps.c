/* model/block_maps.c - blocks of the space mmap, one by one.
 *
 * The tag of a range is a kind, a kind that is not counted, or the entry of its block.
 */
#include "model/block_maps.h"

#include <sys/mman.h>

#include "model/mapped.h"
#include "model/model.h"
#include "trace/format.h"

enum {
    TIDE_MAP_TAG_QUIET = 4,  /* + kind: not counted */
    TIDE_MAP_TAG_BLOCKS = 8, /* + entry of the block */
};

#define PAGE_MASK 4095ull

struct step {
    const struct tide_map_scene *scene;
    const struct tide_event *event;
    uint32_t block;      /* the entry that the event made, 0: none yet */
    uint64_t moved_from; /* what mremap moves */
};

struct span {
    uint64_t start, end;
};

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

static struct tide_life *life_of(const struct step *step, uint32_t entry)
{
    return &step->scene->lives->list[entry];
}

/* --- Ranges come and go ------------------------------------------------------------- */

static enum tide_status give_birth(struct step *step, uint64_t address)
{
    const struct tide_event *const event = step->event;
    const struct tide_life life = {
        .id = ++*step->scene->last_id,
        .address = address,
        .birth_ticks = event->ticks,
        .moved_from = step->moved_from,
        .process = event->process,
        .stack = event->stack,
        .tid = step->scene->tid,
        .space = TIDE_IN_MMAP,
        .kind = event->map_call,
    };
    return tide_lives_add(step->scene->lives, &life, &step->block);
}

/* SPAN becomes KIND; *TAG is what its range is to be tagged with. */
static enum tide_status enter(struct step *step, struct span span, uint32_t kind,
                              uint32_t *tag)
{
    *tag = kind;
    if (kind != TIDE_MAPPED_COMMITTED)
        return TIDE_OK;
    const enum tide_status status =
        step->block ? TIDE_OK : give_birth(step, span.start);
    if (status)
        return status;
    const uint64_t length = span.end - span.start;
    struct tide_life *const life = life_of(step, step->block);
    life->size += length;
    life->usable += length;
    life->left += length;
    *step->scene->standing += length;
    *tag = TIDE_MAP_TAG_BLOCKS + step->block;
    return TIDE_OK;
}

/* The bytes of RANGE are no longer what their tag says. */
static enum tide_status leave(const struct step *step, const struct tide_range *range)
{
    if (range->tag < TIDE_MAP_TAG_BLOCKS)
        return TIDE_OK;
    const uint64_t length = range->end - range->start;
    const uint32_t entry = range->tag - TIDE_MAP_TAG_BLOCKS;
    struct tide_life *const life = life_of(step, entry);
    life->left -= length;
    *step->scene->standing -= length;
    return life->left ? TIDE_OK : step->scene->end(step->scene->user, entry);
}

/* Make SPAN's ends borders. */
static enum tide_status cut(const struct step *step, struct span span)
{
    const enum tide_status status = tide_ranges_cut(step->scene->ranges, span.start);
    return status ? status : tide_ranges_cut(step->scene->ranges, span.end);
}

/* Nothing is known in SPAN any more. */
static enum tide_status clear(const struct step *step, struct span span)
{
    struct tide_ranges *const ranges = step->scene->ranges;
    enum tide_status status = cut(step, span);
    while (!status) {
        const uint32_t found = tide_ranges_after(ranges, span.start);
        if (!found || ranges->list[found].start >= span.end)
            break;
        status = leave(step, &ranges->list[found]);
        tide_ranges_remove(ranges, found);
    }
    return status;
}

/* SPAN, which is clear, becomes one range of KIND. */
static enum tide_status fill(struct step *step, struct span span, uint32_t kind)
{
    uint32_t tag;
    const enum tide_status status = enter(step, span, kind, &tag);
    return status ? status
                  : tide_ranges_add(step->scene->ranges, span.start, span.end, tag);
}

/* --- The calls ------------------------------------------------------------------------ */

static uint32_t kind_of(uint32_t tag)
{
    return tag >= TIDE_MAP_TAG_BLOCKS ? (uint32_t)TIDE_MAPPED_COMMITTED : tag;
}

static uint32_t kind_of_mmap(const struct tide_event *event)
{
    if (event->value2 & TIDE_MAP_FILE)
        return TIDE_MAPPED_FILE;
    if (event->value2 & MAP_SHARED)
        return TIDE_MAPPED_SHARED;
    return event->value == PROT_NONE ? TIDE_MAPPED_RESERVED : TIDE_MAPPED_COMMITTED;
}

static enum tide_status on_mmap(struct step *step)
{
    const struct span span = pages(step->event->address, step->event->size);
    const enum tide_status status = clear(step, span);
    if (status || span.start == span.end)
        return status;
    const uint32_t quiet = step->scene->quiet ? TIDE_MAP_TAG_QUIET : 0;
    return fill(step, span, kind_of_mmap(step->event) + quiet);
}

static enum tide_status on_munmap(struct step *step)
{
    return clear(step, pages(step->event->address, step->event->size));
}

static enum tide_status on_mremap(struct step *step)
{
    const struct tide_event *const event = step->event;
    const struct tide_ranges *const ranges = step->scene->ranges;
    const struct span new_span = pages(event->address, event->size);
    const uint64_t old_start = event->value & ~PAGE_MASK;
    const uint32_t found = tide_ranges_after(ranges, old_start);
    const bool known = found && ranges->list[found].start <= old_start;
    const uint32_t tag = known ? ranges->list[found].tag : 0;
    if (tag >= TIDE_MAP_TAG_BLOCKS)
        step->moved_from = life_of(step, tag - TIDE_MAP_TAG_BLOCKS)->id;

    enum tide_status status = clear(step, pages(event->value, event->value2));
    if (!status)
        status = clear(step, new_span);
    if (status || !known || new_span.start == new_span.end)
        return status;
    return fill(step, new_span, kind_of(tag));
}

/* RANGE becomes INTO when it is FROM, counted or not. */
static enum tide_status turn(struct step *step, struct tide_range *range, uint32_t from,
                             uint32_t into)
{
    const uint32_t kind = kind_of(range->tag);
    const uint32_t quiet = kind & TIDE_MAP_TAG_QUIET;
    if ((kind & ~(uint32_t)TIDE_MAP_TAG_QUIET) != from)
        return TIDE_OK;
    const enum tide_status status = leave(step, range);
    return status ? status
                  : enter(step, (struct span){range->start, range->end}, into | quiet,
                          &range->tag);
}

static enum tide_status on_mprotect(struct step *step)
{
    const bool none = step->event->value == PROT_NONE;
    const uint32_t from = none ? TIDE_MAPPED_COMMITTED : TIDE_MAPPED_RESERVED;
    const uint32_t into = none ? TIDE_MAPPED_RESERVED : TIDE_MAPPED_COMMITTED;
    const struct span span = pages(step->event->address, step->event->size);
    const struct tide_ranges *const ranges = step->scene->ranges;
    enum tide_status status = cut(step, span);
    uint64_t at = span.start;
    while (!status) {
        const uint32_t found = tide_ranges_after(ranges, at);
        if (!found || ranges->list[found].start >= span.end)
            break;
        at = ranges->list[found].end;
        status = turn(step, &ranges->list[found], from, into);
    }
    return status;
}

enum tide_status tide_block_maps_event(const struct tide_map_scene *scene,
                                       const struct tide_event *event)
{
    struct step step = {.scene = scene, .event = event};
    switch (event->map_call) {
    case TIDE_MAP_MMAP:
        return on_mmap(&step);
    case TIDE_MAP_MUNMAP:
        return on_munmap(&step);
    case TIDE_MAP_MREMAP:
        return on_mremap(&step);
    case TIDE_MAP_MPROTECT:
        return on_mprotect(&step);
    default:
        return TIDE_OK; /* madvise: still committed */
    }
}
