/* model/map_rules.c - what the calls of the mmap family do to the ranges of a process. */
#include "model/map_rules.h"

#include <sys/mman.h>

#include "trace/format.h"

#define PAGE_MASK 4095ull

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

/* Make SPAN's ends borders. */
static enum tide_status cut(const struct tide_map_side *side, struct span span)
{
    const enum tide_status status = tide_ranges_cut(side->ranges, span.start);
    return status ? status : tide_ranges_cut(side->ranges, span.end);
}

/* Nothing is known in SPAN any more. */
static enum tide_status clear(const struct tide_map_side *side, struct span span)
{
    struct tide_ranges *const ranges = side->ranges;
    enum tide_status status = cut(side, span);
    while (!status) {
        const uint32_t found = tide_ranges_after(ranges, span.start);
        if (!found || ranges->list[found].start >= span.end)
            break;
        status = side->leave(side->user, &ranges->list[found]);
        tide_ranges_remove(ranges, found);
    }
    return status;
}

/* SPAN, which is clear, becomes one range of KIND. */
static enum tide_status fill(const struct tide_map_side *side, struct span span,
                             uint32_t kind)
{
    uint32_t tag;
    const enum tide_status status =
        side->enter(side->user, span.start, span.end, kind, &tag);
    return status ? status : tide_ranges_add(side->ranges, span.start, span.end, tag);
}

/* The kind of a range, TIDE_TAG_QUIET as it is. */
static uint32_t kind_of(uint32_t tag)
{
    return tag >= TIDE_TAG_COUNTED ? (uint32_t)TIDE_MAPPED_COMMITTED : tag;
}

/* --- The calls ------------------------------------------------------------------------ */

static uint32_t kind_of_mmap(const struct tide_event *event)
{
    if (event->value2 & TIDE_MAP_FILE)
        return TIDE_MAPPED_FILE;
    if (event->value2 & MAP_SHARED)
        return TIDE_MAPPED_SHARED;
    return event->value == PROT_NONE ? TIDE_MAPPED_RESERVED : TIDE_MAPPED_COMMITTED;
}

static enum tide_status on_mmap(const struct tide_map_side *side,
                                const struct tide_event *event)
{
    const struct span span = pages(event->address, event->size);
    const enum tide_status status = clear(side, span);
    if (status || span.start == span.end)
        return status;
    return fill(side, span, kind_of_mmap(event) + (side->quiet ? TIDE_TAG_QUIET : 0));
}

static enum tide_status on_mremap(const struct tide_map_side *side,
                                  const struct tide_event *event)
{
    const struct tide_ranges *const ranges = side->ranges;
    const struct span new_span = pages(event->address, event->size);
    const uint64_t old_start = event->value & ~PAGE_MASK;
    const uint32_t found = tide_ranges_after(ranges, old_start);
    const bool known = found && ranges->list[found].start <= old_start;
    const bool moves = known && new_span.start != new_span.end;
    const uint32_t tag = known ? ranges->list[found].tag : 0;
    if (moves)
        side->move(side->user, tag);

    /* An old length of 0 duplicates a shared mapping: the old one stays. */
    enum tide_status status = clear(side, pages(event->value, event->value2));
    if (!status)
        status = clear(side, new_span);
    return status || !moves ? status : fill(side, new_span, kind_of(tag));
}

/* RANGE becomes INTO when it is FROM, counted or not. */
static enum tide_status turn(const struct tide_map_side *side, struct tide_range *range,
                             uint32_t from, uint32_t into)
{
    const uint32_t kind = kind_of(range->tag);
    if ((kind & ~(uint32_t)TIDE_TAG_QUIET) != from)
        return TIDE_OK;
    const enum tide_status status = side->leave(side->user, range);
    return status ? status
                  : side->enter(side->user, range->start, range->end,
                                into | (kind & TIDE_TAG_QUIET), &range->tag);
}

static enum tide_status on_mprotect(const struct tide_map_side *side,
                                    const struct tide_event *event)
{
    const bool none = event->value == PROT_NONE;
    const uint32_t from = none ? TIDE_MAPPED_COMMITTED : TIDE_MAPPED_RESERVED;
    const uint32_t into = none ? TIDE_MAPPED_RESERVED : TIDE_MAPPED_COMMITTED;
    const struct span span = pages(event->address, event->size);
    const struct tide_ranges *const ranges = side->ranges;
    enum tide_status status = cut(side, span);
    uint64_t at = span.start;
    while (!status) {
        const uint32_t found = tide_ranges_after(ranges, at);
        if (!found || ranges->list[found].start >= span.end)
            break;
        at = ranges->list[found].end;
        status = turn(side, &ranges->list[found], from, into);
    }
    return status;
}

enum tide_status tide_map_apply(const struct tide_map_side *side,
                                const struct tide_event *event)
{
    switch (event->map_call) {
    case TIDE_MAP_MMAP:
        return on_mmap(side, event);
    case TIDE_MAP_MUNMAP:
        return clear(side, pages(event->address, event->size));
    case TIDE_MAP_MREMAP:
        return on_mremap(side, event);
    case TIDE_MAP_MPROTECT:
        return on_mprotect(side, event);
    default: /* madvise: the kernel may take pages, they are still committed */
        return TIDE_OK;
    }
}
