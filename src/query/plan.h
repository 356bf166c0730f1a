/* query/plan.h - a query compiled: names have become numbers.
 *
 * For: query/, view/, cli/, tests/.  A plan is made once and then only read, by as many
 * threads as there are traces.
 *
 *     record -> slots -> LET -> WHERE -> groups or rows -> HAVING -> ORDER BY -> columns
 *
 * A slot is a value that is taken out of each record, or computed by LET.  A cell is what
 * a row of the answer holds: keys, then aggregations, then what only ORDER BY needs; a
 * column is a cell that is shown.  Borrows from the query.
 */
#ifndef TIDE_QUERY_PLAN_H
#define TIDE_QUERY_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tidemark/status.h>

#include "query/ast.h"
#include "query/attribute.h"
#include "query/group_tally.h"
#include "query/text_regex.h"
#include "query/user_names.h"
#include "query/value.h"
#include "query/walk.h"

enum {
    TIDE_PLAN_KEYS = 16,   /* of GROUP BY, at most */
    TIDE_PLAN_STACK = 128, /* values that an expression may hold at once */
};

/* The slot of a name that nothing sets: its value is always absent. */
#define TIDE_NO_ATTRIBUTE TIDE_ATTRIBUTES

/* Names that others begin with, and that of what a thread is when it begins. */
#define TIDE_ITERATION_OF "iteration#"
#define TIDE_THREAD_SET   "pthread.id"

/* What a slot holds that is no attribute of the table. */
enum tide_slot_kind {
    TIDE_SLOT_NOTHING,
    TIDE_SLOT_ITERATION,    /* iteration#LOOP */
    TIDE_SLOT_USER,         /* an attribute of the program */
    TIDE_SLOT_REGIONS,      /* the path of regions that are NAME */
    TIDE_SLOT_TYPED,        /* the path of all regions, each with what it is */
    TIDE_SLOT_SET,          /* event.set#NAME: what it is set to */
    TIDE_SLOT_BEGIN,        /* event.begin#NAME */
    TIDE_SLOT_END,          /* event.end#NAME */
    TIDE_SLOT_HOLDER_LABEL, /* alloc.label#NAME: of the block that the address lies in */
    TIDE_SLOT_HOLDER_UID,   /* alloc.uid#NAME */
    TIDE_SLOT_HOLDER_INDEX, /* alloc.index#NAME */
};

struct tide_plan_slot {
    const char *name;                 /* as tables title it; borrowed */
    enum tide_attribute_id attribute; /* TIDE_NO_ATTRIBUTE: see let */
    size_t let;                       /* index + 1; 0: it is an attribute */
    enum tide_value_type type;        /* NONE: not known beforehand */
    enum tide_attribute_unit unit;
    enum tide_slot_kind kind; /* TIDE_NO_ATTRIBUTE: what it is */
    const char *whose;        /* of kind: LOOP or NAME; borrowed */
    bool early;               /* LET or WHERE need it */
    bool inclusive;           /* counts the regions inside, too */
};

/* What a term compares with: both forms, where both make sense. */
struct tide_plan_constant {
    const char *text;         /* borrowed */
    bool numeric;             /* number means something */
    struct tide_value number; /* INT, UINT or REAL */
};

struct tide_plan_term {
    enum tide_term_kind kind;
    size_t cell;                          /* slot, or cell of the answer for HAVING */
    struct tide_plan_constant *constants; /* in the arena */
    size_t constant_count;
    struct tide_regex *regex; /* MATCH: owned */
};

struct tide_plan_condition {
    struct tide_plan_term *terms; /* in the arena */
    size_t count;                 /* 0: always true */
};

enum tide_let_function {
    TIDE_LET_RATIO,
    TIDE_LET_SCALE,
    TIDE_LET_TRUNCATE,
    TIDE_LET_FIRST,
    TIDE_LET_SUM,
    TIDE_LET_LEAF,
};

struct tide_plan_step {
    enum tide_step_kind kind;
    size_t slot;
    struct tide_value number;
    enum tide_let_function function;
    size_t arguments;
};

struct tide_plan_let {
    const char *name;
    size_t slot;
    struct tide_plan_step *steps; /* in the arena */
    size_t count;
    struct tide_plan_condition condition;
};

struct tide_plan_sum {
    enum tide_tally_kind kind;
    bool inclusive;    /* also of every path around it */
    size_t one, other; /* slots; SIZE_MAX: none */
    double parameter;  /* factor, percentage */
    const char *name;  /* of the result: "sum#size"; in the arena */
    size_t call;       /* of the query */
};

struct tide_plan_cell {
    const char *name;
    size_t slot; /* of rows that are not grouped */
};

struct tide_plan_column {
    size_t cell;
    const char *title, *unit; /* unit NULL: none */
    bool filler;              /* of "*": not shown when no row has it */
    bool path;                /* holds the path of regions */
};

struct tide_plan_order {
    size_t cell;
    bool descending;
};

struct tide_plan {
    const struct tide_query *query; /* borrowed */
    struct tide_arena arena;
    struct tide_walk_wish wish;
    const char **attributes; /* owned: those of the wish */
    size_t attribute_capacity;
    struct tide_plan_slot *slots; /* owned */
    size_t slot_count, slot_capacity;
    struct tide_plan_let *lets; /* owned */
    size_t let_count;
    struct tide_plan_condition where, having;
    bool grouped;
    size_t keys[TIDE_PLAN_KEYS]; /* slots */
    size_t key_count;
    size_t path_key;            /* of keys, that inclusive sums climb; SIZE_MAX: none */
    struct tide_plan_sum *sums; /* owned */
    size_t sum_count, sum_capacity;
    struct tide_plan_cell *cells; /* owned */
    size_t cell_count, cell_capacity;
    struct tide_plan_column *columns; /* owned */
    size_t column_count, column_capacity;
    struct tide_plan_order *orders; /* owned */
    size_t order_count;
    bool distinct, limited;
    uint64_t limit, offset;
};

struct tide_plan_options {
    bool labelled_only;                  /* Caliper without sysalloc */
    bool several_traces;                 /* "*" tells which one */
    const struct tide_user_names *users; /* that the programs set; NULL: none */
    bool show_users;                     /* all of them are columns, beside the items */
    bool typed_regions; /* `region` says of each what it is: TIDE_KIND_END */
    bool
        may_be_set; /* nothing is known of the program: names may be its own, if they are
                        quoted or like no other */
};

/* Compile QUERY, which must outlive the plan.  EUSAGE: ERROR says what is wrong. */
enum tide_status tide_plan_make(const struct tide_query *query,
                                const struct tide_plan_options *options,
                                struct tide_plan *plan, struct tide_query_error *error);
void tide_plan_release(struct tide_plan *plan);

/* What the plan will do, in words, a line each. */
void tide_plan_explain(const struct tide_plan *plan, struct tide_text *out);

/* --- What the parts of the compiler share: plan*.c --------------------------------- */

struct tide_planner {
    const struct tide_query *query;
    const struct tide_plan_options *options;
    struct tide_plan *plan;
    struct tide_query_error *error;
    enum tide_status status;
};

/* The slot of NAME, new or known; EARLY: LET or WHERE need it.  SIZE_MAX after a mistake.
 */
size_t tide_planner_slot(struct tide_planner *planner,
                         const struct tide_query_word *name, bool early);
/* NAME is no attribute of the table: what it is; false: nothing, and that is said. */
bool tide_planner_describe_other(struct tide_planner *planner,
                                 const struct tide_query_word *name,
                                 struct tide_plan_slot *slot);
/* Places must tell values of the attribute NAME apart. */
bool tide_planner_want(struct tide_planner *planner, const char *name);
/* Rows of the plan's source have no NAME, only those of SOURCES (bits). */
void tide_planner_blame_source(struct tide_planner *planner,
                               const struct tide_query_word *name, unsigned sources);
/* The sum that CALL makes, new or known; SIZE_MAX after a mistake. */
size_t tide_planner_sum(struct tide_planner *planner, size_t call);
/* TEXT as a number of UNIT, with K, MiB, ms and the like; false: it is none. */
bool tide_planner_number(const char *text, enum tide_attribute_unit unit,
                         struct tide_value *out);
/* CELL gives the cell that an operand means, and its type and unit. */
struct tide_planner_cell {
    size_t index;
    enum tide_value_type type;
    enum tide_attribute_unit unit;
};
typedef struct tide_planner_cell tide_planner_resolve(
    struct tide_planner *planner, const struct tide_operand *operand);
struct tide_plan_condition tide_planner_condition(struct tide_planner *planner,
                                                  struct tide_condition condition,
                                                  tide_planner_resolve *resolve);
void tide_planner_lets(struct tide_planner *planner);
/* The slot of the LET of number LET. */
size_t tide_planner_let_slot(struct tide_planner *planner, const char *name,
                             size_t let);
/* A column of the answer, and the cell that it shows, new or known; SIZE_MAX: none. */
void tide_planner_column(struct tide_planner *planner, struct tide_plan_column column);
size_t tide_planner_add_cell(struct tide_planner *planner, const char *name,
                             size_t slot);
size_t tide_planner_cell_called(const struct tide_plan *plan, const char *name);
size_t tide_planner_find_cell(struct tide_planner *planner,
                              const struct tide_operand *operand);
/* Columns for "*"; and for what programs set and mark, which belongs to it. */
void tide_planner_star(struct tide_planner *planner);
void tide_planner_users(struct tide_planner *planner);
/* Zeros from the arena; NULL, with status set, without memory. */
void *tide_planner_take(struct tide_planner *planner, size_t count, size_t bytes);
/* If NAME, without parentheses, is an aggregation: say so. */
bool tide_planner_blame_bare(struct tide_planner *planner,
                             const struct tide_query_word *name);
void tide_planner_blame(struct tide_planner *planner, struct tide_query_span span,
                        const char *words);

#endif
