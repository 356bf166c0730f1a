/* model/context.h - where the program was when it made a block: thread, region, label.
 *
 * For: model/, tests/.  A context is a space, a thread (and so a process), a path of
 * regions and a label.  Equal ones share a number, and keys refer to them by it.
 *
 * Threads are told apart by their THREAD_BEGIN, since systems use thread ids again.  A
 * program may have any number of them, one after the other; beyond TIDE_THREADS_APART the
 * further ones of a process count as one.
 *
 * Regions nest.  REGION_END ends the innermost region of its name, with all inside it;
 * when that is not the innermost of all, or there is none, it is a mismatch, and counted.
 * An end without a name ends the innermost.  Beyond TIDE_REGIONS_DEEP, regions are
 * followed but not told apart from the one around them.
 *
 * Outermost are the phases of the process, then what a thread has inherited from the one
 * that created it (REGION_BASE); neither are a thread's to end.
 */
#ifndef TIDE_MODEL_CONTEXT_H
#define TIDE_MODEL_CONTEXT_H

#include <stddef.h>
#include <stdint.h>

#include <tidemark/status.h>

#include "base/arena.h"
#include "model/intern.h"
#include "model/model.h"
#include "model/pairs.h"

enum {
    TIDE_THREADS_APART = 4096,
    TIDE_REGIONS_DEEP = 64,
};

#define TIDE_NO_CONTEXT UINT32_MAX
#define TIDE_NO_THREAD  UINT32_MAX

/* What a process calls the name ID; NULL when it is not known. */
struct tide_name_source {
    const char *(*name)(const void *user, uint32_t process, uint64_t id);
    const void *user;
};

/* All zeros is ready for use. */
struct tide_contexts {
    struct tide_name_source source;
    struct tide_pairs contexts; /* (thread << 32 | region, label << 32 | excluded << 31
                                   | renamed << 30 | space) */
    struct tide_pairs regions;  /* (region around it, name): number + 1 is the region */
    struct tide_pairs names;    /* (process, id) */
    uint32_t *name_texts;       /* owned: text + 1 of each of them */
    size_t name_capacity;
    struct tide_pairs texts; /* (string, 0), or (process, id) when there is none */
    const char **strings;    /* owned: of each text, in the arena; NULL: no string */
    size_t string_capacity;
    struct tide_arena arena;
    struct tide_intern interned;     /* in the arena */
    struct tide_key_thread *threads; /* owned */
    size_t thread_count, thread_capacity;
    struct tide_pairs rests; /* (process, 0): its further threads are one, by number
                                after those that are told apart */
    uint64_t region_mismatches;
};

/* Where a lane is. */
struct tide_where {
    uint32_t thread;               /* TIDE_NO_THREAD: not known yet */
    uint32_t region;               /* 0: none */
    uint32_t depth;                /* of regions, also of those not told apart */
    uint32_t phases;               /* of these, the first: the process is in them */
    uint32_t inherited;            /* and so many after them are of another thread */
    uint32_t context[TIDE_SPACES]; /* without a label; TIDE_NO_CONTEXT: to be found */
};

void tide_contexts_release(struct tide_contexts *contexts);

/* Nothing is known of the lane yet. */
void tide_where_begin(struct tide_where *where);

/* A thread of PROCESS comes, in LANE. */
enum tide_status tide_where_thread(struct tide_contexts *contexts,
                                   struct tide_where *where,
                                   const struct tide_key_thread *thread);
/* PROCESS enters the region that it calls ID, or leaves it. */
enum tide_status tide_where_enter(struct tide_contexts *contexts,
                                  struct tide_where *where, uint32_t process,
                                  uint64_t id);
enum tide_status tide_where_leave(struct tide_contexts *contexts,
                                  struct tide_where *where, uint32_t process,
                                  uint64_t id);

/* A thread of PROCESS begins at LEVEL in a region that it has not entered, ID; 0: in none.
 * Level 0 comes first, and ends all that the thread was in. */
struct tide_inherited {
    uint64_t level, id;
    bool own; /* it may end it: it entered it before it was forked */
};
enum tide_status tide_where_inherit(struct tide_contexts *contexts,
                                    struct tide_where *where, uint32_t process,
                                    struct tide_inherited inherited);

/* The phases that a process is in. */
struct tide_phases {
    uint32_t region; /* 0: none */
    uint32_t depth;
};
/* PROCESS enters the phase ID, or leaves it (0: the innermost). */
enum tide_status tide_phases_enter(struct tide_contexts *contexts,
                                   struct tide_phases *phases, uint32_t process,
                                   uint64_t id);
enum tide_status tide_phases_leave(struct tide_contexts *contexts,
                                   struct tide_phases *phases, uint32_t process,
                                   uint64_t id);
/* From here on WHERE is in these PHASES. */
enum tide_status tide_where_phases(struct tide_contexts *contexts,
                                   struct tide_where *where,
                                   const struct tide_phases *phases);

/* The context of SPACE without a label; sets where->context[space].  WHERE has a
 * thread. */
enum tide_status tide_where_context(struct tide_contexts *contexts,
                                    struct tide_where *where, enum tide_space space);

/* CONTEXT with the label that PROCESS calls ID instead of its own. */
enum tide_status tide_context_label(struct tide_contexts *contexts, uint32_t context,
                                    uint32_t process, uint64_t id, uint32_t *out);
/* CONTEXT without a label, of blocks that had one. */
enum tide_status tide_context_unlabel(struct tide_contexts *contexts, uint32_t context,
                                      uint32_t *out);
/* CONTEXT with the label of OTHER. */
enum tide_status tide_context_like(struct tide_contexts *contexts, uint32_t context,
                                   uint32_t other, uint32_t *out);

/* CONTEXT for blocks that do not count. */
enum tide_status tide_context_exclude(struct tide_contexts *contexts, uint32_t context,
                                      uint32_t *out);

/* PROCESS calls something ID: it gets its number now, if it has none. */
enum tide_status tide_context_name(struct tide_contexts *contexts, uint32_t process,
                                   uint64_t id);

/* What context NUMBER is. */
struct tide_context tide_context_of(const struct tide_contexts *contexts,
                                    uint32_t number);

#endif
