/* view/export_pprof.c - for pprof and its kin: profile.proto.
 *
 * Field numbers are those of profile.proto.  Strings, functions and locations are written
 * when they are first met; fields of a message have no order, so samples may come first.
 * A location is a frame, a line of it a function that was inlined there, innermost first.
 * Mappings come last, since only then is it known what the frames of each have.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/symbolize.h"
#include "trace/format.h"
#include "view/export.h"
#include "view/export_numbers.h"
#include "view/export_wire.h"
#include "view/run_words.h"

enum {
    TIDE_PROFILE_SAMPLE_TYPE = 1,
    TIDE_PROFILE_SAMPLE = 2,
    TIDE_PROFILE_MAPPING = 3,
    TIDE_PROFILE_LOCATION = 4,
    TIDE_PROFILE_FUNCTION = 5,
    TIDE_PROFILE_STRING = 6,
    TIDE_PROFILE_TIME_NANOS = 9,
    TIDE_PROFILE_DURATION_NANOS = 10,
    TIDE_PROFILE_PERIOD_TYPE = 11,
    TIDE_PROFILE_PERIOD = 12,
    TIDE_PROFILE_COMMENT = 13,
    TIDE_PROFILE_DEFAULT_TYPE = 14,

    TIDE_TYPE_TYPE = 1, /* ValueType */
    TIDE_TYPE_UNIT = 2,

    TIDE_SAMPLE_LOCATIONS = 1, /* Sample */
    TIDE_SAMPLE_VALUES = 2,

    TIDE_MAPPING_ID = 1, /* Mapping */
    TIDE_MAPPING_START = 2,
    TIDE_MAPPING_LIMIT = 3,
    TIDE_MAPPING_FILENAME = 5,
    TIDE_MAPPING_BUILD_ID = 6,
    TIDE_MAPPING_HAS_FUNCTIONS = 7,
    TIDE_MAPPING_HAS_FILENAMES = 8,
    TIDE_MAPPING_HAS_LINES = 9,
    TIDE_MAPPING_HAS_INLINES = 10,

    TIDE_LOCATION_ID = 1, /* Location */
    TIDE_LOCATION_MAPPING = 2,
    TIDE_LOCATION_ADDRESS = 3,
    TIDE_LOCATION_LINE = 4,

    TIDE_LINE_FUNCTION = 1, /* Line */
    TIDE_LINE_LINE = 2,

    TIDE_FUNCTION_ID = 1, /* Function */
    TIDE_FUNCTION_NAME = 2,
    TIDE_FUNCTION_SYSTEM_NAME = 3,
    TIDE_FUNCTION_FILENAME = 4,
};

/* What is known of a module: where some process had it, what its frames have. */
struct image {
    uint64_t start, limit, bias;
    bool mapped, nameless, files, inlines;
};

struct writer {
    struct tide_out *out;
    const struct tide_export *what;
    struct tide_numbers strings;
    struct tide_numbers functions; /* as "number of the name:number of the file" */
    struct tide_text message, part, name;
    bool *located;        /* owned, per frame, and one more: written already */
    struct image *images; /* owned, per module */
};

/* The number of STRING (NULL: ""), made safe. */
static uint32_t string_of(struct writer *writer, const char *string)
{
    struct tide_text safe = {0};
    tide_out_name(&safe, string);
    const uint32_t number =
        tide_number_of(&writer->strings, safe.length ? safe.bytes : "");
    tide_text_release(&safe);
    return number;
}

static void end_message(struct writer *writer, unsigned field)
{
    tide_wire_part(&writer->out->text, field, &writer->message);
}

/* --- Functions, locations, samples ------------------------------------------------------ */

/* The id of the function called writer->name in FILE, which is written if it is new. */
static uint32_t function_of(struct writer *writer, const char *file)
{
    const uint32_t name =
        tide_number_of(&writer->strings, writer->name.length ? writer->name.bytes : "");
    const uint32_t filename = string_of(writer, file);
    const size_t known = writer->functions.count;
    char key[32];
    (void)snprintf(key, sizeof(key), "%" PRIu32 ":%" PRIu32, name, filename);
    const uint32_t number = tide_number_of(&writer->functions, key);
    if (number == known) {
        struct tide_text function = {0};
        tide_wire_uint(&function, TIDE_FUNCTION_ID, number + 1);
        tide_wire_uint(&function, TIDE_FUNCTION_NAME, name);
        tide_wire_uint(&function, TIDE_FUNCTION_SYSTEM_NAME, name);
        tide_wire_uint(&function, TIDE_FUNCTION_FILENAME, filename);
        tide_wire_part(&writer->out->text, TIDE_PROFILE_FUNCTION, &function);
        tide_text_release(&function);
    }
    return number + 1;
}

/* Add the line of a function called writer->name to the location in writer->message. */
static void add_line(struct writer *writer, const char *file, uint32_t line)
{
    tide_wire_uint(&writer->part, TIDE_LINE_FUNCTION, function_of(writer, file));
    tide_wire_uint(&writer->part, TIDE_LINE_LINE, line);
    tide_wire_part(&writer->message, TIDE_LOCATION_LINE, &writer->part);
    tide_text_clear(&writer->name);
}

static struct image *image_of(const struct writer *writer, uint32_t frame)
{
    const struct tide_model *const model = writer->what->model;
    const struct tide_frame *const about = &model->stacks.frames[frame];
    const bool known =
        about->kind == TIDE_FRAME_NATIVE && about->module < model->trace->module_count;
    return known ? &writer->images[about->module] : NULL;
}

/* Which mapping a location is in, and where. */
static void add_place(struct writer *writer, uint32_t frame)
{
    const struct tide_frame *const about = &writer->what->model->stacks.frames[frame];
    const struct image *const image = image_of(writer, frame);
    if (image)
        tide_wire_uint(&writer->message, TIDE_LOCATION_MAPPING, about->module + 1);
    if (about->kind == TIDE_FRAME_NATIVE)
        tide_wire_uint(&writer->message, TIDE_LOCATION_ADDRESS,
                       about->value + (image ? image->bias : 0));
}

static void note_symbol(struct image *image, const struct tide_symbol *symbol)
{
    image->nameless = image->nameless || !symbol->function;
    image->files = image->files || symbol->file;
    image->inlines = image->inlines || symbol->inlined;
}

/* Write the location of FRAME, once. */
static void add_location(struct writer *writer, uint32_t frame)
{
    const struct tide_model *const model = writer->what->model;
    const struct tide_symbols symbols = tide_frame_symbols(model, frame);
    struct image *const image = image_of(writer, frame);
    if (writer->located[frame])
        return;
    writer->located[frame] = true;
    tide_wire_uint(&writer->message, TIDE_LOCATION_ID, (uint64_t)frame + 1);
    add_place(writer, frame);
    for (uint32_t i = 0; i < symbols.count; i++) {
        const struct tide_symbol *const symbol = &symbols.list[i];
        if (image)
            note_symbol(image, symbol);
        tide_frame_name(&writer->name, model, frame, symbol);
        add_line(writer, symbol->file, symbol->line);
    }
    end_message(writer, TIDE_PROFILE_LOCATION);
}

/* The location of stacks of which nothing is known: its id. */
static uint64_t add_nowhere(struct writer *writer)
{
    const uint32_t nowhere = writer->what->model->stacks.frame_count;
    if (!writer->located[nowhere]) {
        writer->located[nowhere] = true;
        tide_wire_uint(&writer->message, TIDE_LOCATION_ID, (uint64_t)nowhere + 1);
        tide_text_add(&writer->name, tide_synthetic_name(TIDE_SYNTHETIC_UNKNOWN));
        add_line(writer, NULL, 0);
        end_message(writer, TIDE_PROFILE_LOCATION);
    }
    return (uint64_t)nowhere + 1;
}

/* The frames of STACK, leaf first, into writer->part; their locations are written. */
static void add_stack(struct writer *writer, uint32_t stack)
{
    const struct tide_model *const model = writer->what->model;
    struct tide_text ids = {0};
    uint32_t node = tide_frame_outside(model, stack);
    if (!node)
        tide_wire_varint(&ids, add_nowhere(writer));
    while (node) {
        const uint32_t frame = model->stacks.nodes[node].frame;
        add_location(writer, frame);
        tide_wire_varint(&ids, (uint64_t)frame + 1);
        node = tide_frame_outside(model, model->stacks.nodes[node].parent);
    }
    tide_wire_part(&writer->message, TIDE_SAMPLE_LOCATIONS, &ids);
    tide_text_release(&ids);
}

static uint64_t at_least_zero(int64_t value)
{
    return value > 0 ? (uint64_t)value : 0;
}

/* In the order of add_types(). */
static void add_sample(struct writer *writer, const struct tide_site *site)
{
    add_stack(writer, site->stack);
    tide_wire_varint(&writer->part, site->calls);
    tide_wire_varint(&writer->part, site->bytes);
    tide_wire_varint(&writer->part, at_least_zero(site->live_blocks));
    tide_wire_varint(&writer->part, at_least_zero(site->live_bytes));
    tide_wire_varint(&writer->part, at_least_zero(site->peak_blocks));
    tide_wire_varint(&writer->part, at_least_zero(site->peak_bytes));
    tide_wire_part(&writer->message, TIDE_SAMPLE_VALUES, &writer->part);
    end_message(writer, TIDE_PROFILE_SAMPLE);
}

/* --- Around them ------------------------------------------------------------------------ */

static void add_type(struct writer *writer, unsigned field, const char *type,
                     const char *unit)
{
    tide_wire_uint(&writer->message, TIDE_TYPE_TYPE, string_of(writer, type));
    tide_wire_uint(&writer->message, TIDE_TYPE_UNIT, string_of(writer, unit));
    end_message(writer, field);
}

static void add_types(struct writer *writer)
{
    add_type(writer, TIDE_PROFILE_SAMPLE_TYPE, "alloc_objects", "count");
    add_type(writer, TIDE_PROFILE_SAMPLE_TYPE, "alloc_space", "bytes");
    add_type(writer, TIDE_PROFILE_SAMPLE_TYPE, "inuse_objects", "count");
    add_type(writer, TIDE_PROFILE_SAMPLE_TYPE, "inuse_space", "bytes");
    add_type(writer, TIDE_PROFILE_SAMPLE_TYPE, "peak_objects", "count");
    add_type(writer, TIDE_PROFILE_SAMPLE_TYPE, "peak_space", "bytes");
    add_type(writer, TIDE_PROFILE_PERIOD_TYPE, "space", "bytes");
}

/* A damaged trace may claim any length: 0 when no clock could count it. */
static uint64_t nanoseconds_of(double seconds)
{
    return seconds > 0 && seconds < 9e9 ? (uint64_t)(seconds * 1e9) : 0;
}

static void add_facts(struct writer *writer)
{
    const struct tide_model *const model = writer->what->model;
    struct tide_text *const text = &writer->out->text;
    struct tide_text words = {0};
    tide_wire_uint(text, TIDE_PROFILE_PERIOD, 1);
    tide_wire_uint(text, TIDE_PROFILE_DEFAULT_TYPE, string_of(writer, "peak_space"));
    tide_wire_uint(text, TIDE_PROFILE_TIME_NANOS, model->trace->start_unix_ns);
    tide_wire_uint(text, TIDE_PROFILE_DURATION_NANOS,
                   nanoseconds_of(model->duration_s));
    tide_text_addf(&words,
                   TIDE_EXPORTER ", space %s: ", tide_space_name(writer->what->space));
    tide_words_command(&words, model->trace->argv);
    tide_wire_uint(text, TIDE_PROFILE_COMMENT,
                   string_of(writer, words.failed ? "" : words.bytes));
    tide_text_release(&words);
}

static void add_mapping(struct writer *writer, uint32_t module)
{
    const struct tide_module *const about =
        &writer->what->model->trace->modules[module];
    const struct image *const image = &writer->images[module];
    struct tide_text *const message = &writer->message;
    tide_wire_uint(message, TIDE_MAPPING_ID, (uint64_t)module + 1);
    tide_wire_uint(message, TIDE_MAPPING_START, image->start);
    tide_wire_uint(message, TIDE_MAPPING_LIMIT, image->limit);
    tide_wire_uint(message, TIDE_MAPPING_FILENAME, string_of(writer, about->path));
    tide_wire_uint(message, TIDE_MAPPING_BUILD_ID, string_of(writer, about->build_id));
    tide_wire_uint(message, TIDE_MAPPING_HAS_FUNCTIONS, !image->nameless);
    tide_wire_uint(message, TIDE_MAPPING_HAS_FILENAMES, image->files);
    tide_wire_uint(message, TIDE_MAPPING_HAS_LINES, image->files);
    tide_wire_uint(message, TIDE_MAPPING_HAS_INLINES, image->inlines);
    end_message(writer, TIDE_PROFILE_MAPPING);
}

/* The main program's own file comes first: readers take it for the program. */
static void add_mappings(struct writer *writer)
{
    const struct tide_trace *const trace = writer->what->model->trace;
    const struct tide_process *const program = tide_words_main(trace);
    uint32_t first = UINT32_MAX;
    for (uint32_t i = 0; program && i < trace->module_count && first == UINT32_MAX; i++)
        if (strcmp(trace->modules[i].path, program->exe) == 0)
            first = i;
    if (first != UINT32_MAX)
        add_mapping(writer, first);
    for (uint32_t i = 0; i < trace->module_count && tide_out_rest(writer->out); i++)
        if (i != first)
            add_mapping(writer, i);
}

static void add_strings(struct writer *writer)
{
    for (size_t i = 0; i < writer->strings.count && tide_out_rest(writer->out); i++) {
        const char *const string = writer->strings.list[i];
        tide_wire_bytes(&writer->out->text, TIDE_PROFILE_STRING, string,
                        strlen(string));
    }
}

/* Each module stands where the first process that had it had it. */
static void place_images(struct writer *writer)
{
    const struct tide_trace *const trace = writer->what->model->trace;
    for (size_t i = 0; i < trace->process_count; i++) {
        const struct tide_process *const process = &trace->processes[i];
        for (size_t j = 0; j < process->mapping_count; j++) {
            const struct tide_mapping *const mapping = &process->mappings[j];
            if (mapping->module >= trace->module_count)
                continue;
            struct image *const image = &writer->images[mapping->module];
            if (!image->mapped)
                *image = (struct image){.start = mapping->start,
                                        .limit = mapping->end,
                                        .bias = mapping->bias,
                                        .mapped = true};
        }
    }
}

static void add_all(struct writer *writer)
{
    const struct tide_model *const model = writer->what->model;
    place_images(writer);
    (void)tide_number_of(&writer->strings, ""); /* string 0 must be empty */
    add_types(writer);
    add_facts(writer);
    for (size_t i = 0; i < model->site_count && tide_out_rest(writer->out); i++)
        if (model->sites[i].space == (uint32_t)writer->what->space)
            add_sample(writer, &model->sites[i]);
    add_mappings(writer);
    add_strings(writer);
}

enum tide_status tide_export_pprof(struct tide_out *out, const struct tide_export *what)
{
    const struct tide_model *const model = what->model;
    struct writer writer = {.out = out, .what = what};
    enum tide_status status = TIDE_ENOMEM;
    writer.located =
        calloc((size_t)model->stacks.frame_count + 1, sizeof(*writer.located));
    writer.images = calloc(model->trace->module_count + 1, sizeof(*writer.images));
    if (writer.located && writer.images) {
        add_all(&writer);
        if (!writer.strings.failed && !writer.functions.failed && !writer.name.failed)
            status = TIDE_OK;
    }
    free(writer.located);
    free(writer.images);
    tide_numbers_release(&writer.strings);
    tide_numbers_release(&writer.functions);
    tide_text_release(&writer.message);
    tide_text_release(&writer.part);
    tide_text_release(&writer.name);
    return status;
}
