/* view/group_text.c - rows by thread, process, region, label, module or line, as text. */
#include "view/columns.h"
#include "view/names.h"
#include "view/report_text.h"
#include "view/run_words.h"
#include "view/source.h"

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

/* " (tid 12)", " (rank 3, pid 12)", " (3 threads)", ":12", or nothing. */
static struct tide_text number_words(enum tide_group_by by,
                                     const struct tide_group_row *row)
{
    const uint64_t number = row->number, count = row->count;
    struct tide_text words = {0};
    if (row->ranked) {
        tide_text_addf(&words, " (rank %llu, pid %llu)", (unsigned long long)row->rank,
                       (unsigned long long)number);
    } else if (count > 1) {
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
    struct tide_text number = number_words(by, row);
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
        columns.bytes_name = "inclusive";
        columns.self_name = "self";
        columns.bytes = 9;
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

void tide_view_groups(struct tide_page *page, const struct tide_model *model,
                      const struct tide_groups *groups, size_t limit)
{
    const size_t shown = tide_rows_shown(groups->count, limit);
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
        tide_view_flows_short(page, model);
}
