/* view/resolve_view.h - `tidemark resolve`, as text and as JSON.
 *
 * For: view/, cli/, tests/.  Nothing here computes a result: see model/inquiry.h.
 */
#ifndef TIDE_VIEW_RESOLVE_VIEW_H
#define TIDE_VIEW_RESOLVE_VIEW_H

#include <stddef.h>

#include "base/text.h"
#include "model/inquiry.h"
#include "view/line.h"

#define TIDE_RESOLVE_SCHEMA "tidemark.resolve/1"

/* A question as it was asked. */
struct tide_asked {
    const struct tide_question *question;
    const char *word; /* borrowed: as it was given */
    double at_s;      /* negative: the end of the run */
};

struct tide_resolve_view {
    const struct tide_model *model; /* symbolized */
    const struct tide_asked *list;
    size_t count;
};

void tide_view_resolve(struct tide_page *page, const struct tide_resolve_view *view);
void tide_view_resolve_json(struct tide_text *out,
                            const struct tide_resolve_view *view);

/* The name of thread TID of PROCESS; "" when unknown. */
const char *tide_thread_name(const struct tide_trace *trace, uint32_t process,
                             uint32_t tid);

#endif
