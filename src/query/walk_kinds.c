/* query/walk_kinds.c - the walk: what regions are: functions, loops, phases, annotations.
 *
 * A region is a value of an attribute, as with Caliper, if the program says so; else it is
 * plain, which counts as a function.  The path of one attribute leaves out all other
 * regions.  A region that two attributes enter by the same name, in the same place, is of
 * the first one.
 */
#include <string.h>

#include "model/grow.h"
#include "query/walk.h"
#include "trace/format.h"

enum { TIDE_KIND_PATHS = 128 }; /* regions in each other, at most: phases and others */

/* What is known of each region, and failing that of each name. */
static uint32_t *kind_of(struct tide_walk *walk, bool name, uint32_t number)
{
    struct tide_walk_kinds *const kinds = &walk->kinds[name];
    uint32_t *const list =
        tide_grown(kinds->list, &kinds->capacity, (size_t)number + 1, sizeof(*list));
    if (!list) {
        walk->names.failed = true;
        return NULL;
    }
    kinds->list = list;
    return &list[number];
}

uint32_t tide_walk_event_kind(struct tide_walk *walk, const struct tide_event *event)
{
    const char *const attribute =
        tide_trace_name_attribute(walk->model.trace, event->process, event->value);
    if (attribute)
        return tide_names_text(&walk->names, attribute);
    if (event->extra == TIDE_EXTRA_LOOP_BEGIN)
        return tide_names_text(&walk->names, "loop");
    if (event->extra == TIDE_EXTRA_PHASE_BEGIN)
        return tide_names_text(&walk->names, "phase");
    return tide_names_text(&walk->names, "function");
}

void tide_walk_note_kind(struct tide_walk *walk, uint32_t region, uint32_t kind)
{
    if (!region)
        return;
    const uint32_t name = (uint32_t)walk->contexts.regions.list[region - 1].other;
    uint32_t *const own = kind_of(walk, false, region);
    uint32_t *const named = own ? kind_of(walk, true, name) : NULL;
    if (own && !*own)
        *own = kind;
    if (named && !*named)
        *named = kind;
}

uint32_t tide_walk_kind(struct tide_walk *walk, uint32_t region)
{
    if (!region)
        return 0;
    const uint32_t name = (uint32_t)walk->contexts.regions.list[region - 1].other;
    const uint32_t *const own = kind_of(walk, false, region);
    uint32_t kind = own ? *own : 0;
    if (!kind) {
        const uint32_t *const named = kind_of(walk, true, name);
        kind = named ? *named : 0;
    }
    return kind ? kind : tide_names_text(&walk->names, "function");
}

/* The number of the path of REGION by KIND. */
static uint32_t *known_path(struct tide_walk *walk, uint32_t region, uint32_t kind)
{
    uint32_t number;
    if (tide_pairs_find(&walk->kind_pairs, (struct tide_pair){region, kind}, &number)) {
        walk->names.failed = true;
        return NULL;
    }
    uint32_t *const paths = tide_grown(walk->kind_paths, &walk->kind_path_capacity,
                                       (size_t)number + 1, sizeof(*paths));
    if (!paths) {
        walk->names.failed = true;
        return NULL;
    }
    walk->kind_paths = paths;
    return &paths[number];
}

static uint32_t name_of(struct tide_walk *walk, uint32_t region)
{
    return tide_names_leaf(&walk->names, tide_walk_region(walk, region));
}

static uint32_t typed_name(struct tide_walk *walk, uint32_t region)
{
    struct tide_text text = {0};
    const uint32_t kind = tide_walk_kind(walk, region), name = name_of(walk, region);
    tide_text_addf(&text, "%s%c", tide_names_string(&walk->names, kind), TIDE_KIND_END);
    tide_text_add(&text, tide_names_string(&walk->names, name));
    const uint32_t typed = tide_names_text(&walk->names, text.bytes);
    walk->names.failed = walk->names.failed || text.failed;
    tide_text_release(&text);
    return typed;
}

uint32_t tide_walk_path_of(struct tide_walk *walk, uint32_t region, uint32_t kind)
{
    uint32_t chain[TIDE_KIND_PATHS], count = 0, path = 0;
    if (!region)
        return 0;
    const uint32_t *const known = known_path(walk, region, kind);
    if (!known || *known)
        return known ? *known - 1 : 0;
    for (uint32_t at = region; at && count < TIDE_KIND_PATHS;
         at = (uint32_t)walk->contexts.regions.list[at - 1].one)
        chain[count++] = at;
    while (count--)
        if (!kind || tide_walk_kind(walk, chain[count]) == kind)
            path = tide_names_node(&walk->names, path,
                                   kind ? name_of(walk, chain[count])
                                        : typed_name(walk, chain[count]));
    uint32_t *const place = known_path(walk, region, kind);
    if (place)
        *place = path + 1;
    return path;
}
