/* query/census.c - which attributes the rows of some traces have. */
#include <stdlib.h>

#include "query/engine.h"
#include "query/field.h"
#include "query/walk.h"

struct census {
    struct tide_walk walk;
    struct tide_attribute_counts *out;
    enum tide_query_source source;
    uint32_t *texts; /* owned: of the names of users */
};

static enum tide_status on_row(void *user, const struct tide_record *record)
{
    struct census *const census = user;
    struct tide_attribute_counts *const out = census->out;
    out->rows++;
    for (int i = 0; i < TIDE_ATTRIBUTES; i++)
        if (tide_attribute_table[i].sources & 1u << census->source &&
            tide_field(&census->walk, record, (enum tide_attribute_id)i).type)
            out->counts[i]++;
    for (size_t i = 0; i < out->users.count; i++) {
        const enum tide_slot_kind kind =
            out->users.list[i].regions ? TIDE_SLOT_REGIONS : TIDE_SLOT_USER;
        if (tide_field_other(&census->walk, record, kind, census->texts[i]).type)
            out->user_counts[i]++;
    }
    return TIDE_OK;
}

/* The rows of one trace. */
static enum tide_status count_trace(struct census *census, struct tide_trace *trace,
                                    const struct tide_progress *progress)
{
    const enum tide_query_source source = census->source;
    const struct tide_walk_wish wish = {
        .source = source,
        .labels = true,
        .peak = source == TIDE_FROM_BLOCKS || source == TIDE_FROM_SNAPSHOTS,
        .water = true,
        .tally = source == TIDE_FROM_REGIONS,
        .iterations = true,
        .shapes = true,
        .all_attributes = true,
    };
    struct tide_walk *const walk = &census->walk;
    enum tide_status status = tide_walk_init(walk, trace, &wish);
    walk->row = on_row;
    walk->user = census;
    walk->progress = progress;
    walk->trace_name = tide_names_text(&walk->names, "?");
    for (size_t i = 0; i < census->out->users.count; i++)
        census->texts[i] =
            tide_names_text(&walk->names, census->out->users.list[i].name);
    if (!status)
        status = tide_walk_run(walk);
    tide_walk_release(walk);
    return status;
}

enum tide_status tide_query_count(const struct tide_query_job *job,
                                  enum tide_query_source source,
                                  struct tide_attribute_counts *out)
{
    *out = (struct tide_attribute_counts){0};
    struct census *const census =
        calloc(1, sizeof(*census)); /* too large for a stack */
    enum tide_status status =
        tide_user_names_gather(job->traces, job->trace_count, &out->users);
    out->user_counts = calloc(out->users.count + 1, sizeof(*out->user_counts));
    if (!census || !out->user_counts)
        status = TIDE_ENOMEM;
    if (!status) {
        census->out = out;
        census->source = source;
        census->texts = calloc(out->users.count + 1, sizeof(*census->texts));
        status = census->texts ? TIDE_OK : TIDE_ENOMEM;
    }
    for (size_t i = 0; i < job->trace_count && !status; i++)
        status = count_trace(census, job->traces[i], job->progress);
    if (census)
        free(census->texts);
    free(census);
    return status;
}

void tide_attribute_counts_release(struct tide_attribute_counts *counts)
{
    tide_user_names_release(&counts->users);
    free(counts->user_counts);
    counts->user_counts = NULL;
}
