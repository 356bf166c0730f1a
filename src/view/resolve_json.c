/* view/resolve_json.c - `tidemark resolve --json`: a contract with scripts.
 *
 * Keys are only ever added; docs/man/tidemark-resolve.1 lists them.  Addresses are text:
 * many readers of JSON keep only 53 bits of a number.
 */
#include <inttypes.h>
#include <stdio.h>

#include "model/path.h"
#include "view/calls.h"
#include "view/export.h"
#include "view/json.h"
#include "view/report_json.h"
#include "view/resolve_view.h"

struct writer {
    struct tide_json json;
    const struct tide_model *model;
    struct tide_paths paths;
};

static void add_address(struct tide_json *json, const char *key, uint64_t address)
{
    char text[24];
    (void)snprintf(text, sizeof(text), "0x%" PRIx64, address);
    tide_json_string(json, key, text);
}

static void add_time(struct writer *writer, const char *key, uint64_t ticks)
{
    tide_json_number(&writer->json, key,
                     tide_trace_seconds(writer->model->trace, ticks));
}

/* A thread by number and name, null for what is not known. */
static void add_thread(struct writer *writer, const char *key, uint32_t process,
                       uint32_t tid)
{
    if (!tid) {
        tide_json_null(&writer->json, key);
        return;
    }
    tide_json_open_row(&writer->json, key);
    tide_json_uint(&writer->json, "tid", tid);
    tide_json_string(&writer->json, "name",
                     tide_thread_name(writer->model->trace, process, tid));
    tide_json_close(&writer->json);
}

static void add_death(struct writer *writer, const struct tide_answer *answer)
{
    struct tide_json *const json = &writer->json;
    if (answer->died)
        add_time(writer, "death_s", answer->death.ticks);
    else
        tide_json_null(json, "death_s");
    add_thread(writer, "freed_by", answer->life.process,
               answer->died ? answer->death.tid : 0);
    if (answer->death.moved_to)
        add_address(json, "moved_to", answer->death.moved_to);
    else
        tide_json_null(json, "moved_to");
    if (answer->death.stack)
        tide_json_calls(json, "freed_stack", &writer->paths, answer->death.stack);
    else
        tide_json_null(json, "freed_stack");
}

/* An array of COUNT numbers, or null. */
static void add_numbers(struct tide_json *json, const char *key,
                        const uint64_t *numbers, uint32_t count)
{
    if (!numbers) {
        tide_json_null(json, key);
        return;
    }
    tide_json_open(json, key, '[');
    for (uint32_t i = 0; i < count; i++)
        tide_json_uint(json, NULL, numbers[i]);
    tide_json_close(json);
}

/* What the label says of an array, and which element it is. */
static void add_array(struct tide_json *json, const struct tide_array *array,
                      uint64_t offset)
{
    uint64_t index[TIDE_ARRAY_DIMENSIONS];
    const bool known = array->dimensions && array->element_bytes;
    const bool inside = known && tide_array_index(array, offset, index);
    if (known)
        tide_json_uint(json, "element_bytes", array->element_bytes);
    else
        tide_json_null(json, "element_bytes");
    add_numbers(json, "extents", known ? array->extents : NULL, array->dimensions);
    add_numbers(json, "index", inside ? index : NULL, array->dimensions);
}

static void add_block(struct writer *writer, const char *key,
                      const struct tide_answer *answer, uint64_t address)
{
    struct tide_json *const json = &writer->json;
    const struct tide_life *const life = &answer->life;
    const struct tide_trace *const trace = writer->model->trace;
    const bool live = answer->kind == TIDE_ANSWER_LIVE;
    tide_json_open(json, key, '{');
    tide_json_string(json, "state", live ? "live" : "dead");
    tide_json_uint(json, "pid", trace->processes[life->process].pid);
    tide_json_string(json, "space", tide_space_name((enum tide_space)life->space));
    tide_json_string(json, "kind", tide_life_kind(life));
    add_address(json, "address", life->address);
    tide_json_uint(json, "size", life->size);
    tide_json_uint(json, "usable", life->usable);
    tide_json_uint(json, "offset", address - life->address);
    tide_json_bool(json, "past_end", address - life->address >= life->size);
    tide_json_string(
        json, "label",
        life->label ? tide_trace_name(trace, life->process, (uint64_t)life->label - 1)
                    : NULL);
    add_array(json, &answer->array, address - life->address);
    add_time(writer, "birth_s", life->birth_ticks);
    add_thread(writer, "made_by", life->process, life->tid);
    add_death(writer, answer);
    tide_json_calls(json, "stack", &writer->paths, life->stack);
    tide_json_close(json);
}

/* The module at ADDRESS, of the first process that had one there. */
static void add_module(struct writer *writer, uint64_t address)
{
    const struct tide_trace *const trace = writer->model->trace;
    for (size_t i = 0; i < trace->process_count; i++) {
        uint64_t offset;
        const uint32_t module =
            tide_inquire_module(&trace->processes[i], address, &offset);
        if (module >= trace->module_count)
            continue;
        tide_json_open_row(&writer->json, "module");
        tide_json_string(&writer->json, "path", trace->modules[module].path);
        add_address(&writer->json, "offset", offset);
        tide_json_close(&writer->json);
        return;
    }
    tide_json_null(&writer->json, "module");
}

static const char *state_of(const struct tide_question *question)
{
    for (size_t i = 0; i < question->answer_count; i++)
        if (question->answers[i].kind == TIDE_ANSWER_LIVE)
            return "live";
    return question->answer_count ? "dead" : "none";
}

/* Memory with a label that is no whole block. */
static void add_labelled(struct writer *writer, const struct tide_question *question)
{
    const struct tide_trace *const trace = writer->model->trace;
    const struct tide_labelled *const labelled = &question->labelled;
    struct tide_json *const json = &writer->json;
    if (!labelled->label) {
        tide_json_null(json, "labelled");
        return;
    }
    tide_json_open(json, "labelled", '{');
    tide_json_string(
        json, "label",
        tide_trace_name(trace, labelled->process, (uint64_t)labelled->label - 1));
    tide_json_uint(json, "pid", trace->processes[labelled->process].pid);
    add_address(json, "address", labelled->address);
    tide_json_uint(json, "size", labelled->bytes);
    tide_json_uint(json, "offset", question->address - labelled->address);
    add_time(writer, "since_s", labelled->ticks);
    tide_json_close(json);
}

static void add_question(struct writer *writer, const struct tide_asked *asked)
{
    const struct tide_question *const question = asked->question;
    struct tide_json *const json = &writer->json;
    tide_json_open(json, NULL, '{');
    add_address(json, "address", question->address);
    if (asked->at_s >= 0)
        tide_json_number(json, "at_s", asked->at_s);
    else
        tide_json_null(json, "at_s");
    tide_json_string(json, "state", state_of(question));
    tide_json_open(json, "blocks", '[');
    for (size_t i = 0; i < question->answer_count; i++)
        add_block(writer, NULL, &question->answers[i], question->address);
    tide_json_close(json);
    if (question->before.life.id)
        add_block(writer, "before", &question->before, question->address);
    else
        tide_json_null(json, "before");
    add_labelled(writer, question);
    add_module(writer, question->address);
    tide_json_close(json);
}

void tide_view_resolve_json(struct tide_text *out, const struct tide_resolve_view *view)
{
    struct writer writer = {.json = {.out = out}, .model = view->model};
    if (tide_paths_init(&writer.paths, view->model)) {
        out->failed = true;
        return;
    }
    tide_json_open(&writer.json, NULL, '{');
    tide_json_string(&writer.json, "schema", TIDE_RESOLVE_SCHEMA);
    tide_json_string(&writer.json, "trace", view->model->trace->path);
    tide_json_open(&writer.json, "answers", '[');
    for (size_t i = 0; i < view->count; i++)
        add_question(&writer, &view->list[i]);
    tide_json_close(&writer.json);
    tide_json_honesty(&writer.json, view->model);
    tide_json_close(&writer.json);
    tide_paths_release(&writer.paths);
}
