/* capture/api_told.c - what this thread has told of itself, for the program to ask: the
 * regions that it is in and the values that it has set.
 *
 * It is read from the trail, which a signal handler may do as well.
 */
#include <errno.h>
#include <string.h>

#include "capture/api.h"
#include "capture/trail.h"
#include "trace/format.h"

/* The region at STEP, and its iteration.  False: that was enough. */
static bool tell_step(const struct tide_step *step, tide_told_each each, void *user)
{
    struct tide_told told = {.kind = step->loop ? TIDE_TOLD_LOOP : TIDE_TOLD_REGION};
    if (!step->name)
        return true;
    told.text = step->name->text;
    if (step->name->attribute)
        told.name = step->name->attribute->text;
    if (!each(user, &told))
        return false;
    if (!step->iterates)
        return true;
    told.kind = TIDE_TOLD_ITERATION;
    told.number = step->iteration;
    return each(user, &told);
}

static bool tell_held(const struct tide_held *held, tide_told_each each, void *user)
{
    struct tide_told told = {.name = held->name->text};
    const struct tide_name *text;
    switch (held->type) {
    case TIDE_ATTRIBUTE_INT:
        told.kind = TIDE_TOLD_INT;
        told.number = (int64_t)(held->value >> 1 ^ -(held->value & 1));
        break;
    case TIDE_ATTRIBUTE_DOUBLE:
        told.kind = TIDE_TOLD_DOUBLE;
        memcpy(&told.real, &held->value, sizeof(told.real));
        break;
    case TIDE_ATTRIBUTE_STRING:
        told.kind = TIDE_TOLD_STRING;
        text = tide_name_numbered((uint32_t)held->value);
        told.text = text ? text->text : "";
        break;
    default:
        told.kind = TIDE_TOLD_ADDRESS;
        told.address = (uintptr_t)held->value;
    }
    return each(user, &told);
}

TIDE_EXPORT(int, told, tide_told_each each, void *user)
{
    const int saved = errno;
    const struct tide_trail *const trail = tide_self.trail;
    const uint32_t depth = !trail                           ? 0
                           : trail->depth < TIDE_TRAIL_DEEP ? trail->depth
                                                            : TIDE_TRAIL_DEEP;
    bool more = true;
    for (uint32_t i = 0; i < depth && more; i++)
        more = tell_step(&trail->steps[i], each, user);
    for (uint32_t i = 0; trail && i < trail->held_count && more; i++)
        more = tell_held(&trail->held[i], each, user);
    errno = saved;
    return TIDE_DONE;
}
