/* query/frames.c - what the stacks of a trace are called, asked for as rows need it. */
#include "query/frames.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "model/grow.h"
#include "model/pattern.h"
#include "model/symbolize.h"
#include "model/wrappers.h"
#include "symbol/name_child.h"
#include "trace/format.h"

enum tide_status tide_frames_init(struct tide_frames *frames,
                                  const struct tide_trace *trace,
                                  const struct tide_stacks *stacks,
                                  struct tide_names *names)
{
    *frames = (struct tide_frames){.trace = trace, .stacks = stacks, .names = names};
    frames->modules = calloc(trace->module_count + 1, sizeof(struct tide_symbolizer *));
    frames->opened = calloc(trace->module_count + 1, sizeof(*frames->opened));
    if (!frames->modules || !frames->opened)
        return TIDE_ENOMEM;
    return tide_embedded_open(trace, &frames->embedded);
}

void tide_frames_release(struct tide_frames *frames)
{
    for (size_t i = 0; frames->modules && i < frames->trace->module_count; i++)
        if (frames->modules[i])
            tide_symbolizer_close(frames->modules[i]);
    tide_name_child_free(frames->child);
    free(frames->modules);
    free(frames->opened);
    free(frames->found);
    tide_embedded_close(frames->embedded);
    free(frames->places);
    free(frames->paths);
    *frames = (struct tide_frames){0};
}

static const struct tide_frame *frame_of(const struct tide_frames *frames,
                                         uint32_t node)
{
    return &frames->stacks->frames[frames->stacks->nodes[node].frame];
}

static const char *module_base(const struct tide_frames *frames,
                               const struct tide_frame *frame)
{
    if (frame->kind != TIDE_FRAME_NATIVE ||
        frame->module >= frames->trace->module_count)
        return "";
    const char *const path = frames->trace->modules[frame->module].path;
    const char *const slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static bool is_own(const struct tide_frames *frames, const struct tide_frame *frame)
{
    static const char OWN[] = "libtidemark";
    return strncmp(module_base(frames, frame), OWN, sizeof(OWN) - 1) == 0;
}

/* Names that the trace brings: BROUGHT PLACES. */
static const struct tide_location *locate_embedded(
    struct tide_frames *frames, const struct tide_embedded_place *places,
    size_t brought, size_t *count)
{
    struct tide_location *const found =
        tide_grown(frames->found, &frames->found_capacity, brought + 1, sizeof(*found));
    *count = found ? brought : 0;
    if (found)
        frames->found = found;
    for (size_t i = 0; i < *count; i++)
        found[i] = (struct tide_location){.function = places[i].function,
                                          .file = places[i].file,
                                          .line = places[i].line};
    return found;
}

/* Without memory for a child this process reads the files. */
static void open_module(struct tide_frames *frames, uint32_t module)
{
    const struct tide_module *const file = &frames->trace->modules[module];
    frames->opened[module] = true;
    if (!frames->child)
        (void)tide_name_child_new(NULL, &frames->child);
    const struct tide_symbolizer_options options = {
        .file = {file->file_bytes, file->file_mtime_ns}, .child = frames->child};
    if (tide_symbolizer_open(file->path, file->build_id, &options,
                             &frames->modules[module]))
        frames->modules[module] = NULL;
}

/* What is known of FRAME, until the next question; COUNT may be 0. */
static const struct tide_location *locate(struct tide_frames *frames,
                                          const struct tide_frame *frame, size_t *count)
{
    const struct tide_location *locations = NULL;
    *count = 0;
    if (frame->kind != TIDE_FRAME_NATIVE ||
        frame->module >= frames->trace->module_count)
        return NULL;
    const uint64_t address = tide_call_address(frame->value);
    size_t brought;
    const struct tide_embedded_place *const places =
        tide_embedded_find(frames->embedded, frame->module, address, &brought);
    if (tide_embedded_has_file(places, brought))
        return locate_embedded(frames, places, brought, count);
    struct tide_symbolizer *const *const module = &frames->modules[frame->module];
    if (!frames->opened[frame->module])
        open_module(frames, frame->module);
    if (!*module || tide_symbolizer_find(*module, address, &locations, count))
        *count = 0;
    if (!brought && !*count && *module &&
        tide_symbolizer_state(*module) == TIDE_MODULE_OTHER &&
        !tide_embedded_names(frames->embedded, frame->module))
        frames->trace->modules[frame->module].other_build = true;
    if (brought && (*count == 0 || !locations[*count - 1].file))
        return locate_embedded(frames, places, brought, count);
    return locations;
}

/* The text for FRAME, of which LOCATION (or NULL) is known. */
static uint32_t name_frame(struct tide_frames *frames, const struct tide_frame *frame,
                           const struct tide_location *location)
{
    const char *const name = location ? location->function : NULL;
    if (name)
        return tide_names_text(frames->names, name);
    if (frame->kind == TIDE_FRAME_PYTHON)
        return tide_names_text(frames->names, "[python]");
    if (frame->kind == TIDE_FRAME_SYNTHETIC)
        return tide_names_text(frames->names, tide_synthetic_name(frame->value));
    struct tide_text text = {0};
    const char *const base = module_base(frames, frame);
    tide_text_addf(&text, *base ? "%s+0x%" PRIx64 : "%s0x%" PRIx64, base,
                   location && location->start ? location->start : frame->value);
    const uint32_t id = tide_names_text(frames->names, text.bytes);
    tide_text_release(&text);
    return id;
}

/* --- Where it allocated --------------------------------------------------------------- */

static void take_place(struct tide_frames *frames, const struct tide_frame *frame,
                       const struct tide_location *location,
                       struct tide_stack_place *out)
{
    const char *const base = module_base(frames, frame);
    out->function = name_frame(frames, frame, location);
    out->module = *base ? tide_names_text(frames->names, base) : 0;
    out->file =
        location && location->file ? tide_names_text(frames->names, location->file) : 0;
    out->line = location ? location->line : 0;
}

/* The innermost function of FRAME that is not a library's, nor by its name a wrapper of
 * malloc, becomes the place; until there is one, any is better than none.  True: it was found. */
static bool try_frame(struct tide_frames *frames, const struct tide_frame *frame,
                      struct tide_stack_place *out)
{
    size_t count;
    const struct tide_location *const list = locate(frames, frame, &count);
    if (!count) {
        take_place(frames, frame, NULL, out);
        return true;
    }
    for (size_t i = 0; i < count; i++) {
        const char *const name = list[i].function;
        const bool library = name && (tide_is_library_function(name) ||
                                      tide_wrapper_name(name) >= TIDE_NAME_WRAPS);
        if (!out->function || !library)
            take_place(frames, frame, &list[i], out);
        if (!library)
            return true;
    }
    return false;
}

static void find_place(struct tide_frames *frames, uint32_t stack,
                       struct tide_stack_place *out)
{
    const struct tide_stacks *const stacks = frames->stacks;
    uint32_t node = stack;
    out->known = true;
    while (node && node < stacks->node_count) {
        const struct tide_frame *const frame = frame_of(frames, node);
        if (!is_own(frames, frame) && try_frame(frames, frame, out))
            return;
        node = stacks->nodes[node].parent;
    }
}

const struct tide_stack_place *tide_frames_find_place(struct tide_frames *frames,
                                                      uint32_t stack)
{
    struct tide_stack_place *const places = tide_grown(
        frames->places, &frames->place_capacity, (size_t)stack + 1, sizeof(*places));
    if (!places)
        return NULL;
    frames->places = places;
    if (!places[stack].known)
        find_place(frames, stack, &places[stack]);
    return &places[stack];
}

/* --- The whole stack ------------------------------------------------------------------ */

/* The path of NODE, that of its caller being AROUND. */
static uint32_t extend(struct tide_frames *frames, uint32_t around, uint32_t node)
{
    const struct tide_frame *const frame = frame_of(frames, node);
    size_t count;
    if (is_own(frames, frame))
        return around;
    const struct tide_location *const list = locate(frames, frame, &count);
    uint32_t path = around;
    if (!count)
        return tide_names_node(frames->names, path, name_frame(frames, frame, NULL));
    for (size_t i = count; i-- > 0;)
        path =
            tide_names_node(frames->names, path, name_frame(frames, frame, &list[i]));
    return path;
}

/* From the outermost caller that is not known yet inwards. */
uint32_t tide_frames_path(struct tide_frames *frames, uint32_t stack)
{
    const struct tide_stacks *const stacks = frames->stacks;
    if (!stack || stack >= stacks->node_count)
        return 0;
    uint32_t *const paths = tide_grown(frames->paths, &frames->path_capacity,
                                       (size_t)stack + 1, sizeof(*paths));
    const uint32_t depth = stacks->nodes[stack].depth;
    uint32_t *const chain = malloc(((size_t)depth + 1) * sizeof(*chain));
    uint32_t count = 0, path = 0;
    if (paths)
        frames->paths = paths;
    if (!paths || !chain) {
        frames->names->failed = true;
        free(chain);
        return 0;
    }
    uint32_t node = stack;
    for (; node && !paths[node] && count <= depth; node = stacks->nodes[node].parent)
        chain[count++] = node;
    path = node ? paths[node] : 0;
    while (count--) {
        path = extend(frames, path, chain[count]);
        paths[chain[count]] = path;
    }
    free(chain);
    return path;
}
