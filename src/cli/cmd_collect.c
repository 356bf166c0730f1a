/* cli/cmd_collect.c - tidemark collect: what a program with LD_PRELOAD alone starts.
 *
 * Not for people: it has no place in the list of verbs.  What it has to say goes to the
 * standard error of the program, which waits meanwhile.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "cli/cali_notes.h"
#include "cli/command.h"
#include "cli/end_query.h"
#include "cli/record_options.h"
#include "collect/attend.h"
#include "trace/ring.h"

static bool speaks;

static void complain(void *context, const struct tide_record_complaint *complaint)
{
    (void)context;
    if (speaks && !complaint->unknown) /* it may be somebody else's variable */
        (void)tide_fail("%s", complaint->text);
}

static void say_taken(const char *wanted, const char *trace)
{
    if (speaks)
        tide_say("%s exists and is not overwritten: this trace is %s", wanted, trace);
}

/* --- Caliper's variables ------------------------------------------------------------- */

/* What is asked when all have ended, and where the answer goes. */
struct question {
    struct tide_end_query query;
    int kept[4]; /* standard output, standard error, folder; ends with -1 */
};

/* Who asks nothing keeps nothing open.  A mistake is said; the program runs and is
 * recorded. */
static bool read_question(struct question *question)
{
    if (!speaks)
        return false;
    tide_cali_notes(false);
    if (tide_end_query_read(&question->query, NULL) >= 0 || !question->query.text)
        return false;
    question->kept[0] = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    question->kept[1] = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    question->kept[2] = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    question->kept[3] = -1;
    return question->kept[0] >= 0 && question->kept[1] >= 0 && question->kept[2] >= 0;
}

static void answer_question(void *context, char *trace)
{
    const struct question *const question = context;
    if (dup2(question->kept[0], STDOUT_FILENO) < 0 ||
        dup2(question->kept[1], STDERR_FILENO) < 0 || fchdir(question->kept[2]))
        return;
    tide_end_query_answer(&question->query, trace);
}

/* --- All of it ----------------------------------------------------------------------- */

static int run(int argc, char **argv)
{
    if (argc != 3)
        return tide_fail_usage(&tide_cmd_collect, "a pid and a descriptor are needed");
    const int answer = (int)strtol(argv[2], NULL, 10);
    /* The first program of those that cannot be recorded says why; but who has closed its
     * standard error has something else there. */
    // NOLINTNEXTLINE(concurrency-mt-unsafe): one thread
    speaks = answer > STDERR_FILENO && !getenv(TIDE_FAILED_ENV);
    struct tide_record_options record;
    tide_record_options_read(&record, complain, NULL);
    struct question question = {0};
    const bool asks = read_question(&question);
    struct tide_text words = {0};
    tide_record_options_words(&record, &words);
    tide_text_add(&words, " preload");
    const struct tide_attend_options options = {
        .pid = (uint32_t)strtoul(argv[1], NULL, 10),
        .answer = answer,
        .name = record.name,
        .wishes = record.wishes,
        .words = words.failed ? "preload" : words.bytes,
        .version = TIDE_VERSION,
        .taken = say_taken,
        .kept = asks ? question.kept : NULL,
        .finished = asks ? answer_question : NULL,
        .context = &question,
    };
    char problem[TIDE_ATTEND_PROBLEM] = "";
    const enum tide_status status = tide_attend(&options, problem);
    tide_text_release(&words);
    if (*problem && speaks)
        (void)tide_fail("%s; this program is not recorded%s", problem,
                        record.name ? "" : " (TIDEMARK_OUTPUT names another place)");
    return status == TIDE_OK ? 0 : 1;
}

const struct tide_command tide_cmd_collect = {
    .name = "collect",
    .summary = NULL,
    .usage = "PID DESCRIPTOR",
    .help =
        "Collects for a program that was started with LD_PRELOAD=libtidemark.so and\n"
        "without 'tidemark run'.  The recorder starts it by itself; the options of run\n"
        "are variables then: see ENVIRONMENT in tidemark-run(1).\n",
    .options = tide_record_table, /* as variables */
    .run = run,
};
