/* query/engine.c - run a plan over traces. */
#include "query/engine.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

#include "model/grow.h"
#include "model/ranks.h"
#include "query/evaluate.h"
#include "query/field.h"
#include "query/group_table.h"
#include "query/result.h"
#include "query/walk.h"

enum { TIDE_QUERY_THREADS = 16 };

/* One trace, read by one thread. */
struct part {
    const struct tide_query_job *job;
    struct tide_result *result; /* of all: only where rows are streamed */
    struct tide_walk walk;
    struct tide_value *slots;     /* the row: own_slots, or the table's */
    struct tide_value *own_slots; /* owned */
    uint32_t *
        fetched; /* owned: slots that come from records, those of LET and WHERE first */
    size_t early_count, fetched_count;
    uint32_t *whose; /* owned, per slot: the text of what it is about */
    struct tide_judge where;
    struct tide_judge *lets; /* owned, per LET */
    struct tide_group_table table;
    struct tide_result rows; /* that are not grouped */
    uint64_t read, passed, overflows, given;
    bool enough;  /* LIMIT is reached */
    bool gave_up; /* a regular expression would take too long */
    bool begun;
    enum tide_status status;
    struct tide_value *cells; /* owned: a row on its way out */
};

/* --- Rows -------------------------------------------------------------------------------- */

static void fetch(struct part *part, const struct tide_record *record, bool early)
{
    const struct tide_plan *const plan = part->job->plan;
    const size_t end = early ? part->early_count : part->fetched_count;
    for (size_t at = early ? 0 : part->early_count; at < end; at++) {
        const uint32_t i = part->fetched[at];
        const struct tide_plan_slot *const slot = &plan->slots[i];
        if (slot->attribute != TIDE_NO_ATTRIBUTE)
            part->slots[i] = tide_field(&part->walk, record, slot->attribute);
        else
            part->slots[i] =
                tide_field_other(&part->walk, record, slot->kind, part->whose[i]);
    }
}

static void compute(struct part *part)
{
    const struct tide_plan *const plan = part->job->plan;
    for (size_t i = 0; i < plan->let_count; i++) {
        const struct tide_plan_let *const let = &plan->lets[i];
        part->slots[let->slot] =
            tide_judge_holds(&part->lets[i], part->slots)
                ? tide_let_value(let, part->slots, &part->walk.names, &part->overflows)
                : tide_value_none();
    }
}

/* A row of the answer, as it is. */
static enum tide_status give(struct part *part)
{
    const struct tide_query_job *const job = part->job;
    const struct tide_plan *const plan = job->plan;
    for (size_t i = 0; i < plan->cell_count; i++)
        part->cells[i] = part->slots[plan->cells[i].slot];
    if (!job->row)
        return tide_result_add(&part->rows, part->cells, job->budget);
    const uint64_t number = part->result->rows_passed++;
    if (number < plan->offset)
        return TIDE_OK;
    if (plan->limited && number - plan->offset >= plan->limit) {
        part->enough = true;
        return TIDE_ELIMIT;
    }
    return job->row(job->user, &part->walk.names, part->cells);
}

static enum tide_status on_row(void *user, const struct tide_record *record)
{
    struct part *const part = user;
    const struct tide_plan *const plan = part->job->plan;
    const uint64_t overflows = part->overflows;
    part->read++;
    if (plan->grouped)
        part->slots = tide_group_table_row(&part->table);
    fetch(part, record, true);
    if (plan->let_count)
        compute(part);
    if (plan->where.count && !tide_judge_holds(&part->where, part->slots)) {
        part->overflows = overflows; /* nobody will miss what is not shown */
        return TIDE_OK;
    }
    part->passed++;
    fetch(part, record, false);
    if (plan->grouped)
        return tide_group_table_take(&part->table, &part->walk.names);
    if (plan->limited && !plan->order_count && !part->job->row &&
        part->given++ >= plan->limit + plan->offset) {
        part->enough = true;
        return TIDE_ELIMIT;
    }
    return give(part);
}

/* --- A trace ------------------------------------------------------------------------------ */

/* Did any condition take too long? */
static bool gave_up(const struct part *part)
{
    bool found = part->where.gave_up;
    for (size_t i = 0; part->lets && i < part->job->plan->let_count; i++)
        found = found || part->lets[i].gave_up;
    return found;
}

/* Which slots come from records, and in which order. */
static void choose_fetched(struct part *part)
{
    const struct tide_plan *const plan = part->job->plan;
    part->fetched_count = 0;
    for (int late = 0; late < 2; late++) {
        for (size_t i = 0; i < plan->slot_count; i++)
            if (!plan->slots[i].let && plan->slots[i].early == !late)
                part->fetched[part->fetched_count++] = (uint32_t)i;
        if (!late)
            part->early_count = part->fetched_count;
    }
}

static enum tide_status part_begin(struct part *part, size_t index)
{
    const struct tide_query_job *const job = part->job;
    const struct tide_plan *const plan = job->plan;
    struct tide_walk *const walk = &part->walk;
    part->begun = true;
    part->rows.plan = plan;
    part->own_slots = calloc(plan->slot_count + 1, sizeof(*part->own_slots));
    part->slots = part->own_slots;
    part->fetched = calloc(plan->slot_count + 1, sizeof(*part->fetched));
    part->cells = calloc(plan->cell_count + 1, sizeof(*part->cells));
    part->whose = calloc(plan->slot_count + 1, sizeof(*part->whose));
    part->lets = calloc(plan->let_count + 1, sizeof(*part->lets));
    enum tide_status status = tide_walk_init(walk, job->traces[index], &plan->wish);
    if (!part->slots || !part->cells || !part->lets || !part->whose || !part->fetched)
        status = TIDE_ENOMEM;
    else
        choose_fetched(part);
    for (size_t i = 0; part->whose && i < plan->slot_count; i++)
        part->whose[i] = tide_names_text(&walk->names, plan->slots[i].whose);
    walk->row = on_row;
    walk->user = part;
    walk->rank = (uint32_t)index;
    walk->has_ranks = tide_ranks_known(job->traces[index]);
    walk->progress = job->progress;
    if (job->trace_names)
        walk->trace_name = tide_names_text(&walk->names, job->trace_names[index]);
    if (!status)
        status = tide_judge_begin(&part->where, &plan->where, &walk->names);
    for (size_t i = 0; i < plan->let_count && !status; i++)
        status =
            tide_judge_begin(&part->lets[i], &plan->lets[i].condition, &walk->names);
    if (!status)
        status = tide_group_table_init(&part->table, plan, job->budget);
    return status;
}

static void part_release(struct part *part)
{
    if (!part->begun)
        return;
    tide_judge_release(&part->where);
    for (size_t i = 0; part->lets && i < part->job->plan->let_count; i++)
        tide_judge_release(&part->lets[i]);
    free(part->lets);
    free(part->own_slots);
    free(part->fetched);
    free(part->whose);
    free(part->cells);
    if (part->table.plan)
        tide_group_table_release(&part->table);
    tide_result_release(&part->rows);
    tide_walk_release(&part->walk);
    part->begun = false;
}

static void part_run(struct part *part, size_t index)
{
    part->status = part_begin(part, index);
    part->walk.hopes = !part->job->row;
    if (!part->status)
        part->status = tide_walk_run(&part->walk);
    if (part->walk.disappointed) {
        part_release(part);
        part->read = part->passed = part->overflows = part->given = 0;
        part->enough = false;
        part->status = part_begin(part, index);
        if (!part->status)
            part->status = tide_walk_run(&part->walk);
    }
    if (part->status == TIDE_ELIMIT && part->enough)
        part->status = TIDE_OK;
    part->gave_up = gave_up(part);
    if (!part->status && part->gave_up)
        part->status = TIDE_ELIMIT;
    if (!part->status && part->job->plan->grouped)
        part->status = tide_group_table_settle(&part->table, &part->walk.names);
}

/* --- All of them ---------------------------------------------------------------------------- */

static enum tide_status take_part(struct part *part, struct tide_group_table *table,
                                  struct tide_result *result)
{
    const struct tide_plan *const plan = part->job->plan;
    enum tide_status status = part->status;
    result->rows_read += part->read;
    if (!part->job->row)
        result->rows_passed += part->passed;
    result->overflows += part->overflows;
    result->gave_up = result->gave_up || part->gave_up;
    if (status == TIDE_ELIMIT)
        result->refused = true;
    if (!status && plan->grouped)
        status = tide_group_table_merge(table, &result->names, &part->table,
                                        &part->walk.names);
    else if (!status)
        status = tide_result_carry(result, &part->rows, &part->walk.names,
                                   part->job->budget);
    if (status == TIDE_ELIMIT)
        result->refused = true;
    return status;
}

/* What the threads share. */
struct crew {
    pthread_mutex_t lock;
    struct part *parts;
    size_t next, count; /* Guarded by lock */
};

static void *work(void *user)
{
    struct crew *const crew = user;
    for (;;) {
        (void)pthread_mutex_lock(&crew->lock);
        const size_t index = crew->next++;
        (void)pthread_mutex_unlock(&crew->lock);
        if (index >= crew->count)
            return NULL;
        part_run(&crew->parts[index], index);
    }
}

static size_t thread_count(const struct tide_query_job *job)
{
    cpu_set_t cores;
    size_t count = 1;
    if (job->row)
        return 1; /* rows have an order */
    if (sched_getaffinity(0, sizeof(cores), &cores) == 0)
        count = (size_t)CPU_COUNT(&cores);
    if (job->threads && job->threads < count)
        count = job->threads;
    if (count > job->trace_count)
        count = job->trace_count;
    return count > TIDE_QUERY_THREADS ? TIDE_QUERY_THREADS : count;
}

static void run_parts(const struct tide_query_job *job, struct part *parts)
{
    struct crew crew = {
        .lock = PTHREAD_MUTEX_INITIALIZER, .parts = parts, .count = job->trace_count};
    pthread_t threads[TIDE_QUERY_THREADS];
    const size_t wanted = thread_count(job);
    size_t started = 0;
    while (started + 1 < wanted &&
           pthread_create(&threads[started], NULL, work, &crew) == 0)
        started++;
    (void)work(&crew);
    for (size_t i = 0; i < started; i++)
        (void)pthread_join(threads[i], NULL);
}

/* One after the other: each is thrown away before the next begins. */
static enum tide_status run_in_turn(const struct tide_query_job *job,
                                    struct part *parts, struct tide_group_table *table,
                                    struct tide_result *result)
{
    enum tide_status status = TIDE_OK;
    bool enough = false;
    for (size_t i = 0; i < job->trace_count && !status && !enough; i++) {
        part_run(&parts[i], i);
        enough = parts[i].enough && job->row;
        status = take_part(&parts[i], table, result);
        part_release(&parts[i]);
    }
    return status;
}

enum tide_status tide_query_run(const struct tide_query_job *job,
                                struct tide_result *result)
{
    struct tide_group_table table = {0};
    *result = (struct tide_result){.plan = job->plan};
    struct part *const parts = calloc(job->trace_count + 1, sizeof(*parts));
    enum tide_status status =
        parts ? tide_group_table_init(&table, job->plan, 0) : TIDE_ENOMEM;
    for (size_t i = 0; parts && i < job->trace_count; i++) {
        parts[i].job = job;
        parts[i].result = result;
    }
    if (!status && thread_count(job) < 2) {
        status = run_in_turn(job, parts, &table, result);
    } else if (!status) {
        run_parts(job, parts);
        for (size_t i = 0; i < job->trace_count && !status; i++)
            status = take_part(&parts[i], &table, result);
    }
    for (size_t i = 0; parts && i < job->trace_count; i++)
        part_release(&parts[i]);
    free(parts);
    if (!status)
        status = tide_result_finish(result, &table);
    if (table.plan)
        tide_group_table_release(&table);
    return status;
}
