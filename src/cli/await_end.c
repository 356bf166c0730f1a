/* cli/await_end.c - a collector that nobody waited for may be about to end the trace. */
#include "cli/await_end.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "base/text.h"

enum {
    TIDE_AWAIT_MS = 3000, /* the names take 2 s at most, see collect/write_names.h */
    TIDE_AWAIT_STEP_MS = 10,
    TIDE_AWAIT_SILENT_MS = 300,
};

/* Whoever holds the lock is on this machine, and so are his programs. */
static bool any_lives(const struct tide_trace *trace)
{
    for (size_t i = 0; i < trace->process_count; i++) {
        const struct tide_process *const process = &trace->processes[i];
        const pid_t pid = (pid_t)process->pid;
        if (!process->ended && pid > 0 && (kill(pid, 0) == 0 || errno == EPERM))
            return true;
    }
    return false;
}

static void say_waiting(const struct tide_trace *trace)
{
    struct tide_text line = {0};
    if (!isatty(STDERR_FILENO))
        return;
    tide_text_add(&line, "tidemark: waiting for the collector, which still writes ");
    tide_text_add_safe(&line, trace->path);
    if (!line.failed)
        (void)fprintf(stderr, "%s\n", line.bytes);
    tide_text_release(&line);
}

bool tide_await_end(const struct tide_trace *trace)
{
    if (trace->complete || !tide_trace_is_written(trace) || any_lives(trace))
        return false;
    for (int ms = 0; ms < TIDE_AWAIT_MS; ms += TIDE_AWAIT_STEP_MS) {
        if (!tide_trace_is_written(trace))
            return true;
        if (ms == TIDE_AWAIT_SILENT_MS)
            say_waiting(trace);
        (void)poll(NULL, 0, TIDE_AWAIT_STEP_MS);
    }
    return false;
}
