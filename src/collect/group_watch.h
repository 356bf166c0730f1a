/* collect/group_watch.h - was a signal sent to us, or to our whole process group?
 *
 * For: collect/.  The kernel does not say.  So a process that does nothing stands in the
 * group with all signals blocked: what was sent to the group waits for it, too, and stands
 * in its /proc/PID/status.
 */
#ifndef TIDE_COLLECT_GROUP_WATCH_H
#define TIDE_COLLECT_GROUP_WATCH_H

#include <stdbool.h>
#include <sys/types.h>

struct tide_group_watch {
    pid_t pid; /* owned: a child; 0 or less: there is none */
};

/* Call with the signals blocked that shall be told apart. */
void tide_group_watch_begin(struct tide_group_watch *watch);
void tide_group_watch_end(struct tide_group_watch *watch);

/* Signal NUMBER has come to us.  True: the group got it, and TARGET with it. */
bool tide_group_watch_saw(struct tide_group_watch *watch, int number, pid_t target);

#endif
