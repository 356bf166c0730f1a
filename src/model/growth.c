/* model/growth.c - does the heap grow through the run? */
#include "model/growth.h"

enum {
    TIDE_GROWTH_PARTS = 8,
    TIDE_GROWTH_RISING = 6,  /* so many of them rise */
    TIDE_GROWTH_STEP = 64,   /* each by that part of the whole, at least */
    TIDE_GROWTH_LEAST = 3,   /* all of it is that part of the peak, at least */
    TIDE_GROWTH_POINTS = 32, /* a timeline of fewer says nothing */
};

/* A run must last so long to have a rate. */
static const double TIDE_RATE_LEAST_S = 1.0;

/* The last point within a fiftieth of the highest. */
static uint32_t find_crest(const struct tide_model *model)
{
    uint64_t top = 0;
    for (uint32_t i = 0; i < model->timeline_count; i++)
        top = model->timeline[i] > top ? model->timeline[i] : top;
    uint32_t crest = model->timeline_count - 1;
    while (crest > 0 && model->timeline[crest] < top - top / 50)
        crest--;
    return crest;
}

/* FLOORS[i]: the lowest that the heap stands from part I on, up to CREST. */
static void find_floors(const struct tide_model *model, uint32_t crest,
                        uint64_t floors[TIDE_GROWTH_PARTS + 1])
{
    uint64_t lowest = model->timeline[crest];
    uint32_t at = crest;
    for (uint32_t part = TIDE_GROWTH_PARTS + 1; part-- > 0;) {
        const uint32_t begin = (uint32_t)((uint64_t)crest * part / TIDE_GROWTH_PARTS);
        for (; at > begin; at--)
            lowest = model->timeline[at] < lowest ? model->timeline[at] : lowest;
        lowest = model->timeline[begin] < lowest ? model->timeline[begin] : lowest;
        floors[part] = lowest;
    }
}

struct tide_growth tide_growth_of(const struct tide_model *model)
{
    struct tide_growth growth = {0};
    uint64_t floors[TIDE_GROWTH_PARTS + 1];
    const uint32_t count = model->timeline_count;
    if (model->axis != TIDE_AXIS_SECONDS || count < TIDE_GROWTH_POINTS)
        return growth;
    const uint32_t crest = find_crest(model);
    if (crest < count / 2)
        return growth;
    find_floors(model, crest, floors);
    /* What a program builds first does not grow. */
    const uint64_t rise = floors[TIDE_GROWTH_PARTS] - floors[1];
    int rising = 0;
    for (int i = 1; i < TIDE_GROWTH_PARTS; i++)
        rising += floors[i + 1] - floors[i] > rise / TIDE_GROWTH_STEP;
    if (rising < TIDE_GROWTH_RISING ||
        rise < floors[TIDE_GROWTH_PARTS] / TIDE_GROWTH_LEAST)
        return growth;
    const double second = model->duration_s / count;
    growth.grows = true;
    growth.from_bytes = floors[1];
    growth.to_bytes = floors[TIDE_GROWTH_PARTS];
    growth.from_s = second * crest / TIDE_GROWTH_PARTS;
    growth.to_s = second * (crest + 1);
    if (model->duration_s >= TIDE_RATE_LEAST_S)
        growth.bytes_per_second = (double)rise / (growth.to_s - growth.from_s);
    return growth;
}
