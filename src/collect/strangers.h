/* collect/strangers.h - programs of a run that are not recorded, though they should be.
 *
 * For: collect/, tests/.  A program that never loads the recorder cannot say so; it is
 * noticed when a process that was recorded is suddenly another program, or has a child
 * that is.  Who lives for a moment only may be missed.
 */
#ifndef TIDE_COLLECT_STRANGERS_H
#define TIDE_COLLECT_STRANGERS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"
#include "trace/list.h"

struct tide_collector;

/* Why PID, as it is now, does not load the recorder: a few words, or NULL when nothing
 * speaks against it.  DIRECTORY is the session's. */
const char *tide_stranger_reason(uint32_t pid, const char *directory);

struct tide_strange_program {
    char *name;         /* owned */
    const char *reason; /* static */
};

struct tide_strange_process {
    uint32_t pid;
    uint64_t inode;
};

struct tide_strangers {
    struct tide_list programs; /* struct tide_strange_program, each once */
    struct tide_list known;    /* struct tide_strange_process, counted already */
    uint32_t count;            /* processes that became one of the programs */
};

/* What is known of a recorded process. */
struct tide_look {
    uint32_t process; /* index */
    uint32_t pid;
    uint64_t device, inode; /* of the program that was recorded; 0: not known */
};

/* Look at a recorded process and at its children.  By the control thread. */
void tide_strangers_look(struct tide_collector *collector,
                         const struct tide_look *look);

/* The same for those who were found to have changed and are forgotten by now. */
void tide_strangers_catch_up(struct tide_collector *collector);

/* One line that names them; nothing when there are none. */
void tide_strangers_tell(const struct tide_strangers *strangers, struct tide_text *out);

void tide_strangers_release(struct tide_strangers *strangers);

#endif
