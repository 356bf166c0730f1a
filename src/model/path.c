/* model/path.c - a stack as a list of calls, as people want to read it.
 *
 * Which frames are start-up is decided by name where there are names.  libc and the
 * loader are mostly installed without the names of their local functions, so nameless
 * frames of theirs at the outer end count too: nothing else of theirs calls a program.
 */
#include "model/path.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/grow.h"
#include "model/pattern.h"
#include "model/symbolize.h"
#include "model/wrappers.h"
#include "trace/format.h"

enum {
    TIDE_FUNCTION_SLOTS_FIRST = 256, /* a power of two */
    TIDE_START_DEPTH = 8,            /* start-up frames are at most so many */
};

/* What a function is at the outer end of a stack. */
enum outer {
    TIDE_OUTER_OTHER,
    TIDE_OUTER_MAIN,
    TIDE_OUTER_START, /* it carries a program or a thread to its first own function */
    TIDE_OUTER_LIBC,  /* nameless: it does so beside these */
};

enum tide_status tide_paths_init(struct tide_paths *paths,
                                 const struct tide_model *model)
{
    *paths = (struct tide_paths){
        .model = model,
        .function_mask = TIDE_FUNCTION_SLOTS_FIRST - 1,
    };
    paths->function_slots = calloc(TIDE_FUNCTION_SLOTS_FIRST, sizeof(uint32_t));
    paths->frames =
        calloc((size_t)model->stacks.frame_count + 1, sizeof(*paths->frames));
    if (paths->function_slots && paths->frames)
        return TIDE_OK;
    tide_paths_release(paths);
    return TIDE_ENOMEM;
}

void tide_paths_release(struct tide_paths *paths)
{
    free(paths->functions);
    free(paths->function_slots);
    free(paths->frames);
    free(paths->frame_calls);
    free(paths->calls);
    tide_intern_release(&paths->strings);
    tide_arena_release(&paths->arena);
    *paths = (struct tide_paths){0};
}

const char *tide_path_base(const char *path)
{
    const char *const slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

bool tide_path_is_loader(const char *path)
{
    static const char *const starts[] = {"ld-linux", "ld-2.", "ld.so"};
    const char *const base = tide_path_base(path);
    for (size_t i = 0; i < sizeof(starts) / sizeof(starts[0]); i++) {
        if (strncmp(base, starts[i], strlen(starts[i])) == 0)
            return true;
    }
    return false;
}

/* --- Functions ------------------------------------------------------------------- */

/* Strings are interned, so functions are equal when their pointers are. */
static size_t function_slot(const struct tide_paths *paths,
                            const struct tide_function *function)
{
    const uint64_t name = (uint64_t)(uintptr_t)function->name;
    const uint64_t module = (uint64_t)(uintptr_t)function->module;
    const uint64_t mixed = (name ^ (module << 21)) * 0x9e3779b97f4a7c15ull;
    size_t at = (size_t)(mixed >> 32) & paths->function_mask;
    while (paths->function_slots[at]) {
        const struct tide_function *const known =
            &paths->functions[paths->function_slots[at] - 1];
        if (known->name == function->name && known->module == function->module)
            break;
        at = (at + 1) & paths->function_mask;
    }
    return at;
}

static enum tide_status widen_functions(struct tide_paths *paths)
{
    const size_t slots = (paths->function_mask + 1) * 2;
    uint32_t *const wider = calloc(slots, sizeof(*wider));
    if (!wider)
        return TIDE_ENOMEM;
    free(paths->function_slots);
    paths->function_slots = wider;
    paths->function_mask = slots - 1;
    for (size_t i = 0; i < paths->function_count; i++)
        wider[function_slot(paths, &paths->functions[i])] = (uint32_t)i + 1;
    return TIDE_OK;
}

/* The number of FUNCTION (of interned strings), new or known. */
static enum tide_status find_function(struct tide_paths *paths,
                                      const struct tide_function *function,
                                      uint32_t *out)
{
    const size_t at = function_slot(paths, function);
    if (paths->function_slots[at]) {
        *out = paths->function_slots[at] - 1;
        return TIDE_OK;
    }
    struct tide_function *const functions =
        tide_grown(paths->functions, &paths->function_capacity,
                   paths->function_count + 1, sizeof(*functions));
    if (!functions)
        return TIDE_ENOMEM;
    paths->functions = functions;
    *out = (uint32_t)paths->function_count;
    functions[paths->function_count++] = *function;
    paths->function_slots[at] = *out + 1;
    if (paths->function_count > paths->function_mask / 2)
        return widen_functions(paths);
    return TIDE_OK;
}

/* What to call a frame that has no name: by where its function begins, if that is
 * known. */
static void write_nameless(const struct tide_frame *frame, const char *module,
                           uint64_t start, char *name, size_t size)
{
    if (frame->kind == TIDE_FRAME_PYTHON)
        snprintf(name, size, "[python]");
    else if (frame->kind == TIDE_FRAME_SYNTHETIC)
        snprintf(name, size, "%s", tide_synthetic_name(frame->value));
    else if (*module)
        snprintf(name, size, "%.200s+0x%" PRIx64, tide_path_base(module),
                 start ? start : frame->value);
    else
        snprintf(name, size, "0x%" PRIx64, frame->value);
}

static const char *module_of(const struct tide_model *model,
                             const struct tide_frame *frame)
{
    const bool known =
        frame->kind == TIDE_FRAME_NATIVE && frame->module < model->trace->module_count;
    return known ? model->trace->modules[frame->module].path : "";
}

static bool starts_with(const char *text, const char *start)
{
    return strncmp(text, start, strlen(start)) == 0;
}

static bool is_start(const struct tide_function *function)
{
    static const char *const names[] = {
        "_start",   "__libc_start_call_main", "clone", "clone3", "__clone",
        "__clone3", "start_thread",
    };
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (strcmp(function->name, names[i]) == 0)
            return true;
    }
    return starts_with(function->name, "__libc_start_main");
}

static bool is_nameless_libc(const struct tide_function *function)
{
    const char *const base = tide_path_base(function->module);
    return !function->resolved &&
           (starts_with(base, "libc.so") || starts_with(base, "libc-2.") ||
            starts_with(base, "libpthread"));
}

/* What FUNCTION is at the outer end of a stack. */
static enum outer outer_of(const struct tide_function *function)
{
    if (strcmp(function->name, "main") == 0)
        return TIDE_OUTER_MAIN;
    if (is_start(function))
        return TIDE_OUTER_START;
    return is_nameless_libc(function) ? TIDE_OUTER_LIBC : TIDE_OUTER_OTHER;
}

static enum tide_status name_symbol(struct tide_paths *paths,
                                    const struct tide_frame *frame,
                                    const struct tide_symbol *symbol, uint32_t *out)
{
    char nameless[256];
    const char *const module = module_of(paths->model, frame);
    const char *name = symbol->function;
    if (!name) {
        write_nameless(frame, module, symbol->start, nameless, sizeof(nameless));
        name = nameless;
    }
    struct tide_function function = {
        .name = tide_intern(&paths->strings, &paths->arena, name),
        .module = tide_intern(&paths->strings, &paths->arena, module),
        .file = symbol->file,
        .line = symbol->line,
        .resolved = symbol->function != NULL,
        .library = tide_is_library_function(name),
    };
    if (!function.name || !function.module)
        return TIDE_ENOMEM;
    function.outer = (uint8_t)outer_of(&function);
    function.wrapper = tide_wrappers_have(paths->model, name, module) ||
                       (paths->beside && tide_wrappers_have_name(paths->beside, name));
    return find_function(paths, &function, out);
}

static bool is_own(const struct tide_model *model, uint32_t frame)
{
    const char *const module = module_of(model, &model->stacks.frames[frame]);
    return starts_with(tide_path_base(module), "libtidemark");
}

/* Name all functions of FRAME, once.  The recorder's own frames are no calls. */
static enum tide_status name_frame(struct tide_paths *paths, uint32_t frame)
{
    const struct tide_symbols *const symbols = &paths->model->symbols[frame];
    const uint32_t count = is_own(paths->model, frame) ? 0 : symbols->count;
    struct tide_call *const wider =
        tide_grown(paths->frame_calls, &paths->frame_call_capacity,
                   paths->frame_call_count + count, sizeof(*wider));
    if (!wider && count)
        return TIDE_ENOMEM;
    paths->frame_calls = wider;
    enum tide_status status = TIDE_OK;
    for (uint32_t i = 0; i < count && !status; i++) {
        const struct tide_symbol *const symbol = &symbols->list[i];
        struct tide_call *const call = &wider[paths->frame_call_count + i];
        *call = (struct tide_call){.line = symbol->line, .file = symbol->file};
        status = name_symbol(paths, &paths->model->stacks.frames[frame], symbol,
                             &call->function);
    }
    if (status)
        return status;
    paths->frames[frame] = (struct tide_frame_calls){
        .first = (uint32_t)paths->frame_call_count, .count = count, .known = true};
    paths->frame_call_count += count;
    return TIDE_OK;
}

enum tide_status tide_paths_name(struct tide_paths *paths, uint32_t frame)
{
    return paths->frames[frame].known ? TIDE_OK : name_frame(paths, frame);
}

/* --- Walks ------------------------------------------------------------------------- */

/* Room for COUNT more calls. */
static enum tide_status make_room(struct tide_paths *paths, size_t count)
{
    if (count <= paths->call_capacity - paths->call_count)
        return TIDE_OK;
    struct tide_call *const calls = tide_grown(
        paths->calls, &paths->call_capacity, paths->call_count + count, sizeof(*calls));
    if (!calls)
        return TIDE_ENOMEM;
    paths->calls = calls;
    return TIDE_OK;
}

static enum tide_status add_frame(struct tide_paths *paths, uint32_t frame)
{
    const struct tide_frame_calls *const own = &paths->frames[frame];
    enum tide_status status = own->known ? TIDE_OK : name_frame(paths, frame);
    if (!status)
        status = make_room(paths, own->count);
    for (uint32_t i = 0; i < own->count && !status; i++)
        paths->calls[paths->call_count++] = paths->frame_calls[own->first + i];
    return status;
}

/* A stack of which nothing is known. */
static enum tide_status add_unknown(struct tide_paths *paths)
{
    const struct tide_frame frame = {
        .kind = TIDE_FRAME_SYNTHETIC,
        .module = TIDE_NO_MODULE,
        .value = TIDE_SYNTHETIC_UNKNOWN,
    };
    const struct tide_symbol symbol = {.function = tide_synthetic_name(frame.value)};
    uint32_t function;
    enum tide_status status = name_symbol(paths, &frame, &symbol, &function);
    if (!status)
        status = make_room(paths, 1);
    if (!status)
        paths->calls[paths->call_count++] = (struct tide_call){.function = function};
    return status;
}

/* Leave out what lies outside main, or outside a thread's first own function. */
static void fold_start(struct tide_paths *paths)
{
    const size_t count = paths->call_count;
    size_t folded = 0;
    for (size_t i = 0; i < count && i < TIDE_START_DEPTH; i++) {
        const struct tide_function *const function =
            &paths->functions[paths->calls[count - 1 - i].function];
        if (function->outer == TIDE_OUTER_MAIN) {
            folded = i;
            break;
        }
        if (i + 1 == count)
            break;
        if (function->outer == TIDE_OUTER_START ||
            (folded == i && function->outer == TIDE_OUTER_LIBC))
            folded = i + 1;
        else if (function->resolved)
            break;
    }
    paths->call_count -= folded;
}

static bool is_left_out(const struct tide_paths *paths,
                        const struct tide_function *function)
{
    return (paths->fold && function->library) ||
           (paths->hide && (tide_pattern_means_function(paths->hide, function->name) ||
                            tide_pattern_means(paths->hide, function->module)));
}

/* Leave out what counts as its caller; when that is everything, the innermost stays.  A
 * wrapper that something else was called by is no wrapper there. */
static void fold(struct tide_paths *paths)
{
    size_t kept = 0;
    for (size_t i = 0; i < paths->call_count; i++) {
        const struct tide_function *const function =
            &paths->functions[paths->calls[i].function];
        const bool wraps = paths->fold && function->wrapper && kept == 0;
        if (!wraps && !is_left_out(paths, function))
            paths->calls[kept++] = paths->calls[i];
    }
    paths->call_count = kept ? kept : 1;
}

enum tide_status tide_paths_walk(struct tide_paths *paths, uint32_t stack)
{
    const struct tide_stacks *const stacks = &paths->model->stacks;
    paths->call_count = 0;
    enum tide_status status = TIDE_OK;
    uint32_t node = stack;
    while (node && node < stacks->node_count && !status) {
        const uint32_t frame = stacks->nodes[node].frame;
        if (frame < stacks->frame_count)
            status = add_frame(paths, frame);
        node = stacks->nodes[node].parent;
    }
    if (!status && paths->call_count == 0)
        return add_unknown(paths);
    if (status) { /* part of a path is none */
        paths->call_count = 0;
        return status;
    }
    fold_start(paths);
    if (paths->fold || paths->hide)
        fold(paths);
    return TIDE_OK;
}
