/* model/rows_alike.c - stacks that nobody can tell apart are one row.
 *
 * Each path is a number: of its innermost call and the path of its callers.  Functions of
 * the same name may stand in two files, so a call has its file.
 */
#include "model/rows_alike.h"

#include <stdlib.h>

#include "model/grow.h"
#include "model/pairs.h"
#include "model/path.h"
#include "model/rows_build.h"
#include "model/survivors.h"

/* Below the heaviest ones rows are shown only by who asks for all of them; to walk a
 * million stacks takes seconds. */
enum { TIDE_ALIKE_MOST = 1 << 16 };

struct gatherer {
    const struct tide_model *model;
    struct tide_alikes *out;
    struct tide_paths paths;
    struct tide_pairs calls; /* (file, which is there once; function and line) */
    struct tide_pairs steps; /* (path of the callers + 1, call) */
    uint32_t *places;        /* owned, per path: its place in the list + 1 */
    size_t capacity;
};

/* The number of the path that was walked last. */
static enum tide_status number_path(struct gatherer *gatherer, uint32_t *out)
{
    const struct tide_paths *const paths = &gatherer->paths;
    enum tide_status status = TIDE_OK;
    uint32_t number = 0;
    for (size_t left = paths->call_count; left > 0 && !status; left--) {
        const struct tide_call *const call = &paths->calls[left - 1];
        const uint64_t callers = left == paths->call_count ? 0 : (uint64_t)number + 1;
        const struct tide_pair pair = {(uint64_t)(uintptr_t)call->file,
                                       (uint64_t)call->function << 32 | call->line};
        uint32_t last;
        status = tide_pairs_find(&gatherer->calls, pair, &last);
        if (!status)
            status = tide_pairs_find(&gatherer->steps,
                                     (struct tide_pair){callers, last}, &number);
    }
    *out = number;
    return status;
}

/* Where ROW's path stands in the list; at its end when it is new. */
static enum tide_status find_place(struct gatherer *gatherer,
                                   const struct tide_stack_row *row, size_t *out)
{
    uint32_t number;
    enum tide_status status =
        tide_paths_walk(&gatherer->paths, gatherer->model->sites[row->site].stack);
    if (!status)
        status = number_path(gatherer, &number);
    if (status)
        return status;
    uint32_t *const places = tide_grown(gatherer->places, &gatherer->capacity,
                                        (size_t)number + 1, sizeof(*places));
    if (!places)
        return TIDE_ENOMEM;
    gatherer->places = places;
    if (!places[number])
        places[number] = (uint32_t)gatherer->out->count + 1;
    *out = places[number] - 1;
    return TIDE_OK;
}

static void add(struct tide_alike *alike, const struct tide_stack_row *row,
                const struct tide_survival *survival)
{
    if (alike->row.calls == 0 && alike->row.bytes == 0)
        alike->row.site = row->site;
    alike->row.bytes += row->bytes;
    alike->row.calls += row->calls;
    if (!survival)
        return;
    tide_survival_merge(&alike->survival, survival);
    if (survival->threads > alike->survival.threads) /* at least so many */
        alike->survival.threads = survival->threads;
    if (survival->processes > alike->survival.processes)
        alike->survival.processes = survival->processes;
}

static int by_weight(const void *one, const void *other)
{
    const struct tide_stack_row *const a = &((const struct tide_alike *)one)->row;
    const struct tide_stack_row *const b = &((const struct tide_alike *)other)->row;
    if (a->bytes != b->bytes)
        return a->bytes < b->bytes ? 1 : -1;
    if (a->calls != b->calls)
        return a->calls < b->calls ? 1 : -1;
    return (a->site > b->site) - (a->site < b->site);
}

static int by_calls(const void *one, const void *other)
{
    const struct tide_stack_row *const a = &((const struct tide_alike *)one)->row;
    const struct tide_stack_row *const b = &((const struct tide_alike *)other)->row;
    if (a->calls != b->calls)
        return a->calls < b->calls ? 1 : -1;
    return by_weight(one, other);
}

static int by_share(const void *one, const void *other, void *rows)
{
    const struct tide_stack_row *const a = &((const struct tide_alike *)one)->row;
    const struct tide_stack_row *const b = &((const struct tide_alike *)other)->row;
    const int first = tide_rows_compare(rows, (struct tide_amount){a->bytes, a->calls},
                                        (struct tide_amount){b->bytes, b->calls});
    return first ? first : by_weight(one, other);
}

/* The sums may stand in another order than the first stack of each. */
static void sort(const struct tide_rows *rows, struct tide_alikes *out)
{
    if (out->count == 0 || rows->sort == TIDE_SORT_NAME)
        return;
    if (tide_rows_by_share(rows)) {
        struct tide_rows totals = *rows;
        qsort_r(out->list, out->count, sizeof(*out->list), by_share, &totals);
        return;
    }
    qsort(out->list, out->count, sizeof(*out->list),
          rows->sort == TIDE_SORT_CALLS ? by_calls : by_weight);
}

static enum tide_status gather(struct gatherer *gatherer, const struct tide_rows *rows)
{
    struct tide_alikes *const out = gatherer->out;
    const struct tide_survival *const survivals = gatherer->model->survivals;
    enum tide_status status = TIDE_OK;
    for (size_t i = 0; i < rows->stack_count && !status; i++) {
        const struct tide_stack_row *const row = &rows->stacks[i];
        size_t place = out->count;
        if (i < TIDE_ALIKE_MOST)
            status = find_place(gatherer, row, &place);
        if (status)
            break;
        out->count += place == out->count;
        add(&out->list[place], row, survivals ? &survivals[row->site] : NULL);
    }
    return status;
}

enum tide_status tide_rows_alike(const struct tide_model *model,
                                 const struct tide_rows *rows, struct tide_alikes *out)
{
    struct gatherer gatherer = {.model = model, .out = out};
    *out = (struct tide_alikes){calloc(rows->stack_count + 1, sizeof(*out->list)), 0};
    if (!out->list)
        return TIDE_ENOMEM;
    enum tide_status status = tide_paths_init(&gatherer.paths, model);
    if (!status) {
        gatherer.paths.fold = rows->fold;
        gatherer.paths.hide = rows->hide;
        status = gather(&gatherer, rows);
        tide_paths_release(&gatherer.paths);
    }
    tide_pairs_release(&gatherer.calls);
    tide_pairs_release(&gatherer.steps);
    free(gatherer.places);
    if (status)
        tide_alikes_release(out);
    else
        sort(rows, out);
    return status;
}

void tide_alikes_release(struct tide_alikes *alikes)
{
    free(alikes->list);
    *alikes = (struct tide_alikes){0};
}
