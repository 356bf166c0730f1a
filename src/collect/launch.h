/* collect/launch.h - start the program that shall be recorded.
 *
 * For: collect/, tests/.  In two steps: its process exists before its trace does, so
 * that the trace can be named after it, and becomes the program when all is ready.
 */
#ifndef TIDE_COLLECT_LAUNCH_H
#define TIDE_COLLECT_LAUNCH_H

#include <sys/resource.h>
#include <sys/types.h>

#include <tidemark/status.h>

#include "collect/signals.h"

struct tide_launch {
    pid_t pid;
    int gate;   /* owned: the process waits for a byte from here */
    int result; /* owned: and says here why it could not become the program */
};

struct tide_launch_plan {
    char **argv; /* NULL-terminated */
    char **environment;
    const struct tide_signals *signals; /* as the program shall find them */
    const struct rlimit *descriptors;   /* the same; NULL: as they are */
};

/* Fork.  The caller must have one thread only. */
enum tide_status tide_launch_prepare(const struct tide_launch_plan *plan,
                                     struct tide_launch *out);
/* Let it become the program.  Returns 0, or the errno of exec: then it is gone. */
int tide_launch_go(struct tide_launch *launch);
/* Let it end without having become anything. */
void tide_launch_cancel(struct tide_launch *launch);

#endif
