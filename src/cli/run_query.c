/* cli/run_query.c - from the text of a query to its answer on a descriptor. */
#include "cli/run_query.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "cli/command.h"
#include "cli/latest_trace.h"
#include "cli/memory_limit.h"
#include "cli/open_trace.h"
#include "cli/piped_trace.h"
#include "view/progress.h"
#include "view/units.h"

/* --- Queries --------------------------------------------------------------------------- */

/* A query, read and compiled. */
struct compiled {
    struct tide_query query;
    struct tide_plan plan;
    struct tide_query_error error;
};

static void release(struct compiled *compiled)
{
    tide_plan_release(&compiled->plan);
    tide_query_release(&compiled->query);
    tide_query_error_release(&compiled->error);
}

/* Say what is wrong with TEXT, and below it where; returns the exit status. */
static int say_error(const char *text, size_t length,
                     const struct tide_query_error *error)
{
    struct tide_text words = {0};
    tide_query_error_text(&words, text, length, error);
    char *const where = words.bytes ? strchr(words.bytes, '\n') : NULL;
    if (where) {
        *where = '\0';
        tide_say("%s", words.bytes);
        (void)fputs(where + 1, stderr);
    } else {
        tide_say("out of memory");
    }
    tide_text_release(&words);
    return 2;
}

/* -1, or the exit status after what is wrong was said. */
static int compile(const char *text, size_t length,
                   const struct tide_plan_options *options, struct compiled *out)
{
    *out = (struct compiled){0};
    enum tide_status status = tide_query_parse(text, length, &out->query, &out->error);
    if (!status)
        status = tide_plan_make(&out->query, options, &out->plan, &out->error);
    if (status == TIDE_EUSAGE)
        return say_error(text, length, &out->error);
    return status ? tide_fail("%s", tide_failure_words(status)) : -1;
}

int tide_check_query(const char *text, size_t length, bool labelled_only)
{
    const struct tide_plan_options options = {.labelled_only = labelled_only,
                                              .may_be_set = true};
    struct compiled compiled;
    struct tide_out out;
    struct tide_query_view view = {0};
    int result = compile(text, length, &options, &compiled);
    tide_out_begin(&out, -1);
    if (result < 0 && tide_query_view_begin(&view, &compiled.plan, &out,
                                            &compiled.error) == TIDE_EUSAGE)
        result = say_error(text, length, &compiled.error);
    tide_query_view_release(&view);
    tide_text_release(&out.text);
    release(&compiled);
    return result;
}

/* --- Traces ---------------------------------------------------------------------------- */

struct traces {
    struct tide_opened *opened; /* owned */
    struct tide_trace **list;   /* owned */
    char **names;               /* owned, each too */
    size_t count;
};

static void close_traces(struct traces *traces)
{
    for (size_t i = 0; i < traces->count; i++) {
        tide_opened_close(&traces->opened[i]);
        free(traces->names[i]);
    }
    free(traces->opened);
    free(traces->list);
    free(traces->names);
    *traces = (struct traces){0};
}

/* "dir/a.tide" is shown as "a", standard input as "-".  Owned by the caller; NULL without
 * memory. */
static char *short_name(const char *path)
{
    static const char END[] = ".tide";
    const char *const slash = strrchr(path, '/');
    const char *const base = slash ? slash + 1 : path;
    if (strcmp(path, TIDE_STDIN_PATH) == 0)
        return strdup("-");
    const size_t length = strlen(base), end = sizeof(END) - 1;
    const bool ends = length > end && strcmp(base + length - end, END) == 0;
    return strndup(base, ends ? length - end : length);
}

/* -1 or the exit status. */
static int open_traces(const struct tide_query_request *request, struct traces *out)
{
    const size_t wanted = request->trace_count > 0 ? (size_t)request->trace_count : 1;
    *out = (struct traces){
        .opened = calloc(wanted, sizeof(*out->opened)),
        .list = calloc(wanted, sizeof(struct tide_trace *)),
        .names = calloc(wanted, sizeof(char *)),
    };
    if (!out->opened || !out->list || !out->names)
        return tide_fail_memory();
    for (size_t i = 0; i < wanted; i++) {
        struct tide_opened *const opened = &out->opened[i];
        const int done = tide_open_trace_only(
            request->trace_count > 0 ? request->traces[i] : NULL, opened);
        if (done >= 0)
            return done;
        out->list[i] = opened->trace;
        out->names[i] = short_name(opened->path);
        out->count++;
        if (!out->names[i])
            return tide_fail_memory();
    }
    return -1;
}

/* When they have been read: that a chunk is damaged shows only then. */
static void say_what_is_missing(const struct traces *traces)
{
    for (size_t i = 0; i < traces->count; i++) {
        tide_say_what_is_missing(&traces->opened[i]);
        tide_say_other_builds(&traces->opened[i]);
    }
}

/* --- Answers ---------------------------------------------------------------------------- */

static enum tide_status on_row(void *user, const struct tide_names *names,
                               const struct tide_value *cells)
{
    return tide_query_view_row(user, names, cells);
}

/* Rows can go out as they are found. */
static bool streams(const struct tide_plan *plan, const struct tide_query_view *view)
{
    return !plan->grouped && plan->order_count == 0 && !view->format->keeps;
}

static void say_overflow(const struct tide_result *result)
{
    if (result->overflows)
        (void)tide_fail("%llu sum%s too large for 64 bits: left empty; scale() gives "
                        "an approximate one",
                        (unsigned long long)result->overflows,
                        result->overflows == 1 ? " is" : "s are");
}

/* What alone is asked for, or grouped by. */
static const struct tide_plan_slot *only_slot(const struct tide_plan *plan)
{
    if (plan->grouped)
        return plan->key_count == 1 ? &plan->slots[plan->keys[0]] : NULL;
    return plan->slot_count == 1 ? &plan->slots[0] : NULL;
}

/* Are there rows, of one cell or grouped by it, and none says anything? */
static bool is_blank(const struct tide_result *result)
{
    for (size_t i = 0; i < result->row_count; i++)
        if (tide_result_row(result, i)->type != TIDE_VALUE_NONE)
            return false;
    return result->row_count > 0;
}

static bool is_region(enum tide_attribute_id attribute)
{
    return attribute >= TIDE_ATTRIBUTE_REGION && attribute <= TIDE_ATTRIBUTE_PHASE;
}

/* "function" asks for regions, as with Caliper: a program that marks none has rows without
 * a name, which explain nothing. */
static void say_no_region(const struct tide_plan *plan,
                          const struct tide_result *result)
{
    const struct tide_plan_slot *const key = only_slot(plan);
    if (key && !key->let && is_region(key->attribute) && is_blank(result))
        (void)tide_fail(
            "'%s' means the regions that the program marks, and it marked none; GROUP "
            "BY leaf for the functions that allocate",
            key->name);
}

static int say_failure(const struct tide_query_request *request,
                       const struct tide_result *result, enum tide_status status)
{
    if (result->gave_up)
        return tide_fail("a regular expression takes too long: repeat less in what is "
                         "repeated, as in '(a+)+'");
    if (result->refused)
        return tide_fail(
            "the answer needs more than %s: ask for less (WHERE, LIMIT, fewer keys), or "
            "allow more with --max-memory",
            tide_number_bytes(request->budget, TIDE_UNITS_IEC).text);
    return tide_fail("%s", tide_failure_words(status));
}

/* Run the plan and write its rows. */
static int answer(const struct tide_query_request *request,
                  const struct compiled *compiled, const struct traces *traces,
                  struct tide_query_view *view)
{
    struct tide_progress_bar bar;
    struct tide_result result;
    tide_progress_bar_init(&bar, STDERR_FILENO, "reading");
    const struct tide_progress progress = {.step = tide_progress_bar_step,
                                           .user = &bar};
    const bool stream = streams(&compiled->plan, view);
    const struct tide_query_job job = {
        .plan = &compiled->plan,
        .traces = traces->list,
        .trace_count = traces->count,
        .trace_names = (const char *const *)traces->names,
        .budget = request->budget,
        .threads = request->threads,
        .progress = traces->count == 1 ? &progress : NULL,
        .row = stream ? on_row : NULL,
        .user = view,
    };
    enum tide_status status = tide_query_run(&job, &result);
    tide_progress_bar_end(&bar);
    for (size_t i = 0; i < result.row_count && !status; i++)
        status = tide_query_view_row(view, &result.names, tide_result_row(&result, i));
    if (!status)
        status = tide_query_view_end(view);
    const int failed =
        status && !view->out->error ? say_failure(request, &result, status) : -1;
    say_overflow(&result);
    if (failed < 0)
        say_no_region(&compiled->plan, &result);
    tide_result_release(&result);
    return failed;
}

static int write_answer(const struct tide_query_request *request,
                        struct compiled *compiled, const struct traces *traces)
{
    struct tide_out out;
    struct tide_query_view view = {.format = request->format,
                                   .width = tide_style_fit(request->fd)};
    int failed = -1;
    tide_out_begin(&out, request->fd);
    const enum tide_status status =
        tide_query_view_begin(&view, &compiled->plan, &out, &compiled->error);
    if (status == TIDE_EUSAGE)
        failed = say_error(request->text, request->length, &compiled->error);
    else if (status)
        failed = tide_fail("%s", tide_failure_words(status));
    else
        failed = answer(request, compiled, traces, &view);
    tide_query_view_release(&view);
    if (failed >= 0)
        tide_text_clear(&out.text); /* half an answer is none */
    const enum tide_status written = tide_out_end(&out);
    if (failed < 0 && written)
        failed = tide_fail("the answer cannot be written: %s",
                           out.error ? strerrordesc_np(out.error)
                                     : tide_failure_words(written));
    return failed < 0 ? 0 : failed;
}

static int explain(const struct compiled *compiled)
{
    const struct tide_style style =
        tide_style_detect(STDOUT_FILENO, TIDE_COLOR_AUTO, TIDE_UNITS_IEC);
    struct tide_text plain = {0}, text = {0};
    tide_plan_explain(&compiled->plan, &plain);
    tide_query_explained(&text, plain.bytes ? plain.bytes : "", &style);
    text.failed = text.failed || plain.failed;
    tide_text_release(&plain);
    return tide_print_text(&text);
}

/* For an explanation traces need not be there. */
static bool can_open(const struct tide_query_request *request)
{
    char *latest = NULL;
    for (int i = 0; i < request->trace_count; i++)
        if (access(request->traces[i], R_OK))
            return false;
    const bool found = request->trace_count > 0 || !tide_latest_trace(".", &latest);
    free(latest);
    return found;
}

/* Traces come first: their programs may have set attributes of their own.  No row is read
 * for an explanation. */
int tide_run_query(const struct tide_query_request *request)
{
    struct compiled compiled = {0};
    struct traces traces = {0};
    struct tide_user_names users = {0};
    const bool opens = !request->explain || can_open(request);
    int result = opens ? open_traces(request, &traces) : -1;
    if (result < 0 && tide_user_names_gather(traces.list, traces.count, &users))
        result = tide_fail_memory();
    const struct tide_plan_options options = {
        .labelled_only = request->labelled_only,
        .several_traces = request->trace_count > 1,
        .users = &users,
        .show_users = request->show_users,
        .typed_regions = request->show_users,
        .may_be_set = !opens,
    };
    if (result < 0)
        result = compile(request->text, request->length, &options, &compiled);
    if (result < 0 && request->explain)
        result = explain(&compiled);
    if (result < 0)
        result = write_answer(request, &compiled, &traces);
    say_what_is_missing(&traces);
    release(&compiled);
    tide_user_names_release(&users);
    close_traces(&traces);
    return result;
}

int tide_list_attributes(const struct tide_query_request *request,
                         enum tide_query_source source, bool json)
{
    struct traces traces;
    struct tide_attribute_counts counts = {0};
    int result = open_traces(request, &traces);
    if (result < 0) {
        const struct tide_query_job job = {.traces = traces.list,
                                           .trace_count = traces.count};
        const enum tide_status status = tide_query_count(&job, source, &counts);
        const struct tide_style style =
            tide_style_detect(STDOUT_FILENO, TIDE_COLOR_AUTO, TIDE_UNITS_IEC);
        struct tide_text text = {0};
        if (!status && json)
            tide_query_attributes_json(&text, &counts, source);
        else if (!status)
            tide_query_attributes_text(&text, &counts, source, &style);
        result = status ? tide_fail("%s", tide_failure_words(status))
                        : tide_print_text(&text);
    }
    say_what_is_missing(&traces);
    tide_attribute_counts_release(&counts);
    close_traces(&traces);
    return result;
}
