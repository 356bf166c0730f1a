/* cli/cmd_resolve.c - tidemark resolve: which block held this address? */
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "cli/command.h"
#include "cli/memory_limit.h"
#include "cli/open_moment.h"
#include "cli/open_trace.h"
#include "cli/options.h"
#include "view/progress.h"
#include "view/resolve_view.h"

struct resolve_options {
    bool json;
    int color;
};

/* All that is asked, in the order it was asked. */
struct inquiry {
    struct tide_question *questions; /* owned */
    struct tide_asked *asked;        /* owned */
    size_t count;
};

/* What was asked for so far: in a place that does not change, for the table. */
static struct resolve_options asked;

static const struct tide_option TABLE[] = {
    TIDE_OPTION_JSON(asked.json, "resolve"),
    TIDE_OPTION_COLOR(asked.color, false),
    {.name = NULL},
};

static int parse(int argc, char **argv, struct resolve_options *options,
                 struct tide_arguments *rest)
{
    asked = *options;
    const int done = tide_options_parse(&tide_cmd_resolve, argc, argv, rest);
    *options = asked;
    return done;
}

/* --- Words --------------------------------------------------------------------------- */

/* The address at the start of WORD, hexadecimal with or without 0x; *REST is what follows
 * it. */
static bool read_address(const char *word, uint64_t *out, const char **rest)
{
    const char *const digits =
        word[0] == '0' && (word[1] == 'x' || word[1] == 'X') ? word + 2 : word;
    const size_t length = strspn(digits, "0123456789abcdefABCDEF");
    char *end;
    errno = 0;
    *out = strtoull(digits, &end, 16);
    *rest = digits + length;
    return length > 0 && !errno && (**rest == '\0' || **rest == '@');
}

/* Is the first word a trace?  An address may look like a name; a file that is there goes
 * first. */
static bool names_trace(const char *word)
{
    uint64_t address;
    const char *rest;
    struct tide_text longer = {0};
    if (word[0] == '@')
        return false;
    if (!read_address(word, &address, &rest) || access(word, F_OK) == 0)
        return true;
    tide_text_addf(&longer, "%s.tide", word);
    const bool found = longer.bytes && access(longer.bytes, F_OK) == 0;
    tide_text_release(&longer);
    return found;
}

/* --- Moments ------------------------------------------------------------------------- */

/* The moment that was looked for last: many addresses may have the same. */
struct known_moment {
    const char *when; /* NULL: none yet */
    struct tide_instant at;
};

/* WHEN, as in TRACE@WHEN: what is asked about.  -1 or the exit status. */
static int read_moment(const struct tide_opened *opened, const char *when,
                       struct known_moment *known)
{
    if (known->when && strcmp(known->when, when) == 0)
        return -1;
    *known = (struct known_moment){.when = when, .at = {.at_s = -1, .until_s = -1}};
    return *when ? tide_find_moment(opened, when, &known->at) : -1;
}

/* The moment that is meant where an address has none: the last word that is only @WHEN. */
static const char *common_moment(char *const *words, size_t count)
{
    const char *when = "";
    for (size_t i = 0; i < count; i++)
        if (words[i][0] == '@')
            when = words[i] + 1;
    return when;
}

/* Read WORDS into INQUIRY; -1 or the exit status. */
static int read_words(const struct tide_opened *opened, char *const *words,
                      size_t count, struct inquiry *inquiry)
{
    const char *const common = common_moment(words, count);
    struct known_moment moment = {0};
    int done = -1;
    for (size_t i = 0; i < count && done < 0; i++) {
        const char *rest;
        struct tide_question *const question = &inquiry->questions[inquiry->count];
        struct tide_asked *const one = &inquiry->asked[inquiry->count];
        if (words[i][0] == '@')
            continue;
        if (!read_address(words[i], &question->address, &rest))
            return tide_fail_usage(&tide_cmd_resolve,
                                   "'%s' is not an address (like 0x5581f02a4c10)",
                                   words[i]);
        one->question = question;
        one->word = words[i];
        done = read_moment(opened, *rest ? rest + 1 : common, &moment);
        one->at_s = moment.at.at_s;
        question->until_s = moment.at.until_s;
        question->at_peak = moment.at.at_peak;
        inquiry->count++;
    }
    if (done < 0 && inquiry->count == 0)
        return tide_fail_usage(&tide_cmd_resolve,
                               "which address? 0x5581f02a4c10, for example");
    return done;
}

/* --- Answers ------------------------------------------------------------------------- */

static int show(const struct resolve_options *options, const struct tide_model *model,
                const struct inquiry *inquiry)
{
    struct tide_text text = {0};
    const struct tide_resolve_view view = {
        .model = model, .list = inquiry->asked, .count = inquiry->count};
    if (options->json) {
        tide_view_resolve_json(&text, &view);
        return tide_print_text(&text);
    }
    const struct tide_style style = tide_style_detect(
        STDOUT_FILENO, (enum tide_color)options->color, TIDE_UNITS_IEC);
    struct tide_page page = {.out = &text, .style = &style};
    tide_view_resolve(&page, &view);
    return tide_print_text(&text);
}

static int answer(const struct resolve_options *options, struct tide_opened *opened,
                  struct inquiry *inquiry)
{
    struct tide_progress_bar bar;
    tide_progress_bar_init(&bar, STDERR_FILENO, "searching");
    const struct tide_progress progress = {.step = tide_progress_bar_step,
                                           .user = &bar};
    enum tide_status status =
        tide_inquire(opened->model, inquiry->questions, inquiry->count, &progress);
    tide_progress_bar_end(&bar);
    if (!status)
        status = tide_model_symbolize_all(opened->model);
    return status ? tide_fail("%s: %s", opened->path, tide_failure_words(status))
                  : show(options, opened->model, inquiry);
}

static int inquire(const struct resolve_options *options, struct tide_opened *opened,
                   char *const *words, size_t count)
{
    struct inquiry inquiry = {
        .questions = calloc(count + 1, sizeof(*inquiry.questions)),
        .asked = calloc(count + 1, sizeof(*inquiry.asked)),
    };
    int done;
    if (inquiry.questions && inquiry.asked)
        done = read_words(opened, words, count, &inquiry);
    else
        done = tide_fail_memory();
    if (done < 0)
        done = answer(options, opened, &inquiry);
    for (size_t i = 0; i < inquiry.count; i++)
        tide_question_release(&inquiry.questions[i]);
    free(inquiry.questions);
    free(inquiry.asked);
    return done;
}

static int run(int argc, char **argv)
{
    struct resolve_options options = {0};
    struct tide_arguments rest = {0};
    struct tide_opened opened;
    int done = parse(argc, argv, &options, &rest);
    if (done >= 0)
        return done;
    if (rest.count == 0)
        return tide_fail_usage(&tide_cmd_resolve,
                               "which address? 0x5581f02a4c10, for example");
    const int named = names_trace(rest.list[0]);
    const struct tide_arguments trace = {.list = rest.list, .count = named};
    done = tide_open_trace(&tide_cmd_resolve, &trace, &opened);
    if (done >= 0)
        return done;
    done = inquire(&options, &opened, rest.list + named, (size_t)(rest.count - named));
    tide_say_other_builds(&opened);
    tide_opened_close(&opened);
    return done;
}

const struct tide_command tide_cmd_resolve = {
    .name = "resolve",
    .summary = "say which block held an address",
    .usage = "[OPTION...] [TRACE] ADDRESS[@WHEN]... [@WHEN]",
    .help =
        "Says for each ADDRESS (hexadecimal, as a crash prints it) which block holds it\n"
        "or was the last to hold it, what the program called the block, which thread\n"
        "allocated it and which freed it.\n"
        "\n"
        "WHEN is a time (12.5s), a tide_snapshot (its name), a tide_event (event51) or\n"
        "peak; the default is the end of the run.  @WHEN on its own is the default for\n"
        "all addresses.  Reads TRACE, or the newest trace in this folder; - is standard\n"
        "input.  Only 'tidemark run --free-stacks' records where a block was freed.\n",
    .example = "resolve prog.tide 0x5581f02a4c10 0x5581f02a5000@12.5s",
    .takes = TIDE_TAKES_TRACE,
    .options = TABLE,
    .more_options = tide_memory_options,
    .run = run,
};
