/* fuzz/fuzz_query.c - the query language against any bytes.
 *
 * What can be read is compiled and explained, what cannot is blamed.  Also linked into
 * unit/test_query_parse, which gives it some thousand queries in each `make check`.
 */
#include <stdint.h>
#include <string.h>

#include "query/plan.h"
#include "view/query_view.h"

/* The name is libFuzzer's. NOLINTNEXTLINE(readability-identifier-naming) */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct tide_user_name set[] = {{"dt", TIDE_VALUE_REAL, false, false},
                                   {"size", TIDE_VALUE_INT, true, false},
                                   {"stage", TIDE_VALUE_STRING, false, false}};
    const struct tide_user_names users = {.list = set,
                                          .count = sizeof(set) / sizeof(set[0])};
    const struct tide_plan_options options = {
        .several_traces = size % 2, .users = &users, .may_be_set = size % 3 == 0};
    const char *const text = size ? (const char *)data : "";
    struct tide_query query;
    struct tide_plan plan = {0};
    struct tide_query_error error;
    struct tide_query_view view = {0};
    struct tide_out out;
    struct tide_text words = {0};
    tide_out_begin(&out, -1);
    enum tide_status status = tide_query_parse(text, size, &query, &error);
    if (!status)
        status = tide_plan_make(&query, &options, &plan, &error);
    if (!status)
        status = tide_query_view_begin(&view, &plan, &out, &error);
    if (!status)
        tide_plan_explain(&plan, &words);
    if (!status)
        (void)tide_query_view_end(&view);
    if (status == TIDE_EUSAGE)
        tide_query_error_text(&words, text, size, &error);
    tide_text_release(&words);
    tide_text_release(&out.text);
    tide_query_view_release(&view);
    tide_plan_release(&plan);
    tide_query_release(&query);
    tide_query_error_release(&error);
    return 0;
}
