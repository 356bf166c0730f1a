/* collect/run.c - record a program: the life of a run.
 *
 * The program is our child and shares our process group and terminal; we stand beside
 * it, pass on what is sent to us, stop when it stops, and are gone when it is.  If it
 * leaves others behind, a forked copy of us stays for them.
 */
#include "collect/run.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "collect/background.h"
#include "collect/group_watch.h"
#include "collect/launch.h"
#include "collect/naming.h"
#include "collect/notes_out.h"
#include "collect/preload.h"
#include "collect/procfs.h"
#include "collect/segment.h"
#include "collect/signals.h"

enum {
    TIDE_LAST_TURNS = 8,
    TIDE_PARTING_TURNS = 3, /* of so many milliseconds */
    TIDE_PARTING_MS = 10,
};

struct run {
    const struct tide_run_options *options;
    char **argv;
    struct tide_run_outcome *out;
    struct tide_collector *collector; /* owned */
    struct tide_signals signals;      /* as they were */
    int signal_fd;                    /* owned */
    struct tide_group_watch group;
    struct tide_launch launch;
    struct rlimit descriptors; /* the program's limit on them; ours is higher */
    uint64_t own_peak;         /* our memory when we forked */
    bool ended;                /* the program was reaped */
    bool give_up;              /* somebody wants us to end */
    struct tide_inherited inherited;
};

static enum tide_status fail(struct run *run, enum tide_status status, const char *what,
                             int problem)
{
    (void)snprintf(run->out->problem, sizeof(run->out->problem), "%.120s%s%s", what,
                   problem ? ": " : "", problem ? tide_memory_problem(problem) : "");
    return status ? status : TIDE_ESYSTEM;
}

/* --- The program ------------------------------------------------------------------------ */

/* The child counts our own memory, which it had before exec, into its peak: only what
 * is more is its own. */
static uint64_t peak_of(const struct run *run, const struct rusage *usage)
{
    const uint64_t peak = (uint64_t)usage->ru_maxrss * 1024;
    return peak > run->own_peak ? peak : 0;
}

static bool is_job_stop(int status)
{
    const int number = WSTOPSIG(status);
    return number == SIGTSTP || number == SIGTTIN || number == SIGTTOU;
}

/* The program was stopped from the terminal: so that the shell gets it back, stop as
 * well, with everything in the file.  We go on when the shell continues the job. */
static void stop_too(struct run *run)
{
    tide_collector_stop(run->collector);
    (void)raise(SIGSTOP);
    (void)tide_collector_start(run->collector);
    (void)kill(run->launch.pid, SIGCONT);
}

static void look_after(struct run *run)
{
    struct rusage usage;
    int status;
    while (!run->ended) {
        const pid_t pid = wait4(run->launch.pid, &status, WNOHANG | WUNTRACED, &usage);
        if (pid != run->launch.pid)
            return;
        if (WIFSTOPPED(status)) {
            if (is_job_stop(status))
                stop_too(run);
            continue;
        }
        run->ended = true;
        run->out->status = status;
        tide_collector_main_ended(run->collector, status, peak_of(run, &usage));
    }
}

/* The first process of a container is given the children of others, and nobody but it can
 * wait for them. */
static void reap_others(const struct run *run)
{
    siginfo_t ended = {0};
    while (waitid(P_ALL, 0, &ended, WEXITED | WNOHANG | WNOWAIT) == 0 && ended.si_pid &&
           ended.si_pid != run->launch.pid) {
        (void)waitpid(ended.si_pid, NULL, WNOHANG);
        ended.si_pid = 0;
    }
}

static void obey(struct run *run, const struct tide_signal *signal)
{
    if (signal->kind == TIDE_SIGNAL_CHILD) {
        look_after(run);
        reap_others(run);
    } else if (run->ended) {
        run->give_up |= tide_signal_ends(signal->number);
    } else if (signal->kind == TIDE_SIGNAL_FORWARD &&
               signal->sender != run->launch.pid &&
               !tide_group_watch_saw(&run->group, signal->number, run->launch.pid)) {
        (void)kill(run->launch.pid, signal->number);
    }
}

static void obey_all(struct run *run)
{
    for (;;) {
        const struct tide_signal signal = tide_signals_next(run->signal_fd);
        if (signal.kind == TIDE_SIGNAL_NONE)
            return;
        obey(run, &signal);
    }
}

/* --- Beginning ---------------------------------------------------------------------------- */

static enum tide_status prepare(struct run *run)
{
    char *const library = tide_preload_find();
    const char *const problem = tide_preload_problem(library);
    if (problem) {
        free(library);
        return fail(run, TIDE_EUSAGE, problem, 0);
    }
    char **const environment =
        tide_preload_environment(environ, library, run->collector->directory);
    free(library);
    if (!environment)
        return fail(run, TIDE_ENOMEM, "out of memory", 0);
    const struct tide_launch_plan plan = {run->argv, environment, &run->signals,
                                          &run->descriptors};
    uint64_t bytes;
    (void)tide_procfs_rss((uint32_t)getpid(), &bytes, &run->own_peak);
    const enum tide_status status = tide_launch_prepare(&plan, &run->launch);
    tide_preload_free(environment);
    return status ? fail(run, status, "cannot start a process", errno) : TIDE_OK;
}

static enum tide_status create_trace(struct run *run)
{
    const struct tide_clock *const clock = &run->collector->clock;
    const struct tide_name_facts name = {run->options->name, run->argv[0],
                                         (uint32_t)run->launch.pid};
    const struct tide_writer_start start = {
        .unix_ns = clock->start_unix_ns,
        .ticks = clock->start_ticks,
        .ticks_per_second = tide_clock_rate(clock),
    };
    struct tide_writer *writer;
    enum tide_status status =
        tide_name_create(&name, &start, &run->out->trace, &writer);
    if (status) {
        (void)fail(run, status, run->out->trace ? run->out->trace : "the trace", errno);
        const size_t used = strlen(run->out->problem);
        (void)snprintf(run->out->problem + used, sizeof(run->out->problem) - used,
                       "; name another place with -o");
        return status;
    }
    if (run->options->name)
        run->out->taken = tide_name_taken(&name, run->out->trace);
    const struct tide_run_facts facts = {run->argv, run->options->version,
                                         run->options->words};
    status = tide_collector_begin(run->collector, writer, &facts);
    if (status)
        (void)fail(run, status, run->out->trace, tide_writer_problem(writer));
    for (const char **line = run->options->troubles; !status && line && *line; line++)
        tide_collector_trouble(run->collector, *line);
    return status;
}

static void remove_trace(struct run *run)
{
    if (run->collector->writer && run->out->trace)
        (void)unlink(run->out->trace);
    free(run->out->trace);
    run->out->trace = NULL;
}

static bool listen_to_signals(struct run *run)
{
    run->signal_fd = tide_signals_open();
    return run->signal_fd >= 0 &&
           tide_collector_watch(run->collector, run->signal_fd) == TIDE_OK;
}

/* The last that can fail, before the program runs. */
static enum tide_status begin_collecting(struct run *run)
{
    errno = 0;
    if (!listen_to_signals(run) || tide_collector_start(run->collector) != TIDE_OK)
        return fail(run, TIDE_ESYSTEM, "cannot start to record",
                    errno ? errno : EAGAIN);
    /* Last, since recording can do without it where processes are limited. */
    tide_group_watch_begin(&run->group);
    return TIDE_OK;
}

static enum tide_status begin(struct run *run)
{
    enum tide_status status =
        tide_collector_open(&run->options->wishes, &run->collector);
    if (status)
        return fail(run, status, "cannot make a session folder", errno);
    run->collector->main_pid = 0;
    status = prepare(run);
    if (status)
        return status;
    run->collector->main_pid = (uint32_t)run->launch.pid;
    status = create_trace(run);
    if (status == TIDE_OK)
        status = begin_collecting(run);
    if (status) {
        tide_launch_cancel(&run->launch);
        remove_trace(run);
        return status;
    }
    run->out->exec_errno = tide_launch_go(&run->launch);
    if (run->out->exec_errno) {
        tide_collector_stop(run->collector);
        remove_trace(run);
    }
    return TIDE_OK;
}

/* --- Middle --------------------------------------------------------------------------------- */

/* Who knocked while we were stopped may be gone since: that is said.  One turn hears the knock,
 * another the name. */
static void hear_the_last(const struct run *run)
{
    int turns = 0;
    do {
        (void)tide_collector_turn(run->collector, 0);
        tide_handshake_hear_waiting(run->collector);
    } while (run->collector->connections.count > 0 && ++turns < TIDE_LAST_TURNS);
}

static void follow(struct run *run)
{
    look_after(run); /* it may have ended before we listened */
    while (!run->ended) {
        if (tide_collector_turn(run->collector, -1))
            obey_all(run);
    }
    hear_the_last(run);
    tide_collector_stop(run->collector);
}

/* Until nobody is left, or we are told to go. */
static void wait_for_others(struct run *run)
{
    bool busy = true;
    while (busy && !run->give_up) {
        if (tide_collector_start(run->collector))
            return;
        do {
            if (tide_collector_turn(run->collector, 1000))
                obey_all(run);
        } while (!run->give_up && tide_collector_has_targets(run->collector));
        tide_collector_stop(run->collector);
        busy = tide_collector_busy(run->collector);
    }
    if (busy)
        tide_collector_trouble(run->collector,
                               "tidemark was told to end: what other processes of the "
                               "run did after that is not recorded");
}

/* --- End ------------------------------------------------------------------------------------ */

/* In the forked copy: go on where the other stopped. */
static void continue_behind(struct run *run)
{
    run->out->role = TIDE_RUN_BACKGROUND;
    tide_background_leave(&run->inherited);
    (void)close(run->signal_fd);
    run->signal_fd = -1;
    if (tide_collector_renew(run->collector) || !listen_to_signals(run))
        tide_collector_trouble(run->collector,
                               "other processes of the run were left: no process could "
                               "stay for them");
    else
        wait_for_others(run);
}

/* Is anybody left?  Of one who has just ended the news may be on its way. */
static bool others_stay(struct run *run)
{
    struct tide_collector *const collector = run->collector;
    bool busy = tide_collector_busy(collector);
    for (int i = 0; i < TIDE_PARTING_TURNS && busy; i++) {
        (void)poll(NULL, 0, TIDE_PARTING_MS);
        if (tide_collector_start(collector))
            break;
        if (tide_collector_turn(collector, 0))
            obey_all(run);
        tide_collector_stop(collector);
        busy = tide_collector_busy(collector);
    }
    return busy;
}

/* False: the other process has the collector now.  The first process of a container takes
 * all others with it. */
static bool see_off_others(struct run *run)
{
    if (!others_stay(run) || (getpid() == 1 && !run->options->wait))
        return true;
    if (run->options->wait) {
        wait_for_others(run);
        return true;
    }
    const pid_t pid = fork();
    if (pid == 0) {
        continue_behind(run);
        return true;
    }
    if (pid < 0)
        tide_collector_trouble(run->collector, "other processes of the run were left: "
                                               "no process could stay for them");
    run->out->others = pid > 0;
    return pid < 0;
}

static void describe(struct run *run)
{
    struct tide_collector *const collector = run->collector;
    run->out->bytes = tide_writer_bytes(collector->writer);
    run->out->processes = collector->process_count;
    run->out->refused_errno = collector->refused_errno;
    run->out->missed = atomic_load(&collector->missed);
    run->out->partly = collector->troubles;
    run->out->write_errno = tide_writer_problem(collector->writer);
    run->out->removed = tide_writer_removed(collector->writer);
    struct tide_text line = {0};
    tide_collector_unrecorded(collector, false, &line);
    run->out->unrecorded = line.bytes;
}

/* No program had the name that was asked for.  An empty trace would only be in the way;
 * but one that was left to the background is kept, since its name was told before. */
static void explain_nothing(struct run *run)
{
    struct tide_collector *const collector = run->collector;
    if (!run->options->wishes.targets || collector->process_count > 0)
        return;
    struct tide_text line = {0};
    tide_choice_explain(&collector->choice, &line);
    if (line.failed) {
        tide_text_release(&line);
        return;
    }
    tide_collector_trouble(collector, line.bytes);
    run->out->unmatched = line.bytes;
}

/* Somebody who does not wait for names shall have his prompt. */
static bool is_told_to_end(void *context)
{
    struct run *const run = context;
    obey_all(run);
    return run->give_up;
}

static void end(struct run *run)
{
    const bool ours = see_off_others(run);
    if (ours) {
        explain_nothing(run);
        tide_collector_finish(run->collector, is_told_to_end, run);
    }
    describe(run);
    if (run->out->unmatched && run->out->role == TIDE_RUN_FOREGROUND)
        remove_trace(run);
    if (!ours) {
        tide_collector_abandon(run->collector);
        run->collector = NULL;
    }
}

enum tide_status tide_run(const struct tide_run_options *options, char **argv,
                          struct tide_run_outcome *out)
{
    *out = (struct tide_run_outcome){.role = TIDE_RUN_FOREGROUND};
    struct run run = {.options = options, .argv = argv, .out = out, .signal_fd = -1};
    tide_inherited_find(&run.inherited);
    tide_signals_take(&run.signals);
    tide_descriptors_take(&run.descriptors);
    const enum tide_status status = begin(&run);
    const bool begun = status == TIDE_OK && out->exec_errno == 0;
    if (begun)
        follow(&run);
    tide_group_watch_end(&run.group);
    if (begun)
        end(&run);
    tide_collector_close(run.collector);
    if (run.signal_fd >= 0)
        (void)close(run.signal_fd);
    tide_inherited_release(&run.inherited);
    tide_signals_restore(&run.signals);
    return status;
}

void tide_run_release(struct tide_run_outcome *outcome)
{
    free(outcome->trace);
    free(outcome->taken);
    free(outcome->unmatched);
    free(outcome->unrecorded);
    outcome->trace = outcome->taken = NULL;
    outcome->unmatched = outcome->unrecorded = NULL;
}
