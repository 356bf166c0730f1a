/* model/load.c - from an open trace to a model, in one pass.
 */
#include <stdlib.h>

#include "model/account.h"
#include "model/account_evidence.h"
#include "model/checkpoint.h"
#include "model/feed.h"
#include "model/model.h"
#include "model/model_state.h"
#include "model/timeline.h"

enum {
    TIDE_PROGRESS_EVERY = 64, /* runs */
};

/* The last tick of the clock that is not after SECONDS, which lie in the run. */
static uint64_t tick_at(const struct tide_trace *trace, double seconds)
{
    uint64_t before = trace->start_ticks;
    uint64_t after = trace->end_ticks;
    while (after > before && after - before > 1) {
        const uint64_t middle = before + (after - before) / 2;
        if (tide_trace_seconds(trace, middle) > seconds)
            after = middle;
        else
            before = middle;
    }
    return before;
}

/* The same; 0 when the run ends before, or for negative SECONDS. */
static uint64_t last_tick_at(const struct tide_trace *trace, double seconds)
{
    if (seconds < 0 || !(tide_trace_seconds(trace, trace->end_ticks) > seconds))
        return 0;
    const uint64_t tick = tick_at(trace, seconds);
    return tick ? tick : 1;
}

/* SECONDS as ticks; OTHERWISE for none. */
static uint64_t ticks_of(const struct tide_trace *trace, double seconds,
                         uint64_t otherwise)
{
    const double ticks = seconds * trace->ticks_per_second;
    if (!(seconds > 0))
        return otherwise;
    return ticks < 0x1p63 ? (uint64_t)ticks : otherwise;
}

/* What SELECT means in this trace, when its moment is END. */
static struct tide_selection selection_of(const struct tide_trace *trace,
                                          const struct tide_select *select,
                                          uint64_t end)
{
    struct tide_selection selection = TIDE_SELECT_ALL;
    const uint64_t oldest = ticks_of(trace, select->most_age_s, 0);
    const uint64_t youngest = ticks_of(trace, select->least_age_s, 0);
    if (select->from_s > 0)
        selection.window_from = tick_at(trace, select->from_s) + 1;
    selection.born_from = selection.window_from;
    if (oldest && oldest < end && end - oldest > selection.born_from)
        selection.born_from = end - oldest;
    if (youngest)
        selection.born_until = youngest < end ? end - youngest : 0;
    selection.size_least = select->least_bytes;
    if (select->end_bytes)
        selection.size_most = select->end_bytes - 1;
    selection.life_least = ticks_of(trace, select->least_life_s, 0);
    selection.life_most = ticks_of(trace, select->most_life_s, UINT64_MAX);
    return selection;
}

/* Does SELECT leave anything out? */
static bool selects(const struct tide_select *select)
{
    return select->from_s > 0 || select->least_bytes || select->end_bytes ||
           select->least_age_s > 0 || select->most_age_s > 0 ||
           select->least_life_s > 0 || select->most_life_s > 0;
}

static const char *name_in_trace(const void *trace, uint32_t process, uint64_t id)
{
    return tide_trace_name(trace, process, id);
}

/* What looks at the events as they pass by. */
struct tide_passing {
    struct tide_checkpoints checkpoints;
    struct tide_timeline timeline;
    uint64_t height; /* of the heap: stop there; 0: do not */
};

/* Enter COUNT events of one lane, stretch by stretch of the timeline. */
static enum tide_status enter_run(struct tide_account *account,
                                  struct tide_passing *passing,
                                  const struct tide_event *events, size_t count)
{
    struct tide_timeline *const timeline = &passing->timeline;
    struct tide_watermark *const water = &account->water[TIDE_IN_HEAP];
    enum tide_status status = TIDE_OK;
    for (size_t done = 0; done < count && !status && !account->stopped;) {
        if (tide_timeline_full(timeline)) {
            account->stopped = true;
            break;
        }
        /* To stop at one event, they are entered one by one. */
        const size_t most = passing->height ? 1 : count - done;
        const size_t some = tide_timeline_next(timeline, water, events + done, most);
        if (account->evidence)
            status = tide_account_evidence_pass(
                account, events[done].ticks,
                timeline->axis == TIDE_AXIS_SECONDS ? timeline->now : 0);
        if (!status)
            status = tide_account_run(account, events + done, some);
        tide_water_rest(water, &account->water[TIDE_IN_MMAP],
                        account->maps.standing[TIDE_MAPPED_SHARED]);
        tide_timeline_note(timeline, water);
        account->stopped |= passing->height && water->peak_bytes >= passing->height;
        done += some;
    }
    return status;
}

/* Enter all events of FEED, which REPLAY gives, or all up to the stop. */
static enum tide_status pour(struct tide_account *account, struct tide_feed *feed,
                             const struct tide_replay *replay,
                             struct tide_passing *passing,
                             const struct tide_progress *progress)
{
    struct tide_checkpoints *const checkpoints = &passing->checkpoints;
    const uint64_t file_bytes = tide_replay_trace(replay)->file_bytes;
    struct tide_run run = {.count = 1};
    for (size_t runs = 0; run.count && !account->stopped; runs++) {
        enum tide_status status = tide_feed_next(feed, &run);
        if (!status && run.count)
            status = enter_run(account, passing, run.events, run.count);
        if (status)
            return status;
        if (run.count)
            tide_checkpoints_pass(checkpoints, run.events[run.count - 1].ticks);
        if (run.rests) {
            tide_checkpoints_leave(checkpoints, account, replay);
            tide_feed_go_on(feed, checkpoints->next);
        }
        if (progress->step && (runs % TIDE_PROGRESS_EVERY == 0 || !run.count))
            progress->step(progress->user, tide_feed_counts(feed)->bytes_read,
                           file_bytes);
    }
    return TIDE_OK;
}

/* Does OPTIONS' axis end before the run does? */
static bool stops_along(const struct tide_model_options *options)
{
    return options->axis != TIDE_AXIS_SECONDS && options->axis_until != UINT64_MAX;
}

static void begin_timeline(struct tide_timeline *timeline,
                           const struct tide_trace *trace,
                           const struct tide_model_options *options)
{
    if (options->axis == TIDE_AXIS_SECONDS)
        tide_timeline_begin(timeline, trace->start_ticks, trace->end_ticks);
    else
        tide_timeline_begin_axis(timeline, options->axis, options->axis_total,
                                 options->axis_until);
}

/* What the timeline saw becomes the model's; WHOLE: it saw all. */
static void end_timeline(struct tide_timeline *timeline, struct tide_account *account,
                         struct tide_model *model, bool along, bool whole)
{
    const double until = tide_trace_seconds(model->trace, timeline->last_ticks);
    if (along)
        model->until_s = until > 0 ? until : 0;
    if (whole)
        model->timeline_count =
            tide_timeline_end(timeline, &account->water[TIDE_IN_HEAP], model->timeline);
}

/* Enter all that FEED's replay gives; *COUNTS is of it. */
static enum tide_status enter_feed(struct tide_account *account,
                                   const struct tide_feed_setup *setup,
                                   struct tide_passing *passing,
                                   const struct tide_progress *progress,
                                   struct tide_replay_counts *counts)
{
    struct tide_feed *feed = NULL;
    enum tide_status status = tide_feed_open(setup, &feed);
    if (!status)
        status = pour(account, feed, setup->replay, passing, progress);
    if (!status)
        *counts = *tide_feed_counts(feed);
    tide_feed_close(feed);
    return status;
}

/* Where events come from. */
struct source {
    struct tide_replay *replay; /* borrowed */
    bool resume;                /* from the nearest checkpoint, if there is one */
};

/* The most that heap, mmap and shared memory held at one time, and what they hold now. */
static uint64_t together(const struct tide_account *account)
{
    const struct tide_watermark *const mapped = &account->water[TIDE_IN_MMAP];
    const uint64_t now = account->water[TIDE_IN_HEAP].usable + mapped->bytes +
                         account->maps.standing[TIDE_MAPPED_SHARED];
    return now > mapped->together ? now : mapped->together;
}

/* Enter what is asked for; leave checkpoints on the way through a large trace.  *COUNTS is
 * of what was entered. */
static enum tide_status enter_all(struct tide_account *account,
                                  struct tide_model *model,
                                  const struct tide_model_options *options,
                                  struct source source,
                                  struct tide_replay_counts *counts)
{
    const uint64_t wanted = options->index_threshold;
    const uint64_t threshold = wanted ? wanted : TIDE_INDEX_THRESHOLD;
    /* Checkpoints are of accounts that count everything. */
    const bool large = model->trace->file_bytes >= threshold && !account->detail;
    const bool along = stops_along(options);
    const bool whole = account->setup.stop_ticks == UINT64_MAX && !along;
    struct tide_passing passing = {.height = options->until_height};
    enum tide_status status = TIDE_OK;
    bool resumed = false;
    begin_timeline(&passing.timeline, model->trace, options);
    if (large && whole)
        tide_checkpoints_begin(&passing.checkpoints, model->trace);
    else if (large && source.resume && !along) /* checkpoints know ticks alone */
        status = tide_checkpoint_resume(account, &model->stacks, source.replay,
                                        account->setup.stop_ticks, &resumed);
    const struct tide_feed_setup setup = {
        .replay = source.replay,
        .stacks = &model->stacks,
        .ahead = account->setup.helped,
        .rest_at = passing.checkpoints.next,
    };
    if (!status)
        status = enter_feed(account, &setup, &passing, &options->progress, counts);
    if (!status)
        tide_checkpoints_finish(&passing.checkpoints, &model->stacks);
    tide_checkpoints_discard(&passing.checkpoints);
    model->together_bytes = together(account);
    end_timeline(&passing.timeline, account, model, along,
                 !status && whole && !resumed);
    return status;
}

static enum tide_status fill(struct tide_model *model,
                             const struct tide_model_options *options,
                             struct tide_replay *replay, bool resume)
{
    const struct tide_trace *const trace = model->trace;
    const uint64_t stop = last_tick_at(trace, options->until_s);
    const struct tide_selection selection =
        selection_of(trace, &options->select, stop ? stop : trace->end_ticks);
    const struct tide_account_setup setup = {
        .processes = trace->processes,
        .process_count = trace->process_count,
        .names = {name_in_trace, trace},
        .select = selects(&options->select) ? &selection : NULL,
        .details = options->details,
        .evidence = options->evidence,
        .ns_per_tick = trace->ticks_per_second > 0 ? 1e9 / trace->ticks_per_second : 0,
        .helped = options->ahead == TIDE_AHEAD_USUAL
                      ? tide_feed_pays(trace->file_bytes)
                      : options->ahead == TIDE_AHEAD_ALWAYS,
        .stop_ticks = stop,
    };
    struct tide_account *const account = malloc(sizeof(*account)); /* it is large */
    struct tide_replay_counts counts;
    enum tide_status status = TIDE_ENOMEM;
    if (account) {
        status = tide_account_init(account, &setup);
        model->until_s = options->until_s;
        if (!status)
            status = enter_all(account, model, options, (struct source){replay, resume},
                               &counts);
        if (!status)
            status = tide_model_take(model, account);
        if (!status)
            status = tide_model_facts(model, &counts);
        model->from_s = options->select.from_s;
        model->axis = options->axis;
        model->axis_total = options->axis_total;
        model->axis_until =
            options->axis != TIDE_AXIS_SECONDS ? options->axis_until : UINT64_MAX;
        tide_account_release(account);
    }
    free(account);
    return status;
}

/* An empty model of TRACE. */
static enum tide_status new_model(struct tide_trace *trace, struct tide_model **out)
{
    struct tide_model *const model = *out = calloc(1, sizeof(*model));
    if (!model)
        return TIDE_ENOMEM;
    model->trace = trace;
    model->private_state = calloc(1, sizeof(struct tide_model_state));
    const enum tide_status status =
        model->private_state ? tide_stacks_init(&model->stacks) : TIDE_ENOMEM;
    if (status) {
        tide_model_free(model);
        *out = NULL;
    }
    return status;
}

enum tide_status tide_model_count(struct tide_trace *trace, struct tide_model **out)
{
    *out = NULL;
    /* After a pause, which frees count depends on what they free. */
    if (!trace->has_totals || !trace->complete || trace->bad_chunks ||
        trace->totals.extras[TIDE_EXTRA_PAUSE])
        return TIDE_ENOENT;
    enum tide_status status = new_model(trace, out);
    if (!status)
        status = tide_model_from_totals(*out);
    if (status) {
        tide_model_free(*out);
        *out = NULL;
    }
    return status;
}

static enum tide_status load(struct tide_trace *trace,
                             const struct tide_model_options *options, bool resume,
                             struct tide_model **out)
{
    struct tide_model *model;
    *out = NULL;
    enum tide_status status = new_model(trace, &model);
    if (status)
        return status;

    struct tide_replay *replay;
    status = tide_replay_open(trace, &model->stacks, &replay);
    if (status)
        goto free_model;
    status = fill(model, options, replay, resume);
    tide_replay_close(replay);
    if (status)
        goto free_model;
    *out = model;
    return TIDE_OK;

free_model:
    tide_model_free(model);
    return status;
}

enum tide_status tide_model_load(struct tide_trace *trace,
                                 const struct tide_model_options *options,
                                 struct tide_model **out)
{
    const enum tide_status status = load(trace, options, true, out);
    /* Nothing but an index says this: do without it. */
    return status == TIDE_ECORRUPT ? load(trace, options, false, out) : status;
}

void tide_model_free(struct tide_model *model)
{
    if (!model)
        return;
    struct tide_model_state *const state = tide_model_state(model);
    if (state) {
        tide_intern_release(&state->strings);
        tide_arena_release(&state->arena);
        tide_contexts_release(&state->contexts);
    }
    free(state);
    tide_stacks_release(&model->stacks);
    free(model->keys);
    free(model->key_more);
    free(model->sites);
    free(model->contexts);
    free(model->key_threads);
    free(model->flows);
    free(model->histograms);
    free(model->survivals);
    free(model->losses);
    free(model->holdings);
    free(model->regions);
    free(model);
}
