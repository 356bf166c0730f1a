/* view/export_callgrind.c - for KCachegrind and callgrind_annotate: a graph of calls.
 *
 * A name is written out at its first use, "(7) main", and is "(7)" after that; objects,
 * files and functions are numbered apart.  As callgrind does it, what runs below an
 * earlier call of the same function is a function of its own, called name'2.  What a
 * program has for counts of calls is here the number of allocations on the way.
 */
#include <inttypes.h>

#include "model/call_graph.h"
#include "view/export.h"
#include "view/export_numbers.h"
#include "view/run_words.h"

/* In the order of struct tide_costs. */
static const char EVENTS[] = "PeakBytes PeakBlocks LiveBytes LiveBlocks AllocBytes "
                             "AllocCalls TemporaryBytes TemporaryCalls";

struct writer {
    struct tide_text *text;
    const struct tide_call_graph *graph;
    struct tide_numbers objects, files, functions;
    struct tide_text name;
};

/* Add KEY and NAME, compressed by NUMBERS; writer->name is NAME made safe. */
static void add_name(struct writer *writer, struct tide_numbers *numbers,
                     const char *key)
{
    const char *const name = writer->name.length ? writer->name.bytes : "???";
    const size_t known = numbers->count;
    const uint32_t number = tide_number_of(numbers, name);
    tide_text_addf(writer->text, "%s=(%" PRIu32 ")", key, number + 1);
    if (number == known)
        tide_text_addf(writer->text, " %s", name);
    tide_text_add(writer->text, "\n");
    tide_text_clear(&writer->name);
}

/* Object, file and function of NODE, under these keys. */
static void add_node(struct writer *writer, uint32_t node, const char *const keys[3])
{
    static const struct tide_function ROOT = {.name = "[all]", .module = ""};
    const struct tide_function *const function =
        node == TIDE_GRAPH_ROOT
            ? &ROOT
            : &writer->graph->paths.functions[tide_graph_function(node)];
    tide_out_name(&writer->name, function->module);
    add_name(writer, &writer->objects, keys[0]);
    tide_out_name(&writer->name, function->file);
    add_name(writer, &writer->files, keys[1]);
    tide_out_name(&writer->name, function->name);
    if (tide_graph_again(node))
        tide_text_add(&writer->name, "'2");
    add_name(writer, &writer->functions, keys[2]);
}

static void add_costs(struct tide_text *text, const struct tide_costs *costs)
{
    for (size_t i = 0; i < TIDE_COSTS; i++)
        tide_text_addf(text, " %" PRIu64, costs->of[i]);
    tide_text_add(text, "\n");
}

static void add_line(struct writer *writer, const struct tide_graph_line *line)
{
    static const char *const CALLEE[] = {"cob", "cfi", "cfn"};
    if (line->callee != TIDE_GRAPH_SELF) {
        const uint64_t calls = line->costs.of[TIDE_METRIC_TOTAL * 2 + 1];
        add_node(writer, line->callee, CALLEE);
        tide_text_addf(writer->text, "calls=%" PRIu64 " 0\n", calls ? calls : 1);
    }
    tide_text_addf(writer->text, "%" PRIu32, line->line);
    add_costs(writer->text, &line->costs);
}

static void add_head(struct writer *writer, const struct tide_export *what)
{
    struct tide_text command = {0};
    tide_words_command(&command, what->model->trace->argv);
    tide_text_add(writer->text,
                  "# callgrind format\nversion: 1\ncreator: " TIDE_EXPORTER "\ncmd: ");
    tide_out_name(writer->text, command.bytes ? command.bytes : "");
    tide_text_addf(writer->text, "\ndesc: space %s\npositions: line\nevents: %s\n",
                   tide_space_name(what->space), EVENTS);
    tide_text_add(writer->text, "summary:");
    add_costs(writer->text, &writer->graph->total);
    tide_text_release(&command);
}

enum tide_status tide_export_callgrind(struct tide_out *out,
                                       const struct tide_export *what)
{
    static const char *const CALLER[] = {"ob", "fl", "fn"};
    struct tide_call_graph graph;
    enum tide_status status = tide_call_graph_build(what->model, what->space, &graph);
    if (status)
        return status;
    struct writer writer = {.text = &out->text, .graph = &graph};
    add_head(&writer, what);
    for (size_t i = 0; i < graph.count && tide_out_rest(out); i++) {
        if (i == 0 || graph.lines[i].caller != graph.lines[i - 1].caller) {
            tide_text_add(writer.text, "\n");
            add_node(&writer, graph.lines[i].caller, CALLER);
        }
        add_line(&writer, &graph.lines[i]);
    }
    if (writer.objects.failed || writer.files.failed || writer.functions.failed ||
        writer.name.failed)
        status = TIDE_ENOMEM;
    tide_numbers_release(&writer.objects);
    tide_numbers_release(&writer.files);
    tide_numbers_release(&writer.functions);
    tide_text_release(&writer.name);
    tide_call_graph_release(&graph);
    return status;
}
