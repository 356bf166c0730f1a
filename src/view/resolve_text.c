/* view/resolve_text.c - what was at an address, in words. */
#include <inttypes.h>
#include <stdio.h>

#include "model/path.h"
#include "trace/format.h"
#include "view/export.h"
#include "view/names.h"
#include "view/report_text.h"
#include "view/resolve_view.h"
#include "view/run_words.h"

enum { TIDE_LEFT = 2, TIDE_WORDS = 10 };

const char *tide_thread_name(const struct tide_trace *trace, uint32_t process,
                             uint32_t tid)
{
    for (size_t i = 0; i < trace->thread_count && tid; i++)
        if (trace->threads[i].process == process && trace->threads[i].tid == tid)
            return trace->threads[i].name ? trace->threads[i].name : "";
    return "";
}

struct writer {
    struct tide_page *page;
    const struct tide_resolve_view *view;
    struct tide_paths paths;
    bool unplaced; /* of some block that was freed it is not known where */
};

/* "  label  words", wrapped. */
static void add_line(struct tide_page *page, const char *label,
                     const struct tide_text *raw)
{
    struct tide_text safe = {0};
    tide_name_safe(&safe, raw->bytes, page->style);
    tide_page_tab(page, TIDE_LEFT);
    tide_page_add(page, TIDE_INK_DIM, label);
    tide_page_tab(page, TIDE_WORDS);
    tide_page_wrap(page, TIDE_INK_PLAIN, safe.bytes ? safe.bytes : "", TIDE_WORDS);
    page->out->failed |= safe.failed || raw->failed;
    tide_text_release(&safe);
}

static const char *of_space(const struct tide_life *life)
{
    return tide_space_name((enum tide_space)life->space);
}

static void add_bytes(struct tide_text *out, uint64_t bytes, const char *words)
{
    tide_text_addf(out, "%s byte%s %s ", tide_number_count(bytes).text,
                   bytes == 1 ? "" : "s", words);
}

/* "100 bytes at 0x123 (heap, malloc)" */
static void add_block(struct tide_text *out, const struct tide_life *life)
{
    add_bytes(out, life->size, "at");
    tide_text_addf(out, "0x%" PRIx64 " (%s, %s)", life->address, of_space(life),
                   tide_life_kind(life));
}

/* Where OFFSET is in a block of SIZE bytes. */
static void add_offset(struct tide_text *out, uint64_t offset, uint64_t size)
{
    if (offset >= size)
        add_bytes(out, offset - size, "past the end of");
    else if (offset)
        add_bytes(out, offset, "into");
    else
        tide_text_add(out, "at the start of ");
}

static void add_who(struct tide_text *out, const struct tide_trace *trace,
                    uint32_t process, uint32_t tid)
{
    const char *const name = tide_thread_name(trace, process, tid);
    if (tid)
        tide_text_addf(out, " by thread %" PRIu32, tid);
    else
        tide_text_add(out, " by a thread that is not known");
    if (*name)
        tide_text_addf(out, " (%s)", name);
}

static void add_made(struct writer *writer, const struct tide_life *life)
{
    const struct tide_trace *const trace = writer->view->model->trace;
    struct tide_text words = {0};
    tide_text_add(
        &words, tide_number_seconds(tide_trace_seconds(trace, life->birth_ticks)).text);
    add_who(&words, trace, life->process, life->tid);
    if (trace->process_count > 1)
        tide_text_addf(&words, " of process %" PRIu32,
                       trace->processes[life->process].pid);
    add_line(writer->page, "made", &words);
    tide_text_release(&words);
}

static void add_stack(struct writer *writer, uint32_t stack)
{
    struct tide_page *const page = writer->page;
    const struct tide_paths *const paths = &writer->paths;
    if (tide_paths_walk(&writer->paths, stack)) {
        page->out->failed = true;
        return;
    }
    for (size_t i = 0; i < paths->call_count; i++) {
        const struct tide_call *const call = &paths->calls[i];
        tide_page_tab(page, TIDE_WORDS);
        if (i > 0) {
            tide_page_add(page, TIDE_INK_DIM, tide_glyph(page->style, TIDE_GLYPH_FROM));
            tide_page_add(page, TIDE_INK_DIM, " ");
        }
        const int room = tide_page_left(page);
        const int place = tide_place_columns(call->file, call->line, page->style);
        tide_page_function(page, TIDE_INK_BOLD, paths->functions[call->function].name,
                           place > 0 && place < room / 2 ? room - place - 2 : room);
        if (place > 0 && place < room / 2) {
            tide_page_add(page, TIDE_INK_PLAIN, "  ");
            tide_page_place(page, call->file, call->line, place);
        }
        tide_page_end(page);
    }
}

static void add_death(struct writer *writer, const struct tide_answer *answer)
{
    const struct tide_trace *const trace = writer->view->model->trace;
    const uint64_t end = trace->processes[answer->life.process].end_ticks;
    struct tide_text words = {0};
    if (!answer->died) {
        tide_text_add(&words, "never");
        if (answer->kind == TIDE_ANSWER_DEAD)
            tide_text_addf(&words, "; its process ended at %s",
                           tide_number_seconds(tide_trace_seconds(trace, end)).text);
        add_line(writer->page, "freed", &words);
        tide_text_release(&words);
        return;
    }
    tide_text_add(
        &words,
        tide_number_seconds(tide_trace_seconds(trace, answer->death.ticks)).text);
    if (answer->death.tid)
        add_who(&words, trace, answer->life.process, answer->death.tid);
    else
        tide_text_add(&words, ", by an unknown thread");
    if (answer->death.moved_to)
        tide_text_addf(&words, " to 0x%" PRIx64, answer->death.moved_to);
    add_line(writer->page, answer->death.moved_to ? "moved" : "freed", &words);
    tide_text_release(&words);
    if (answer->death.stack)
        add_stack(writer, answer->death.stack);
    else if (answer->death.tid)
        writer->unplaced = true;
}

/* ": element [3][17] of [30][30], of 8 bytes each"; nothing when nothing is said. */
static void add_element(struct tide_text *out, const struct tide_array *array,
                        uint64_t offset)
{
    uint64_t index[TIDE_ARRAY_DIMENSIONS];
    if (!array->dimensions || !array->element_bytes)
        return;
    const bool inside = tide_array_index(array, offset, index);
    tide_text_add(out, inside ? ": element " : ": in no element");
    for (uint32_t i = 0; inside && i < array->dimensions; i++)
        tide_text_addf(out, "[%" PRIu64 "]", index[i]);
    tide_text_add(out, " of ");
    for (uint32_t i = 0; i < array->dimensions; i++)
        tide_text_addf(out, "[%" PRIu64 "]", array->extents[i]);
    tide_text_add(out, ", ");
    tide_words_count(out, array->element_bytes, "byte");
    tide_text_add(out, " each");
}

static void add_label(struct writer *writer, const struct tide_answer *answer,
                      uint64_t address)
{
    const struct tide_life *const life = &answer->life;
    const char *const name = life->label
                                 ? tide_trace_name(writer->view->model->trace,
                                                   life->process, life->label - 1)
                                 : NULL;
    if (!name)
        return;
    struct tide_text words = {0};
    tide_text_add(&words, name);
    add_element(&words, &answer->array, address - life->address);
    add_line(writer->page, "label", &words);
    tide_text_release(&words);
}

/* One block; LABEL says what it is. */
static void add_answer(struct writer *writer, const struct tide_answer *answer,
                       uint64_t address, const char *label)
{
    const struct tide_life *const life = &answer->life;
    struct tide_text words = {0};
    add_offset(&words, address - life->address, life->size);
    add_block(&words, life);
    add_line(writer->page, label, &words);
    tide_text_release(&words);
    add_label(writer, answer, address);
    add_made(writer, life);
    add_stack(writer, life->stack);
    add_death(writer, answer);
}

static void add_module(struct writer *writer, uint64_t address)
{
    const struct tide_trace *const trace = writer->view->model->trace;
    for (size_t i = 0; i < trace->process_count; i++) {
        uint64_t offset;
        struct tide_text words = {0};
        const uint32_t module =
            tide_inquire_module(&trace->processes[i], address, &offset);
        if (module >= trace->module_count)
            continue;
        tide_text_addf(&words, "%s+0x%" PRIx64, trace->modules[module].path, offset);
        add_line(writer->page, "module", &words);
        tide_text_release(&words);
        return;
    }
}

static void add_heading(struct writer *writer, const struct tide_asked *asked)
{
    struct tide_text title = {0}, detail = {0};
    tide_text_addf(&title, "0x%" PRIx64, asked->question->address);
    if (asked->at_s >= 0)
        tide_text_addf(&detail, "at %s", tide_number_seconds(asked->at_s).text);
    else
        tide_text_add(&detail, "at the end");
    tide_page_heading(writer->page, title.bytes ? title.bytes : "",
                      detail.bytes ? detail.bytes : "");
    writer->page->out->failed |= title.failed || detail.failed;
    tide_text_release(&title);
    tide_text_release(&detail);
}

/* "part: 5 bytes into 100 bytes at 0x123, since 0.2 s": what is no whole block. */
static void add_labelled(struct writer *writer, const struct tide_question *question)
{
    const struct tide_trace *const trace = writer->view->model->trace;
    const struct tide_labelled *const labelled = &question->labelled;
    const char *const name =
        labelled->label
            ? tide_trace_name(trace, labelled->process, (uint64_t)labelled->label - 1)
            : NULL;
    if (!name)
        return;
    struct tide_text words = {0};
    tide_text_addf(&words, "%s: ", name);
    add_offset(&words, question->address - labelled->address, labelled->bytes);
    add_bytes(&words, labelled->bytes, "at");
    tide_text_addf(
        &words, "0x%" PRIx64 ", since %s", labelled->address,
        tide_number_seconds(tide_trace_seconds(trace, labelled->ticks)).text);
    add_line(writer->page, "label", &words);
    tide_text_release(&words);
}

static void add_question(struct writer *writer, const struct tide_asked *asked)
{
    const struct tide_question *const question = asked->question;
    struct tide_text words = {0};
    add_heading(writer, asked);
    for (size_t i = 0; i < question->answer_count; i++) {
        const struct tide_answer *const answer = &question->answers[i];
        const bool lives = answer->kind == TIDE_ANSWER_LIVE;
        add_answer(writer, answer, question->address, lives ? "live" : "dead");
    }
    if (question->answer_count == 0) {
        tide_text_add(&words, asked->at_s >= 0 ? "no block had been there by then"
                                               : "no block was ever there");
        add_line(writer->page, "none", &words);
        add_module(writer, question->address);
        if (question->before.life.id)
            add_answer(writer, &question->before, question->address, "near");
    }
    tide_text_release(&words);
    add_labelled(writer, question);
}

void tide_view_resolve(struct tide_page *page, const struct tide_resolve_view *view)
{
    struct writer writer = {.page = page, .view = view};
    if (tide_paths_init(&writer.paths, view->model)) {
        page->out->failed = true;
        return;
    }
    tide_view_warning(page, view->model->trace);
    for (size_t i = 0; i < view->count; i++) {
        if (i > 0)
            tide_page_skip(page);
        add_question(&writer, &view->list[i]);
    }
    if (writer.unplaced) {
        tide_page_skip(page);
        tide_page_wrap(page, TIDE_INK_DIM,
                       "Where blocks are freed was not recorded: tidemark run "
                       "--free-stacks does.",
                       0);
    }
    tide_paths_release(&writer.paths);
}
