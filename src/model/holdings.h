/* model/holdings.h - what the heavy sites held, at some moments of the run.
 *
 * For: model/, tests/.  Nothing is counted as events pass: at TIDE_HOLDINGS_MOMENTS moments,
 * which divide the run into parts of equal length, all keys are looked at, and those that
 * hold much are written down.  So memory is bounded, whatever the number of stacks.
 */
#ifndef TIDE_MODEL_HOLDINGS_H
#define TIDE_MODEL_HOLDINGS_H

#include <stddef.h>
#include <stdint.h>

#include <tidemark/status.h>

#include "model/key.h"
#include "model/model.h"
#include "model/water.h"

enum {
    /* Between two moments there are so many stretches of the timeline. */
    TIDE_HOLDINGS_EVERY = 8,
    TIDE_HOLDINGS_PARTS = 50, /* heavy: holds a 50th of what stands ... */
    TIDE_HOLDINGS_BYTES = 64 * 1024,
};

/* All zeros is ready for use. */
struct tide_holdings {
    struct tide_holding *list; /* owned; sites are keys until they are known */
    size_t count, capacity;
    uint64_t heights[TIDE_HOLDINGS_MOMENTS + 1]; /* bytes of all, at each moment */
    uint32_t moments;                            /* so many have passed */
};

void tide_holdings_release(struct tide_holdings *holdings);

/* The timeline has come to STRETCH: write down what KEYS hold at the moments since. */
enum tide_status tide_holdings_pass(struct tide_holdings *holdings,
                                    const struct tide_keys *keys,
                                    const struct tide_watermark *water,
                                    uint32_t stretch);

/* What it knows becomes the model's: by site and moment. */
enum tide_status tide_holdings_hand_over(struct tide_holdings *holdings,
                                         struct tide_model *model);

#endif
