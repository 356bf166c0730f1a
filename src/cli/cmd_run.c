/* cli/cmd_run.c - tidemark run: record a program. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "base/raw/monitor_words.h"
#include "base/text.h"
#include "cli/before_run.h"
#include "cli/cali_notes.h"
#include "cli/command.h"
#include "cli/end_query.h"
#include "cli/options.h"
#include "cli/record_options.h"
#include "cli/verbs.h"
#include "collect/find_program.h"
#include "collect/run.h"
#include "collect/segment.h"
#include "collect/signals.h"
#include "collect/write_names.h"
#include "view/run_words.h"
#include "view/units.h"

struct choices {
    struct tide_run_options run;
    struct tide_record_options record;
    const char *monitor, *query;
    bool quiet, force, embed;
    struct tide_end_query end_query;
};

/* --- Options ------------------------------------------------------------------------- */

/* The recorder would say the same, when the program runs already. */
static int check_monitor(const char *list)
{
    struct tide_monitor_words words = {.rest = list};
    struct tide_monitor_fault fault = {0};
    while (list && tide_monitor_words_next(&words, &fault) && !fault.text[0])
        ;
    if (fault.text[0])
        return tide_fail_usage(&tide_cmd_run, "--monitor: %s", fault.text);
    return -1;
}

static int check(struct choices *choices, const struct tide_arguments *rest)
{
    if (rest->count == 0)
        return tide_fail_usage(&tide_cmd_run, "which program?");
    const struct tide_record_fault fault = tide_record_options_end(&choices->record);
    if (fault.name && strcmp(fault.name, "output") == 0)
        return tide_fail_usage(&tide_cmd_run, "-o '%s': %s", choices->record.name,
                               fault.text);
    if (fault.name)
        return tide_fail_usage(&tide_cmd_run, "--%s: %s", fault.name, fault.text);
    choices->run.name = choices->record.name;
    choices->run.wishes = choices->record.wishes;
    if (choices->embed && choices->record.no_names)
        return tide_fail_usage(&tide_cmd_run, "either --embed-symbols or --no-names");
    if (choices->embed)
        choices->run.wishes.naming_ms = TIDE_NAMING_UNLIMITED;
    return check_monitor(choices->monitor);
}

/* What was asked for so far: in a place that does not change, for the table. */
static struct choices asked;

/* The options that are no variables as well. */
static const struct tide_option TABLE[] = {
    {.name = "monitor",
     .text = &asked.monitor,
     .value = "LIST",
     .help = "also count inside PROGRAM and report when it exits: simple, loop, "
             "histogram, periodic, regions or threshold, with options; see "
             "tidemark-run(1)",
     .rare = true},
    {.name = "wait",
     .flag = &asked.run.wait,
     .help = "wait for all processes of the run, not only for PROGRAM"},
    {.name = "quiet",
     .letter = 'q',
     .flag = &asked.quiet,
     .help = "do not say where the trace is or what is missing from it"},
    {.name = "force",
     .flag = &asked.force,
     .help = "run PROGRAM even if it cannot be recorded, to record what it starts",
     .rare = true},
    {.name = "embed-symbols",
     .flag = &asked.embed,
     .help = "put all names of functions and lines into the trace, however long it "
             "takes; without this option tidemark stops after 2 seconds",
     .rare = true},
    {.name = "query",
     .text = &asked.query,
     .value = "QUERY",
     .help = "answer QUERY when PROGRAM has ended (see tidemark-query(1)); "
             "Caliper's variable CALI_REPORT_CONFIG works as well",
     .rare = true},
    {.name = NULL},
};

static int parse(int argc, char **argv, struct choices *choices,
                 struct tide_arguments *rest)
{
    asked = *choices;
    tide_record_options_begin();
    const bool verb = strcmp(argv[0], tide_cmd_run.name) == 0;
    int done = tide_options_parse_first(&tide_cmd_run, argc, argv, rest);
    *choices = asked;
    if (done < 0 && !verb && rest->count > 0)
        done = tide_verb_refuse(rest->list[0]);
    return done < 0 ? check(choices, rest) : done;
}

/* --- The end ---------------------------------------------------------------------------- */

static void say_trouble(const struct tide_run_outcome *outcome)
{
    char buffer[128];
    if (outcome->write_errno)
        (void)tide_fail("%s: %s; the trace ends there", outcome->trace,
                        strerror_r(outcome->write_errno, buffer, sizeof(buffer)));
    if (outcome->refused_errno)
        (void)tide_fail("%s was recorded: no shared memory: %s",
                        outcome->processes == 0 ? "nothing" : "not all",
                        tide_memory_problem(outcome->refused_errno));
    else if (outcome->missed)
        (void)tide_fail(
            "not all was recorded: %u process%s missed; the report says why",
            outcome->missed, outcome->missed == 1 ? " was" : "es were");
    else if (outcome->partly)
        (void)tide_fail(
            "not all was recorded: %u thread%s recorded in part only; the report says why",
            outcome->partly, outcome->partly == 1 ? " was" : "s were");
    else if (outcome->unmatched)
        (void)tide_fail("%s", outcome->unmatched);
    else if (outcome->processes == 0 && !outcome->others)
        (void)tide_fail("nothing was recorded: the program did not load the recorder "
                        "(is it statically linked, or setuid?)");
    if (outcome->unrecorded)
        (void)tide_fail("%s", outcome->unrecorded);
    if (outcome->others)
        (void)tide_fail("other processes of the run go on; the trace is complete when "
                        "they have ended (--wait waits for them)");
}

/* What there is, and what to do with it. */
static void say_where(const struct tide_run_outcome *outcome)
{
    struct tide_text line = {0};
    const char *const words[] = {"tidemark", "report", outcome->trace, NULL};
    tide_text_addf(&line, "%s in ",
                   tide_number_bytes(outcome->bytes, TIDE_UNITS_IEC).text);
    tide_text_add_safe(&line, outcome->trace);
    tide_text_add(&line, "; now: ");
    tide_words_command(&line, words);
    if (!line.failed)
        tide_say("%s", line.bytes);
    tide_text_release(&line);
}

/* What becomes of a name that was asked for is said in any case. */
static void say_end(const struct tide_run_outcome *outcome, bool quiet)
{
    if (outcome->removed) {
        (void)tide_fail("%s was removed while it was written: nothing is left of it",
                        outcome->trace);
        return;
    }
    if (!quiet)
        say_trouble(outcome);
    if (outcome->taken && outcome->trace)
        (void)tide_fail("%s exists and is not overwritten: this trace is %s",
                        outcome->taken, outcome->trace);
    if (!quiet && outcome->trace)
        say_where(outcome);
}

/* The program's end is ours. */
static int end_like(int status)
{
    if (WIFSIGNALED(status))
        tide_signal_die(WTERMSIG(status));
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static int say_not_started(const char *program, int problem)
{
    (void)tide_fail("%s: %s", program, tide_program_problem(program, problem));
    return tide_exit_of_problem(problem);
}

static int finish(const struct tide_run_outcome *outcome, const char *program,
                  const struct choices *choices)
{
    if (outcome->role == TIDE_RUN_BACKGROUND)
        return 0;
    if (outcome->exec_errno)
        return say_not_started(program, outcome->exec_errno);
    say_end(outcome, choices->quiet);
    if (outcome->trace && !outcome->removed)
        tide_end_query_answer(&choices->end_query, outcome->trace);
    return end_like(outcome->status);
}

static int run(int argc, char **argv)
{
    struct choices choices = {.run.version = TIDE_VERSION};
    struct tide_arguments rest = {0};
    const int done = parse(argc, argv, &choices, &rest);
    if (done >= 0)
        return done;
    const int bad = tide_end_query_read(&choices.end_query, choices.query);
    if (bad >= 0)
        return bad;
    if (!choices.quiet)
        tide_cali_notes(choices.query != NULL);
    struct tide_before_run before;
    const int refused =
        tide_before_run(rest.list[0], choices.force, choices.quiet, &before);
    if (refused >= 0) {
        tide_before_run_release(&before);
        return refused;
    }
    struct tide_text words = {0};
    tide_record_options_words(&choices.record, &words);
    if (choices.monitor) /* the program has it from us, who have no threads yet */
        /* NOLINTNEXTLINE(concurrency-mt-unsafe) */
        (void)setenv("TIDEMARK_MONITOR", choices.monitor, 1);
    choices.run.words = words.bytes;
    choices.run.troubles = before.troubles;

    struct tide_run_outcome outcome;
    const enum tide_status status = tide_run(&choices.run, rest.list, &outcome);
    tide_text_release(&words);
    tide_before_run_release(&before);
    const int code = status ? tide_fail("%s", outcome.problem)
                            : finish(&outcome, rest.list[0], &choices);
    tide_run_release(&outcome);
    return code;
}

const struct tide_command tide_cmd_run = {
    .name = "run",
    .summary = "record a program",
    .usage = "[OPTION...] [--] PROGRAM [ARGUMENT...]",
    .help =
        "Runs PROGRAM, records every allocation of it and of the processes it starts,\n"
        "and exits with its status.  'tidemark [OPTION...] PROGRAM' does the same.\n",
    .example = "run -o before ./prog input.dat",
    .takes = TIDE_TAKES_PROGRAM,
    .options = tide_record_table,
    .more_options = TABLE,
    .run = run,
};
