/* collect/strangers.h - programs of a run that are not recorded, though they should be.
 *
 * For: collect/, tests/.  A program that never loads the recorder cannot say so.  Here it is
 * noticed in /proc when a process that was recorded is suddenly another program, or has a child
 * that is.  Who lives for a moment only may be missed; unrecorded.h has the whole account.
 */
#ifndef TIDE_COLLECT_STRANGERS_H
#define TIDE_COLLECT_STRANGERS_H

#include <stdbool.h>
#include <stdint.h>

struct tide_collector;

#define TIDE_STRANGER_OF_ANOTHER_USER \
    "runs as another user, who cannot reach the collector"

#define TIDE_STRANGER_WITHOUT_PRELOAD "LD_PRELOAD was removed from its environment"

/* Why the program in the file PATH does not load the recorder, whoever runs it; NULL when
 * nothing speaks against it, or PATH does not say which file it is. */
const char *tide_stranger_file_reason(const char *path);

/* Why PID, as it is now, does not load the recorder: a few words, or NULL when nothing
 * speaks against it.  DIRECTORY is the session's. */
const char *tide_stranger_reason(uint32_t pid, const char *directory);

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

/* Look at PID, which is expected to run a program that is not recorded, unless it is KNOWN
 * why, and at its children. */
void tide_strangers_examine(struct tide_collector *collector, uint32_t pid, bool known);

#endif
