/* model/groups.c - rows by thread, process, region, label, module or line.
 */
#include <stdlib.h>
#include <string.h>

#include "model/filter.h"
#include "model/grow.h"
#include "model/model_state.h"
#include "model/pairs.h"
#include "model/path.h"

/* While groups are built. */
struct gathering {
    const struct tide_model *model;
    struct tide_groups *groups;
    struct tide_chosen chosen;
    struct tide_paths paths;
    struct tide_pairs known; /* what each row is */
    size_t capacity;
    size_t *last; /* owned, per row: the stack that it was last met in, + 1 */
    size_t last_capacity;
};

/* The strings that rows have made for themselves. */
struct state {
    struct tide_arena arena;
    struct tide_paths paths; /* names of modules */
};

/* The row of what ONE and OTHER name; NULL without memory.  It stays where it is until
 * the next is asked for. */
static struct tide_group_row *find_row(struct gathering *gathering, uint64_t one,
                                       uint64_t other)
{
    struct tide_groups *const groups = gathering->groups;
    uint32_t number;
    if (tide_pairs_find(&gathering->known, (struct tide_pair){one, other}, &number))
        return NULL;
    struct tide_group_row *const list = tide_grown(groups->list, &gathering->capacity,
                                                   (size_t)number + 1, sizeof(*list));
    if (!list)
        return NULL;
    groups->list = list;
    size_t *const last = tide_grown(gathering->last, &gathering->last_capacity,
                                    (size_t)number + 1, sizeof(*last));
    if (!last)
        return NULL;
    gathering->last = last;
    groups->count = gathering->known.count;
    return &list[number];
}

static void add_own(struct tide_group_row *row, struct tide_amount amount)
{
    row->bytes += amount.bytes;
    row->calls += amount.calls;
}

static void add_inclusive(struct tide_group_row *row, struct tide_amount amount)
{
    row->inclusive_bytes += amount.bytes;
    row->inclusive_calls += amount.calls;
}

/* --- By context --------------------------------------------------------------------- */

static const char *program_of(const struct tide_model *model, uint32_t process)
{
    const char *const exe = process < model->trace->process_count
                                ? model->trace->processes[process].exe
                                : NULL;
    return exe ? tide_path_base(exe) : "";
}

static struct tide_group_row *thread_row(struct gathering *gathering, uint32_t number)
{
    const struct tide_key_thread *const thread = &gathering->model->key_threads[number];
    struct tide_group_row *const row = find_row(gathering, number, 0);
    if (row) {
        row->name = thread->name;
        row->number = thread->tid;
        row->count = thread->count;
    }
    return row;
}

static struct tide_group_row *process_row(struct gathering *gathering, uint32_t thread)
{
    const struct tide_model *const model = gathering->model;
    const uint32_t process = model->key_threads[thread].process;
    struct tide_group_row *const row = find_row(gathering, process, 0);
    if (row) {
        row->name = program_of(model, process);
        row->number = process < model->trace->process_count
                          ? model->trace->processes[process].pid
                          : 0;
        row->ranked = process < model->trace->process_count &&
                      model->trace->processes[process].ranked;
        row->rank = row->ranked ? model->trace->processes[process].rank : 0;
        row->count = 1;
    }
    return row;
}

static struct tide_group_row *region_row(struct gathering *gathering, uint32_t region)
{
    struct tide_group_row *const row = find_row(gathering, region, 0);
    if (!row || row->name)
        return row;
    struct state *const state = gathering->groups->private_state;
    struct tide_text path = {0};
    tide_model_region(gathering->model, region, &path);
    row->name =
        path.failed
            ? NULL
            : tide_arena_copy(&state->arena, path.bytes ? path.bytes : "", path.length);
    row->count = 1;
    tide_text_release(&path);
    return row->name ? row : NULL;
}

static struct tide_group_row *label_row(struct gathering *gathering, uint32_t label)
{
    struct tide_group_row *const row = find_row(gathering, label, 0);
    if (row) {
        row->name = label ? tide_model_text(gathering->model, label) : "";
        row->count = 1;
    }
    return row;
}

static struct tide_group_row *context_row(struct gathering *gathering,
                                          const struct tide_context *context)
{
    switch (gathering->groups->by) {
    case TIDE_BY_THREAD:
        return thread_row(gathering, context->thread);
    case TIDE_BY_PROCESS:
        return process_row(gathering, context->thread);
    case TIDE_BY_REGION:
        return region_row(gathering, context->region);
    case TIDE_BY_LABEL:
    case TIDE_BY_MODULE:
    case TIDE_BY_LINE:
    case TIDE_GROUPINGS:
    default:
        return label_row(gathering, context->label);
    }
}

/* The regions around REGION have it too. */
static enum tide_status add_around(struct gathering *gathering, uint32_t region,
                                   struct tide_amount amount)
{
    while (region) {
        region = gathering->model->regions[region - 1].parent;
        if (!region)
            break;
        struct tide_group_row *const row = region_row(gathering, region);
        if (!row)
            return TIDE_ENOMEM;
        add_inclusive(row, amount);
    }
    return TIDE_OK;
}

static enum tide_status add_keys(struct gathering *gathering)
{
    const struct tide_model *const model = gathering->model;
    enum tide_status status = TIDE_OK;
    for (size_t i = 0; i < model->key_count && !status; i++) {
        const struct tide_amount amount = gathering->chosen.keys[i];
        if (!amount.bytes && !amount.calls)
            continue;
        const struct tide_context *const context =
            &model->contexts[model->keys[i].context];
        struct tide_group_row *const row = context_row(gathering, context);
        if (!row)
            return TIDE_ENOMEM;
        add_own(row, amount);
        add_inclusive(row, amount);
        if (gathering->groups->by == TIDE_BY_REGION)
            status = add_around(gathering, context->region, amount);
    }
    return status;
}

/* --- By call ------------------------------------------------------------------------ */

static struct tide_group_row *call_row(struct gathering *gathering,
                                       const struct tide_call *call)
{
    const bool line = gathering->groups->by == TIDE_BY_LINE;
    const struct tide_function *const function =
        &gathering->paths.functions[call->function];
    const char *const name = line ? call->file : function->module;
    const uint32_t number = line && call->file ? call->line : 0;
    struct tide_group_row *const row =
        find_row(gathering, (uint64_t)(uintptr_t)name, number);
    if (row) {
        row->name = name ? name : "";
        row->number = number;
        row->count = 1;
    }
    return row;
}

/* The path at hand is that of stack INDEX. */
static enum tide_status add_path(struct gathering *gathering, size_t index,
                                 struct tide_amount amount)
{
    for (size_t i = 0; i < gathering->paths.call_count; i++) {
        struct tide_group_row *const row =
            call_row(gathering, &gathering->paths.calls[i]);
        if (!row)
            return TIDE_ENOMEM;
        if (i == 0)
            add_own(row, amount);
        size_t *const last = &gathering->last[row - gathering->groups->list];
        if (*last != index + 1)
            add_inclusive(row, amount);
        *last = index + 1;
    }
    return TIDE_OK;
}

static enum tide_status add_sites(struct gathering *gathering)
{
    const struct tide_model *const model = gathering->model;
    enum tide_status status = TIDE_OK;
    for (size_t i = 0; i < model->site_count && !status; i++) {
        const struct tide_amount amount = gathering->chosen.sites[i];
        if (!amount.bytes && !amount.calls)
            continue;
        status = tide_paths_walk(&gathering->paths, model->sites[i].stack);
        if (!status)
            status = add_path(gathering, i, amount);
    }
    return status;
}

/* --- All ---------------------------------------------------------------------------- */

static int descending(uint64_t one, uint64_t other)
{
    return (one < other) - (one > other);
}

static int by_weight(const void *one, const void *other, void *user)
{
    const enum tide_sort *const sort = user;
    const struct tide_group_row *const a = one;
    const struct tide_group_row *const b = other;
    int first = 0;
    if (*sort == TIDE_SORT_SELF)
        first = descending(a->bytes, b->bytes);
    else if (*sort == TIDE_SORT_CALLS)
        first = descending(a->inclusive_calls, b->inclusive_calls);
    else if (*sort == TIDE_SORT_NAME)
        first = strcmp(a->name, b->name);
    if (first)
        return first;
    if (a->inclusive_bytes != b->inclusive_bytes)
        return a->inclusive_bytes < b->inclusive_bytes ? 1 : -1;
    if (a->bytes != b->bytes)
        return a->bytes < b->bytes ? 1 : -1;
    if (a->inclusive_calls != b->inclusive_calls)
        return a->inclusive_calls < b->inclusive_calls ? 1 : -1;
    const int names = strcmp(a->name, b->name);
    return names ? names : (a->number > b->number) - (a->number < b->number);
}

static enum tide_status gather(struct gathering *gathering,
                               const struct tide_rows_request *request)
{
    struct tide_groups *const groups = gathering->groups;
    const bool by_call = groups->by == TIDE_BY_MODULE || groups->by == TIDE_BY_LINE;
    enum tide_status status =
        tide_choose(gathering->model, request, !by_call, &gathering->chosen);
    if (status)
        return status;
    groups->total_bytes = gathering->chosen.total.bytes;
    groups->total_calls = gathering->chosen.total.calls;
    groups->whole_bytes = gathering->chosen.whole.bytes;
    groups->whole_calls = gathering->chosen.whole.calls;
    groups->filtered = gathering->chosen.filtered;
    enum tide_sort sort = request->sort;
    groups->narrowed =
        groups->space != TIDE_IN_HEAP || tide_filter_narrows(&request->filter);
    groups->nested = by_call || groups->by == TIDE_BY_REGION;
    status = by_call ? add_sites(gathering) : add_keys(gathering);
    if (!status && groups->count)
        qsort_r(groups->list, groups->count, sizeof(*groups->list), by_weight, &sort);
    return status;
}

enum tide_status tide_groups_ask(const struct tide_model *model,
                                 const struct tide_rows_request *request,
                                 enum tide_group_by by, struct tide_groups **out)
{
    *out = NULL;
    if (!model->symbols)
        return TIDE_EUSAGE;
    struct tide_groups *const groups = calloc(1, sizeof(*groups));
    struct state *const state = calloc(1, sizeof(*state));
    struct gathering gathering = {.model = model, .groups = groups};
    enum tide_status status = TIDE_ENOMEM;
    if (groups && state)
        status = tide_paths_init(&gathering.paths, model);
    if (status) {
        free(groups);
        free(state);
        return status;
    }
    gathering.paths.fold = request->fold;
    gathering.paths.hide = request->hide;
    groups->by = by;
    groups->metric = request->metric;
    groups->space = request->space;
    groups->private_state = state;
    status = gather(&gathering, request);
    state->paths = gathering.paths;
    tide_chosen_release(&gathering.chosen);
    tide_pairs_release(&gathering.known);
    free(gathering.last);
    if (status)
        tide_groups_free(groups);
    else
        *out = groups;
    return status;
}

void tide_groups_free(struct tide_groups *groups)
{
    if (!groups)
        return;
    struct state *const state = groups->private_state;
    tide_arena_release(&state->arena);
    tide_paths_release(&state->paths);
    free(state);
    free(groups->list);
    free(groups);
}
