/* tests/unit/model_fixture.h - small models made by hand, for tests of the views.
 *
 * The rows are built here in the plainest way (search everything, every time), so that
 * the views are not tested with what the model's own code happens to make.
 */
#ifndef TIDE_TESTS_MODEL_FIXTURE_H
#define TIDE_TESTS_MODEL_FIXTURE_H

#include "base/arena.h"
#include "model/findings.h"
#include "model/model.h"

struct fixture {
    struct tide_arena arena;
    struct tide_trace trace;
    struct tide_model model;
    struct tide_rows rows; /* made by fixture_rows */
    struct tide_findings findings;
    size_t site_capacity;
    struct tide_function *functions;
};

/* An empty run: one process, one thread, no sites. */
void fixture_init(struct fixture *fixture);
/* The same with a believable program in it. */
void fixture_init_solver(struct fixture *fixture);
void fixture_release(struct fixture *fixture);

/* What one stack did.  PATH names its functions, callers first, with ';' between; a
 * function may be given as "name@file.c:12". */
struct fixture_site {
    const char *path;
    uint64_t calls, bytes;
    uint64_t live_blocks, live_bytes;
    uint64_t peak_blocks, peak_bytes;
    uint64_t temporary_calls, temporary_bytes;
};
void fixture_add(struct fixture *fixture, const struct fixture_site *site);
void fixture_add_finding(struct fixture *fixture, const char *kind, const char *text,
                         uint32_t stack);

/* Build fixture->rows of METRIC from all sites. */
void fixture_rows(struct fixture *fixture, enum tide_metric metric);

#endif
