/* capture/monitor_regions.c - what each region of the program allocates and frees.
 *
 * By the path of regions that the thread is in; a region does not count what is done in the
 * regions inside it.  `added` is what was allocated less what was freed there, by whomever
 * it was made; `max` the most that one visit of a thread had added at a time.  A block is
 * temporary when its thread frees it before its own next allocation.
 *
 * Nodes are found by (node around it, name) in a table whose places are taken by
 * compare-and-swap.  A thread remembers the node of its trail until that changes.
 */
#include <string.h>

#include "capture/monitor.h"
#include "capture/process.h"
#include "capture/trail.h"

enum { TIDE_NODES = 8192 };

struct tide_region_node {
    struct tide_region_node *around; /* NULL: the outermost, of no region */
    const struct tide_name *name;
    _Atomic uint64_t requested, used, freed, allocs, frees;
    _Atomic uint64_t temporary_calls, temporary_bytes;
    _Atomic uint64_t max;
};

typedef _Atomic(struct tide_region_node *) place;

static struct tide_region_node *nodes; /* handed out one by one */
static place *table;
static _Atomic uint32_t handed_out;

static bool begin(struct tide_monitor_options options)
{
    (void)options;
    nodes = tide_lasting_memory(TIDE_NODES * sizeof(*nodes));
    table = tide_lasting_memory(2 * TIDE_NODES * sizeof(*table));
    atomic_store(&handed_out, 1); /* the first is of no region */
    return nodes && table;
}

/* A new one; NULL: there are too many.  Then it is not counted on, which in a long run
 * would go around. */
static struct tide_region_node *new_node(struct tide_region_node *around,
                                         const struct tide_name *name)
{
    if (atomic_load(&handed_out) > TIDE_NODES)
        return NULL;
    const uint32_t number = atomic_fetch_add(&handed_out, 1);
    if (number >= TIDE_NODES)
        return NULL;
    nodes[number].around = around;
    nodes[number].name = name;
    return &nodes[number];
}

/* When there are too many, the rest counts for the region around it. */
static struct tide_region_node *find_node(struct tide_region_node *around,
                                          const struct tide_name *name)
{
    const uint64_t mixed = (uint64_t)(uintptr_t)around ^ (uint64_t)(uintptr_t)name * 31;
    const uint32_t first = (uint32_t)(mixed * 0x9e3779b97f4a7c15ull >> 40);
    struct tide_region_node *made = NULL;
    for (uint32_t i = 0; i < 2 * TIDE_NODES; i++) {
        place *const at = &table[(first + i) % (2 * TIDE_NODES)];
        struct tide_region_node *found = atomic_load(at);
        if (!found && !made)
            made = new_node(around, name);
        if (!found && !made)
            return around;
        if (!found && atomic_compare_exchange_strong(at, &found, made))
            return made;
        if (found->around == around && found->name == name)
            return found;
    }
    return around;
}

static struct tide_region_node *node_of(struct tide_trail *trail)
{
    if (trail->node && trail->node_change == trail->changes)
        return trail->node;
    const uint32_t depth =
        trail->depth < TIDE_TRAIL_DEEP ? trail->depth : TIDE_TRAIL_DEEP;
    struct tide_region_node *node = &nodes[0];
    for (uint32_t i = 0; i < depth; i++)
        node = find_node(node, trail->steps[i].name);
    trail->node_change = trail->changes;
    trail->node = node;
    return node;
}

/* What the innermost region of the thread has added in this visit. */
static int64_t *added_in(struct tide_trail *trail)
{
    const uint32_t depth =
        trail->depth < TIDE_TRAIL_DEEP ? trail->depth : TIDE_TRAIL_DEEP;
    return depth ? &trail->steps[depth - 1].added : &trail->added;
}

static void add(_Atomic uint64_t *sum, uint64_t value)
{
    atomic_fetch_add_explicit(sum, value, memory_order_relaxed);
}

static void alloc_heard(void *unused, const struct tide_happening *happening)
{
    struct tide_trail *const trail = tide_trail_of_thread();
    (void)unused;
    if (happening->failed)
        return;
    struct tide_region_node *const node = trail ? node_of(trail) : &nodes[0];
    add(&node->requested, happening->requested);
    add(&node->used, happening->used);
    add(&node->allocs, 1);
    if (!trail)
        return;
    int64_t *const added = added_in(trail);
    *added += (int64_t)happening->used;
    if (*added > 0)
        tide_raise(&node->max, (uint64_t)*added);
    trail->newest = happening->block;
    trail->newest_node = node;
}

static void free_heard(void *unused, const struct tide_happening *happening)
{
    struct tide_trail *const trail = tide_trail_of_thread();
    struct tide_region_node *const node = trail ? node_of(trail) : &nodes[0];
    (void)unused;
    add(&node->freed, happening->used);
    add(&node->frees, 1);
    if (!trail)
        return;
    *added_in(trail) -= (int64_t)happening->used;
    if (trail->newest != happening->block)
        return;
    add(&trail->newest_node->temporary_calls, 1);
    add(&trail->newest_node->temporary_bytes, happening->used);
    trail->newest = NULL;
}

/* --- Report ---------------------------------------------------------------------------- */

/* "main/solve"; ADD_NAME adds each of the names. */
static void add_path(struct tide_lines *lines, const struct tide_region_node *node,
                     void (*add_name)(struct tide_lines *, const char *))
{
    const struct tide_region_node *path[TIDE_TRAIL_DEEP];
    uint32_t depth = 0;
    for (; node->around && depth < TIDE_TRAIL_DEEP; node = node->around)
        path[depth++] = node;
    while (depth > 0) {
        const struct tide_name *const name = path[--depth]->name;
        add_name(lines, name ? name->text : "[unnamed]");
        if (depth > 0)
            tide_lines_text(lines, "/");
    }
}

static int64_t added_by(const struct tide_region_node *node)
{
    return (int64_t)(atomic_load(&node->used) - atomic_load(&node->freed));
}

static void report_node_json(struct tide_lines *lines,
                             const struct tide_region_node *node)
{
    struct tide_lines path = {.file = -1};
    add_path(&path, node, tide_lines_text);
    path.bytes[path.used < sizeof(path.bytes) ? path.used : sizeof(path.bytes) - 1] = 0;
    tide_lines_text(lines, "{\"region\":");
    tide_lines_quoted(lines, path.bytes);
    tide_lines_field(lines, "requested_bytes", atomic_load(&node->requested));
    tide_lines_signed_field(lines, "added_bytes", added_by(node));
    tide_lines_field(lines, "max_bytes", atomic_load(&node->max));
    tide_lines_field(lines, "alloc_calls", atomic_load(&node->allocs));
    tide_lines_field(lines, "free_calls", atomic_load(&node->frees));
    tide_lines_field(lines, "temporary_calls", atomic_load(&node->temporary_calls));
    tide_lines_field(lines, "temporary_bytes", atomic_load(&node->temporary_bytes));
    tide_lines_text(lines, "}");
}

static void add_signed_column(struct tide_lines *lines, int64_t value)
{
    uint64_t most = 1, size = value < 0 ? -(uint64_t)value : (uint64_t)value;
    unsigned digits = value < 0 ? 2 : 1;
    for (; size / most >= 10; most *= 10)
        digits++;
    for (; digits < 14; digits++)
        tide_lines_text(lines, " ");
    tide_lines_signed(lines, value);
}

static void report_node_text(struct tide_lines *lines,
                             const struct tide_region_node *node)
{
    tide_lines_column(lines, atomic_load(&node->requested), 14);
    add_signed_column(lines, added_by(node));
    tide_lines_column(lines, atomic_load(&node->max), 14);
    tide_lines_column(lines, atomic_load(&node->allocs), 11);
    tide_lines_column(lines, atomic_load(&node->frees), 11);
    tide_lines_column(lines, atomic_load(&node->temporary_calls), 11);
    tide_lines_text(lines, "  ");
    if (node->around)
        add_path(lines, node, tide_lines_name);
    else
        tide_lines_text(lines, "[no region]");
    tide_lines_text(lines, "\n");
}

static void report_regions(struct tide_monitor_report *report)
{
    struct tide_lines *const lines = &report->lines;
    const uint32_t given = atomic_load(&handed_out);
    const uint32_t count = given < TIDE_NODES ? given : TIDE_NODES;
    tide_monitor_title(report, "regions");
    tide_lines_text(lines, report->json
                               ? ",\"regions\":["
                               : "     requested         added           max"
                                 "     allocs      frees  temporary  region\n");
    const char *comma = "";
    for (uint32_t i = 0; i < count; i++) {
        const struct tide_region_node *const node = &nodes[i];
        if (!atomic_load(&node->allocs) && !atomic_load(&node->frees))
            continue;
        if (report->json) {
            tide_lines_text(lines, comma);
            report_node_json(lines, node);
        } else {
            report_node_text(lines, node);
        }
        comma = ",";
    }
    if (report->json)
        tide_lines_text(lines, given > TIDE_NODES ? "],\"too_many\":true" : "]");
    else if (given > TIDE_NODES)
        tide_lines_text(lines, "There were more regions: the rest counts for the region"
                               " around it.\n");
    tide_monitor_end(report);
}

const struct tide_monitor tide_monitor_regions = {
    .begin = begin,
    .alloc_heard = alloc_heard,
    .free_heard = free_heard,
    .report = report_regions,
};
