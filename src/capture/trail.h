/* capture/trail.h - the regions that a thread is in.
 *
 * For: capture/.  A trail belongs to one thread and is changed only by it.  It lies in
 * memory that a fork keeps: the child is in the regions in which it was forked.  Trails
 * of ended threads are used again, and never unmapped.
 *
 * The first steps may be inherited: from the thread that created this one, or opened the
 * parallel section that it works in.  Such regions are not this thread's to end.
 */
#ifndef TIDE_CAPTURE_TRAIL_H
#define TIDE_CAPTURE_TRAIL_H

#include <stdbool.h>
#include <stdint.h>

#include "capture/name_table.h"
#include "capture/self.h"

enum {
    TIDE_TRAIL_DEEP = 128, /* steps that are told apart; more are only counted */
    TIDE_TRAIL_KNOWN = 64, /* texts whose names are remembered; a power of two */
    TIDE_TRAIL_HELD = 32,  /* values of attributes that a child of fork is told of */
};

struct tide_stream;

struct tide_step {
    const struct tide_name *name; /* NULL: there was no room for it */
    bool loop;
    bool iterates; /* a loop: in this iteration */
    int64_t iteration;
    int64_t added; /* for monitor_regions.c: in this visit, less what was freed */
};

/* A value of an attribute: see attributes.h. */
struct tide_held {
    const struct tide_name *name;
    uint64_t type; /* enum tide_attribute_type */
    uint64_t value;
    bool shared; /* threads that this one creates have it too */
};

struct tide_region_node;

struct tide_trail {
    uint32_t depth;     /* steps, also those that are only counted */
    uint32_t inherited; /* of these, the first */
    struct tide_step steps[TIDE_TRAIL_DEEP];
    struct {
        const char *text, *attribute;
        const struct tide_name *name;
    } known[TIDE_TRAIL_KNOWN];
    uint32_t changes; /* how often it was another */
    uint32_t held_count;
    struct tide_held held[TIDE_TRAIL_HELD]; /* oldest first */
    /* For monitor_regions.c. */
    uint32_t node_change; /* the change that node is of */
    struct tide_region_node *node, *newest_node;
    const void *newest;     /* the block that the thread made last; NULL: it is freed */
    int64_t added;          /* outside of all regions */
    void *(*start)(void *); /* of a thread that is about to begin */
    int (*c11_start)(void *); /* the same of thrd_create */
    void *argument;
    uint64_t stack_bytes; /* its stack, where that is not as large as others; else 0 */
    struct tide_trail *next_free;
};

/* Whether threads inherit; TIDEMARK_INHERIT=off. */
extern bool tide_trail_inherits;

/* Of the calling thread, made if need be; NULL: no memory, or the thread ends. */
struct tide_trail *tide_trail_of_thread(void);
/* The thread has ended. */
void tide_trail_leave(struct tide_self *self) TIDE_COLD;

/* The name of TEXT, a value of ATTRIBUTE (NULL: of none); as a rule by one comparison of
 * texts. */
const struct tide_name *tide_trail_name(struct tide_trail *trail, const char *attribute,
                                        const char *text);

/* Of the innermost own step that is a value of ATTRIBUTE; NULL: there is none. */
const struct tide_name *tide_trail_innermost(const struct tide_trail *trail,
                                             const char *attribute);

void tide_trail_push(struct tide_trail *trail, const struct tide_name *name, bool loop);
/* End the innermost own step called NAME (NULL: the innermost), with those inside.  False:
 * there is none. */
bool tide_trail_pop(struct tide_trail *trail, const struct tide_name *name);

/* Iteration NUMBER of the innermost loop begins. */
void tide_trail_iterate(struct tide_trail *trail, int64_t number);
/* It ends. */
void tide_trail_iterated(struct tide_trail *trail);

/* A trail for a thread that is to begin in the regions of FROM, with a stack of STACK_BYTES
 * (0: as large as usual); NULL: it need not have one. */
struct tide_trail *tide_trail_for_child(const struct tide_trail *from,
                                        uint64_t stack_bytes) TIDE_COLD;
/* It will not be begun after all. */
void tide_trail_give_back(struct tide_trail *trail) TIDE_COLD;

/* Where a thread is, for others who work for it: the first DEPTH steps of TRAIL stay as
 * they are while it waits for them. */
struct tide_place {
    const struct tide_trail *trail; /* NULL: in no region */
    uint32_t depth;
};
static inline struct tide_place tide_trail_place(void)
{
    const struct tide_trail *const trail = tide_self.trail;
    return (struct tide_place){trail, trail ? trail->depth : 0};
}
/* This thread works at PLACE from here on, in regions that are not its to end. */
void tide_trail_work_at(struct tide_place place);

/* Write where the trail of this thread begins to STREAM, whose busy is set. */
void tide_trail_tell(struct tide_stream *stream) TIDE_COLD;

#endif
