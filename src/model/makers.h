/* model/makers.h - where blocks were made that another thread freed.
 *
 * For: view/, tests/.  Stacks that differ only in what called the line that made the blocks,
 * or in what the library did for it, are one maker.
 */
#ifndef TIDE_MODEL_MAKERS_H
#define TIDE_MODEL_MAKERS_H

#include "model/path.h"

struct tide_maker {
    uint32_t site; /* one of its stacks */
    uint64_t bytes, calls;
};

struct tide_makers {
    struct tide_maker *list; /* owned; largest first */
    size_t count, capacity;
};

/* The calls that PATHS shows are what tells makers apart. */
enum tide_status tide_makers_build(const struct tide_model *model,
                                   struct tide_paths *paths, struct tide_makers *out);
void tide_makers_release(struct tide_makers *makers);

#endif
