/* cli/open_moment.c - a trace, or one moment of it: TRACE@WHEN.
 *
 * The whole trace is loaded first, as always, and once more up to the moment: what names
 * the moment may be anywhere in it, and a large trace has an index after the first time.
 */
#include "cli/open_moment.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/memory_limit.h"
#include "cli/values.h"
#include "model/moment.h"
#include "view/progress.h"

double tide_end_of_nanosecond(double seconds)
{
    return seconds +
           0.4999999e-9; /* less than a half: it is printed as it was written */
}

/* A trace on its way to a moment. */
struct journey {
    struct tide_opened *opened;
    const struct tide_model_options *options;
};

/* Where it goes. */
struct place {
    double at_s, until_s; /* as in struct tide_instant */
    uint64_t height;      /* of the heap, at its peak; else 0 */
    const char *name;     /* borrowed: of a mark, or "the peak"; else NULL */
};

static enum tide_status reload(const struct journey *journey, const struct place *place)
{
    struct tide_opened *const opened = journey->opened;
    struct tide_progress_bar bar;
    tide_model_free(opened->model);
    opened->model = NULL;
    tide_progress_bar_init(&bar, STDERR_FILENO, "reading");
    struct tide_model_options options = *journey->options;
    options.until_s = place->until_s;
    options.until_height = place->height;
    options.progress =
        (struct tide_progress){.step = tide_progress_bar_step, .user = &bar};
    const enum tide_status status =
        tide_model_load(opened->trace, &options, &opened->model);
    tide_progress_bar_end(&bar);
    return status;
}

static int fail_unknown(const struct tide_opened *opened, const char *when,
                        const struct tide_moment *moment)
{
    if (!*when)
        return tide_fail(
            "%s: which moment? A time (@12.5s, @150ms), @peak, @end or the "
            "name of a tide_snapshot",
            opened->path);
    if (moment->count == 1)
        return tide_fail("%s: there is only one of that name: '%s'", opened->path,
                         when);
    if (moment->count > 0)
        return tide_fail("%s: there are only %llu of that name: '%s'", opened->path,
                         (unsigned long long)moment->count, when);
    if (moment->known.length > 0)
        return tide_fail(
            "%s: there is no tide_snapshot or tide_event '%s'; there are: %s",
            opened->path, when, moment->known.bytes);
    return tide_fail(
        "%s: the program made no tide_snapshot or tide_event, so there is no "
        "'%s'; a time works (@12.5s, @150ms), and @peak and @end",
        opened->path, when);
}

/* Where the heap stands highest. */
static void find_peak(const struct tide_opened *opened, struct place *out)
{
    const struct tide_summary *const heap = &opened->model->summary[TIDE_IN_HEAP];
    out->at_s = heap->peak_time_s;
    out->until_s = tide_end_of_nanosecond(heap->peak_time_s);
    out->height = heap->peak_bytes;
    out->name = "the peak";
}

static int find_mark(const struct tide_opened *opened, const char *when,
                     struct place *out)
{
    struct tide_progress_bar bar;
    struct tide_moment moment;
    int result = -1;
    tide_progress_bar_init(&bar, STDERR_FILENO, "looking");
    const struct tide_progress progress = {.step = tide_progress_bar_step,
                                           .user = &bar};
    const enum tide_status status =
        tide_moment_find(opened->trace, when, &progress, &moment);
    tide_progress_bar_end(&bar);
    out->at_s = moment.at_s;
    out->until_s = moment.until_s;
    out->name = when;
    if (status)
        result = tide_fail("%s: %s", opened->path, tide_failure_words(status));
    else if (moment.count == 0 && strcmp(when, "peak") == 0)
        find_peak(opened, out);
    else if (!moment.found)
        result = fail_unknown(opened, when, &moment);
    tide_moment_release(&moment);
    return result;
}

static int find_place(const struct tide_opened *opened, const char *when,
                      struct place *out)
{
    double seconds;
    if (strcmp(when, "end") == 0)
        return -1;
    if (!tide_read_seconds(when, &seconds))
        return find_mark(opened, when, out);
    out->at_s = seconds;
    out->until_s = tide_end_of_nanosecond(seconds);
    if (seconds > tide_end_of_nanosecond(opened->model->duration_s))
        return tide_fail("%s: the run ended at %.3f s, before %s", opened->path,
                         opened->model->duration_s, when);
    return -1;
}

int tide_find_moment(const struct tide_opened *opened, const char *when,
                     struct tide_instant *out)
{
    struct place place = {.at_s = -1, .until_s = -1};
    const int done = find_place(opened, when, &place);
    *out = (struct tide_instant){place.at_s, place.until_s, place.height > 0};
    return done;
}

/* The trace becomes what it was at WHEN; -1 or the exit status. */
static int go_to(const struct journey *journey, const char *when, double *at_s)
{
    const struct tide_opened *const opened = journey->opened;
    struct place place = {.at_s = *at_s, .until_s = -1};
    const int done = find_place(opened, when, &place);
    *at_s = place.at_s;
    if (done >= 0 || place.until_s < 0)
        return done;
    const enum tide_status status = reload(journey, &place);
    if (!status)
        opened->model->moment = place.name;
    return status ? tide_fail("%s: %s", opened->path, tide_failure_words(status)) : -1;
}

int tide_open_moment(const struct tide_command *command, const char *word,
                     struct tide_opened_moment *out)
{
    const struct tide_model_options options = {.until_s = -1};
    return tide_open_moment_with(command, word, &options, out);
}

int tide_open_moment_with(const struct tide_command *command, const char *word,
                          const struct tide_model_options *options,
                          struct tide_opened_moment *out)
{
    const struct journey journey = {&out->opened, options};
    char *const path = strdup(word);
    *out = (struct tide_opened_moment){.at_s = -1};
    if (!path)
        return tide_fail_memory();
    char *const sign = strrchr(path, '@');
    const bool split = sign && sign > path && access(path, F_OK) != 0;
    if (split)
        *sign = '\0';
    char *words[] = {path, NULL};
    const struct tide_arguments arguments = {.list = words, .count = 1};
    int done = tide_open_trace_with(command, &arguments, options, &out->opened);
    if (done < 0 && split)
        done = go_to(&journey, word + (sign + 1 - path), &out->at_s);
    if (done >= 0)
        tide_opened_moment_close(out);
    free(path);
    return done;
}

void tide_opened_moment_close(struct tide_opened_moment *moment)
{
    tide_opened_close(&moment->opened);
}
