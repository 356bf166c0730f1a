/* model/site.h - keys summed up by stack and space.
 *
 * For: model/, tests/.
 */
#ifndef TIDE_MODEL_SITE_H
#define TIDE_MODEL_SITE_H

#include <stdbool.h>
#include <stddef.h>

#include <tidemark/status.h>

#include "model/key.h"
#include "model/model.h"

/* All zeros is ready for use. */
struct tide_sites {
    struct tide_site *list; /* owned */
    size_t count;
};

void tide_sites_release(struct tide_sites *sites);

/* Sum up KEYS, which are finished.  If WITH_LEFT, what ended processes left counts as
 * live: it was never freed. */
enum tide_status tide_sites_gather(struct tide_sites *sites,
                                   const struct tide_keys *keys, bool with_left);

#endif
