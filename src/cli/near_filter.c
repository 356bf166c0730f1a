/* cli/near_filter.c - a rank, region, process, thread or label was asked for that is not
 * there.
 *
 * An empty table does not tell a name that is misspelt from one that allocates nothing.
 */
#include "cli/near_filter.h"

#include <stdlib.h>
#include <string.h>

#include "base/nearest.h"
#include "cli/command.h"
#include "model/filter.h"
#include "model/path.h"
#include "trace/trace.h"

enum { TIDE_LISTED = 5 };

/* The names that there are of what was asked for; borrowed from the model. */
struct choice {
    const char **names; /* owned; "" are not counted */
    size_t count;
};

static int by_name(const void *one, const void *other)
{
    return strcmp(*(const char *const *)one, *(const char *const *)other);
}

static void add_name(struct choice *choice, const char *name)
{
    if (name && *name)
        choice->names[choice->count++] = name;
}

/* Each name once. */
static void tidy(struct choice *choice)
{
    size_t kept = 0;
    if (choice->count)
        qsort(choice->names, choice->count, sizeof(*choice->names), by_name);
    for (size_t i = 0; i < choice->count; i++)
        if (i == 0 || strcmp(choice->names[i], choice->names[kept - 1]) != 0)
            choice->names[kept++] = choice->names[i];
    choice->count = kept;
}

/* "a, b, c and 3 more" */
static void add_list(struct tide_text *out, const struct choice *choice)
{
    const size_t shown =
        choice->count <= TIDE_LISTED + 1 ? choice->count : (size_t)TIDE_LISTED;
    for (size_t i = 0; i < shown; i++)
        tide_text_addf(out, "%s%s",
                       i == 0                                     ? ""
                       : i + 1 == shown && shown == choice->count ? " and "
                                                                  : ", ",
                       choice->names[i]);
    if (shown < choice->count)
        tide_text_addf(out, " and %zu more", choice->count - shown);
}

/* "no block is of a region 'slove'; did you mean solve?" */
static enum tide_status say(const char *what, const char *pattern,
                            struct choice *choice)
{
    struct tide_text words = {0};
    tidy(choice);
    const char *const near = strpbrk(pattern, "*?[|")
                                 ? NULL
                                 : tide_nearest(pattern, choice->names, choice->count);
    if (near)
        tide_text_addf(&words, "did you mean %s?", near);
    else if (choice->count == 0)
        tide_text_addf(&words, "the trace names no %s", what);
    else
        tide_text_add(&words, "there are: ");
    if (!near)
        add_list(&words, choice);
    const enum tide_status status = words.failed ? TIDE_ENOMEM : TIDE_OK;
    if (!status)
        (void)tide_fail("no block is of a %s '%s'; %s", what, pattern, words.bytes);
    tide_text_release(&words);
    return status;
}

/* --- What there is ------------------------------------------------------------------- */

static void add_threads(const struct tide_model *model, struct choice *out)
{
    for (size_t i = 0; i < model->key_thread_count; i++)
        add_name(out, model->key_threads[i].name);
}

static void add_processes(const struct tide_model *model, struct choice *out)
{
    const struct tide_trace *const trace = model->trace;
    for (size_t i = 0; i < model->key_thread_count; i++) {
        const uint32_t process = model->key_threads[i].process;
        const char *const exe =
            process < trace->process_count ? trace->processes[process].exe : NULL;
        add_name(out, exe ? tide_path_base(exe) : NULL);
    }
}

static void add_regions(const struct tide_model *model, struct choice *out)
{
    for (size_t i = 0; i < model->region_count; i++)
        add_name(out, tide_model_text(model, model->regions[i].name));
}

static void add_labels(const struct tide_model *model, struct choice *out)
{
    for (size_t i = 0; i < model->context_count; i++)
        if (model->contexts[i].label)
            add_name(out, tide_model_text(model, model->contexts[i].label));
}

/* --- Ranks --------------------------------------------------------------------------- */

static int by_number(const void *one, const void *other)
{
    const uint64_t a = *(const uint64_t *)one, b = *(const uint64_t *)other;
    return (a > b) - (a < b);
}

/* Each rank once, in order; how many. */
static size_t list_ranks(const struct tide_trace *trace, uint64_t *ranks)
{
    size_t count = 0, kept = 0;
    for (size_t i = 0; i < trace->process_count; i++)
        if (trace->processes[i].ranked)
            ranks[count++] = trace->processes[i].rank;
    if (count)
        qsort(ranks, count, sizeof(*ranks), by_number);
    for (size_t i = 0; i < count; i++)
        if (i == 0 || ranks[i] != ranks[kept - 1])
            ranks[kept++] = ranks[i];
    return kept;
}

/* "no block is of rank 7; there are: 0 to 3", "... 0, 3, 13" */
static enum tide_status say_ranks(const struct tide_model *model, const char *wanted)
{
    uint64_t *const ranks = calloc(model->trace->process_count + 1, sizeof(*ranks));
    struct tide_text words = {0};
    const size_t count = ranks ? list_ranks(model->trace, ranks) : 0;
    const bool row = count > 2 && ranks[count - 1] - ranks[0] == count - 1;
    for (size_t i = 0; i < count && i < TIDE_LISTED && !row; i++)
        tide_text_addf(&words, "%s%llu", i ? ", " : "", (unsigned long long)ranks[i]);
    if (count > TIDE_LISTED && !row)
        tide_text_addf(&words, " and %zu more", count - TIDE_LISTED);
    if (row)
        tide_text_addf(&words, "%llu to %llu", (unsigned long long)ranks[0],
                       (unsigned long long)ranks[count - 1]);
    const bool failed = !ranks || words.failed;
    free(ranks);
    if (!failed)
        (void)tide_fail("no block is of rank %s; there are: %s", wanted,
                        words.bytes ? words.bytes : "none");
    tide_text_release(&words);
    return failed ? TIDE_ENOMEM : TIDE_OK;
}

/* --- All ----------------------------------------------------------------------------- */

enum tide_status tide_say_near_filter(const struct tide_model *model,
                                      const struct tide_filter *filter)
{
    const struct {
        const char *what, *pattern;
        struct tide_filter alone;
        void (*add)(const struct tide_model *model, struct choice *out);
    } parts[] = {
        {"region", filter->region, {.region = filter->region}, add_regions},
        {"label", filter->label, {.label = filter->label}, add_labels},
        {"thread", filter->thread, {.thread = filter->thread}, add_threads},
        {"process", filter->process, {.process = filter->process}, add_processes},
        {"rank", filter->rank, {.rank = filter->rank}, NULL},
    };
    const size_t most =
        model->key_thread_count + model->region_count + model->context_count + 1;
    enum tide_status status = TIDE_OK;
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]) && !status; i++) {
        if (!parts[i].pattern || tide_filter_meets(model, &parts[i].alone))
            continue;
        if (!parts[i].add) {
            status = say_ranks(model, parts[i].pattern);
            continue;
        }
        struct choice choice = {.names = calloc(most, sizeof(*choice.names))};
        if (!choice.names)
            return TIDE_ENOMEM;
        parts[i].add(model, &choice);
        status = say(parts[i].what, parts[i].pattern, &choice);
        free(choice.names);
    }
    return status;
}
