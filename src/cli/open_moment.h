/* cli/open_moment.h - a trace, or one moment of it: TRACE@WHEN.
 *
 * For: cli/ only.  WHEN is a time ("12.5", "150ms": cli/values.h), the name of a mark (see
 * model/moment.h), "end", or "peak": when the heap stands highest, unless a mark is
 * called so.  A file whose name holds the '@' itself goes first.
 */
#ifndef TIDE_CLI_OPEN_MOMENT_H
#define TIDE_CLI_OPEN_MOMENT_H

#include <stdbool.h>

#include "cli/command.h"
#include "cli/open_trace.h"

struct tide_opened_moment {
    struct tide_opened opened;
    double at_s; /* of the moment; negative: the end of the run */
};

/* The end of the nanosecond SECONDS: times are printed to that, rounded, and one that was
 * read in a table includes what happened then. */
double tide_end_of_nanosecond(double seconds);

/* Open and load what WORD names, up to its moment; the model borrows WORD.  Returns -1 when the verb shall go on;
 * it then owes a tide_opened_moment_close().  Else the exit status, after what is wrong
 * was said. */
int tide_open_moment(const struct tide_command *command, const char *word,
                     struct tide_opened_moment *out);
/* The same with OPTIONS of the model; when it stops and its progress is set here. */
int tide_open_moment_with(const struct tide_command *command, const char *word,
                          const struct tide_model_options *options,
                          struct tide_opened_moment *out);
void tide_opened_moment_close(struct tide_opened_moment *moment);

/* When something was. */
struct tide_instant {
    double at_s; /* negative: at the end of the run */
    double
        until_s;  /* what to load a model with, so that it stops there; negative too */
    bool at_peak; /* of the heap: several events have that time, one makes the height */
};

/* Find WHEN in OPENED.  -1, or the exit status after what is wrong was said.  To find a
 * mark takes a walk through the trace. */
int tide_find_moment(const struct tide_opened *opened, const char *when,
                     struct tide_instant *out);

#endif
