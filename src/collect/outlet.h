/* collect/outlet.h - from the lanes' buffers to the file: what outlet.c and round.c share.
 *
 * For: collect/.  Used by the drain thread.
 */
#ifndef TIDE_COLLECT_OUTLET_H
#define TIDE_COLLECT_OUTLET_H

#include <stdint.h>

#include "collect/collector.h"

/* Rows that are coded at once; the second, where another lane has to leave its desk. */
#define TIDE_CODE_AIM (32ull << 10)
#define TIDE_MOVE_AIM (128ull << 10)

/* The file takes no more (disk full, limit): let the targets know and say so. */
void tide_outlet_stop(struct tide_collector *collector);

/* Events are about to be written: all notes go before, once in a pass. */
void tide_outlet_notes_first(struct tide_collector *collector);

/* What is known of the chunk that ends at CUT, of events of LANE. */
struct tide_chunk_label tide_outlet_label(const struct tide_lane_copy *lane,
                                          uint64_t cut);

/* LANE, which has a desk, begins a chunk there. */
void tide_outlet_begin(struct tide_lane_copy *lane);

/* LANE's rows up to UP_TO were coded, with STATUS. */
void tide_outlet_coded(struct tide_collector *collector, struct tide_lane_copy *lane,
                       uint64_t up_to, enum tide_status status);

/* A desk for LANE; NULL without memory.  Who sits there has to leave first. */
struct tide_desk *tide_outlet_desk(struct tide_collector *collector,
                                   const struct tide_lane_copy *lane);

/* Cuts that cost nothing: what follows begins with a reset. */
static inline enum tide_cut_wish tide_outlet_wish(const struct tide_lane_copy *lane)
{
    return lane->asked_ns ? TIDE_CUT_RESET : TIDE_CUT_LARGE;
}

/* Let hands code, and write, what lanes with more than MORE_THAN bytes of rows have ready; what
 * is left, or all when there are no hands, is for the drain thread.  See round.c. */
void tide_round_serve(struct tide_collector *collector, uint64_t more_than);

#endif
