/* view/group_text.c - rows by thread, process, region, label, module or line, as text. */
#include "view/columns.h"
#include "view/names.h"
#include "view/report_text.h"
#include "view/run_words.h"
#include "view/source.h"

enum { TIDE_FLOWS_SHOWN = 10 };

static const char *noun_of(enum tide_group_by by)
{
    static const char *const NOUNS[TIDE_GROUPINGS] = {
        [TIDE_BY_THREAD] = "thread", [TIDE_BY_PROCESS] = "process",
        [TIDE_BY_REGION] = "region", [TIDE_BY_LABEL] = "label",
        [TIDE_BY_MODULE] = "module", [TIDE_BY_LINE] = "line",
    };
    return NOUNS[by];
}

/* What a row without a name is called. */
static const char *nameless_of(enum tide_group_by by)
{
    static const char *const WORDS[TIDE_GROUPINGS] = {
        [TIDE_BY_THREAD] = "[unnamed]",   [TIDE_BY_PROCESS] = "[unnamed]",
        [TIDE_BY_REGION] = "[no region]", [TIDE_BY_LABEL] = "[no label]",
        [TIDE_BY_MODULE] = "[unknown]",   [TIDE_BY_LINE] = "[unknown]",
    };
    return WORDS[by];
}

/* " (tid 12)", " (3 threads)", ":12", or nothing. */
static struct tide_text number_words(enum tide_group_by by, uint64_t number,
                                     uint64_t count)
{
    struct tide_text words = {0};
    if (count > 1) {
        tide_text_add(&words, " (");
        tide_words_count(&words, count, "thread");
        tide_text_add(&words, ")");
    } else if (number && by == TIDE_BY_LINE) {
        tide_text_addf(&words, ":%llu", (unsigned long long)number);
    } else if (number) {
        tide_text_addf(&words, " (%s %llu)", by == TIDE_BY_THREAD ? "tid" : "pid",
                       (unsigned long long)number);
    }
    return words;
}

/* NAME and NUMBER in what is left of the line. */
static void add_words(struct tide_page *page, enum tide_group_by by,
                      const struct tide_group_row *row)
{
    struct tide_text number = number_words(by, row->number, row->count);
    const bool named = row->name && *row->name;
    const int room = tide_page_left(page) - (int)number.length;
    tide_page_name(page, named ? TIDE_INK_BOLD : TIDE_INK_DIM,
                   named ? row->name : nameless_of(by), room);
    tide_page_add(page, TIDE_INK_DIM, number.bytes ? number.bytes : "");
    tide_page_end(page);
    tide_text_release(&number);
}

static struct tide_columns measure(const struct tide_page *page,
                                   const struct tide_groups *groups, size_t shown)
{
    struct tide_columns columns = tide_columns_of(groups->metric, page->style);
    if (groups->nested) {
        columns.bytes = 9; /* "inclusive" */
        columns.self = 8;
    }
    for (size_t i = 0; i < shown; i++)
        tide_columns_measure(&columns, page->style, groups->list[i].inclusive_bytes,
                             groups->list[i].inclusive_calls);
    return columns;
}

static void add_row(struct tide_page *page, const struct tide_groups *groups,
                    const struct tide_columns *columns, size_t i)
{
    const struct tide_group_row *const row = &groups->list[i];
    const struct tide_columns_values values = {
        .bytes = row->inclusive_bytes,
        .total = groups->total_bytes,
        .self = row->bytes,
        .count = row->inclusive_calls,
    };
    tide_columns_line(page, columns, &values);
    add_words(page, groups->by, row);
    if (groups->by == TIDE_BY_LINE && row->name && *row->name)
        tide_page_source(page, row->name, (uint32_t)row->number);
}

/* --- Who freed whose blocks ----------------------------------------------------------- */

static void add_thread(struct tide_text *out, const struct tide_model *model,
                       uint32_t number, const struct tide_style *style)
{
    const struct tide_key_thread *const thread = &model->key_threads[number];
    struct tide_text words = number_words(TIDE_BY_THREAD, thread->tid, thread->count);
    tide_name_safe(out, thread->name && *thread->name ? thread->name : "[unnamed]",
                   style);
    tide_text_add(out, words.bytes ? words.bytes : "");
    tide_text_release(&words);
}

/* The heaviest flow that is not heavier than AFTER, nor one of those before it. */
static const struct tide_flow *next_flow(const struct tide_model *model,
                                         const struct tide_flow *after)
{
    const struct tide_flow *best = NULL;
    for (size_t i = 0; i < model->flow_count; i++) {
        const struct tide_flow *const flow = &model->flows[i];
        const bool later = !after || flow->bytes < after->bytes ||
                           (flow->bytes == after->bytes && flow > after);
        if (later && (!best || flow->bytes > best->bytes))
            best = flow;
    }
    return best;
}

static void add_flows(struct tide_page *page, const struct tide_model *model)
{
    if (model->flow_count == 0)
        return;
    tide_page_skip(page);
    tide_page_heading(page, "Freed by another thread", "than the one that made them");
    const struct tide_flow *flow = next_flow(model, NULL);
    for (int i = 0; flow && i < TIDE_FLOWS_SHOWN; i++, flow = next_flow(model, flow)) {
        struct tide_text words = {0};
        tide_text_addf(&words, "%s in ",
                       tide_number_bytes(flow->bytes, page->style->units).text);
        tide_words_count(&words, flow->calls, "block");
        tide_text_add(&words, " made by ");
        add_thread(&words, model, flow->from, page->style);
        tide_text_add(&words, ", freed by ");
        add_thread(&words, model, flow->to, page->style);
        tide_page_tab(page, 2);
        tide_page_wrap(page, TIDE_INK_PLAIN, words.bytes ? words.bytes : "", 4);
        tide_text_release(&words);
    }
    if (model->flow_count > TIDE_FLOWS_SHOWN) {
        tide_page_tab(page, 2);
        tide_page_more(page, model->flow_count - TIDE_FLOWS_SHOWN, "pair");
    }
}

void tide_view_groups(struct tide_page *page, const struct tide_model *model,
                      const struct tide_groups *groups, size_t limit)
{
    const size_t shown = limit && limit < groups->count ? limit : groups->count;
    const struct tide_view_totals totals = tide_totals_of_groups(groups);
    const struct tide_columns columns = measure(page, groups, shown);
    tide_view_heading(page, model, &totals);
    if (shown > 0) {
        tide_columns_head(page, &columns);
        tide_page_add(page, TIDE_INK_DIM, noun_of(groups->by));
        tide_page_end(page);
    }
    for (size_t i = 0; i < shown; i++)
        add_row(page, groups, &columns, i);
    if (shown < groups->count) {
        tide_page_tab(page, tide_columns_end(&columns));
        tide_page_more(page, groups->count - shown,
                       groups->by == TIDE_BY_PROCESS ? "" : noun_of(groups->by));
    }
    if (groups->by == TIDE_BY_THREAD && !groups->narrowed)
        add_flows(page, model);
}
