/* model/model.h - what a trace means: totals, peaks, leaks, by stack.
 *
 * For: model/, view/, cli/, tests/.  The model never prints; the views never compute.
 *
 * Glossary
 *   context   space, thread (and so process), path of regions and label.
 *   key       one stack in one context, with all it ever did.
 *   site      one stack in one space: the sum of its keys.
 *   watermark the highest live bytes of a space; every key knows what it held then.
 *   temporary a block that its own thread frees before its own next allocation.
 *   row       what a view shows: a function, a stack or a branch of the call tree.
 *
 * Memory is proportional to live blocks + distinct keys, never to events.  Peak
 * bookkeeping is O(1) per event: a key saves its value when it first changes after a
 * peak (see key.h).
 */
#ifndef TIDE_MODEL_MODEL_H
#define TIDE_MODEL_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tidemark/status.h>

#include "base/text.h"
#include "symbol/symbolizer.h"
#include "trace/stacks.h"
#include "trace/trace.h"

enum tide_space {
    TIDE_IN_HEAP = 0,
    TIDE_IN_MMAP = 1,
    TIDE_SPACES = 2,
};
const char *tide_space_name(enum tide_space space); /* "heap", "mmap" */

/* Where the program was when it made a block. */
struct tide_context {
    uint32_t space;  /* enum tide_space */
    bool excluded;   /* its blocks do not count: see tide_select */
    bool renamed;    /* they lost a label, under which their birth counts */
    uint32_t thread; /* index into model->key_threads */
    uint32_t region; /* 0: none; else see tide_model_region() */
    uint32_t label;  /* 0: none; else see tide_model_text() */
};

/* A thread as contexts name it. */
struct tide_key_thread {
    uint32_t process; /* index into the trace's processes */
    uint32_t lane;    /* index into the trace's lanes */
    uint32_t tid;     /* 0: not known, or several */
    uint32_t count;   /* how many there were; more than 1: too many to tell apart */
    uint64_t first_ticks;
    const char *name; /* "" when unknown */
};

/* A region: one of a path.  The outermost has parent 0. */
struct tide_region {
    uint32_t parent; /* 0: none */
    uint32_t name;   /* see tide_model_text() */
};

/* What is counted together: one stack in one context. */
struct tide_key {
    uint32_t stack;                    /* node */
    uint32_t space;                    /* enum tide_space: that of its context */
    uint32_t context;                  /* index into model->contexts */
    uint32_t crowd;                    /* bookkeeping: see model/key.h */
    uint64_t calls, bytes;             /* allocated, ever */
    uint64_t freed_calls, freed_bytes; /* died (also by realloc) */
    uint64_t temporary_calls, temporary_bytes; /* see the glossary */
    uint64_t slack_bytes;                      /* usable less asked for, of all calls */
    int64_t peak_blocks, peak_bytes;           /* when its space stood highest */
    uint64_t peak_at;                          /* bookkeeping */
    uint64_t most_bytes, most_ticks;           /* its own highest, and when */
    uint64_t first_ticks, last_ticks;          /* births */
};
_Static_assert(sizeof(struct tide_key) == 128, "two cache lines");

/* What few keys have.  Births by realloc, and what they grew by, count under the label
 * that the block had then. */
struct tide_key_more {
    uint64_t moved_calls, grown_bytes;
    uint64_t crept_calls, crept_bytes;   /* of these: grew by less than a sixteenth, */
    uint64_t copied_calls, copied_bytes; /* ... and had to be copied elsewhere */
    uint64_t foreign_calls, foreign_bytes; /* freed by another thread than its maker */
    uint64_t left_blocks, left_bytes;      /* by processes that ended: never freed */
};

/* Blocks that one thread made and another one freed. */
struct tide_flow {
    uint32_t from, to; /* indexes into model->key_threads */
    uint64_t calls, bytes;
};

/* One stack in one space: the sum of its keys. */
struct tide_site {
    uint32_t stack;                            /* node */
    uint32_t space;                            /* enum tide_space */
    uint64_t calls, bytes;                     /* allocated, ever */
    uint64_t freed_calls, freed_bytes;         /* died (also by realloc) */
    uint64_t temporary_calls, temporary_bytes; /* see the glossary */
    uint64_t slack_bytes;
    int64_t live_blocks, live_bytes;  /* at the end, or at --live-at */
    int64_t peak_blocks, peak_bytes;  /* when its space stood highest */
    uint64_t most_bytes, most_ticks;  /* its own highest, and when */
    uint64_t first_ticks, last_ticks; /* births */
    struct tide_key_more more;
};

/* A process's life is divided into parts: by the blocks born in it, and by time. */
enum tide_life_axis { TIDE_LIFE_BIRTHS, TIDE_LIFE_TIME, TIDE_LIFE_AXES };
enum { TIDE_LIFE_SLICES = 32 };

/* The heap blocks of a site that were never freed. */
struct tide_survival {
    uint64_t blocks, bytes;
    uint64_t first_ticks, last_ticks; /* births, see model/survivors.h */
    uint32_t slices[TIDE_LIFE_AXES];  /* bit N: some were born in part N */
    uint32_t threads, processes;      /* that made them */
    double weight[TIDE_LIFE_AXES];    /* bytes, each times its place from 0 to 1 */
};

/* What a site held at one of the moments that model/holdings.h looks at: a site that held
 * little then has none. */
struct tide_holding {
    uint32_t site;
    uint32_t moment; /* 1: one part of the run has passed */
    uint64_t bytes;
    uint64_t calls, freed_calls; /* so far */
};
enum { TIDE_HOLDINGS_MOMENTS = 29 }; /* so the run has 30 parts */

/* Of one space.  Field names are those of the JSON contract (DESIGN: summary). */
struct tide_summary {
    uint64_t alloc_calls, free_calls, realloc_calls, failed_calls;
    uint64_t allocated_bytes;
    uint64_t peak_bytes, peak_with_realloc_bytes, peak_usable_bytes;
    uint64_t peak_uncertainty_bytes;
    double peak_time_s;
    uint64_t peak_blocks;
    uint64_t peak_births, peak_now; /* where it is among the events: see water.h */
    uint64_t live_bytes, live_blocks;
    uint64_t temporary_calls, temporary_bytes;
    /* mmap only: not counted above. */
    uint64_t reserved_peak_bytes, file_peak_bytes, shared_peak_bytes;
};

/* A program or library that gave fewer names than were asked for. */
struct tide_unnamed {
    const char *module; /* its path; owned by the trace */
    uint64_t frames;    /* without a name */
    enum tide_module_state why;
};

/* A program or library in whose code stacks end before they should. */
struct tide_unfinished {
    const char *module; /* its path; owned by the trace; NULL: code of no file */
    uint64_t calls;     /* whose stack does */
};

struct tide_honesty {
    uint64_t events, dropped, unmatched_frees, inherited_frees, replaced_blocks;
    uint64_t double_frees;   /* of unmatched_frees, ... */
    bool double_frees_known; /* ... once tide_bad_frees_find() has looked */
    uint64_t reordered, lost_records, truncated_stacks;
    uint64_t unfinished_stacks; /* calls whose callers are not all known: [unknown] */
    struct tide_unfinished *unfinished; /* where, most first; in the model's arena */
    size_t unfinished_count;
    uint64_t region_mismatches; /* ends of regions that were not the innermost */
    uint64_t unmatched_labels;  /* given to what is no block */
    uint64_t
        oversized_labels; /* that say more bytes than their block of the heap has */
    uint64_t
        paused_frees; /* of unknown blocks, after a pause: made during it, perhaps */
    uint64_t unresolved_frames;   /* filled by symbolization, like ... */
    struct tide_unnamed *unnamed; /* ... whose they are, most first; those without a
                                     file, or that were read, are not here */
    size_t unnamed_count;
    const char *sanitizer;   /* path of a runtime that makes blocks past malloc, ... */
    const char *past_malloc; /* ... by these calls; NULL: there is none */
    bool complete;
    double rss_explained; /* how much of the RSS peak heap (usable), mmap and shared
                             memory account for, at most 1; 0 if unknown */
    uint64_t beyond_rss_bytes; /* they held so much more than that peak: not touched */
    uint64_t recorder_bytes, ring_bytes, collector_bytes;
    uint64_t order_table_bytes; /* reserved in the processes; touched in part */
};

/* A free that matched no block: see model/bad_frees.h. */
struct tide_unmatched {
    uint64_t address;
    uint32_t process; /* index into the trace's processes */
};
enum { TIDE_UNMATCHED_KEPT = 16 };

/* How many blocks and bytes, by powers of two: see model/detail.h. */
enum { TIDE_HISTOGRAM_PLACES = 65 };
struct tide_histogram {
    uint64_t calls[TIDE_HISTOGRAM_PLACES], bytes[TIDE_HISTOGRAM_PLACES];
};

/* Of the heap's blocks that count; filled when options.details asks for it. */
struct tide_histograms {
    struct tide_histogram requested, usable; /* by size, at birth */
    struct tide_histogram freed;             /* by size asked for, at death */
    struct tide_histogram life_ns;           /* at death: by how long they lived */
    struct tide_histogram life_allocs; /* by how many blocks were made meanwhile */
    struct tide_histogram life_bytes;  /* by what was allocated meanwhile */
    uint64_t live_calls, live_bytes;   /* those that did not die */
};

/* One line of source as a frame shows it: an inlined function or the real one. */
struct tide_symbol {
    const char *function; /* demangled; NULL when unknown */
    const char *file;     /* NULL when unknown */
    uint32_t line;        /* 0 when unknown */
    bool inlined;         /* into the next symbol of the same frame */
    uint64_t start; /* of a function without a name: where it begins; 0 when unknown */
};

/* All symbols of one frame, innermost first; count >= 1 once symbolized. */
struct tide_symbols {
    const struct tide_symbol *list;
    uint32_t count;
};

/* What moments are counted in. */
enum tide_axis {
    TIDE_AXIS_SECONDS,
    TIDE_AXIS_BYTES,  /* of the heap, allocated so far */
    TIDE_AXIS_EVENTS, /* recorded so far */
};

enum { TIDE_TIMELINE_POINTS = 240 };

/* A function that only hands on what it is asked for: see model/wrappers.h. */
struct tide_wrapper {
    const char *name, *module; /* as in struct tide_function */
};

struct tide_model {
    struct tide_trace *trace; /* borrowed */
    struct tide_stacks stacks;
    struct tide_key *keys; /* owned */
    size_t key_count;
    struct tide_key_more *key_more; /* owned; of the first keys, the others have none */
    size_t key_more_count;
    struct tide_site *sites; /* owned: the keys by (stack, space) */
    size_t site_count;
    struct tide_context *contexts; /* owned */
    size_t context_count;
    struct tide_key_thread *key_threads; /* owned */
    size_t key_thread_count;
    struct tide_flow *flows; /* owned; the heaviest first */
    size_t flow_count;
    struct tide_region *regions; /* owned; region N is regions[N - 1] */
    size_t region_count;
    struct tide_summary summary[TIDE_SPACES];
    struct tide_honesty honesty;
    struct tide_unmatched unmatched[TIDE_UNMATCHED_KEPT]; /* the first of them */
    size_t unmatched_count;
    double duration_s;
    uint64_t rss_peak_bytes; /* 0: nobody looked */
    bool rss_peak_exact;     /* no sample that a later rise may have outdone */
    uint64_t together_bytes; /* of heap (usable), mmap and shared memory at one time,
                                    at least */
    uint64_t threads, processes; /* a process for each program that it executed */
    uint64_t replaced;           /* of processes: by another program, with exec */
    uint64_t programs;           /* that were executed; a fork has its parent's */
    uint64_t extra_records[32];  /* how many of each enum tide_extra were seen */
    uint64_t alloc_kinds[16];    /* blocks made, by enum tide_alloc_kind */
    uint64_t map_calls[8];       /* by enum tide_map_call */
    /* The heap over time: the highest live bytes in each of timeline_count stretches of
     * equal length that together make duration_s.  Count 0: not known, not shown. */
    uint64_t timeline[TIDE_TIMELINE_POINTS];
    uint32_t timeline_count;
    struct tide_symbols
        *symbols; /* per frame, after tide_model_symbolize(); else NULL */
    const struct tide_wrapper *wrappers; /* by name; found when there are symbols */
    size_t wrapper_count;
    struct tide_debuginfod *debuginfod; /* borrowed: set it before symbolizing, to look
                                           for names on servers; else NULL */
    struct tide_histograms *histograms; /* owned; NULL: not asked for */
    /* All NULL unless options.evidence asks for them. */
    struct tide_survival *survivals; /* owned; per site */
    struct tide_survival *losses;    /* owned; those but of processes that broke off;
                                        NULL: none did */
    struct tide_holding *holdings;   /* owned; by site and moment */
    size_t holding_count;
    uint64_t heights[TIDE_HOLDINGS_MOMENTS + 1]; /* of the heap, at these moments */
    bool stopped;        /* read up to until_s only: what is live is live then */
    double until_s;      /* of the options */
    const char *moment;  /* borrowed: what the user calls that moment; NULL: nothing */
    double from_s;       /* of options.select; 0: from the start */
    enum tide_axis axis; /* of the options: what the timeline is along */
    uint64_t axis_total; /* of it: where the timeline ends */
    uint64_t axis_until; /* of it; UINT64_MAX: all was read */
    bool counted_only;   /* what only a walk through the events tells is not known */
    bool selected; /* keys in excluded contexts do not count: see options.select */
    void *private_state;
};

struct tide_progress {
    /* Called now and then with what is done of what there is; may be NULL. */
    void (*step)(void *user, uint64_t done, uint64_t total);
    void *user;
};

/* Which blocks count.  All zeros: all do; a maximum or an end of 0 is none.  Sizes and births are
 * those of heap blocks and of mappings, lives those of heap blocks. */
struct tide_select {
    double from_s; /* born then or later; peaks are those since then */
    uint64_t least_bytes, end_bytes;  /* end: one more than the most */
    double least_age_s, most_age_s;   /* at the end, or at until_s */
    double least_life_s, most_life_s; /* from birth to death; blocks that do not die
                                         have no maximum */
};

enum tide_ahead {
    TIDE_AHEAD_USUAL, /* where it pays */
    TIDE_AHEAD_NEVER,
    TIDE_AHEAD_ALWAYS,
};

struct tide_model_options {
    struct tide_select select;
    bool details;   /* fill model->histograms */
    bool evidence;  /* fill model->survivals and model->holdings */
    double until_s; /* stop after this time: the live set is then that of the moment;
                       negative: read all */
    uint64_t
        until_height; /* then: stop when the heap first stands so high; 0: do not */
    /* Not SECONDS: the timeline is along this axis, which a first model of the trace says
     * the length of; and the model stops with the event that reaches AXIS_UNTIL. */
    enum tide_axis axis;
    uint64_t axis_total, axis_until; /* UINT64_MAX: read all */
    struct tide_progress progress;
    uint64_t index_threshold; /* traces of so many bytes get an index beside them; 0: as
                                 usual, UINT64_MAX: none is read or written */
    enum tide_ahead ahead;    /* is the trace decoded by a thread of its own? */
};

/* What is known of TRACE (borrowed: it must outlive the model) without reading its events: calls,
 * bytes, processes, but no stacks, no peaks and nothing that is live.  TIDE_ENOENT: its end does
 * not tell; load it. */
enum tide_status tide_model_count(struct tide_trace *trace, struct tide_model **out);

/* Read all of TRACE (borrowed: it must outlive the model). */
enum tide_status tide_model_load(struct tide_trace *trace,
                                 const struct tide_model_options *options,
                                 struct tide_model **out);
void tide_model_free(struct tide_model *model);

/* The name of a region or label; never NULL. */
const char *tide_model_text(const struct tide_model *model, uint32_t number);
/* Add the path of REGION to OUT, outermost first: "main/solve"; nothing for 0. */
void tide_model_region(const struct tide_model *model, uint32_t region,
                       struct tide_text *out);

/* Did the user ask for SPACE to be recorded?  Where nothing is said of it he did. */
bool tide_model_records(const struct tide_model *model, enum tide_space space);

/* The process that holds most when SPACE stands highest, and how much; NULL when nothing
 * does. */
enum tide_status tide_model_heaviest(const struct tide_model *model,
                                     enum tide_space space,
                                     const struct tide_process **out, uint64_t *bytes);

/* The space that a report begins with: where most of the memory is that was touched. */
enum tide_space tide_model_leading(const struct tide_model *model);
/* No more was resident at one time; 0: not known, since nobody waited for the one process
 * that there was, or there were several. */
uint64_t tide_model_resident_most(const struct tide_model *model);
/* How much of the peak of mapped memory can have been touched: no more than was resident. */
uint64_t tide_model_mapped_touched(const struct tide_model *model);

/* What heap (usable), mmap and shared memory held at one time, at least, and no less than
 * any of them by itself. */
uint64_t tide_model_most_held(const struct tide_model *model);

/* Find names for all frames that the sites use.  Never fails for want of symbols. */
enum tide_status tide_model_symbolize(struct tide_model *model);
/* The same for all frames of the trace, also those of frees. */
enum tide_status tide_model_symbolize_all(struct tide_model *model);

/* --- Rows: what the views print ------------------------------------------------- */

enum tide_metric {
    TIDE_METRIC_PEAK,  /* bytes, blocks at the watermark */
    TIDE_METRIC_LEAKS, /* bytes, blocks live at the end */
    TIDE_METRIC_TOTAL, /* bytes, calls ever */
    TIDE_METRIC_CHURN, /* bytes, calls of temporary blocks */
};

/* A function as rows name it.  Equal functions share one entry. */
struct tide_function {
    const char *name;   /* demangled, or "module+0xoffset", or "[synthetic]" */
    const char *module; /* path, "" when none */
    const char *file;   /* of its first seen line, NULL when unknown */
    uint32_t line;
    bool resolved;
    bool library;  /* of the language's library: see tide_rows_request.fold */
    bool wrapper;  /* it only hands on what it is asked for: the same */
    uint8_t outer; /* what it is at the outer end of a stack: path.c */
};

/* Flat: one function.  self = it is the innermost; inclusive = anywhere on the stack,
 * counted once per stack. */
struct tide_flat_row {
    uint32_t function;
    const char
        *file;     /* of the call that allocates most by itself; else of the one that */
    uint32_t line; /* calls on for most; NULL, 0 when unknown */
    uint32_t lines; /* different ones that allocate */
    uint64_t self_bytes, self_calls;
    uint64_t inclusive_bytes, inclusive_calls;
    uint64_t self_temporary_calls; /* of all blocks, and only if nothing is filtered */
    uint32_t
        caller; /* of one without a name: the nearest function with one that calls it
                        for most of what it allocates itself; else UINT32_MAX */
};

/* Stack: one site. */
struct tide_stack_row {
    uint32_t site;
    uint64_t bytes, calls;
};

/* Tree: top-down.  Children are sorted by tide_rows_weight(), largest first. */
struct tide_tree_row {
    uint32_t function; /* of the root: UINT32_MAX */
    const char *file;  /* of the call inside this function, NULL when unknown */
    uint32_t line;
    uint32_t lines; /* different ones, of stacks whose innermost call is this row's */
    uint32_t least_line, most_line;  /* of all its calls whose line is known */
    uint64_t bytes, calls;           /* with everything below */
    uint64_t self_bytes, self_calls; /* of stacks that end here */
    uint32_t first_child, next;      /* 0: none; row 0 is the root */
};

/* The column that rows are sorted by: numbers from the largest down, names from A on. */
enum tide_sort {
    TIDE_SORT_USUAL,     /* BYTES; of functions SELF */
    TIDE_SORT_BYTES,     /* of nested groups: inclusive */
    TIDE_SORT_CALLS,     /* or blocks; of functions those of SELF */
    TIDE_SORT_SELF,      /* bytes, without callees or what is nested */
    TIDE_SORT_INCLUSIVE, /* bytes */
    TIDE_SORT_NAME,
    TIDE_SORT_MODULE,
};

/* Which keys count.  Patterns as in model/pattern.h; NULL: all. */
struct tide_filter {
    const char *region;  /* the path */
    const char *label;   /* its name */
    const char *thread;  /* name or number */
    const char *process; /* program or number */
    const char *rank;    /* MPI rank of the process: numbers, with | between them */
    /* Any call of the stack. */
    const char *function, *module, *file;
};

/* Which part of the stacks makes the tree. */
enum tide_tree_part {
    TIDE_TREE_DOWN,    /* all, callers first */
    TIDE_TREE_UP,      /* all, the allocating function first */
    TIDE_TREE_CALLERS, /* from the focus on, its callers below */
    TIDE_TREE_CALLEES, /* from the focus on, what it calls below */
};

/* Which shapes are built, beside the stacks: with a million stacks each takes its time. */
enum tide_rows_shape {
    TIDE_BUILD_FLAT = 1,
    TIDE_BUILD_TREE = 2,
    TIDE_BUILD_STACKS = 4, /* the stacks alone */
};

/* What rows are asked for. */
struct tide_rows_request {
    unsigned shapes; /* of enum tide_rows_shape; 0: all */
    enum tide_metric metric;
    enum tide_space space;
    struct tide_filter filter;
    bool fold; /* library functions and wrappers of malloc count as their callers */
    const char *hide; /* so do functions and modules that this pattern means; or NULL */
    const bool *suppressed; /* per site: leaks that do not count (model/suppress.h); or
                               NULL */
    enum tide_tree_part part;
    const char *focus; /* pattern: the innermost function that it means; with
                          CALLERS and CALLEES, stacks without it are not in the tree */
    enum tide_sort
        sort; /* trees: BYTES or CALLS; by NAME their lines are sorted in view/ */
};

struct tide_rows {
    enum tide_metric metric;
    enum tide_space space;
    uint64_t total_bytes, total_calls; /* 100 % */
    uint64_t whole_bytes, whole_calls; /* the same without a filter */
    bool filtered;
    bool fold; /* of the request */
    const char *hide;
    const struct tide_function *functions;
    size_t function_count;
    enum tide_sort sort;        /* of the request */
    struct tide_flat_row *flat; /* sorted as that says */
    size_t flat_count;
    struct tide_stack_row *stacks; /* the same */
    size_t stack_count;
    enum tide_tree_part part;
    struct tide_tree_row *tree;
    size_t tree_count;
    uint64_t missed_calls; /* made with the focus in the run, when the tree has none */
    void *private_state;
};

/* Build all shapes of what REQUEST asks for.  The model must be symbolized and outlive
 * the rows; the caller gives them back with tide_rows_free(). */
enum tide_status tide_rows_ask(const struct tide_model *model,
                               const struct tide_rows_request *request,
                               struct tide_rows **out);
/* The same of METRIC for SPACE, nothing folded or left out. */
enum tide_status tide_rows_build(const struct tide_model *model,
                                 enum tide_metric metric, enum tide_space space,
                                 struct tide_rows **out);
void tide_rows_free(struct tide_rows *rows);

/* What the tree of ROWS is ordered by: BYTES, or CALLS if these are asked for; of what churns,
 * unless a column is asked for, the sum of their two shares: many small blocks cost as much as
 * a few large. */
uint64_t tide_rows_weight(const struct tide_rows *rows, uint64_t bytes, uint64_t calls);

/* --- Groups: rows by something else than functions ----------------------------------- */

enum tide_group_by {
    TIDE_BY_THREAD,
    TIDE_BY_PROCESS,
    TIDE_BY_REGION, /* inclusive: with the regions inside it */
    TIDE_BY_LABEL,
    TIDE_BY_MODULE, /* of the innermost call; inclusive: of any */
    TIDE_BY_LINE,   /* the same */
    TIDE_GROUPINGS,
};

struct tide_group_row {
    const char *name; /* of thread, program, region path, label, module, file; "": it
                           has none */
    uint64_t number;  /* tid, pid or line; 0: none */
    uint64_t count;   /* threads in this row; else 1 */
    bool ranked;      /* a process with an MPI rank ... */
    uint64_t rank;    /* ... which is this */
    uint64_t bytes, calls;
    uint64_t inclusive_bytes, inclusive_calls;
};

struct tide_groups {
    enum tide_group_by by;
    enum tide_metric metric;
    enum tide_space space;
    uint64_t total_bytes, total_calls; /* 100 % */
    uint64_t whole_bytes, whole_calls; /* the same without a filter */
    bool filtered;
    bool narrowed;               /* by what the model's flows cannot be narrowed by */
    bool nested;                 /* inclusive differs from the row's own */
    struct tide_group_row *list; /* sorted as the request says */
    size_t count;
    void *private_state;
};

/* As tide_rows_ask(). */
enum tide_status tide_groups_ask(const struct tide_model *model,
                                 const struct tide_rows_request *request,
                                 enum tide_group_by by, struct tide_groups **out);
void tide_groups_free(struct tide_groups *groups);

#endif
