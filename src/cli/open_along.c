/* cli/open_along.c - a trace whose moments are counted in bytes or events. */
#include "cli/open_along.h"

#include <inttypes.h>
#include <unistd.h>

#include "cli/memory_limit.h"
#include "model/axis.h"
#include "view/progress.h"

/* PLACE as a number that an axis can have. */
static uint64_t whole_place(double place)
{
    if (place < 0)
        return UINT64_MAX;
    return place < 0x1p63 ? (uint64_t)place : UINT64_MAX;
}

static enum tide_status load_along(struct tide_opened *opened,
                                   const struct tide_along *along,
                                   struct tide_model_options options)
{
    struct tide_progress_bar bar;
    enum tide_status status = TIDE_OK;
    options.until_s = -1;
    options.axis = along->axis;
    options.axis_total = tide_axis_length(opened->model, along->axis);
    options.axis_until = whole_place(along->until);
    tide_model_free(opened->model);
    opened->model = NULL;
    if (along->from > 0)
        status = tide_axis_time(opened->trace, along->axis, whole_place(along->from),
                                &options.select.from_s);
    if (!status && along->from > 0 && options.select.from_s < 0)
        options.select.from_s =
            tide_trace_seconds(opened->trace, opened->trace->end_ticks);
    tide_progress_bar_init(&bar, STDERR_FILENO, "reading");
    options.progress =
        (struct tide_progress){.step = tide_progress_bar_step, .user = &bar};
    if (!status)
        status = tide_model_load(opened->trace, &options, &opened->model);
    tide_progress_bar_end(&bar);
    return status;
}

/* The trace has a moment where ALONG asks for what was live then; -1 or the exit status. */
static int check_moment(const struct tide_opened *opened,
                        const struct tide_along *along)
{
    const uint64_t total = tide_axis_length(opened->model, along->axis);
    const uint64_t until = whole_place(along->until);
    if (along->from >= 0 || along->until < 0 || until <= total)
        return -1;
    return tide_fail("%s: the run ended after %" PRIu64 " %s, before %" PRIu64,
                     opened->path, total,
                     along->axis == TIDE_AXIS_EVENTS ? "events" : "bytes", until);
}

int tide_open_along(const struct tide_command *command,
                    const struct tide_arguments *arguments,
                    const struct tide_model_options *options,
                    const struct tide_along *along, struct tide_opened *out)
{
    int done = tide_open_trace(command, arguments, out);
    if (done >= 0)
        return done;
    done = check_moment(out, along);
    if (done >= 0) {
        tide_opened_close(out);
        return done;
    }
    const enum tide_status status = load_along(out, along, *options);
    if (!status)
        return -1;
    const int result = tide_fail("%s: %s", out->path, tide_failure_words(status));
    tide_opened_close(out);
    return result;
}
