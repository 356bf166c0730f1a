/* cli/verbs.c - the verbs, and the words that could be taken for one.
 *
 * `tidemark import x` must not start a screenshot program because somebody expected a verb
 * of that name, and `tidemark repotr` must not start whatever has that name.
 */
#include "cli/verbs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/nearest.h"
#include "base/text.h"
#include "cli/before_run.h"
#include "collect/find_program.h"
#include "view/run_words.h"

const struct tide_command *const tide_verbs[] = {
    &tide_cmd_run,
    &tide_cmd_report,
    &tide_cmd_query,
    &tide_cmd_diff,
    &tide_cmd_check,
    &tide_cmd_resolve,
    &tide_cmd_info,
    &tide_cmd_export,
    &tide_cmd_pack,
    &tide_cmd_doctor,
    &tide_cmd_completion,
    &tide_cmd_collect,
    NULL,
};

/* Verbs that are planned: no script shall come to rely on these as names of programs. */
static const char *const LATER[] = {"snapshot", "top",   "maps",   "gpu",    "plot",
                                    "html",     "flame", "import", "attach", "detach",
                                    "merge",    "trim",  "scrub",  NULL};

/* What other profilers call their verbs, or a reader of the manual pages expects.  Where a
 * program has such a name, it is recorded. */
static const struct {
    const char *word, *ours;
} ELSEWHERE[] = {
    {"record", "run"},          {"start", "run"},
    {"analyze", "report"},      {"analyse", "report"},
    {"show", "report"},         {"view", "report"},
    {"print", "report"},        {"open", "report"},
    {"peak", "report --peak"},  {"leaks", "report --leaks"},
    {"leak", "report --leaks"}, {"churn", "report --churn"},
    {"stat", "info"},           {"stats", "info"},
    {"compare", "diff"},        {"convert", "export"},
    {"version", "--version"},
};

/* Of shorter names nearly every short word is one letter away. */
enum { TIDE_NEARLY_LEAST = 4, TIDE_VERBS_MOST = 64 };

const struct tide_command *tide_verb_find(const char *name)
{
    for (size_t i = 0; tide_verbs[i]; i++)
        if (strcmp(tide_verbs[i]->name, name) == 0)
            return tide_verbs[i];
    return NULL;
}

/* The verb, of today or later, that WORD is but for a slip; NULL: none. */
static const char *nearly_verb(const char *word)
{
    for (size_t i = 0; tide_verbs[i]; i++)
        if (tide_verbs[i]->summary &&
            strlen(tide_verbs[i]->name) >= TIDE_NEARLY_LEAST &&
            tide_nearly(word, tide_verbs[i]->name))
            return tide_verbs[i]->name;
    for (size_t i = 0; LATER[i]; i++)
        if (strlen(LATER[i]) >= TIDE_NEARLY_LEAST && tide_nearly(word, LATER[i]))
            return LATER[i];
    return NULL;
}

const char *tide_verb_nearest(const char *word)
{
    const char *names[TIDE_VERBS_MOST];
    for (size_t i = 0; i < sizeof(ELSEWHERE) / sizeof(ELSEWHERE[0]); i++)
        if (strcmp(ELSEWHERE[i].word, word) == 0)
            return ELSEWHERE[i].ours;
    size_t count = 0;
    for (size_t i = 0; tide_verbs[i] && count < TIDE_VERBS_MOST; i++)
        if (tide_verbs[i]->summary)
            names[count++] = tide_verbs[i]->name;
    return tide_nearest(word, names, count);
}

static bool is_program(const char *word)
{
    char *path;
    const int problem = tide_program_find(word, &path);
    free(path);
    return problem != ENOENT;
}

/* WORD is to become a verb: exactly that, in this version, it is not. */
static bool is_later(const char *word)
{
    for (size_t i = 0; LATER[i]; i++)
        if (strcmp(LATER[i], word) == 0)
            return true;
    return false;
}

static int refuse_later(const char *word)
{
    if (is_program(word))
        (void)tide_fail("'%s' is kept for a verb of tidemark; to record the program: "
                        "tidemark run %s",
                        word, word);
    else
        (void)tide_fail(
            "there is no verb '%s' in this version; 'tidemark --help' lists "
            "the verbs",
            word);
    return 2;
}

static int refuse_near(const char *word, const char *verb)
{
    if (is_program(word))
        (void)tide_fail("'%s' is nearly the verb '%s'; to record the program: tidemark "
                        "run %s",
                        word, verb, word);
    else if (tide_verb_find(verb))
        (void)tide_fail("there is no verb '%s'; did you mean 'tidemark %s'?", word,
                        verb);
    else
        return refuse_later(word);
    return 2;
}

/* A trace of that name is there, and cannot be meant to run. */
static bool is_trace(const char *word)
{
    const size_t length = strlen(word);
    return length > 5 && strcmp(word + length - 5, ".tide") == 0 &&
           access(word, F_OK) == 0 && access(word, X_OK) != 0;
}

static int refuse_trace(const char *word)
{
    const char *const words[] = {"tidemark", "report", word, NULL};
    struct tide_text command = {0};
    tide_words_command(&command, words);
    (void)tide_fail("%s is a trace; to read it: %s", word,
                    command.failed ? "tidemark report" : command.bytes);
    tide_text_release(&command);
    return 2;
}

int tide_verb_refuse(const char *word)
{
    if (is_trace(word))
        return refuse_trace(word);
    if (strchr(word, '/'))
        return -1;
    if (tide_verb_find(word)) {
        (void)tide_fail(
            "'%s' is a verb and comes first, its options after it; to record "
            "the program: tidemark run %s",
            word, word);
        return 2;
    }
    if (is_later(word))
        return refuse_later(word);
    const char *const verb = nearly_verb(word);
    if (verb)
        return refuse_near(word, verb);
    const char *const meant = is_program(word) ? NULL : tide_verb_nearest(word);
    if (!meant)
        return -1;
    (void)tide_fail("%s: there is no such program in PATH; did you mean 'tidemark %s'?",
                    word, meant);
    return TIDE_EXIT_NOT_FOUND;
}
