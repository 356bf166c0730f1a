/* query/attribute.c - what rows have: the names that a query may use. */
#include "query/attribute.h"

#include <stdlib.h>
#include <string.h>

#include "base/nearest.h"

const char *const tide_source_names[TIDE_SOURCES] = {
    [TIDE_FROM_EVENTS] = "events",       [TIDE_FROM_BLOCKS] = "blocks",
    [TIDE_FROM_SNAPSHOTS] = "snapshots", [TIDE_FROM_REGIONS] = "regions",
    [TIDE_FROM_TIMELINE] = "timeline",
};

/* Sources: events, blocks, snapshots, regions, timeline. */
#define E (1u << TIDE_FROM_EVENTS)
#define B (1u << TIDE_FROM_BLOCKS)
#define S (1u << TIDE_FROM_SNAPSHOTS)
#define R (1u << TIDE_FROM_REGIONS)
#define T (1u << TIDE_FROM_TIMELINE)

const struct tide_attribute tide_attribute_table[TIDE_ATTRIBUTES] = {
    [TIDE_ATTRIBUTE_MEM_ALLOC] =
        {"mem.alloc", TIDE_VALUE_STRING, TIDE_UNIT_NONE, E | B | S,
         "an allocation: the call; a label that is given: the label (FROM blocks, "
         "snapshots: the block's label, else the call)"},
    [TIDE_ATTRIBUTE_MEM_FREE] =
        {"mem.free", TIDE_VALUE_STRING, TIDE_UNIT_NONE, E,
         "a free: the call that made the block; a label that ends: the label"},
    [TIDE_ATTRIBUTE_ALLOC_UID] = {"alloc.uid", TIDE_VALUE_UINT, TIDE_UNIT_NONE,
                                  E | B | S, "number of the block, from 1"},
    [TIDE_ATTRIBUTE_ALLOC_ADDRESS] = {"alloc.address", TIDE_VALUE_ADDRESS,
                                      TIDE_UNIT_NONE, E | B | S, "where the block is"},
    [TIDE_ATTRIBUTE_ALLOC_TOTAL_SIZE] = {"alloc.total_size", TIDE_VALUE_INT,
                                         TIDE_UNIT_BYTES, E | B | S,
                                         "bytes asked for; negative where it is freed"},
    [TIDE_ATTRIBUTE_MEM_ACTIVE] = {"mem.active", TIDE_VALUE_UINT, TIDE_UNIT_BYTES,
                                   E | R | T,
                                   "live heap bytes of the process, before the event"},
    [TIDE_ATTRIBUTE_HIGH_WATER] = {"alloc.region.highwatermark", TIDE_VALUE_UINT,
                                   TIDE_UNIT_BYTES, E | R,
                                   "most live heap bytes since the thread's last "
                                   "begin or end of a region"},
    [TIDE_ATTRIBUTE_TALLY] =
        {"alloc.tally", TIDE_VALUE_UINT, TIDE_UNIT_BYTES, R,
         "most live heap bytes, so far, of what the region itself made"},
    [TIDE_ATTRIBUTE_OWN_COUNT] =
        {"alloc.count", TIDE_VALUE_UINT, TIDE_UNIT_NONE, R,
         "allocations of the region itself, not of those inside"},
    [TIDE_ATTRIBUTE_OWN_BYTES] = {"sum#alloc.size", TIDE_VALUE_UINT, TIDE_UNIT_BYTES, R,
                                  "their bytes"},
    [TIDE_ATTRIBUTE_OWN_AVERAGE] = {"avg#alloc.size", TIDE_VALUE_UINT, TIDE_UNIT_BYTES,
                                    R, "the average of them"},
    [TIDE_ATTRIBUTE_OWN_LARGEST] = {"max#alloc.size", TIDE_VALUE_UINT, TIDE_UNIT_BYTES,
                                    R, "the largest of them"},
    [TIDE_ATTRIBUTE_REGION] = {"region", TIDE_VALUE_PATH, TIDE_UNIT_NONE, E | B | S | R,
                               "path of regions of the thread (a block: at its birth)"},
    [TIDE_ATTRIBUTE_FUNCTION] =
        {"function", TIDE_VALUE_PATH, TIDE_UNIT_NONE, E | B | S | R,
         "path of those of them that are functions, or plain regions"},
    [TIDE_ATTRIBUTE_ANNOTATION] =
        {"annotation", TIDE_VALUE_PATH, TIDE_UNIT_NONE, E | B | S | R,
         "path of those that Caliper's CALI_MARK_BEGIN marks"},
    [TIDE_ATTRIBUTE_LOOP] = {"loop", TIDE_VALUE_PATH, TIDE_UNIT_NONE, E | B | S | R,
                             "path of those that are loops"},
    [TIDE_ATTRIBUTE_PHASE] = {"phase", TIDE_VALUE_PATH, TIDE_UNIT_NONE, E | B | S | R,
                              "path of those that are phases"},
    [TIDE_ATTRIBUTE_ALLOC_REGION] = {"alloc.region", TIDE_VALUE_PATH, TIDE_UNIT_NONE,
                                     E | B | S, "path of regions at the block's birth"},
    [TIDE_ATTRIBUTE_FREE_REGION] = {"free.region", TIDE_VALUE_PATH, TIDE_UNIT_NONE,
                                    E | B, "path of regions at the block's death"},
    [TIDE_ATTRIBUTE_LABEL] = {"label", TIDE_VALUE_STRING, TIDE_UNIT_NONE, E | B | S,
                              "the name that the program gave the block"},
    [TIDE_ATTRIBUTE_BLOCK_LABEL] =
        {"block.label", TIDE_VALUE_STRING, TIDE_UNIT_NONE, E | B | S,
         "an allocation, one row a block: the label that it has or gets, else the call "
         "that made it"},
    [TIDE_ATTRIBUTE_SHAPE] = {"shape", TIDE_VALUE_STRING, TIDE_UNIT_NONE, E | B | S,
                              "its extents and bytes of an element: [30][30] of 8"},
    [TIDE_ATTRIBUTE_KIND] = {"kind", TIDE_VALUE_STRING, TIDE_UNIT_NONE, E | B | S,
                             "the call that made the block: malloc, calloc, new, mmap"},
    [TIDE_ATTRIBUTE_SPACE] = {"space", TIDE_VALUE_STRING, TIDE_UNIT_NONE, E | B | S,
                              "heap, mmap or the name of a pool; a query that does not "
                              "name it is of the heap"},
    [TIDE_ATTRIBUTE_SIZE] = {"size", TIDE_VALUE_UINT, TIDE_UNIT_BYTES, E | B | S,
                             "bytes asked for"},
    [TIDE_ATTRIBUTE_USABLE] = {"usable", TIDE_VALUE_UINT, TIDE_UNIT_BYTES, E | B | S,
                               "bytes that the allocator gave"},
    [TIDE_ATTRIBUTE_LIFETIME] = {"lifetime", TIDE_VALUE_REAL, TIDE_UNIT_SECONDS, E | B,
                                 "from birth to death; blocks that did not die have "
                                 "none"},
    [TIDE_ATTRIBUTE_AGE] = {"age", TIDE_VALUE_REAL, TIDE_UNIT_SECONDS, E | B | S,
                            "since birth: at death, at the snapshot, or at the end"},
    [TIDE_ATTRIBUTE_THREAD] =
        {"thread", TIDE_VALUE_UINT, TIDE_UNIT_NONE, E | B | S | R,
         "id of the thread (of a block: the one that allocated it)"},
    [TIDE_ATTRIBUTE_THREAD_NAME] = {"thread.name", TIDE_VALUE_STRING, TIDE_UNIT_NONE,
                                    E | B | S | R, "its name"},
    [TIDE_ATTRIBUTE_ALLOC_THREAD] = {"alloc.thread", TIDE_VALUE_UINT, TIDE_UNIT_NONE,
                                     E | B | S, "id of the thread that made the block"},
    [TIDE_ATTRIBUTE_FREE_THREAD] = {"free.thread", TIDE_VALUE_UINT, TIDE_UNIT_NONE,
                                    E | B, "id of the thread that freed it"},
    [TIDE_ATTRIBUTE_PROCESS] = {"process", TIDE_VALUE_UINT, TIDE_UNIT_NONE,
                                E | B | S | R, "id of the process"},
    [TIDE_ATTRIBUTE_PROCESS_NAME] = {"process.name", TIDE_VALUE_STRING, TIDE_UNIT_NONE,
                                     E | B | S | R, "its program"},
    [TIDE_ATTRIBUTE_RANK] =
        {"rank", TIDE_VALUE_UINT, TIDE_UNIT_NONE, E | B | S | R | T,
         "MPI rank; where no process has one, the number of the trace"},
    [TIDE_ATTRIBUTE_TRACE] = {"trace", TIDE_VALUE_STRING, TIDE_UNIT_NONE,
                              E | B | S | R | T, "name of the trace"},
    [TIDE_ATTRIBUTE_STACK] = {"stack", TIDE_VALUE_PATH, TIDE_UNIT_NONE, E | B | S,
                              "all calls that led to the block, outermost first"},
    [TIDE_ATTRIBUTE_LEAF] = {"leaf", TIDE_VALUE_STRING, TIDE_UNIT_NONE, E | B | S,
                             "the function that made the block, past library "
                             "functions"},
    [TIDE_ATTRIBUTE_MODULE] = {"module", TIDE_VALUE_STRING, TIDE_UNIT_NONE, E | B | S,
                               "the program or library of that function"},
    [TIDE_ATTRIBUTE_FILE] = {"file", TIDE_VALUE_STRING, TIDE_UNIT_NONE, E | B | S,
                             "its source file"},
    [TIDE_ATTRIBUTE_LINE] = {"line", TIDE_VALUE_UINT, TIDE_UNIT_NONE, E | B | S,
                             "the line of the call"},
    [TIDE_ATTRIBUTE_TIME] = {"time", TIDE_VALUE_REAL, TIDE_UNIT_SECONDS,
                             E | B | S | R | T,
                             "seconds from the start (a block: of its birth)"},
    [TIDE_ATTRIBUTE_TIME_OFFSET] = {"time.offset", TIDE_VALUE_REAL,
                                    TIDE_UNIT_MICROSECONDS, E | B | S | R | T,
                                    "the same in microseconds"},
    [TIDE_ATTRIBUTE_TIME_OFFSET_NS] = {"time.offset.ns", TIDE_VALUE_UINT,
                                       TIDE_UNIT_NANOSECONDS, E | B | S | R | T,
                                       "the same in nanoseconds"},
    [TIDE_ATTRIBUTE_FREE_TIME] = {"free.time", TIDE_VALUE_REAL, TIDE_UNIT_SECONDS,
                                  E | B, "seconds from the start to the block's death"},
    [TIDE_ATTRIBUTE_LIVE] = {"live", TIDE_VALUE_BOOL, TIDE_UNIT_NONE, B,
                             "the block was never freed"},
    [TIDE_ATTRIBUTE_TEMPORARY] =
        {"temporary", TIDE_VALUE_BOOL, TIDE_UNIT_NONE, E | B,
         "freed by the thread that allocated it, before its next "
         "allocation"},
    [TIDE_ATTRIBUTE_FOREIGN] =
        {"foreign", TIDE_VALUE_BOOL, TIDE_UNIT_NONE, E | B,
         "freed by another thread than the one that allocated it"},
    [TIDE_ATTRIBUTE_PEAK] =
        {"peak", TIDE_VALUE_BOOL, TIDE_UNIT_NONE, B,
         "the block was live when its space, the heap or what is mapped, was "
         "largest"},
    [TIDE_ATTRIBUTE_EVENT] = {"event", TIDE_VALUE_UINT, TIDE_UNIT_NONE, E | B | S | R,
                              "iteration of the program's outer loop"},
    [TIDE_ATTRIBUTE_ITERATION] = {"iteration", TIDE_VALUE_INT, TIDE_UNIT_NONE,
                                  E | B | S | R,
                                  "number of the innermost loop; iteration#LOOP: of "
                                  "that one"},
    [TIDE_ATTRIBUTE_BEGIN_REGION] = {"event.begin#region", TIDE_VALUE_STRING,
                                     TIDE_UNIT_NONE, E,
                                     "the region that begins (`region` is still the "
                                     "one around it)"},
    [TIDE_ATTRIBUTE_END_REGION] = {"event.end#region", TIDE_VALUE_STRING,
                                   TIDE_UNIT_NONE, E,
                                   "the region that ends (`region` still has it)"},
    [TIDE_ATTRIBUTE_BEGIN_ITERATION] = {"event.begin#iteration", TIDE_VALUE_INT,
                                        TIDE_UNIT_NONE, E,
                                        "the iteration of a loop that begins"},
    [TIDE_ATTRIBUTE_END_ITERATION] = {"event.end#iteration", TIDE_VALUE_INT,
                                      TIDE_UNIT_NONE, E, "the one that ends"},
    [TIDE_ATTRIBUTE_SET_EVENT] = {"event.set#event", TIDE_VALUE_UINT, TIDE_UNIT_NONE, E,
                                  "the iteration of the outer loop that begins"},
    [TIDE_ATTRIBUTE_SNAPSHOT] = {"snapshot", TIDE_VALUE_STRING, TIDE_UNIT_NONE, S,
                                 "its name, 'peak' or 'end of run'"},
    [TIDE_ATTRIBUTE_DURATION] = {"duration", TIDE_VALUE_REAL, TIDE_UNIT_SECONDS, R,
                                 "how long the visit to the region took"},
    [TIDE_ATTRIBUTE_TIME_DURATION] = {"time.duration", TIDE_VALUE_REAL,
                                      TIDE_UNIT_SECONDS, R,
                                      "the same without the regions inside, as Caliper "
                                      "counts it"},
    [TIDE_ATTRIBUTE_ALLOCS] = {"allocs", TIDE_VALUE_UINT, TIDE_UNIT_NONE, R,
                               "allocations of the thread during the visit"},
    [TIDE_ATTRIBUTE_ALLOCATED] = {"allocated", TIDE_VALUE_UINT, TIDE_UNIT_BYTES, R,
                                  "their bytes"},
    [TIDE_ATTRIBUTE_FREES] = {"frees", TIDE_VALUE_UINT, TIDE_UNIT_NONE, R,
                              "frees of the thread during the visit"},
    [TIDE_ATTRIBUTE_FREED] = {"freed", TIDE_VALUE_UINT, TIDE_UNIT_BYTES, R,
                              "their bytes"},
    [TIDE_ATTRIBUTE_GROWTH] = {"growth", TIDE_VALUE_INT, TIDE_UNIT_BYTES, R,
                               "allocated less freed"},
    [TIDE_ATTRIBUTE_MEM_PEAK] = {"mem.peak", TIDE_VALUE_UINT, TIDE_UNIT_BYTES, T,
                                 "most live heap bytes in this stretch of time"},
    [TIDE_ATTRIBUTE_MMAP_ACTIVE] = {"mmap.active", TIDE_VALUE_UINT, TIDE_UNIT_BYTES, T,
                                    "mapped bytes at its end"},
    [TIDE_ATTRIBUTE_BLOCKS] = {"blocks", TIDE_VALUE_UINT, TIDE_UNIT_NONE, T,
                               "live heap blocks at its end"},
    [TIDE_ATTRIBUTE_RSS] = {"rss", TIDE_VALUE_UINT, TIDE_UNIT_BYTES, T,
                            "resident bytes, as last sampled"},
    [TIDE_ATTRIBUTE_RSS_PAGES] = {"memstat.vmrss", TIDE_VALUE_UINT, TIDE_UNIT_NONE, T,
                                  "the same in pages, as Caliper counts"},
};

#undef E
#undef B
#undef S
#undef R
#undef T

/* Other names: Caliper's, and what people type. */
static const struct other_name {
    const char *name;
    enum tide_attribute_id id;
} OTHER_NAMES[] = {
    {"path", TIDE_ATTRIBUTE_REGION},
    {"prop:nested", TIDE_ATTRIBUTE_REGION},
    {"pthread.id", TIDE_ATTRIBUTE_THREAD},
    {"mpi.rank", TIDE_ATTRIBUTE_RANK},
    {"uid", TIDE_ATTRIBUTE_ALLOC_UID},
    {"address", TIDE_ATTRIBUTE_ALLOC_ADDRESS},
    {"usable_size", TIDE_ATTRIBUTE_USABLE},
    {"time.birth", TIDE_ATTRIBUTE_TIME},
    {"time.death", TIDE_ATTRIBUTE_FREE_TIME},
    {"time.offset.us", TIDE_ATTRIBUTE_TIME_OFFSET},
    {"sum#time.duration", TIDE_ATTRIBUTE_TIME_DURATION},
};
enum { TIDE_OTHER_NAMES = sizeof(OTHER_NAMES) / sizeof(OTHER_NAMES[0]) };

/* As strcmp, with - and _ the same. */
static int compare_alike(const char *one, const char *other)
{
    while (*one &&
           (*one == *other || (strchr("-_", *one) && *other && strchr("-_", *other)))) {
        one++;
        other++;
    }
    return *one - *other;
}

static enum tide_attribute_id find(const char *name,
                                   int (*compare)(const char *, const char *))
{
    for (int i = 0; i < TIDE_ATTRIBUTES; i++)
        if (compare(tide_attribute_table[i].name, name) == 0)
            return (enum tide_attribute_id)i;
    for (size_t i = 0; i < TIDE_OTHER_NAMES; i++)
        if (compare(OTHER_NAMES[i].name, name) == 0)
            return OTHER_NAMES[i].id;
    return TIDE_ATTRIBUTES;
}

enum tide_attribute_id tide_attribute_find(const char *name)
{
    return find(name, strcmp);
}

bool tide_attribute_is_of_regions(const char *name)
{
    static const char *const OTHERS[] = {"comm.region", "statement"};
    const enum tide_attribute_id id = tide_attribute_find(name);
    for (size_t i = 0; i < sizeof(OTHERS) / sizeof(OTHERS[0]); i++)
        if (strcmp(OTHERS[i], name) == 0)
            return true;
    return id >= TIDE_ATTRIBUTE_FUNCTION && id <= TIDE_ATTRIBUTE_PHASE;
}

enum tide_attribute_id tide_attribute_find_alike(const char *name)
{
    return find(name, compare_alike);
}

const char *tide_attribute_nearest(const char *name, unsigned sources,
                                   const char *const *more, size_t more_count)
{
    const size_t most = TIDE_ATTRIBUTES + TIDE_OTHER_NAMES + more_count;
    const char **const names = calloc(most, sizeof(*names));
    size_t count = 0;
    if (!names)
        return NULL;
    for (size_t i = 0; i < more_count; i++)
        names[count++] = more[i];
    for (size_t i = 0; i < TIDE_ATTRIBUTES; i++)
        if (tide_attribute_table[i].sources & sources)
            names[count++] = tide_attribute_table[i].name;
    for (size_t i = 0; i < TIDE_OTHER_NAMES; i++)
        if (tide_attribute_table[OTHER_NAMES[i].id].sources & sources)
            names[count++] = OTHER_NAMES[i].name;
    const char *const nearest = tide_nearest(name, names, count);
    free(names);
    return nearest;
}
