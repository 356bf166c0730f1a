/* collect/run.h - record a program: the life of a run.
 *
 * For: cli/, tests/.  Nothing is printed and nobody exits here; the outcome says what
 * there is to tell.
 */
#ifndef TIDE_COLLECT_RUN_H
#define TIDE_COLLECT_RUN_H

#include <stdbool.h>
#include <stdint.h>

#include <tidemark/status.h>

#include "collect/collector.h"

struct tide_run_options {
    const char *name; /* pattern, see collect/naming.h; NULL: the default */
    struct tide_wishes wishes;
    const char *words;     /* the wishes in words, for the trace */
    const char *version;   /* of tidemark */
    bool wait;             /* stay until all processes of the run have ended */
    const char **troubles; /* lines for the honesty section, known before; ends in NULL;
                              NULL: none */
};

/* Which process has come back from tide_run(). */
enum tide_run_role {
    TIDE_RUN_FOREGROUND,
    TIDE_RUN_BACKGROUND, /* a second one, which stayed for the others: it shall end */
};

struct tide_run_outcome {
    enum tide_run_role role;
    int exec_errno;     /* the program could not be started; no trace is left */
    int status;         /* wait status of the program */
    char *trace;        /* owned: name of the trace; NULL: there is none */
    char *taken;        /* owned: what it should be called, but is not; NULL: it is */
    uint64_t bytes;     /* in it by now */
    uint32_t processes; /* recorded by now */
    bool others;        /* more are being recorded in the background */
    char *unmatched;    /* owned: why nothing was recorded, when no program had a name
                           that was asked for; then no trace is left either */
    char *unrecorded;  /* owned: programs that were seen and not recorded; NULL: none */
    bool removed;      /* somebody took the trace's name away */
    int write_errno;   /* the trace could not be written further */
    int refused_errno; /* some process could not be given shared memory */
    uint32_t missed;   /* processes that were not recorded though they asked */
    uint32_t partly;   /* threads that were recorded only up to somewhere */
    char problem[256]; /* one line when tide_run() failed */
};

/* Start ARGV (NULL-terminated), record it and all that it starts, until it ends.  The
 * caller has one thread.  Fails only before the program runs; its own failure is in the
 * outcome, which the caller gives back with tide_run_release(). */
enum tide_status tide_run(const struct tide_run_options *options, char **argv,
                          struct tide_run_outcome *out);
void tide_run_release(struct tide_run_outcome *outcome);

#endif
