/* view/export_chrome.c - for Perfetto and chrome://tracing: a run over time.
 *
 * One counter for each space of each process, one for its resident memory; regions are
 * slices of their thread, snapshots and events are instants.  Of each stretch of the run
 * a counter has its highest value and its last, at the times they had, so that the top of
 * a counter is the process's true peak however long the run was.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "model/grow.h"
#include "trace/format.h"
#include "view/export.h"
#include "view/names.h"
#include "view/run_words.h"

enum { TIDE_CHROME_STRETCHES = 1000 };

/* A counter in the stretch of the run that is being gathered. */
struct counter {
    uint64_t stretch;
    uint64_t most, most_ticks;
    uint64_t last, last_ticks;
    bool begun;
};

/* The regions of a lane that have begun, by the numbers of their names. */
struct regions {
    uint64_t *names; /* owned: innermost last */
    size_t count, capacity;
};

struct writer {
    struct tide_out *out;
    const struct tide_export *what;
    const struct tide_trace *trace;
    struct counter (*counters)[TIDE_SPACES]; /* owned, per process */
    struct regions *open;                    /* owned, per lane */
    uint64_t stretch_ticks;
    bool comma;
};

/* --- Pieces ------------------------------------------------------------------------- */

static uint32_t pid_of(const struct writer *writer, uint32_t process)
{
    return writer->trace->processes[process].pid;
}

/* Open an event of this phase. */
static void begin(struct writer *writer, char phase)
{
    tide_text_add(&writer->out->text, writer->comma ? ",\n" : "\n");
    tide_text_addf(&writer->out->text, "{\"ph\":\"%c\"", phase);
    writer->comma = true;
}

static void add_name(struct writer *writer, const char *name)
{
    tide_text_add(&writer->out->text, ",\"name\":");
    tide_out_json(&writer->out->text, name);
}

static void add_time(struct writer *writer, double seconds)
{
    tide_text_addf(&writer->out->text, ",\"ts\":%.3f", seconds * 1e6);
}

static void add_ticks(struct writer *writer, uint64_t ticks)
{
    add_time(writer, tide_trace_seconds(writer->trace, ticks));
}

/* What a process (TID 0) or thread is called. */
static void add_title(struct writer *writer, uint32_t pid, uint32_t tid,
                      const char *title)
{
    struct tide_text *const text = &writer->out->text;
    begin(writer, 'M');
    add_name(writer, tid ? "thread_name" : "process_name");
    tide_text_addf(text, ",\"pid\":%" PRIu32, pid);
    if (tid)
        tide_text_addf(text, ",\"tid\":%" PRIu32, tid);
    tide_text_add(text, ",\"args\":{\"name\":");
    tide_out_json(text, title);
    tide_text_add(text, "}}");
}

static void add_value(struct writer *writer, const char *name, uint32_t pid,
                      double seconds, uint64_t bytes)
{
    begin(writer, 'C');
    add_name(writer, name);
    add_time(writer, seconds);
    tide_text_addf(&writer->out->text,
                   ",\"pid\":%" PRIu32 ",\"args\":{\"bytes\":%" PRIu64 "}}", pid,
                   bytes);
}

/* --- Counters ------------------------------------------------------------------------ */

static void add_level(struct writer *writer, uint32_t process, enum tide_space space,
                      uint64_t ticks, uint64_t bytes)
{
    add_value(writer, tide_space_name(space), pid_of(writer, process),
              tide_trace_seconds(writer->trace, ticks), bytes);
}

/* Write what the counter's stretch was. */
static void settle(struct writer *writer, uint32_t process, enum tide_space space)
{
    const struct counter *const counter = &writer->counters[process][space];
    if (!counter->begun)
        return;
    add_level(writer, process, space, counter->most_ticks, counter->most);
    if (counter->last != counter->most)
        add_level(writer, process, space, counter->last_ticks, counter->last);
}

/* The stretch of the run that TICKS are in. */
static uint64_t stretch_of(const struct writer *writer, uint64_t ticks)
{
    const uint64_t start = writer->trace->start_ticks;
    return ticks > start ? (ticks - start) / writer->stretch_ticks : 0;
}

/* Between two threads time may step back a little: a counter then stays where it is,
 * since who reads it sorts by time. */
static enum tide_status on_level(void *user, const struct tide_level *level)
{
    struct writer *const writer = user;
    struct counter *const counter = &writer->counters[level->process][level->space];
    const uint64_t ticks =
        level->ticks > counter->last_ticks ? level->ticks : counter->last_ticks;
    const uint64_t stretch = stretch_of(writer, ticks);
    if (counter->begun && counter->stretch != stretch) {
        settle(writer, level->process, level->space);
        counter->begun = false;
    }
    if (!counter->begun || level->bytes > counter->most) {
        counter->most = level->bytes;
        counter->most_ticks = ticks;
    }
    counter->last = level->bytes;
    counter->last_ticks = ticks;
    counter->stretch = stretch;
    counter->begun = true;
    return tide_out_rest(writer->out) ? TIDE_OK : TIDE_EIO;
}

/* What a process held when it ended stands no more. */
static void add_end(struct writer *writer, uint32_t process)
{
    const struct tide_process *const about = &writer->trace->processes[process];
    for (int space = 0; space < TIDE_SPACES; space++) {
        const struct counter *const counter = &writer->counters[process][space];
        settle(writer, process, (enum tide_space)space);
        if (counter->begun && about->ended && about->end_ticks >= counter->last_ticks)
            add_level(writer, process, (enum tide_space)space, about->end_ticks, 0);
    }
}

/* --- Marks --------------------------------------------------------------------------- */

/* What the process of EVENT calls NUMBER; PLAIN and the number when it has no name. */
static void add_mark_name(struct writer *writer, const struct tide_event *event,
                          uint64_t number, const char *plain)
{
    const char *const name = tide_trace_name(writer->trace, event->process, number);
    const bool named = name && event->extra != TIDE_EXTRA_EVENT;
    if (named)
        add_name(writer, name);
    else
        tide_text_addf(&writer->out->text, ",\"name\":\"%s %" PRIu64 "\"", plain,
                       number);
}

/* When and where, and the end of the event. */
static void add_mark_place(struct writer *writer, const struct tide_event *event,
                           uint32_t tid)
{
    add_ticks(writer, event->ticks);
    tide_text_addf(&writer->out->text, ",\"pid\":%" PRIu32 ",\"tid\":%" PRIu32 "}",
                   pid_of(writer, event->process), tid);
}

static enum tide_status begin_region(struct writer *writer,
                                     const struct tide_event *event, uint32_t tid)
{
    struct regions *const open = &writer->open[event->lane];
    uint64_t *const names =
        tide_grown(open->names, &open->capacity, open->count + 1, sizeof(*names));
    if (!names)
        return TIDE_ENOMEM;
    open->names = names;
    names[open->count++] = event->value;
    begin(writer, 'B');
    add_mark_name(writer, event, event->value, "region");
    tide_text_add(&writer->out->text, ",\"cat\":\"region\"");
    add_mark_place(writer, event, tid);
    return TIDE_OK;
}

/* End the regions of EVENT's thread until COUNT are left. */
static void end_regions(struct writer *writer, const struct tide_event *event,
                        uint32_t tid, size_t count)
{
    struct regions *const open = &writer->open[event->lane];
    while (open->count > count) {
        begin(writer, 'E');
        add_mark_name(writer, event, open->names[--open->count], "region");
        add_mark_place(writer, event, tid);
    }
}

/* As in model/context.h: the innermost of that name ends, with all that is inside it; one
 * that never began ends nothing. */
static void end_region(struct writer *writer, const struct tide_event *event,
                       uint32_t tid)
{
    const struct regions *const open = &writer->open[event->lane];
    size_t at = open->count;
    while (at && event->value && open->names[at - 1] != event->value)
        at--;
    if (at)
        end_regions(writer, event, tid, at - 1);
}

static void add_instant(struct writer *writer, const struct tide_event *event,
                        uint32_t tid, const char *category)
{
    begin(writer, 'i');
    add_mark_name(writer, event, event->value, category);
    tide_text_addf(&writer->out->text, ",\"cat\":\"%s\",\"s\":\"t\"", category);
    add_mark_place(writer, event, tid);
}

static enum tide_status on_mark(void *user, const struct tide_event *event,
                                uint32_t tid)
{
    struct writer *const writer = user;
    enum tide_status status = TIDE_OK;
    switch (event->extra) {
    case TIDE_EXTRA_REGION_BEGIN:
    case TIDE_EXTRA_LOOP_BEGIN:
        status = begin_region(writer, event, tid);
        break;
    case TIDE_EXTRA_REGION_END:
        end_region(writer, event, tid);
        break;
    case TIDE_EXTRA_THREAD_END:
        end_regions(writer, event, tid, 0);
        break;
    case TIDE_EXTRA_EVENT:
        add_instant(writer, event, tid, "event");
        break;
    case TIDE_EXTRA_SNAPSHOT:
        add_instant(writer, event, tid, "snapshot");
        break;
    default:
        break;
    }
    if (status)
        return status;
    return tide_out_rest(writer->out) ? TIDE_OK : TIDE_EIO;
}

/* --- The document -------------------------------------------------------------------- */

static void add_titles(struct writer *writer)
{
    const struct tide_trace *const trace = writer->trace;
    for (uint32_t i = 0; i < trace->process_count && tide_out_rest(writer->out); i++)
        add_title(writer, pid_of(writer, i), 0,
                  tide_name_base(trace->processes[i].exe));
    for (size_t i = 0; i < trace->thread_count && tide_out_rest(writer->out); i++) {
        const struct tide_thread *const thread = &trace->threads[i];
        if (thread->process < trace->process_count && thread->tid)
            add_title(writer, pid_of(writer, thread->process), thread->tid,
                      thread->name);
    }
}

static void add_resident(struct writer *writer)
{
    const struct tide_trace *const trace = writer->trace;
    for (size_t i = 0; i < trace->rss_count && tide_out_rest(writer->out); i++) {
        const struct tide_rss_sample *const sample = &trace->rss[i];
        if (sample->process < trace->process_count)
            add_value(writer, "RSS", pid_of(writer, sample->process),
                      tide_trace_seconds(trace, sample->ticks), sample->bytes);
    }
}

/* All processes together: the highest of each stretch, as the model has it. */
static void add_whole(struct writer *writer)
{
    const struct tide_model *const model = writer->what->model;
    if (writer->trace->process_count < 2 || model->timeline_count == 0)
        return;
    add_title(writer, 0, 0, "all processes");
    for (uint32_t i = 0; i < model->timeline_count; i++)
        add_value(writer, tide_space_name(TIDE_IN_HEAP), 0,
                  model->duration_s * i / model->timeline_count, model->timeline[i]);
}

static void add_head(struct writer *writer)
{
    struct tide_text *const text = &writer->out->text;
    struct tide_text command = {0};
    tide_words_command(&command, writer->trace->argv);
    tide_text_add(
        text, "{\"displayTimeUnit\":\"ns\",\"otherData\":{\"exporter\":\"" TIDE_EXPORTER
              "\",\"command\":");
    tide_out_json(text, command.bytes ? command.bytes : "");
    tide_text_add(text, "},\"traceEvents\":[");
    tide_text_release(&command);
}

static enum tide_status add_all(struct writer *writer)
{
    const struct tide_block_watch watch = {
        .user = writer, .level = on_level, .mark = on_mark};
    add_head(writer);
    add_titles(writer);
    const enum tide_status status =
        tide_block_stream(writer->what->model, &watch, &writer->what->progress);
    for (uint32_t i = 0; i < writer->trace->process_count && !status; i++)
        add_end(writer, i);
    add_resident(writer);
    add_whole(writer);
    tide_text_add(&writer->out->text, "\n]}\n");
    return status;
}

enum tide_status tide_export_chrome(struct tide_out *out,
                                    const struct tide_export *what)
{
    const struct tide_trace *const trace = what->model->trace;
    const uint64_t length = trace->end_ticks > trace->start_ticks
                                ? trace->end_ticks - trace->start_ticks
                                : 0;
    struct writer writer = {
        .out = out,
        .what = what,
        .trace = trace,
        .counters = calloc(trace->process_count + 1, sizeof(*writer.counters)),
        .open = calloc(trace->lane_count + 1, sizeof(*writer.open)),
        .stretch_ticks = length / TIDE_CHROME_STRETCHES + 1,
    };
    const enum tide_status status =
        writer.counters && writer.open ? add_all(&writer) : TIDE_ENOMEM;
    free(writer.counters);
    for (size_t i = 0; writer.open && i < trace->lane_count; i++)
        free(writer.open[i].names);
    free(writer.open);
    return status;
}
