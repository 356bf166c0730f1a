/* model/wrappers.c - find the functions that only hand on what they are asked for.
 *
 * Each stack has an inner end: its innermost call that is not folded yet.  A round looks
 * at the functions there, with all that the trace has of them: at how many places they
 * allocate, who calls them and for what mean size, and how much is allocated below them
 * in other ways.  Those that turn out to be wrappers are folded, the ends move outwards,
 * and the next round looks at who wraps the wrapper.  No event is read again.
 *
 * What tells a wrapper is that who asks decides on the size: so there must be callers that
 * always get blocks of one size, each of another.  Slabs of a pool and tables that grow
 * are of different sizes as well, but not one for each caller.
 */
#include "model/wrappers.h"

#include <stdlib.h>
#include <string.h>

#include "model/grow.h"
#include "model/model_state.h"
#include "model/pairs.h"
#include "model/path.h"
#include "trace/format.h"

enum {
    TIDE_ROUNDS = 6,        /* a wrapper of a wrapper of ... */
    TIDE_SPOTS = 4,         /* that are told apart */
    TIDE_SPOTS_BY_NAME = 3, /* a wrapper allocates at so many places at most */
    TIDE_SPOTS_BY_SHAPE = 2,
    TIDE_CALLERS_LEAST = 4, /* places that call it */
    TIDE_CALLING_LEAST = 3, /* functions that do */
    TIDE_SIZES_LEAST = 3,   /* different sizes, ... */
    TIDE_SIZES_ENOUGH = 6,  /* ... or a quarter as many as callers; so many will do */
    TIDE_STEADY_LEAST = 4,  /* so many blocks of one size are no chance */
};

/* A call on a stack. */
struct place {
    uint32_t node; /* 0: the stack is at its end */
    uint32_t call; /* of the node's frame */
};

/* What is known of one function at the inner ends of stacks. */
struct shape {
    uint64_t ends_calls;  /* of stacks that end here */
    uint64_t moved_calls; /* of these: made a block longer */
    uint64_t below_calls; /* of stacks that it is on */
    uint64_t spots[TIDE_SPOTS];
    uint32_t spot_count;
    uint32_t callers, calling, sizes;
    uint64_t last_size;          /* the largest of these */
    bool topmost;                /* some stacks have nobody who calls it */
    bool is_wrapper;             /* for good */
    enum tide_wrapper_name name; /* once it was looked at */
    bool looked_at;
};

/* A place that calls a function at an inner end. */
struct caller {
    uint32_t function; /* that is called */
    uint32_t from;     /* the function that calls */
    uint64_t calls;
    uint64_t size; /* of all its blocks; TIDE_SIZE_VARIES */
};

#define TIDE_SIZE_VARIES UINT64_MAX

struct finder {
    struct tide_model *model;
    struct tide_paths paths;
    struct place *ends;      /* owned, per site */
    struct shape *shapes;    /* owned, per function */
    struct tide_pairs pairs; /* (function, frame and line of the caller) */
    struct caller *callers;  /* owned, by number of the pair */
    size_t caller_capacity;
};

/* --- Stacks --------------------------------------------------------------------------- */

static const struct tide_frame_calls *calls_of(const struct finder *finder,
                                               uint32_t node)
{
    static const struct tide_frame_calls none = {.known = true};
    const struct tide_stacks *const stacks = &finder->model->stacks;
    const uint32_t frame = stacks->nodes[node].frame;
    return frame < stacks->frame_count ? &finder->paths.frames[frame] : &none;
}

static const struct tide_call *call_at(const struct finder *finder, struct place place)
{
    const struct tide_frame_calls *const own = calls_of(finder, place.node);
    return &finder->paths.frame_calls[own->first + place.call];
}

static const struct tide_function *function_of(const struct finder *finder,
                                               const struct tide_call *call)
{
    return &finder->paths.functions[call->function];
}

/* The place itself when it has a call, else the next one outwards that has. */
static struct place settle(const struct finder *finder, struct place place)
{
    while (place.node && place.call >= calls_of(finder, place.node)->count)
        place = (struct place){finder->model->stacks.nodes[place.node].parent, 0};
    return place;
}

static struct place outwards(const struct finder *finder, struct place place)
{
    place.call++;
    return settle(finder, place);
}

/* How often each node has allocated with all below it; owned by the caller, NULL without
 * memory.  Callers come before their callees. */
static uint64_t *sum_below(const struct tide_model *model)
{
    const struct tide_stacks *const stacks = &model->stacks;
    uint64_t *const below = calloc((size_t)stacks->node_count + 1, sizeof(*below));
    if (!below)
        return NULL;
    for (size_t i = 0; i < model->site_count; i++) {
        const struct tide_site *const site = &model->sites[i];
        if (site->stack < stacks->node_count)
            below[site->stack] += site->calls ? site->calls : 1; /* it is used */
    }
    for (uint32_t node = stacks->node_count; node-- > 1;)
        below[stacks->nodes[node].parent] += below[node];
    return below;
}

/* Name the functions of all stacks, and make room to judge them. */
static enum tide_status begin_shapes(struct finder *finder)
{
    const struct tide_stacks *const stacks = &finder->model->stacks;
    uint64_t *const below = sum_below(finder->model);
    enum tide_status status = below ? TIDE_OK : TIDE_ENOMEM;
    for (uint32_t node = 1; node < stacks->node_count && !status; node++)
        if (below[node] && stacks->nodes[node].frame < stacks->frame_count)
            status = tide_paths_name(&finder->paths, stacks->nodes[node].frame);
    finder->shapes = calloc(finder->paths.function_count + 1, sizeof(*finder->shapes));
    if (!status && !finder->shapes)
        status = TIDE_ENOMEM;
    for (uint32_t node = 1; node < stacks->node_count && !status; node++) {
        const struct tide_frame_calls *const own = calls_of(finder, node);
        for (uint32_t i = 0; i < own->count; i++)
            finder->shapes[finder->paths.frame_calls[own->first + i].function]
                .below_calls += below[node];
    }
    free(below);
    return status;
}

static bool is_passed(const struct finder *finder, struct place place)
{
    const struct tide_call *const call = call_at(finder, place);
    return finder->shapes[call->function].is_wrapper ||
           function_of(finder, call)->library;
}

static void move_ends(struct finder *finder)
{
    for (size_t i = 0; i < finder->model->site_count; i++) {
        struct place *const end = &finder->ends[i];
        while (end->node && is_passed(finder, *end))
            *end = outwards(finder, *end);
    }
}

/* --- A round -------------------------------------------------------------------------- */

/* Where a function allocates: the line, or without one the address. */
static void note_spot(const struct finder *finder, struct shape *shape,
                      struct place place)
{
    const struct tide_call *const call = call_at(finder, place);
    const uint64_t spot =
        call->line ? (uint64_t)call->line
                   : 1ull << 32 | finder->model->stacks.nodes[place.node].frame;
    for (uint32_t i = 0; i < shape->spot_count; i++)
        if (shape->spots[i] == spot)
            return;
    if (shape->spot_count < TIDE_SPOTS)
        shape->spots[shape->spot_count++] = spot;
}

/* The size of all blocks of SITE; TIDE_SIZE_VARIES: they have several, by what is known. */
static uint64_t size_of(const struct tide_site *site)
{
    const uint64_t size = site->calls ? site->bytes / site->calls : 0;
    const bool equal =
        size && size * site->calls == site->bytes &&
        size * site->freed_calls == site->freed_bytes &&
        size * site->temporary_calls == site->temporary_bytes &&
        size * (uint64_t)site->peak_blocks == (uint64_t)site->peak_bytes &&
        site->most_bytes % size == 0;
    return equal ? size : TIDE_SIZE_VARIES;
}

static enum tide_status note_caller(struct finder *finder, uint32_t function,
                                    struct place from, const struct tide_site *site)
{
    const struct tide_call *const call = call_at(finder, from);
    const uint64_t place =
        (uint64_t)finder->model->stacks.nodes[from.node].frame << 32 | call->line;
    uint32_t number;
    const enum tide_status status =
        tide_pairs_find(&finder->pairs, (struct tide_pair){function, place}, &number);
    if (status)
        return status;
    struct caller *const list = tide_grown(finder->callers, &finder->caller_capacity,
                                           (size_t)number + 1, sizeof(*list));
    if (!list)
        return TIDE_ENOMEM;
    finder->callers = list;
    list[number].function = function;
    list[number].from = call->function;
    if (list[number].calls == 0)
        list[number].size = size_of(site);
    else if (list[number].size != size_of(site))
        list[number].size = TIDE_SIZE_VARIES;
    list[number].calls += site->calls;
    return TIDE_OK;
}

static enum tide_status look_at_end(struct finder *finder, size_t i)
{
    const struct tide_site *const site = &finder->model->sites[i];
    const struct place end = finder->ends[i];
    if (!end.node)
        return TIDE_OK;
    const uint32_t function = call_at(finder, end)->function;
    struct shape *const shape = &finder->shapes[function];
    const struct place from = outwards(finder, end);
    shape->ends_calls += site->calls;
    shape->moved_calls += site->more.moved_calls;
    note_spot(finder, shape, end);
    shape->topmost |= !from.node;
    return from.node ? note_caller(finder, function, from, site) : TIDE_OK;
}

static int by_size(const void *one, const void *other)
{
    const struct caller *const a = one;
    const struct caller *const b = other;
    if (a->function != b->function)
        return a->function < b->function ? -1 : 1;
    return (a->size > b->size) - (a->size < b->size);
}

static int by_from(const void *one, const void *other)
{
    const struct caller *const a = one;
    const struct caller *const b = other;
    if (a->function != b->function)
        return a->function < b->function ? -1 : 1;
    return (a->from > b->from) - (a->from < b->from);
}

/* How many callers each function has, which functions they are, and which sizes they ask
 * for. */
static void count_callers(struct finder *finder)
{
    struct caller *const list = finder->callers;
    const size_t count = finder->pairs.count;
    if (count)
        qsort(list, count, sizeof(*list), by_from);
    for (size_t i = 0; i < count; i++)
        finder->shapes[list[i].function].calling +=
            i == 0 || by_from(&list[i - 1], &list[i]) != 0;
    if (count)
        qsort(list, count, sizeof(*list), by_size);
    for (size_t i = 0; i < count; i++) {
        struct shape *const shape = &finder->shapes[list[i].function];
        shape->callers++;
        if (list[i].size == TIDE_SIZE_VARIES || list[i].calls < TIDE_STEADY_LEAST ||
            (shape->sizes > 0 && list[i].size * 4 / 5 < shape->last_size))
            continue;
        shape->sizes++;
        shape->last_size = list[i].size;
    }
}

static bool is_of_runtime(const struct tide_function *function)
{
    static const char *const modules[] = {"libc.so", "libc-2.",  "libstdc++",
                                          "libc++",  "libgcc_s", "ld-linux"};
    const char *const base = tide_path_base(function->module);
    for (size_t i = 0; i < sizeof(modules) / sizeof(modules[0]); i++)
        if (strncmp(base, modules[i], strlen(modules[i])) == 0)
            return true;
    return false;
}

static bool has_the_shape(const struct shape *shape)
{
    const uint32_t quarter = shape->callers / 4;
    const uint32_t wanted = quarter > TIDE_SIZES_ENOUGH  ? TIDE_SIZES_ENOUGH
                            : quarter > TIDE_SIZES_LEAST ? quarter
                                                         : TIDE_SIZES_LEAST;
    return shape->spot_count <= TIDE_SPOTS_BY_SHAPE && !shape->topmost &&
           shape->callers >= TIDE_CALLERS_LEAST &&
           shape->calling >= TIDE_CALLING_LEAST && shape->sizes >= wanted &&
           shape->moved_calls * 2 <= shape->ends_calls &&
           shape->below_calls / 10 * 9 <= shape->ends_calls;
}

static bool decide(const struct finder *finder, size_t function)
{
    const struct tide_function *const what = &finder->paths.functions[function];
    struct shape *const shape = &finder->shapes[function];
    const bool runtime = is_of_runtime(what);
    if (!shape->looked_at && what->resolved)
        shape->name = tide_wrapper_name(what->name);
    shape->looked_at = true;
    if (shape->name == TIDE_NAME_COPIES)
        return true;
    if (runtime || !*what->module || what->outer)
        return false;
    if (shape->spot_count > TIDE_SPOTS_BY_NAME)
        return false;
    return shape->name == TIDE_NAME_WRAPS ||
           (shape->name == TIDE_NAME_MAY_WRAP && shape->callers > 1) ||
           has_the_shape(shape);
}

/* Look at the functions at the inner ends.  *FOUND: some of them are wrappers. */
static enum tide_status look(struct finder *finder, bool *found)
{
    enum tide_status status = TIDE_OK;
    *found = false;
    for (size_t i = 0; i < finder->paths.function_count; i++)
        finder->shapes[i].spot_count = 0;
    for (size_t i = 0; i < finder->model->site_count && !status; i++)
        status = look_at_end(finder, i);
    if (status)
        return status;
    count_callers(finder);
    for (size_t i = 0; i < finder->paths.function_count; i++) {
        struct shape *const shape = &finder->shapes[i];
        if (shape->spot_count && !shape->is_wrapper && decide(finder, i)) {
            shape->is_wrapper = true;
            *found = true;
        }
        shape->ends_calls = shape->moved_calls = 0;
        shape->callers = shape->calling = shape->sizes = 0;
        shape->last_size = 0;
        shape->topmost = false;
    }
    if (finder->callers)
        memset(finder->callers, 0, finder->caller_capacity * sizeof(*finder->callers));
    tide_pairs_release(&finder->pairs);
    return TIDE_OK;
}

static enum tide_status find(struct finder *finder)
{
    const struct tide_model *const model = finder->model;
    enum tide_status status = begin_shapes(finder);
    finder->ends = calloc(model->site_count + 1, sizeof(*finder->ends));
    if (!status && !finder->ends)
        status = TIDE_ENOMEM;
    for (size_t i = 0; i < model->site_count && !status; i++) {
        const uint32_t stack = model->sites[i].stack;
        if (stack < model->stacks.node_count)
            finder->ends[i] = settle(finder, (struct place){stack, 0});
    }
    bool found = true;
    for (int round = 0; round < TIDE_ROUNDS && found && !status; round++) {
        move_ends(finder);
        status = look(finder, &found);
    }
    return status;
}

/* --- What was found ------------------------------------------------------------------- */

static int by_name(const void *one, const void *other)
{
    const struct tide_wrapper *const a = one;
    const struct tide_wrapper *const b = other;
    const int first = strcmp(a->name, b->name);
    return first ? first : strcmp(a->module, b->module);
}

/* Keep what FINDER found in the model. */
static enum tide_status keep(const struct finder *finder)
{
    struct tide_model_state *const state = tide_model_state(finder->model);
    size_t count = 0;
    for (size_t i = 0; i < finder->paths.function_count; i++)
        count += finder->shapes[i].is_wrapper;
    struct tide_wrapper *const list =
        tide_arena_take(&state->arena, (count + 1) * sizeof(*list));
    if (!list)
        return TIDE_ENOMEM;
    count = 0;
    for (size_t i = 0; i < finder->paths.function_count; i++) {
        const struct tide_function *const function = &finder->paths.functions[i];
        if (!finder->shapes[i].is_wrapper)
            continue;
        list[count].name = tide_intern(&state->strings, &state->arena, function->name);
        list[count].module =
            tide_intern(&state->strings, &state->arena, function->module);
        if (!list[count].name || !list[count].module)
            return TIDE_ENOMEM;
        count++;
    }
    if (count)
        qsort(list, count, sizeof(*list), by_name);
    finder->model->wrappers = list;
    finder->model->wrapper_count = count;
    return TIDE_OK;
}

enum tide_status tide_wrappers_find(struct tide_model *model)
{
    struct finder finder = {.model = model};
    enum tide_status status = tide_paths_init(&finder.paths, model);
    if (status)
        return status;
    status = find(&finder);
    if (!status)
        status = keep(&finder);
    tide_paths_release(&finder.paths);
    tide_pairs_release(&finder.pairs);
    free(finder.callers);
    free(finder.shapes);
    free(finder.ends);
    return status;
}

bool tide_wrappers_have(const struct tide_model *model, const char *name,
                        const char *module)
{
    const struct tide_wrapper wanted = {name, module};
    return model->wrapper_count &&
           bsearch(&wanted, model->wrappers, model->wrapper_count, sizeof(wanted),
                   by_name);
}

static int by_name_alone(const void *one, const void *other)
{
    const struct tide_wrapper *const a = one;
    const struct tide_wrapper *const b = other;
    return strcmp(a->name, b->name);
}

bool tide_wrappers_have_name(const struct tide_model *model, const char *name)
{
    const struct tide_wrapper wanted = {name, ""};
    return model->wrapper_count &&
           bsearch(&wanted, model->wrappers, model->wrapper_count, sizeof(wanted),
                   by_name_alone);
}
