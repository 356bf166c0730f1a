/* view/export_speedscope.c - for speedscope: flame graphs, one profile per metric.
 *
 * Profiles come before the frames they share: members of a JSON object have no order, and
 * so the frames are known by the time they are written.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "view/export.h"
#include "view/export_numbers.h"
#include "view/export_trail.h"
#include "view/names.h"
#include "view/run_words.h"

/* How a profile is called, by metric: of bytes and of counts. */
static const char *const TITLES[][2] = {
    [TIDE_METRIC_PEAK] = {"peak bytes", "peak blocks"},
    [TIDE_METRIC_LEAKS] = {"live at the end, bytes", "live at the end, blocks"},
    [TIDE_METRIC_TOTAL] = {"allocated bytes", "allocation calls"},
    [TIDE_METRIC_CHURN] = {"temporary bytes", "temporary calls"},
};

struct writer {
    struct tide_out *out;
    const struct tide_export *what;
    const struct tide_rows *rows;
    uint32_t *frame_of;         /* owned: by function of the rows */
    bool counts;                /* the profile counts; else bytes */
    struct tide_numbers frames; /* each as the JSON that describes it */
    struct tide_text frame;
    size_t profiles;
};

static uint64_t weight_of(const struct writer *writer, const struct tide_trail *trail)
{
    const struct tide_tree_row *const row =
        &writer->rows->tree[trail->rows[trail->depth - 1]];
    return writer->counts ? row->self_calls : row->self_bytes;
}

/* The number of FUNCTION among the frames. */
static uint32_t number_frame(struct writer *writer,
                             const struct tide_function *function)
{
    tide_text_clear(&writer->frame);
    tide_text_add(&writer->frame, "{\"name\":");
    tide_out_json(&writer->frame, function->name);
    if (function->file) {
        tide_text_add(&writer->frame, ",\"file\":");
        tide_out_json(&writer->frame, function->file);
    }
    if (function->file && function->line)
        tide_text_addf(&writer->frame, ",\"line\":%" PRIu32, function->line);
    tide_text_add(&writer->frame, "}");
    if (writer->frame.failed)
        writer->frames.failed = true;
    return writer->frame.failed ? 0
                                : tide_number_of(&writer->frames, writer->frame.bytes);
}

/* Number the frames of all functions of the rows. */
static enum tide_status number_frames(struct writer *writer)
{
    const struct tide_rows *const rows = writer->rows;
    writer->frame_of = calloc(rows->function_count + 1, sizeof(*writer->frame_of));
    if (!writer->frame_of)
        return TIDE_ENOMEM;
    for (size_t i = 0; i < rows->function_count; i++)
        writer->frame_of[i] = number_frame(writer, &rows->functions[i]);
    return TIDE_OK;
}

static void add_sample(struct writer *writer, const struct tide_trail *trail)
{
    struct tide_text *const text = &writer->out->text;
    for (size_t i = 0; i < trail->depth; i++) {
        const uint32_t function = writer->rows->tree[trail->rows[i]].function;
        tide_text_add_bytes(text, i ? "," : "[", 1);
        tide_out_uint(text, writer->frame_of[function]);
    }
    tide_text_add_bytes(text, "]", 1);
}

/* The stacks that have weight, or WEIGHTS in their place. */
static enum tide_status add_list(struct writer *writer, bool weights)
{
    struct tide_text *const text = &writer->out->text;
    struct tide_trail trail = {0};
    const char *comma = "";
    tide_text_add(text, weights ? "],\n\"weights\":[" : "\"samples\":[");
    while (tide_out_rest(writer->out) && tide_trail_next(&trail, writer->rows)) {
        const uint64_t weight = weight_of(writer, &trail);
        if (weight == 0)
            continue;
        tide_text_add(text, comma);
        comma = weights ? "," : ",\n";
        if (weights)
            tide_out_uint(text, weight);
        else
            add_sample(writer, &trail);
    }
    const enum tide_status status = trail.failed ? TIDE_ENOMEM : TIDE_OK;
    tide_trail_release(&trail);
    return status;
}

static enum tide_status add_profile(struct writer *writer)
{
    struct tide_text *const text = &writer->out->text;
    const uint64_t total =
        writer->counts ? writer->rows->total_calls : writer->rows->total_bytes;
    tide_text_add(text, writer->profiles++ ? ",\n" : "\n");
    tide_text_addf(text,
                   "{\"type\":\"sampled\",\"name\":\"%s: %s\",\"unit\":\"%s\","
                   "\"startValue\":0,\"endValue\":%" PRIu64 ",\n",
                   tide_space_name(writer->what->space),
                   TITLES[writer->rows->metric][writer->counts],
                   writer->counts ? "none" : "bytes", total);
    enum tide_status status = add_list(writer, false);
    if (!status)
        status = add_list(writer, true);
    tide_text_add(text, "]}");
    return status;
}

/* Both profiles of METRIC. */
static enum tide_status add_metric(struct writer *writer, enum tide_metric metric)
{
    struct tide_rows *rows;
    enum tide_status status =
        tide_rows_build(writer->what->model, metric, writer->what->space, &rows);
    if (status)
        return status;
    writer->rows = rows;
    status = number_frames(writer);
    writer->counts = false;
    if (!status)
        status = add_profile(writer);
    writer->counts = true;
    if (!status)
        status = add_profile(writer);
    free(writer->frame_of);
    tide_rows_free(rows);
    return status;
}

static void add_head(struct writer *writer)
{
    struct tide_text *const text = &writer->out->text;
    struct tide_text command = {0};
    tide_words_command(&command, writer->what->model->trace->argv);
    tide_text_add(
        text, "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\n"
              "\"exporter\":\"" TIDE_EXPORTER "\",\"name\":");
    tide_out_json(text, command.bytes ? command.bytes : "");
    tide_text_add(text, ",\"activeProfileIndex\":0,\n\"profiles\":[");
    tide_text_release(&command);
}

static void add_frames(struct writer *writer)
{
    struct tide_text *const text = &writer->out->text;
    tide_text_add(text, "],\n\"shared\":{\"frames\":[");
    for (size_t i = 0; i < writer->frames.count && tide_out_rest(writer->out); i++) {
        tide_text_add(text, i ? ",\n" : "\n");
        tide_text_add(text, writer->frames.list[i]);
    }
    tide_text_add(text, "]}}\n");
}

enum tide_status tide_export_speedscope(struct tide_out *out,
                                        const struct tide_export *what)
{
    static const enum tide_metric METRICS[] = {TIDE_METRIC_PEAK, TIDE_METRIC_LEAKS,
                                               TIDE_METRIC_TOTAL, TIDE_METRIC_CHURN};
    struct writer writer = {.out = out, .what = what};
    enum tide_status status = TIDE_OK;
    add_head(&writer);
    for (size_t i = 0; i < sizeof(METRICS) / sizeof(METRICS[0]) && !status; i++)
        status = add_metric(&writer, METRICS[i]);
    add_frames(&writer);
    if (!status && writer.frames.failed)
        status = TIDE_ENOMEM;
    tide_text_release(&writer.frame);
    tide_numbers_release(&writer.frames);
    return status;
}
