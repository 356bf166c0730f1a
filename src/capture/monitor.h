/* capture/monitor.h - the built-in monitors: what they share.
 *
 * For: monitor*.c, api.c, lifecycle.c.  TIDEMARK_MONITOR names those that are wanted; they
 * work with or without a trace.  A monitor is a listener that counts, and reports at exit
 * or when it is asked to.
 *
 * To add one: its name and options in base/raw/monitor_words.c, a file monitor_x.c with a
 * struct tide_monitor, and a line in monitor_list.c.
 */
#ifndef TIDE_CAPTURE_MONITOR_H
#define TIDE_CAPTURE_MONITOR_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/raw/monitor_words.h"
#include "capture/name_table.h"
#include "capture/raw_lines.h"
#include "capture/registry.h"
#include "capture/self.h"

/* What reports are made of. */
struct tide_monitor_report {
    struct tide_lines lines;
    bool json;
    const char *cause; /* "exit", "request" */
};

struct tide_monitor {
    /* Get ready; false: it cannot be had.  Then it listens.  OPTIONS have no mistakes. */
    bool (*begin)(struct tide_monitor_options options);
    void (*alloc_heard)(void *unused, const struct tide_happening *happening);
    void (*free_heard)(void *unused, const struct tide_happening *happening);
    void (*report)(struct tide_monitor_report *report);
    void (*after_fork)(void); /* in the child; may be NULL */
};

extern const struct tide_monitor tide_monitor_simple, tide_monitor_loop,
    tide_monitor_histogram, tide_monitor_periodic, tide_monitor_regions,
    tide_monitor_threshold;

/* Start those that TIDEMARK_MONITOR names. */
void tide_monitors_begin(void) TIDE_COLD;
/* Let all report because of CAUSE.  False: there is none. */
bool tide_monitors_report(const char *cause) TIDE_COLD;

/* A forked child begins: nobody else holds a lock. */
void tide_monitors_after_fork(void) TIDE_COLD;

/* The beginning of a report: in words, or as JSON up to its fields. */
void tide_monitor_title(struct tide_monitor_report *report, const char *name);
/* The end of it. */
void tide_monitor_end(struct tide_monitor_report *report);
/* Keep PATH (LENGTH bytes) in KEPT, with the current folder before it if need be.  False:
 * it is too long. */
enum { TIDE_MONITOR_PATH = 1024 };
bool tide_monitor_path(const char *path, size_t length, char kept[TIDE_MONITOR_PATH]);
/* Open PATH for writing, HOW: O_TRUNC or O_APPEND, with %p for the process; below 0: it
 * cannot be. */
int tide_monitor_open(const char *path, bool child, int how);
/* This process is about to run another program; or could not (false). */
void tide_monitors_exec(bool begins) TIDE_COLD;
void tide_periodic_exec(bool begins) TIDE_COLD; /* monitor_periodic.c */
/* The process whose monitors these are: this one, or one that has ended. */
long tide_monitor_pid(void);
void tide_monitor_speak_for(long pid) TIDE_COLD;
/* This process was forked from the one that began. */
bool tide_monitor_forked(void);

/* What happens meanwhile is not in the report of `simple`. */
extern _Atomic bool tide_simple_paused;

/* Get ready as the variables of CMS's preloads say: PAM_FILENAME and PAM_INTERVAL_MS;
 * TAAM_MIN, TAAM_MAX, TAAM_SKIP and TAAM_BREAK.  False: none of them is set, or it cannot
 * be. */
bool tide_periodic_as_cms(void) TIDE_COLD;
bool tide_threshold_as_cms(void) TIDE_COLD;
/* The number that variable NAME begins with; false: it is not set. */
bool tide_monitor_variable(const char *name, uint64_t *value) TIDE_COLD;
/* A variable names monitors. */
bool tide_monitors_named(void) TIDE_COLD;
/* It is monitors that are wanted, built in or the program's own, and no trace. */
bool tide_monitors_wanted_alone(void) TIDE_COLD;

/* For monitors that ask: a loop begins or ends in this thread. */
extern bool tide_loops_watched;
void tide_monitor_loop_begins(const struct tide_name *name) TIDE_COLD;
void tide_monitor_loop_ends(void) TIDE_COLD;

#endif
