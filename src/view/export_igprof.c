/* view/export_igprof.c - for igprof-analyse: the tree of calls, each node with its counters.
 *
 * All numbers are hexadecimal.  Files, functions and counters are written out at their first
 * use, "FN7=(F2=(prog)+1200 N=(main))", and are "FN7" after that.  A node says how deep it
 * lies; who lies deeper follows.  Names cannot hold parentheses: an argument list at the end
 * is left out, and those left become braces.  As in IgProf a node is a function, and what was
 * inlined into it is its own.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "model/stack_counts.h"
#include "trace/format.h"
#include "view/export.h"
#include "view/export_numbers.h"
#include "view/names.h"
#include "view/run_words.h"

enum counter {
    TIDE_IGPROF_TOTAL,
    TIDE_IGPROF_MAX,
    TIDE_IGPROF_LIVE,
    TIDE_IGPROF_PEAK,
    TIDE_IGPROF_COUNTERS
};
static const char *const COUNTERS[TIDE_IGPROF_COUNTERS] = {
    [TIDE_IGPROF_TOTAL] = "MEM_TOTAL",
    [TIDE_IGPROF_MAX] = "MEM_MAX",
    [TIDE_IGPROF_LIVE] = "MEM_LIVE",
    [TIDE_IGPROF_PEAK] = "MEM_LIVE_PEAK",
};

struct writer {
    struct tide_out *out;
    const struct tide_model *model;
    struct tide_stack_counts counts;
    struct tide_numbers files, functions;
    struct tide_text name, key;
    bool said[TIDE_IGPROF_COUNTERS];
    uint32_t *inside,
        *next; /* owned; by node: the first called from it, the next beside */
};

/* --- Names ------------------------------------------------------------------------------ */

/* Where the argument list at the end of NAME begins; its length when there is none. */
static size_t without_arguments(const char *name, size_t length)
{
    size_t at = length, depth = 0;
    const char *const last = memrchr(name, ')', length);
    const char *const behind = last ? last + 1 : name;
    const bool at_end = *behind == '\0' || strncmp(behind, " const", 6) == 0 ||
                        strncmp(behind, " [", 2) == 0;
    if (!last || !at_end)
        return length;
    for (at = (size_t)(last - name) + 1; at-- > 0;) {
        depth += name[at] == ')';
        depth -= name[at] == '(';
        if (depth == 0)
            break;
    }
    static const char CALL[] = "operator";
    const size_t word = sizeof(CALL) - 1;
    const bool is_name = at == 0 ||
                         (at >= word && strncmp(name + at - word, CALL, word) == 0) ||
                         strncmp(name + at, "(anonymous namespace)", 21) == 0;
    return is_name ? length : at;
}

/* Add NAME without what would end it. */
static void add_safe(struct tide_text *text, const char *name, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        const char *const shown = name[i] == '('   ? "{"
                                  : name[i] == ')' ? "}"
                                                   : &name[i];
        tide_text_add_bytes(text, shown, 1);
    }
}

static const char *file_of(const struct tide_model *model,
                           const struct tide_frame *frame)
{
    if (frame->kind == TIDE_FRAME_NATIVE && frame->module < model->trace->module_count)
        return model->trace->modules[frame->module].path;
    return frame->kind == TIDE_FRAME_PYTHON ? "[python]" : "[unknown]";
}

/* What FRAME's function is called, into writer->name: the one that was not inlined. */
static void name_frame(struct writer *writer, uint32_t frame)
{
    const struct tide_model *const model = writer->model;
    const struct tide_symbols symbols = tide_frame_symbols(model, frame);
    const struct tide_symbol *const symbol = &symbols.list[symbols.count - 1];
    struct tide_text full = {0};
    tide_text_clear(&writer->name);
    if (!symbol->function && model->stacks.frames[frame].kind == TIDE_FRAME_NATIVE) {
        const uint64_t value = model->stacks.frames[frame].value;
        tide_text_addf(&writer->name, "@?0x%" PRIx64,
                       symbol->start ? symbol->start : value);
        return;
    }
    tide_frame_name(&full, model, frame, symbol);
    if (full.length)
        add_safe(&writer->name, full.bytes, without_arguments(full.bytes, full.length));
    writer->name.failed |= full.failed;
    tide_text_release(&full);
}

/* --- A node ------------------------------------------------------------------------------- */

static void add_file(struct writer *writer, const char *path)
{
    struct tide_text *const text = &writer->out->text;
    struct tide_text safe = {0};
    tide_out_name(&safe, path);
    const char *const name = safe.length ? safe.bytes : "";
    const size_t known = writer->files.count;
    const uint32_t number = tide_number_of(&writer->files, name);
    tide_text_addf(text, "F%" PRIx32, number);
    if (number == known) {
        tide_text_add(text, "=(");
        add_safe(text, name, strlen(name));
        tide_text_add(text, ")");
    }
    text->failed |= safe.failed;
    tide_text_release(&safe);
}

/* "FN3=(F0+1200 N=(main))", or "FN3". */
static void add_function(struct writer *writer, uint32_t frame)
{
    const struct tide_frame *const about = &writer->model->stacks.frames[frame];
    const char *const path = file_of(writer->model, about);
    const uint64_t value = about->kind == TIDE_FRAME_NATIVE ? about->value : 0;
    struct tide_text *const text = &writer->out->text;
    name_frame(writer, frame);
    const char *const name = writer->name.length ? writer->name.bytes : "@?0x0";
    tide_text_clear(&writer->key);
    tide_text_addf(&writer->key, "%s:%s", path, name);
    const size_t known = writer->functions.count;
    const uint32_t number =
        tide_number_of(&writer->functions, writer->key.bytes ? writer->key.bytes : "");
    tide_text_addf(text, "FN%" PRIx32, number);
    if (number == known) {
        tide_text_add(text, "=(");
        add_file(writer, path);
        tide_text_addf(text, "+%" PRIx64 " N=(%s))", value, name);
    }
    tide_text_add(text, "+0");
}

static void add_counter(struct writer *writer, enum counter counter, uint64_t calls,
                        uint64_t value, uint64_t peak)
{
    struct tide_text *const text = &writer->out->text;
    if (!calls && !peak)
        return;
    tide_text_addf(text, " V%x", (unsigned)counter);
    if (!writer->said[counter])
        tide_text_addf(text, "=(%s)", COUNTERS[counter]);
    writer->said[counter] = true;
    tide_text_addf(text, ":(%" PRIx64 ",%" PRIx64 ",%" PRIx64 ")", calls, value, peak);
}

static void add_blocks(struct writer *writer, const struct tide_stack_count *count)
{
    const struct tide_live_block *const blocks =
        writer->counts.blocks + count->first_block;
    for (uint64_t i = 0; i < count->live_blocks && tide_out_rest(writer->out); i++)
        tide_text_addf(&writer->out->text, ";LK=(0x%" PRIx64 ",%" PRIx64 ")",
                       blocks[i].address, blocks[i].size);
}

static void add_counters(struct writer *writer, uint32_t node)
{
    const struct tide_stack_count *const count = &writer->counts.of[node];
    add_counter(writer, TIDE_IGPROF_TOTAL, count->calls, count->bytes, count->bytes);
    add_counter(writer, TIDE_IGPROF_MAX, count->calls, count->largest, 0);
    add_counter(writer, TIDE_IGPROF_LIVE, count->live_blocks, count->live_bytes,
                count->high_bytes);
    add_blocks(writer, count);
    add_counter(writer, TIDE_IGPROF_PEAK, count->peak_blocks, count->peak_bytes,
                count->peak_bytes);
    tide_text_add(&writer->out->text, "\n");
}

/* --- The tree ------------------------------------------------------------------------------ */

/* Who made blocks, and who is on the way to them.  A node has a higher number than the one it
 * was called from. */
static enum tide_status link_nodes(struct writer *writer)
{
    const struct tide_stacks *const stacks = &writer->model->stacks;
    bool *const used = calloc(stacks->node_count, sizeof(*used));
    writer->inside = calloc(stacks->node_count, sizeof(*writer->inside));
    writer->next = calloc(stacks->node_count, sizeof(*writer->next));
    if (!used || !writer->inside || !writer->next) {
        free(used);
        return TIDE_ENOMEM;
    }
    for (uint32_t i = stacks->node_count; i-- > 1;) {
        const uint32_t parent = stacks->nodes[i].parent;
        if (!used[i] && !writer->counts.of[i].calls)
            continue;
        used[parent] = true;
        writer->next[i] = writer->inside[parent];
        writer->inside[parent] = i;
    }
    free(used);
    return TIDE_OK;
}

/* Depth first, each before those called from it. */
static void add_tree(struct writer *writer)
{
    const struct tide_stacks *const stacks = &writer->model->stacks;
    struct tide_text *const text = &writer->out->text;
    uint32_t node = writer->inside[0];
    if (writer->counts.of[0].calls) {
        tide_text_add(text, "C1 FN0=(F0=([unknown])+0 N=(@?0x0))+0");
        (void)tide_number_of(&writer->files, "[unknown]");
        (void)tide_number_of(&writer->functions, "[unknown]:@?0x0");
        add_counters(writer, 0);
    }
    while (node && tide_out_rest(writer->out)) {
        tide_text_addf(text, "C%" PRIx32 " ", stacks->nodes[node].depth);
        add_function(writer, stacks->nodes[node].frame);
        add_counters(writer, node);
        if (writer->inside[node]) {
            node = writer->inside[node];
            continue;
        }
        while (node && !writer->next[node])
            node = stacks->nodes[node].parent;
        node = node ? writer->next[node] : 0;
    }
}

static void add_head(struct writer *writer, const struct tide_process *process)
{
    struct tide_text name = {0};
    tide_out_name(&name, process ? tide_name_base(process->exe) : "");
    tide_text_addf(&writer->out->text, "P=(HEX ID=%" PRIx32 " N=(",
                   process ? process->pid : 0);
    if (name.length)
        add_safe(&writer->out->text, name.bytes, name.length);
    tide_text_add(&writer->out->text, ") T=0.000000)\n");
    writer->out->text.failed |= name.failed;
    tide_text_release(&name);
}

/* The process that WHAT asks for. */
static uint32_t chosen(const struct tide_export *what)
{
    const struct tide_trace *const trace = what->model->trace;
    uint32_t found = TIDE_ALL_PROCESSES;
    for (uint32_t i = 0; what->pid && i < trace->process_count; i++)
        if (trace->processes[i].pid == what->pid)
            found = i; /* after an exec: the last one */
    return found;
}

enum tide_status tide_export_igprof(struct tide_out *out,
                                    const struct tide_export *what)
{
    const struct tide_trace *const trace = what->model->trace;
    const uint32_t process = chosen(what);
    struct writer writer = {.out = out, .model = what->model};
    enum tide_status status =
        tide_stack_counts_build(what->model, process, &what->progress, &writer.counts);
    if (!status)
        status = link_nodes(&writer);
    if (!status) {
        add_head(&writer, process == TIDE_ALL_PROCESSES ? tide_words_main(trace)
                                                        : &trace->processes[process]);
        add_tree(&writer);
    }
    if (writer.files.failed || writer.functions.failed || writer.name.failed ||
        writer.key.failed)
        status = TIDE_ENOMEM;
    tide_numbers_release(&writer.files);
    tide_numbers_release(&writer.functions);
    tide_text_release(&writer.name);
    tide_text_release(&writer.key);
    free(writer.inside);
    free(writer.next);
    tide_stack_counts_release(&writer.counts);
    return status;
}
