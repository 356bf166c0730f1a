/* unit/report_bench.h - the text report of a fixture, and what must be in it.
 *
 * For: test_report_text.c, test_report_shapes.c.
 */
#ifndef TIDE_UNIT_REPORT_BENCH_H
#define TIDE_UNIT_REPORT_BENCH_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "model_fixture.h"
#include "view/info.h"
#include "view/report_text.h"
#include "view/utf8.h"

static const struct tide_style PLAIN = {.width = 80};

/* Every section of the report, one after the other. */
static inline struct tide_text everything(struct fixture *f,
                                          const struct tide_style *style, size_t limit)
{
    struct tide_text text = {0};
    struct tide_page page = {.out = &text, .style = style};
    tide_view_warning(&page, &f->trace);
    tide_view_overview(&page, &f->model, NULL);
    tide_view_timeline(&page, &f->model);
    for (int metric = TIDE_METRIC_PEAK; metric <= TIDE_METRIC_CHURN; metric++) {
        fixture_rows(f, (enum tide_metric)metric);
        tide_view_tree(&page, &f->model, &f->rows, limit);
        tide_view_flat(&page, &f->model, &f->rows, limit);
        tide_view_stacks(&page, &f->model, &f->rows, limit);
    }
    tide_view_findings(&page, &f->findings, 0);
    tide_view_honesty(&page, &f->model, true);
    tide_view_info(&page, &f->model, (struct tide_info_options){true, true});
    assert_false(text.failed);
    return text;
}

/* Of LINE, without its escape sequences; unknown ones fail. */
static inline int visible_columns(char *line)
{
    char *out = line;
    for (const char *in = line; *in;) {
        if (*in == '\033') {
            in += strcspn(in, "m");
            assert_int_equal(*in, 'm');
            in++;
        } else {
            *out++ = *in++;
        }
    }
    *out = '\0';
    return tide_columns(line);
}

static inline void assert_width(const struct tide_text *text,
                                const struct tide_style *style)
{
    char *const copy = strdup(text->bytes);
    assert_non_null(copy);
    char *rest;
    for (char *line = strtok_r(copy, "\n", &rest); line;
         line = strtok_r(NULL, "\n", &rest)) {
        const int columns = visible_columns(line);
        if (columns > style->width)
            print_error("%d > %d: %s\n", columns, style->width, line);
        assert_true(columns <= style->width);
        for (const char *c = line; *c; c++)
            assert_true((unsigned char)*c >= 0x20 && *c != 0x7f);
    }
    free(copy);
}

static inline void assert_holds(const struct tide_text *text, const char *words)
{
    if (!strstr(text->bytes, words))
        print_error("'%s' is not in:\n%s\n", words, text->bytes);
    assert_non_null(strstr(text->bytes, words));
}

#endif
