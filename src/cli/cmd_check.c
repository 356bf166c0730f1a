/* cli/cmd_check.c - tidemark check: does a run keep within its limits? */
#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "cli/check_words.h"
#include "cli/command.h"
#include "cli/export_file.h"
#include "cli/memory_limit.h"
#include "cli/open_moment.h"
#include "cli/options.h"
#include "cli/suppression_file.h"
#include "view/check_view.h"

struct check_options {
    struct tide_budget budget;
    const char *growth;   /* as it was given, NULL: not */
    const char *calls_in; /* never set: see check_words.h */
    const char *baseline, *config, *junit, *markdown, *suppressions;
    bool no_suppressions;
    bool json;
    int color;
};

/* What was asked for so far: in a place that does not change, for the table. */
static struct check_options asked;

static const struct tide_option TABLE[] = {
    {.name = "max-peak",
     .bytes = &asked.budget.max_peak,
     .heading = "limits",
     .value = "SIZE",
     .help = "most that may be live at once, like 2GiB"},
    {.name = "max-leak",
     .bytes = &asked.budget.max_leak,
     .value = "SIZE",
     .help = "most that may be live at the end, without what is suppressed"},
    {.name = "max-total",
     .bytes = &asked.budget.max_total,
     .value = "SIZE",
     .help = "most that may be allocated in all"},
    {.name = "max-calls",
     .count = &asked.budget.max_calls,
     .value = "N",
     .help = "most allocation calls"},
    {.name = "max-calls-in",
     .text = &asked.calls_in,
     .value = "F=N",
     .help = "most allocation calls in function F and what it calls; may be "
             "given more than once"},
    {.name = "max-growth",
     .text = &asked.growth,
     .value = "PERCENT",
     .help = "how much larger than in the baseline each of the above may be, like 5%"},
    {.name = "max-new-leaks",
     .count = &asked.budget.max_new_leaks,
     .value = "N",
     .help = "most stacks that leak here and not in the baseline"},
    {.name = "baseline",
     .text = &asked.baseline,
     .heading = "options",
     .value = "TRACE",
     .help = "the earlier run to compare with",
     .takes = TIDE_TAKES_TRACE},
    {.name = "config",
     .text = &asked.config,
     .value = "FILE",
     .help = "read limits from FILE, one on each line: max-peak = 2GiB",
     .takes = TIDE_TAKES_FILE},
    {.name = "allow-incomplete",
     .flag = &asked.budget.allow_incomplete,
     .help = "pass even if something is missing in a trace"},
    {.name = "allow-unknown",
     .flag = &asked.budget.allow_unknown,
     .help = "pass even if the function of a --max-calls-in does not allocate"},
    {.name = "allow-margin",
     .flag = &asked.budget.allow_margin,
     .help = "pass even if a peak may be over its limit by its margin"},
    {.name = "suppressions",
     .text = &asked.suppressions,
     .value = "FILE",
     .help = "leaks that do not count, as LeakSanitizer has them: lines of the "
             "form leak:PATTERN",
     .takes = TIDE_TAKES_FILE},
    {.name = "no-suppressions",
     .flag = &asked.no_suppressions,
     .help = "also count what libraries keep on purpose"},
    {.name = "junit",
     .text = &asked.junit,
     .value = "FILE",
     .help = "write JUnit XML for a CI server; - is standard output",
     .takes = TIDE_TAKES_FILE},
    {.name = "markdown",
     .text = &asked.markdown,
     .value = "FILE",
     .help = "write a table for a merge request; - is standard output",
     .takes = TIDE_TAKES_FILE},
    TIDE_OPTION_JSON(asked.json, "check"),
    TIDE_OPTION_COLOR(asked.color, true),
    {.name = NULL},
};

/* Read COUNT words at LIST, the first of which is the verb. */
static int parse(struct check_options *options, size_t count, char **list,
                 struct tide_arguments *rest)
{
    asked = *options;
    const int done = tide_options_parse(&tide_cmd_check, (int)count, list, rest);
    *options = asked;
    return done;
}

/* "5%", "2.5" */
static bool read_percent(const char *text, double *out)
{
    char *end;
    const double number = strtod(text, &end);
    if (end == text || !isfinite(number) || number < 0 || number > 1e9)
        return false;
    end += *end == ' ';
    *out = number;
    return *end == '\0' || strcmp(end, "%") == 0;
}

/* -1 or the exit status. */
static int read_growth(struct check_options *options)
{
    if (!options->growth || read_percent(options->growth, &options->budget.max_growth))
        return -1;
    return tide_fail_usage(&tide_cmd_check, "--max-growth: '%s' is not a percentage",
                           options->growth);
}

/* The lines of the file of limits, then the command line; -1 or the exit status. */
static int parse_all(const struct tide_check_words *words,
                     struct check_options *options, struct tide_arguments *rest)
{
    int done = -1;
    for (size_t i = 0; i < words->setting_count && done < 0; i++) {
        char *line[] = {words->list[0], words->settings[i].word, NULL};
        tide_fail_about(words->settings[i].place);
        done = parse(options, 2, line, rest);
        if (done < 0)
            done = read_growth(options);
        tide_fail_about(NULL);
    }
    if (done < 0)
        done = parse(options, words->count, words->list, rest);
    return done < 0 ? read_growth(options) : done;
}

static bool is_stdout(const char *name)
{
    return name && strcmp(name, "-") == 0;
}

/* -1, or the exit status when the options make no sense together. */
static int check_options(const struct check_options *options)
{
    const struct tide_command *const self = &tide_cmd_check;
    const struct tide_budget *const budget = &options->budget;
    if (options->json + is_stdout(options->junit) + is_stdout(options->markdown) > 1)
        return tide_fail_usage(self,
                               "one of these on standard output at a time: --json, "
                               "--junit -, --markdown -");
    const bool compares = options->growth || budget->max_new_leaks != TIDE_NO_LIMIT;
    if (compares && !options->baseline)
        return tide_fail_usage(self, "%s needs a --baseline to compare with",
                               options->growth ? "--max-growth" : "--max-new-leaks");
    if (options->baseline && !compares)
        return tide_fail_usage(self, "--baseline goes with --max-growth or "
                                     "--max-new-leaks");
    const bool limited = budget->max_peak != TIDE_NO_LIMIT ||
                         budget->max_leak != TIDE_NO_LIMIT ||
                         budget->max_total != TIDE_NO_LIMIT ||
                         budget->max_calls != TIDE_NO_LIMIT || budget->calls_in_count;
    if (!compares && !limited)
        return tide_fail_usage(self, "which limits? --max-peak 2GiB, for example");
    return -1;
}

/* --- Output -------------------------------------------------------------------------- */

/* Returns 0 or errno. */
static int write_all(int fd, const struct tide_text *text)
{
    size_t done = 0;
    while (done < text->length) {
        const ssize_t some = write(fd, text->bytes + done, text->length - done);
        if (some < 0 && errno == EINTR)
            continue;
        if (some <= 0)
            return some < 0 ? errno : EIO;
        done += (size_t)some;
    }
    return 0;
}

/* Write TEXT to the file NAME and release it; -1 or the exit status. */
static int write_file(const char *name, struct tide_text *text)
{
    struct tide_export_file file;
    int error = text->failed ? ENOMEM : tide_export_file_open(&file, name);
    if (!error) {
        error = write_all(file.fd, text);
        if (error)
            tide_export_file_discard(&file);
        else
            error = tide_export_file_keep(&file);
    }
    tide_text_release(text);
    return error ? tide_fail("%s: %s", name, tide_export_file_words(error)) : -1;
}

/* -1 or the exit status. */
static int write_files(const struct check_options *options,
                       const struct tide_check_view *view)
{
    struct tide_text text = {0};
    int done = -1;
    if (options->junit) {
        tide_view_check_junit(&text, view);
        done = write_file(options->junit, &text);
    }
    if (done < 0 && options->markdown) {
        tide_view_check_markdown(&text, view);
        done = write_file(options->markdown, &text);
    }
    return done;
}

/* Returns 0 or the exit status. */
static int show(const struct check_options *options, const struct tide_check_view *view)
{
    struct tide_text text = {0};
    if (is_stdout(options->junit) || is_stdout(options->markdown))
        return 0; /* words would spoil it */
    if (options->json) {
        tide_view_check_json(&text, view);
        return tide_print_text(&text);
    }
    const struct tide_style style = tide_style_detect(
        STDOUT_FILENO, (enum tide_color)options->color, TIDE_UNITS_IEC);
    struct tide_page page = {.out = &text, .style = &style};
    tide_view_check(&page, view);
    return tide_print_text(&text);
}

/* --- The check ----------------------------------------------------------------------- */

/* Is what leaks limited? */
static bool looks_at_leaks(const struct tide_budget *budget)
{
    return budget->max_leak != TIDE_NO_LIMIT || budget->max_growth >= 0 ||
           budget->max_new_leaks != TIDE_NO_LIMIT;
}

/* Find names for what the limits look at, and what is suppressed. */
static enum tide_status prepare(const struct check_options *options,
                                struct tide_model *model,
                                struct tide_suppressions *suppressions)
{
    const struct tide_budget *const budget = &options->budget;
    const bool leaks =
        looks_at_leaks(budget) && model->summary[TIDE_IN_HEAP].live_blocks > 0;
    enum tide_status status = TIDE_OK;
    if (leaks || budget->max_new_leaks != TIDE_NO_LIMIT || budget->calls_in_count)
        status = tide_model_symbolize(model);
    if (!status && leaks)
        status = tide_suppressions_apply(suppressions, model, TIDE_IN_HEAP);
    return status;
}

/* SUPPRESSIONS: of the trace and of the baseline. */
static int judge(const struct check_options *options, const struct tide_opened *opened,
                 const struct tide_opened *baseline,
                 struct tide_suppressions *suppressions)
{
    struct tide_budget budget = options->budget;
    struct tide_verdicts checks = {0};
    enum tide_status status = prepare(options, opened->model, &suppressions[0]);
    if (!status && baseline->model)
        status = prepare(options, baseline->model, &suppressions[1]);
    budget.suppressed = &suppressions[0];
    budget.baseline_suppressed = &suppressions[1];
    if (!status)
        status = tide_budget_check(&budget, opened->model, baseline->model, &checks);
    if (status)
        return tide_fail("%s", tide_failure_words(status));
    const struct tide_check_view view = {
        .checks = &checks,
        .model = opened->model,
        .baseline = baseline->path,
    };
    tide_say_other_builds(opened);
    if (baseline->model)
        tide_say_other_builds(baseline);
    tide_fail_about(NULL);
    int done = show(options, &view);
    if (done == 0) {
        done = write_files(options, &view);
        if (done < 0)
            done = checks.failed > 0;
    }
    tide_verdicts_release(&checks);
    return done;
}

/* Open the trace, or one of its moments, that ARGUMENTS name; -1 or the exit status. */
static int open_one(const struct tide_arguments *arguments,
                    const struct tide_model_options *load, struct tide_opened *out)
{
    struct tide_opened_moment moment;
    if (arguments->count != 1)
        return tide_open_trace_with(&tide_cmd_check, arguments, load, out);
    const int done =
        tide_open_moment_with(&tide_cmd_check, arguments->list[0], load, &moment);
    *out = moment.opened;
    return done;
}

static int open_and_judge(const struct check_options *options,
                          const struct tide_arguments *rest,
                          struct tide_suppressions *suppressions)
{
    const struct tide_model_options load = {
        .until_s = -1, .evidence = looks_at_leaks(&options->budget)};
    struct tide_opened opened, baseline = {0};
    int done = open_one(rest, &load, &opened);
    if (done >= 0)
        return done;
    if (options->baseline) {
        char *word = strdup(options->baseline);
        char *words[] = {word, NULL};
        const struct tide_arguments arguments = {.list = words, .count = 1};
        done = word ? open_one(&arguments, &load, &baseline) : tide_fail_memory();
        free(word);
    }
    if (done < 0)
        done = judge(options, &opened, &baseline, suppressions);
    tide_opened_close(&baseline);
    tide_opened_close(&opened);
    return done;
}

static int run(int argc, char **argv)
{
    struct check_options options = {
        .budget = {.max_peak = TIDE_NO_LIMIT,
                   .max_leak = TIDE_NO_LIMIT,
                   .max_total = TIDE_NO_LIMIT,
                   .max_calls = TIDE_NO_LIMIT,
                   .max_growth = -1,
                   .max_new_leaks = TIDE_NO_LIMIT},
    };
    struct tide_suppressions suppressions[2] = {0};
    struct tide_arguments rest = {0};
    struct tide_check_words words;
    int done = tide_check_words_read(&words, &tide_cmd_check, argc, argv);
    options.budget.calls_in = words.calls_in;
    options.budget.calls_in_count = words.calls_in_count;
    if (done < 0)
        done = parse_all(&words, &options, &rest);
    if (done < 0)
        done = check_options(&options);
    tide_fail_about("nothing was checked"); /* until there is a verdict */
    for (size_t i = 0; i < 2 && done < 0; i++)
        done = tide_suppression_file(options.suppressions, options.no_suppressions,
                                     &suppressions[i]);
    if (done < 0)
        done = open_and_judge(&options, &rest, suppressions);
    tide_suppressions_release(&suppressions[0]);
    tide_suppressions_release(&suppressions[1]);
    tide_check_words_release(&words);
    return done;
}

const struct tide_command tide_cmd_check = {
    .name = "check",
    .summary = "check a trace against limits, for CI",
    .usage = "[OPTION...] [TRACE]",
    .help =
        "Compares TRACE, or the newest trace in this folder, with limits of the heap; -\n"
        "is standard input.  Exits with 0 if all limits are kept, and with 1 if one is\n"
        "not or may not be (unsure), if the trace is incomplete or cannot be read.\n"
        "TRACE@150ms, TRACE@NAME (a tide_snapshot) and TRACE@peak check the run up to\n"
        "that moment.\n",
    .example = "check --max-peak 2GiB --max-leak 0 prog.tide",
    .takes = TIDE_TAKES_TRACE,
    .options = TABLE,
    .more_options = tide_memory_options,
    .run = run,
};
