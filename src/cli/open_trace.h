/* cli/open_trace.h - from a verb's arguments to a loaded model.
 *
 * For: cli/ only.
 */
#ifndef TIDE_CLI_OPEN_TRACE_H
#define TIDE_CLI_OPEN_TRACE_H

#include "cli/command.h"
#include "cli/options.h"
#include "model/model.h"

struct tide_opened {
    char *path;               /* owned */
    struct tide_trace *trace; /* owned */
    struct tide_model *model; /* owned */
};

/* Open and load the one trace that ARGUMENTS name (-: from standard input), or the newest of
 * this folder when they name none, with a progress bar on a terminal.  Returns -1 when the verb shall go on; it
 * then owes a tide_opened_close().  Else the exit status, after what is wrong was said. */
int tide_open_trace(const struct tide_command *command,
                    const struct tide_arguments *arguments, struct tide_opened *out);
/* The same with OPTIONS of the model; its progress is set here. */
int tide_open_trace_with(const struct tide_command *command,
                         const struct tide_arguments *arguments,
                         const struct tide_model_options *options,
                         struct tide_opened *out);
/* As tide_open_trace(), without reading events where the end of the trace tells how many it
 * has: the model knows no more than that then.  See tide_model_count(). */
int tide_open_trace_counted(const struct tide_command *command,
                            const struct tide_arguments *arguments,
                            struct tide_opened *out);
/* The same with the trace NAME (NULL: the newest of this folder), which is opened and not
 * loaded: there is no model. */
int tide_open_trace_only(const char *name, struct tide_opened *out);
void tide_opened_close(struct tide_opened *opened);

/* Say in a line on stderr what a reader of OPENED's numbers must know: that it is cut or
 * damaged, or that not everything was recorded. */
void tide_say_what_is_missing(const struct tide_opened *opened);

/* Say in a line on stderr whose names are missing from what OPENED's reader was shown, because
 * another build has their place. */
void tide_say_other_builds(const struct tide_opened *opened);

/* Put TEXT on stdout and release it; returns the exit status. */
struct tide_text;
int tide_print_text(struct tide_text *text);

#endif
