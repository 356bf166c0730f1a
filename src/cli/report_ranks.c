/* cli/report_ranks.c - what each rank held by itself, where each wrote a trace of its own.
 *
 * Of each trace only its ranks are kept, so that as many can be read as there are ranks.
 */
#include "cli/report_ranks.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/text.h"
#include "cli/command.h"
#include "cli/memory_limit.h"
#include "cli/open_trace.h"
#include "cli/suppression_file.h"
#include "model/ranks.h"
#include "view/rank_text.h"

/* Add the ranks of OPENED to ALL. */
static enum tide_status add_ranks(struct tide_opened *opened,
                                  struct tide_suppressions *suppressions,
                                  struct tide_ranks *all)
{
    struct tide_ranks ranks = {0};
    enum tide_status status = tide_model_symbolize(opened->model);
    if (!status)
        status = tide_suppressions_apply(suppressions, opened->model, TIDE_IN_HEAP);
    if (!status)
        status = tide_ranks_find(opened->model, suppressions, &ranks);
    if (!status)
        status = tide_ranks_join(all, &ranks);
    tide_ranks_release(&ranks);
    return status;
}

/* Read the trace NAME; -1 or the exit status.  OPENED keeps the trace without its model. */
static int read_one(const struct tide_report_options *options, char *name,
                    struct tide_opened *opened, struct tide_ranks *all)
{
    char *words[] = {name, NULL};
    const struct tide_arguments one = {.list = words, .count = 1};
    struct tide_suppressions suppressions = {0};
    int done = tide_suppression_file(options->suppressions, options->no_suppressions,
                                     &suppressions);
    if (done < 0)
        done = tide_open_trace_with(&tide_cmd_report, &one, &options->load, opened);
    if (done < 0 && !tide_ranks_known(opened->trace))
        done = tide_fail("%s: no process in it has an MPI rank", opened->path);
    if (done < 0) {
        tide_say_what_is_missing(opened);
        const enum tide_status status = add_ranks(opened, &suppressions, all);
        done =
            status ? tide_fail("%s: %s", opened->path, tide_failure_words(status)) : -1;
        tide_model_free(opened->model);
        opened->model = NULL;
    }
    tide_suppressions_release(&suppressions);
    return done;
}

/* Two jobs in one table would compare what has nothing to do with each other. */
static int check_once(const struct tide_ranks *ranks)
{
    for (size_t i = 1; i < ranks->ranked; i++) {
        const struct tide_rank *const one = &ranks->list[i - 1];
        const struct tide_rank *const other = &ranks->list[i];
        if (one->rank == other->rank)
            return tide_fail("rank %llu is in %s and in %s: are they of one job?",
                             (unsigned long long)one->rank, one->trace->path,
                             other->trace->path);
    }
    return -1;
}

static int print(const struct tide_report_options *options,
                 const struct tide_ranks *ranks)
{
    const size_t limit = options->rows == TIDE_ROWS_UNSET ? 0 : (size_t)options->rows;
    const struct tide_style style =
        tide_style_detect(STDOUT_FILENO, (enum tide_color)options->color,
                          tide_units_chosen(options->bytes, options->si));
    struct tide_text text = {0};
    struct tide_page page = {.out = &text, .style = &style};
    struct tide_json json = {.out = &text};
    struct tide_csv csv = {.out = &text};
    if (options->csv) {
        tide_csv_ranks(&csv, ranks, limit);
    } else if (options->json) {
        tide_json_open(&json, NULL, '{');
        tide_json_string(&json, "schema", TIDE_RANKS_SCHEMA);
        tide_json_ranks(&json, ranks, limit);
        tide_json_close(&json);
    } else {
        tide_view_ranks(&page, ranks, limit);
    }
    return tide_print_text(&text);
}

int tide_report_ranks(const struct tide_report_options *options,
                      const struct tide_arguments *traces)
{
    const size_t count = (size_t)traces->count;
    struct tide_opened *const opened = calloc(count, sizeof(*opened));
    struct tide_ranks all = {0};
    int done = -1;
    if (!opened)
        return tide_fail_memory();
    for (size_t i = 0; i < count && done < 0; i++)
        done = read_one(options, traces->list[i], &opened[i], &all);
    if (done < 0)
        done = check_once(&all);
    if (done < 0)
        done = print(options, &all);
    tide_ranks_release(&all);
    for (size_t i = 0; i < count; i++)
        tide_opened_close(&opened[i]);
    free(opened);
    return done;
}
