/* model/block_maps.c - blocks of the space mmap, one by one.
 *
 * What the calls do to ranges is in map_rules.c.  A range that is committed and counted is
 * tagged TIDE_TAG_COUNTED + the entry of its block.
 */
#include "model/block_maps.h"

#include "model/map_rules.h"
#include "model/model.h"

struct step {
    const struct tide_map_scene *scene;
    const struct tide_event *event;
    uint32_t block;      /* the entry that the event made, 0: none yet */
    uint64_t moved_from; /* what mremap moves */
    uint32_t label;      /* that it has */
};

static struct tide_life *life_of(const struct step *step, uint32_t entry)
{
    return &step->scene->lives->list[entry];
}

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
        .label = step->label,
        .label_now = step->label,
        .space = TIDE_IN_MMAP,
        .kind = event->map_call,
    };
    return tide_lives_add(step->scene->lives, &life, &step->block);
}

/* As map_rules.h has it; so are the two below. */
static enum tide_status enter(void *user, uint64_t start, uint64_t end, uint32_t kind,
                              uint32_t *tag)
{
    struct step *const step = user;
    *tag = kind;
    if (kind != TIDE_MAPPED_COMMITTED)
        return TIDE_OK;
    const enum tide_status status = step->block ? TIDE_OK : give_birth(step, start);
    if (status)
        return status;
    const uint64_t length = end - start;
    struct tide_life *const life = life_of(step, step->block);
    life->size += length;
    life->usable += length;
    life->left += length;
    *step->scene->standing += length;
    *tag = TIDE_TAG_COUNTED + step->block;
    return TIDE_OK;
}

static enum tide_status leave(void *user, const struct tide_range *range)
{
    const struct step *const step = user;
    if (range->tag < TIDE_TAG_COUNTED)
        return TIDE_OK;
    const uint64_t length = range->end - range->start;
    const uint32_t entry = range->tag - TIDE_TAG_COUNTED;
    struct tide_life *const life = life_of(step, entry);
    life->left -= length;
    *step->scene->standing -= length;
    return step->scene->leave(step->scene->user, entry, range,
                              life->id == step->moved_from);
}

static void move(void *user, uint32_t tag)
{
    struct step *const step = user;
    if (tag < TIDE_TAG_COUNTED)
        return;
    const struct tide_life *const life = life_of(step, tag - TIDE_TAG_COUNTED);
    step->moved_from = life->id;
    step->label = life->label_now;
}

enum tide_status tide_block_maps_event(const struct tide_map_scene *scene,
                                       const struct tide_event *event)
{
    struct step step = {.scene = scene, .event = event};
    const struct tide_map_side side = {
        .ranges = scene->ranges,
        .quiet = scene->quiet,
        .user = &step,
        .enter = enter,
        .leave = leave,
        .move = move,
    };
    const enum tide_status status = tide_map_apply(&side, event);
    *scene->born = step.block;
    return status;
}

uint32_t tide_block_maps_at(const struct tide_ranges *ranges, uint64_t address)
{
    const uint32_t found = tide_ranges_after(ranges, address);
    if (!found || ranges->list[found].start > address ||
        ranges->list[found].tag < TIDE_TAG_COUNTED)
        return 0;
    return ranges->list[found].tag - TIDE_TAG_COUNTED;
}
