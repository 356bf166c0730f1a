/* model/filter.h - what each site has of a metric, when only some keys count.
 *
 * For: model/, tests/.
 */
#ifndef TIDE_MODEL_FILTER_H
#define TIDE_MODEL_FILTER_H

#include <stdbool.h>
#include <stddef.h>

#include <tidemark/status.h>

#include "model/model.h"

/* What a site or key has of a metric. */
struct tide_amount {
    uint64_t bytes, calls;
};

/* What was chosen. */
struct tide_chosen {
    struct tide_amount *sites; /* owned, per site; zeros: nothing */
    struct tide_amount *keys;  /* owned, per key, when they were asked for; or NULL */
    struct tide_amount total;  /* of what was chosen */
    struct tide_amount whole;  /* of all */
    bool filtered;
};

/* KEYS: what each key has is wanted as well. */
enum tide_status tide_choose(const struct tide_model *model,
                             const struct tide_rows_request *request, bool keys,
                             struct tide_chosen *out);
/* Is any context of MODEL what FILTER asks for?  Its stacks are not looked at. */
bool tide_filter_meets(const struct tide_model *model,
                       const struct tide_filter *filter);
/* Does FILTER leave any stack or context out? */
bool tide_filter_narrows(const struct tide_filter *filter);
void tide_chosen_release(struct tide_chosen *chosen);

#endif
