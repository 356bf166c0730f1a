/* cli/piped_trace.h - a trace from standard input.
 *
 * For: cli/ only.
 */
#ifndef TIDE_CLI_PIPED_TRACE_H
#define TIDE_CLI_PIPED_TRACE_H

/* The path that standard input has, when it is a file. */
#define TIDE_STDIN_PATH "/dev/fd/0"

/* Make standard input a plain file that can be opened as TIDE_STDIN_PATH, any number of
 * times: what comes from a pipe is copied to a file without a name.  -1, or the exit status
 * after what is wrong was said. */
int tide_piped_trace(void);

#endif
