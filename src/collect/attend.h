/* collect/attend.h - record a program that was not started by us.
 *
 * For: cli/.  A program with only LD_PRELOAD=libtidemark.so starts a collector for
 * itself and what it will start (capture/spawn.c).  Nobody waits for that collector.
 */
#ifndef TIDE_COLLECT_ATTEND_H
#define TIDE_COLLECT_ATTEND_H

#include <stdint.h>

#include <tidemark/status.h>

#include "collect/collector.h"

enum { TIDE_ATTEND_PROBLEM = 320 };

struct tide_attend_options {
    uint32_t pid;     /* of the program */
    int answer;       /* where to write the session's directory, with a newline */
    const char *name; /* pattern, see collect/naming.h; NULL: the default */
    struct tide_wishes wishes;
    const char *words;   /* the wishes in words, for the trace */
    const char *version; /* of tidemark */
    /* Called, while the program waits, where the trace is called TRACE because the name
     * that was asked for, WANTED, is taken. */
    void (*taken)(const char *wanted, const char *trace);
    const int *kept; /* descriptors that stay open, ends with -1; NULL: none */
    /* The trace of that name is complete; NULL: nobody asks.  Its folder and standard
     * streams have been left: see background.h. */
    void (*finished)(void *context, char *trace);
    void *context;
};

/* Collect until all processes of the run have ended.  Nothing is printed: when recording
 * cannot begin, PROBLEM gets a line that says why, and the program waits until the caller
 * ends. */
enum tide_status tide_attend(const struct tide_attend_options *options,
                             char problem[TIDE_ATTEND_PROBLEM]);

#endif
