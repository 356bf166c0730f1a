/* collect/signals.h - the signals of a process that stands before another one.
 *
 * For: collect/, cli/.  Signals from the terminal reach both processes, since they share
 * its process group; those that somebody sends to us are meant for the program.
 */
#ifndef TIDE_COLLECT_SIGNALS_H
#define TIDE_COLLECT_SIGNALS_H

#include <signal.h>
#include <stdbool.h>
#include <sys/time.h>

enum { TIDE_SIGNALS_CHANGED = 3, TIDE_SIGNALS_TIMERS = 3 };

/* How it was when we started, and must be in the program. */
struct tide_signals {
    sigset_t mask;
    struct sigaction actions[TIDE_SIGNALS_CHANGED];
    struct itimerval timers[TIDE_SIGNALS_TIMERS];
};

/* From here on signals wait for tide_signals_next(). */
void tide_signals_take(struct tide_signals *before);
void tide_signals_restore(const struct tide_signals *before);
/* An alarm that was set goes on over exec, but not over fork: the program has it from here. */
void tide_timers_restore(const struct tide_signals *before);

/* A descriptor that is readable while signals wait; -1 on failure. */
int tide_signals_open(void);

/* What a signal asks us to do. */
enum tide_signal_kind {
    TIDE_SIGNAL_NONE,    /* no more are waiting */
    TIDE_SIGNAL_CHILD,   /* look after the program */
    TIDE_SIGNAL_FORWARD, /* was sent to us by somebody */
    TIDE_SIGNAL_SHARED,  /* the terminal sent it to the program, too */
};
struct tide_signal {
    enum tide_signal_kind kind;
    int number;
    pid_t sender;
};
struct tide_signal tide_signals_next(int fd);

/* Would this signal have ended us? */
bool tide_signal_ends(int number);

/* End the calling process as SIGNAL would, without a core file. */
void tide_signal_die(int number);

#endif
