/* collect/attend.c - record a program that was not started by us.
 *
 * The program stands still in its start-up until we have answered, so the trace is
 * created and the collector runs before its first event.
 *
 * Who is told to end closes the trace first.  In a container the program tells us when it ends:
 * the first process may end then, too, and everybody else is killed with it.
 */
#include "collect/attend.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "collect/background.h"
#include "collect/naming.h"
#include "collect/notes_out.h"
#include "collect/procfs.h"
#include "collect/segment.h"
#include "collect/signals.h"

enum { TIDE_WORDS_MOST = 256, TIDE_SHORT_MS = 100 };

/* The words of IMAGE's command line; the list ends with NULL. */
static void list_words(const struct tide_image *image, char **words)
{
    size_t count = 0;
    char *word = image->words;
    while (word && word < image->words + image->words_bytes &&
           count < TIDE_WORDS_MOST - 1) {
        words[count++] = word;
        word += strlen(word) + 1;
    }
    words[count] = NULL;
}

static void explain(const char *what, char problem[TIDE_ATTEND_PROBLEM])
{
    (void)snprintf(problem, TIDE_ATTEND_PROBLEM, "%.200s: %s", what,
                   tide_memory_problem(errno));
}

/* A name that was asked for, and that the trace does not have, is told. */
static void tell_name(const struct tide_attend_options *options,
                      const struct tide_name_facts *facts, const char *trace)
{
    char *const wanted = options->name ? tide_name_taken(facts, trace) : NULL;
    if (wanted)
        options->taken(wanted, trace);
    free(wanted);
}

static enum tide_status create_trace(struct tide_collector *collector,
                                     const struct tide_attend_options *options,
                                     char **trace, char problem[TIDE_ATTEND_PROBLEM])
{
    struct tide_image image;
    char *words[TIDE_WORDS_MOST];
    tide_procfs_image(options->pid, &image);
    list_words(&image, words);

    const struct tide_clock *const clock = &collector->clock;
    const struct tide_name_facts name = {
        options->name, image.exe ? image.exe : "program", options->pid};
    const struct tide_writer_start start = {.unix_ns = clock->start_unix_ns,
                                            .ticks = clock->start_ticks,
                                            .ticks_per_second = tide_clock_rate(clock)};
    struct tide_writer *writer = NULL;
    enum tide_status status = tide_name_create(&name, &start, trace, &writer);
    if (status)
        explain(*trace ? *trace : "the trace", problem);
    if (status == TIDE_OK) {
        const struct tide_run_facts facts = {words, options->version, options->words};
        tell_name(options, &name, *trace);
        status = tide_collector_begin(collector, writer, &facts);
        if (status)
            explain(*trace, problem);
    }
    tide_image_release(&image);
    return status;
}

static bool answer(const struct tide_attend_options *options, const char *directory)
{
    char line[256];
    const int length = snprintf(line, sizeof(line), "%s\n", directory);
    const bool sent = length > 0 && length < (int)sizeof(line) &&
                      write(options->answer, line, (size_t)length) == length;
    (void)close(options->answer);
    return sent;
}

struct attending {
    struct tide_collector *collector;
    pid_t program;
    bool
        outlives; /* the program may run unrecorded, and start others that are recorded */
    int signals;    /* a descriptor */
    bool told_to;   /* end */
    bool by_signal; /* somebody told us to, and waits */
};

static void say_told(const struct attending *at, pid_t sender)
{
    if (sender != at->program)
        tide_collector_trouble(at->collector,
                               "tidemark was told to end: what the program did after "
                               "that is not recorded");
}

/* Somebody is about to end, and we may be killed as soon as he has.  All that he did is
 * written now, and the trace gets its end if nobody else is left or all others are killed. */
static void hear_farewell(struct attending *at)
{
    struct tide_session_page *const page = at->collector->page;
    const uint32_t pid = atomic_load(&page->farewell);
    if (at->told_to || pid == atomic_load(&page->written))
        return;
    (void)tide_collector_turn(at->collector, 0); /* hear of children that have ended */
    tide_collector_stop(at->collector);
    at->told_to = pid == 1 || tide_collector_has_only(at->collector, pid) ||
                  tide_collector_start(at->collector) != TIDE_OK;
    if (!at->told_to)
        atomic_store(&page->written, pid);
}

/* Has somebody told us to end, who shall not wait for names? */
static bool is_told_to_end(void *context)
{
    struct attending *const at = context;
    struct tide_signal signal;
    do {
        signal = tide_signals_next(at->signals);
        at->by_signal |= signal.kind != TIDE_SIGNAL_NONE &&
                         signal.kind != TIDE_SIGNAL_CHILD &&
                         tide_signal_ends(signal.number);
    } while (signal.kind != TIDE_SIGNAL_NONE);
    return at->by_signal;
}

static void turn(struct attending *at, int wait_ms)
{
    struct tide_signal signal = {.kind = TIDE_SIGNAL_NONE};
    if (tide_collector_turn(at->collector, wait_ms))
        signal = tide_signals_next(at->signals);
    for (; signal.kind != TIDE_SIGNAL_NONE; signal = tide_signals_next(at->signals)) {
        if (signal.kind == TIDE_SIGNAL_CHILD || !tide_signal_ends(signal.number))
            continue;
        if (!at->told_to)
            say_told(at, signal.sender);
        at->told_to = at->by_signal = true;
    }
    hear_farewell(at);
}

static bool has_program(const struct attending *at)
{
    return tide_procfs_lives((uint32_t)at->program);
}

static bool has_company(const struct attending *at)
{
    return tide_collector_has_targets(at->collector) ||
           (at->outlives && has_program(at));
}

/* First until the program has come, then until everybody has gone. */
static void follow(struct attending *at)
{
    const int pause_ms = at->outlives ? TIDE_SHORT_MS : 1000;
    while (!at->told_to && !tide_collector_has_met_one(at->collector) &&
           has_program(at))
        turn(at, TIDE_SHORT_MS);
    bool busy = true;
    while (busy) {
        do {
            turn(at, at->told_to ? 0 : pause_ms);
        } while (!at->told_to && has_company(at));
        tide_collector_stop(at->collector);
        busy = !at->told_to && tide_collector_busy(at->collector) &&
               !tide_collector_start(at->collector);
    }
}

/* What the program has open, and lets us have, nobody shall wait for us to close. */
static bool is_kept(const struct tide_attend_options *options, int fd)
{
    for (const int *kept = options->kept; kept && *kept >= 0; kept++)
        if (*kept == fd)
            return true;
    return fd == options->answer;
}

static void find_inherited(struct tide_inherited *inherited,
                           const struct tide_attend_options *options)
{
    tide_inherited_find(inherited);
    for (size_t i = 0; i < inherited->count; i++)
        if (is_kept(options, inherited->fds[i]))
            inherited->fds[i--] = inherited->fds[--inherited->count];
}

/* No program had the name that was asked for. */
static void explain_nothing(struct tide_collector *collector,
                            const struct tide_attend_options *options)
{
    struct tide_text line = {0};
    if (!options->wishes.targets || collector->process_count > 0)
        return;
    tide_choice_explain(&collector->choice, &line);
    if (!line.failed)
        tide_collector_trouble(collector, line.bytes);
    tide_text_release(&line);
}

enum tide_status tide_attend(const struct tide_attend_options *options,
                             char problem[TIDE_ATTEND_PROBLEM])
{
    struct tide_collector *collector;
    struct tide_inherited inherited;
    struct tide_signals before;
    struct rlimit descriptors;
    char *trace = NULL;
    find_inherited(&inherited, options);
    tide_signals_take(&before); /* here nobody asks for them back */
    tide_descriptors_take(&descriptors);
    enum tide_status status = tide_collector_open(&options->wishes, &collector);
    if (status) {
        explain("cannot make a session folder", problem);
        goto release;
    }
    struct attending at = {.collector = collector,
                           .program = (pid_t)options->pid,
                           .outlives = options->wishes.targets != NULL,
                           .signals = tide_signals_open()};
    collector->page->mortal_with = tide_procfs_in_container() ? options->pid : 0;
    status = create_trace(collector, options, &trace, problem);
    if (status)
        goto close;
    status = tide_collector_start(collector);
    if (status) {
        explain("cannot start to record", problem);
        goto close;
    }
    if (answer(options, collector->directory)) {
        tide_background_leave(&inherited);
        if (at.signals >= 0)
            tide_collector_watch(collector, at.signals);
        follow(&at);
    } else {
        tide_collector_stop(collector);
    }
    explain_nothing(collector, options);
    tide_collector_finish(collector, is_told_to_end, &at);
    if (options->finished && !collector->stopped)
        options->finished(options->context, trace);
    atomic_store(&collector->page->written, atomic_load(&collector->page->farewell));
close:
    tide_collector_close(collector);
release:
    tide_inherited_release(&inherited);
    free(trace);
    return status;
}
