/* collect/desks.c - where rows become chunks: one lane at each desk. */
#include "collect/desks.h"

#include <stddef.h>

#include "collect/lanes.h"

void tide_desks_release(struct tide_desks *desks)
{
    for (uint32_t i = 0; i < desks->count; i++) {
        if (desks->all[i].lane)
            desks->all[i].lane->desk = NULL;
        tide_encoder_free(desks->all[i].encoder);
    }
    *desks = (struct tide_desks){.stamp_ticks = desks->stamp_ticks};
}

static struct tide_desk *add_desk(struct tide_desks *desks)
{
    if (desks->count == TIDE_DESKS)
        return NULL;
    struct tide_desk *const desk = &desks->all[desks->count];
    *desk = (struct tide_desk){.encoder = tide_encoder_new(desks->stamp_ticks)};
    if (!desk->encoder)
        return NULL;
    desks->count++;
    return desk;
}

/* One that nobody sits at, or the one used longest ago. */
static struct tide_desk *oldest_desk(struct tide_desks *desks)
{
    struct tide_desk *oldest = NULL;
    for (uint32_t i = 0; i < desks->count; i++) {
        struct tide_desk *const desk = &desks->all[i];
        if (!desk->lane)
            return desk;
        if (!oldest || desk->used < oldest->used)
            oldest = desk;
    }
    return oldest;
}

struct tide_desk *tide_desk_for(struct tide_desks *desks,
                                const struct tide_lane_copy *lane)
{
    if (lane->desk)
        return lane->desk;
    struct tide_desk *const oldest = oldest_desk(desks);
    if (oldest && !oldest->lane)
        return oldest;
    struct tide_desk *const added = add_desk(desks);
    return added ? added : oldest;
}

bool tide_desk_is_free(const struct tide_desks *desks,
                       const struct tide_lane_copy *lane)
{
    bool any = lane->desk || desks->count < TIDE_DESKS;
    for (uint32_t i = 0; i < desks->count && !any; i++)
        any = !desks->all[i].lane;
    return any;
}

void tide_desk_take(struct tide_desks *desks, struct tide_desk *desk,
                    struct tide_lane_copy *lane)
{
    desk->used = ++desks->uses;
    desk->lane = lane;
    lane->desk = desk;
}

void tide_desk_leave(struct tide_lane_copy *lane)
{
    if (!lane->desk)
        return;
    lane->desk->lane = NULL;
    lane->desk = NULL;
}
