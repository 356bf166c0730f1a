/* query/walk.h - the walk through one trace, row by row.
 *
 * For: query/, tests/.  What happens to blocks is block_stream.h's business; here it
 * becomes rows of the source that the query names, with the place of the thread: which
 * one, in which regions, in which iteration.  Equal places share a number.
 *
 * Two things must be known before the first row: the labels that blocks get after their
 * birth, and when the heap stands highest.  A query that needs one of them walks twice
 * (foresight.h), except that most programs give no labels: who can begin again may hope so
 * (walk->hopes), and be disappointed.
 */
#ifndef TIDE_QUERY_WALK_H
#define TIDE_QUERY_WALK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tidemark/status.h>

#include "model/block_stream.h"
#include "model/context.h"
#include "model/pairs.h"
#include "model/ranges.h"
#include "query/attribute.h"
#include "query/ends.h"
#include "query/foresight.h"
#include "query/frames.h"
#include "query/holders.h"
#include "query/row_record.h"
#include "query/shapes.h"
#include "query/value.h"

enum { TIDE_QUERY_STRETCHES = 240 }; /* of the timeline */

/* A space of the query's own: life->moved_from is the name id of the pool. */
#define TIDE_IN_POOL  ((uint8_t)TIDE_SPACES)
/* And of labels, which are no blocks: see walk_labels.c. */
#define TIDE_IN_LABEL ((uint8_t)(TIDE_SPACES + 1))

/* What is to be walked for. */
struct tide_walk_wish {
    enum tide_query_source source;
    bool every_space;    /* else the heap alone */
    bool labelled_only;  /* blocks without a label make no rows, and do not count */
    bool labels;         /* which labels blocks have or will have matters */
    bool peak;           /* when the heap stood highest matters */
    bool water;          /* high water of stretches matters */
    bool tally;          /* what each region itself made that lives matters */
    bool iterations;     /* places tell iterations apart */
    bool shapes;         /* what labels say of arrays matters */
    bool all_attributes; /* places tell apart what the program set, all of it... */
    const char *const *attributes; /* ...or what is called so; borrowed */
    size_t attribute_count;
    bool resolve; /* which block holds an address matters */
};

/* A loop that a thread is in. */
struct tide_walk_loop {
    uint32_t depth; /* of its region */
    uint32_t name;  /* text */
    bool iterates;
    int64_t iteration;
};
enum { TIDE_WALK_LOOPS = 16 }; /* that are followed, of a thread */

/* A value that a thread has set: see walk_attributes.c. */
struct tide_walk_held {
    uint32_t attribute; /* its number */
    uint64_t value;     /* INT, REAL, ADDRESS: the word of it; STRING: a text */
};
enum { TIDE_WALK_HELD = 64 }; /* that are followed, of a thread */

struct tide_walk_lane {
    struct tide_where where;
    struct tide_walk_loop loops[TIDE_WALK_LOOPS];
    uint32_t loop_count;
    uint32_t place;  /* TIDE_NO_PLACE: to be found */
    uint64_t newest; /* block that its thread made last; 0: none */
    uint64_t allocs, allocated, frees, freed;
    uint64_t high_water;       /* since the last begin or end of a region */
    struct tide_visit *visits; /* owned: regions that are open, outermost first */
    size_t visit_count, visit_capacity;
    uint64_t region_ticks;       /* in regions that have ended, outermost ones */
    struct tide_walk_held *held; /* owned: oldest first */
    size_t held_count, held_capacity;
    uint64_t unheld; /* that began beyond those */
};

struct tide_walk_process {
    uint64_t active[TIDE_SPACES];
    struct tide_ranges
        labels; /* by the first byte of each; tags: entries of labelled */
    struct tide_phases phases;
    struct tide_visit *visits; /* owned: phases that are open, outermost first */
    size_t visit_count, visit_capacity;
    uint64_t allocs, allocated, frees, freed;
    uint64_t event; /* the last iteration that began */
    bool in_event;
    bool left; /* of timelines: it has ended, and what it held stands no more */
};

/* A place: what its number stands for. */
struct tide_walk_place {
    uint32_t thread, region;
    uint32_t rounds; /* iterations of all loops around: see tide_walk_round() */
};

struct tide_walk {
    struct tide_model model; /* only trace and stacks: what tide_block_stream() needs */
    struct tide_walk_wish wish;
    struct tide_names names;
    struct tide_frames frames;
    struct tide_contexts contexts; /* threads and regions */
    struct tide_pairs places;      /* (thread << 32 | region, rounds) */
    struct tide_pairs rounds;     /* (rounds around << 32 | loop, number): number + 1 */
    struct tide_pairs attributes; /* (name, a text; enum tide_attribute_type) */
    struct tide_holders holders;
    struct tide_pairs pools;  /* (process, name id) */
    struct tide_lives pooled; /* blocks of pools; see walk_pools.c */
    uint64_t last_pooled;
    struct tide_lives labelled; /* labels that stand; see walk_labels.c */
    struct tide_holders label_holders;
    uint64_t last_label;
    struct tide_walk_lane *lanes;      /* owned, as many as the trace has */
    struct tide_walk_process *process; /* owned, the same */
    struct tide_pairs called;          /* (process, id) of names */
    uint32_t *called_texts;            /* owned: the text of each */
    size_t called_capacity;
    uint32_t *region_paths; /* owned: the path of each region; 0: to be found */
    size_t region_capacity;
    uint32_t region_count; /* whose paths were found */
    struct tide_walk_kinds {
        uint32_t *list; /* owned: a text; 0: not known */
        size_t capacity;
    } kinds[2];                   /* what each region is, and each name: walk_kinds.c */
    struct tide_pairs kind_pairs; /* (region, text) */
    uint32_t *kind_paths;         /* owned: path + 1 of each; 0: to be found */
    size_t kind_path_capacity;
    uint32_t kind_names[4]; /* texts of the attributes FUNCTION to PHASE */
    struct tide_walk_tally {
        uint64_t now, most;             /* bytes that live, and ever did */
        uint64_t calls, bytes, largest; /* since a visit to it ended */
    } * tallies;                        /* owned, by region: of what it made itself */
    size_t tally_capacity;
    uint32_t *thread_names; /* owned: the text + 1 of each thread; 0: to be found */
    size_t thread_capacity;
    uint32_t *process_names;    /* owned, per process: text + 1; 0: to be found */
    uint32_t kind_texts[2][32]; /* of calls; 0: to be found */
    struct tide_shapes shapes;
    struct tide_foresight foresight;
    bool hopes;        /* that no label comes: a first walk only for them is left out */
    bool disappointed; /* one came: this walk was in vain */
    const struct tide_lives *lives; /* while it lasts */
    uint64_t step;                  /* births and deaths so far */
    size_t next_label;              /* of foresight */

    uint64_t stretch_end; /* ticks; timeline */
    uint32_t stretches;   /* that were told */
    struct tide_stretch_facts stretch;
    size_t next_rss;
    uint64_t *rss; /* owned, per process: as last sampled */
    struct tide_ends ends;

    uint32_t rank;       /* of the trace in the query */
    bool has_ranks;      /* any of its processes has an MPI rank */
    uint32_t trace_name; /* text */
    enum tide_status (*row)(void *user, const struct tide_record *record);
    void *user;
    const struct tide_progress *progress; /* borrowed, or NULL */
};

/* TRACE is borrowed. */
enum tide_status tide_walk_init(struct tide_walk *walk, struct tide_trace *trace,
                                const struct tide_walk_wish *wish);
void tide_walk_release(struct tide_walk *walk);

/* Tell walk->row all rows.  A status of its own ends the walk, and is returned. */
enum tide_status tide_walk_run(struct tide_walk *walk);

/* --- For field.c ------------------------------------------------------------------- */

static inline struct tide_walk_place tide_walk_place(const struct tide_walk *walk,
                                                     uint32_t place)
{
    const struct tide_pair pair = walk->places.list[place];
    return (struct tide_walk_place){
        .thread = (uint32_t)(pair.one >> 32),
        .region = (uint32_t)pair.one,
        .rounds = (uint32_t)pair.other,
    };
}
/* The iteration of LOOP (a text; 0: the innermost, TIDE_OUTER_LOOP: the program's) in
 * ROUNDS. */
#define TIDE_OUTER_LOOP      UINT32_MAX
/* Not a loop, but the attribute of this number. */
#define TIDE_ATTRIBUTE_ROUND 0x80000000u
struct tide_value tide_walk_round(const struct tide_walk *walk, uint32_t rounds,
                                  uint32_t loop);
/* The value of the attribute NAME (a text) of the program in ROUNDS. */
struct tide_value tide_walk_attribute(const struct tide_walk *walk, uint32_t rounds,
                                      uint32_t name);
/* WORD as a value of the attribute of number ATTRIBUTE. */
struct tide_value tide_walk_attribute_value(const struct tide_walk *walk,
                                            uint32_t attribute, uint64_t word);
/* The text of the name that PROCESS calls ID; 0: it has none. */
uint32_t tide_walk_called(struct tide_walk *walk, uint32_t process, uint64_t id);
/* The path of REGION; 0 for none. */
uint32_t tide_walk_region(struct tide_walk *walk, uint32_t region);
/* What REGION is: a text; and its path of those regions that are KIND (a text). */
uint32_t tide_walk_kind(struct tide_walk *walk, uint32_t region);
uint32_t tide_walk_path_of(struct tide_walk *walk, uint32_t region, uint32_t kind);
/* KIND 0: the path of all, each step with what it is, TIDE_KIND_END, and its name. */
#define TIDE_KIND_END '\x1f'
uint32_t tide_walk_thread_name(struct tide_walk *walk, uint32_t thread);
uint32_t tide_walk_process_name(struct tide_walk *walk, uint32_t process);

/* --- For walk.c: see walk_more.c, walk_regions.c and walk_visits.c --------------------- */

/* Where LANE is; TIDE_NO_PLACE without memory. */
uint32_t tide_walk_find_here(struct tide_walk *walk, uint32_t lane);
static inline uint32_t tide_walk_here(struct tide_walk *walk, uint32_t lane)
{
    const uint32_t place = walk->lanes[lane].place;
    return place != TIDE_NO_PLACE ? place : tide_walk_find_here(walk, lane);
}
/* A thread takes LANE. */
enum tide_status tide_walk_thread(struct tide_walk *walk, uint32_t lane, uint64_t tid);
/* EVENT enters or leaves a region, a loop or a phase, or begins in regions that it has not
 * entered. */
enum tide_status tide_walk_enter(struct tide_walk *walk,
                                 const struct tide_event *event);
enum tide_status tide_walk_leave(struct tide_walk *walk,
                                 const struct tide_event *event);
enum tide_status tide_walk_inherit(struct tide_walk *walk,
                                   const struct tide_event *event);
enum tide_status tide_walk_phase(struct tide_walk *walk,
                                 const struct tide_event *event);
/* How many regions a thread has entered itself. */
static inline uint32_t tide_walk_own_depth(const struct tide_where *where)
{
    const uint32_t others = where->phases + where->inherited;
    return where->depth > others ? where->depth - others : 0;
}
/* LANE has entered a region at TICKS: a visit begins. */
enum tide_status tide_walk_visit(struct tide_walk *walk, uint32_t lane, uint64_t ticks);
/* LANE has left all but DEPTH of its regions: visits become rows, the innermost first. */
enum tide_status tide_walk_visits_end(struct tide_walk *walk, uint32_t lane,
                                      uint32_t depth, uint64_t ticks);
/* EVENT has begun a phase of its process, or ended some. */
enum tide_status tide_walk_phase_visits(struct tide_walk *walk,
                                        const struct tide_event *event);
/* The walk is over: what was never ended ends with its process. */
enum tide_status tide_walk_visits_last(struct tide_walk *walk);
/* EVENT begins or ends an iteration of the innermost loop. */
enum tide_status tide_walk_iterate(struct tide_walk *walk,
                                   const struct tide_event *event);
/* EVENT sets an attribute, or takes its value away. */
enum tide_status tide_walk_set(struct tide_walk *walk, const struct tide_event *event);
/* ROUNDS, and inside them iteration NUMBER of LOOP; false without memory. */
bool tide_walk_add_round(struct tide_walk *walk, uint32_t *rounds, uint32_t loop,
                         uint64_t number);
/* ROUNDS, and inside them what LANE has set; false without memory. */
bool tide_walk_add_values(struct tide_walk *walk, const struct tide_walk_lane *lane,
                          uint32_t *rounds);
/* EVENT is about a block of one of the program's pools. */
enum tide_status tide_walk_pool(struct tide_walk *walk, const struct tide_event *event);
/* What EVENT enters is: a text, "function", "loop" or another attribute. */
uint32_t tide_walk_event_kind(struct tide_walk *walk, const struct tide_event *event);
/* REGION is of KIND (a text), unless it was known before. */
void tide_walk_note_kind(struct tide_walk *walk, uint32_t region, uint32_t kind);
/* Are labels rows of their own, and blocks called by what made them? */
bool tide_walk_labels_are_rows(const struct tide_walk *walk);
/* EVENT gives a label, or takes one away. */
enum tide_status tide_walk_label(struct tide_walk *walk,
                                 const struct tide_event *event);
enum tide_status tide_walk_unlabel(struct tide_walk *walk,
                                   const struct tide_event *event);
/* BLOCK dies: so do labels in it, but for its own where realloc moves it. */
enum tide_status tide_walk_labels_end(struct tide_walk *walk,
                                      const struct tide_life *block,
                                      const struct tide_death *death);
/* BLOCK was made of one with a label, which is its now. */
void tide_walk_label_follows(struct tide_walk *walk, const struct tide_life *block);
/* The smallest labelled memory that holds ADDRESS; NULL: none does. */
const struct tide_life *tide_walk_label_holding(const struct tide_walk *walk,
                                                uint32_t process, uint64_t address);
void tide_walk_labels_release(struct tide_walk *walk);
/* What counts as memory of its process, a block or with labelled_only a label, begins or
 * ends in LANE. */
void tide_walk_grow(struct tide_walk *walk, const struct tide_life *life,
                    uint32_t lane);
void tide_walk_fall(struct tide_walk *walk, const struct tide_life *life,
                    uint32_t lane);
/* What REGION itself made: most is the most bytes that ever lived at once of it. */
struct tide_walk_tally tide_walk_tally(const struct tide_walk *walk, uint32_t region);
/* Those that live become rows of the snapshot NAME (a text). */
enum tide_status tide_walk_pools_snapshot(struct tide_walk *walk, uint32_t name,
                                          uint64_t ticks);
/* The walk is over: those that still live are told. */
enum tide_status tide_walk_pools_end(struct tide_walk *walk);
/* Does the block make rows at all? */
bool tide_walk_counts(const struct tide_walk *walk, const struct tide_life *life,
                      uint32_t label);
/* The shape of a labelled block: see shapes.h. */
uint32_t tide_walk_shape(const struct tide_walk *walk, const struct tide_life *life);
/* LIFE becomes a row of the snapshot NAME (a text). */
enum tide_status tide_walk_standing(struct tide_walk *walk,
                                    const struct tide_life *life, uint32_t name,
                                    uint64_t ticks);
/* Had PROCESS ended at TICKS?  What it held stands no more; but at the end of the run what
 * was never freed counts as live. */
bool tide_walk_has_left(const struct tide_walk *walk, uint32_t process, uint64_t ticks);
/* All blocks that live become such rows. */
enum tide_status tide_walk_snapshot(struct tide_walk *walk, uint32_t name,
                                    uint64_t ticks);
/* PROCESS holds more than before. */
void tide_walk_rise(struct tide_walk *walk, uint32_t process);
/* Time has come to TICKS; at the end: UINT64_MAX. */
enum tide_status tide_walk_time(struct tide_walk *walk, uint64_t ticks);

#endif
