/* caliper/cali_datatracker.h - Caliper's names for arrays, for tidemark.
 *
 * For the include path see cali.h.  What was allocated by malloc and its kin counts once,
 * under its name.
 */
#ifndef TIDEMARK_COMPAT_CALI_DATATRACKER_H
#define TIDEMARK_COMPAT_CALI_DATATRACKER_H

#include "../../tidemark.h"

static inline void cali_datatracker_track(const void *ptr, const char *label,
                                          size_t size)
{
    tide_label(ptr, label, size);
}

static inline void cali_datatracker_track_dimensional(const void *ptr,
                                                      const char *label,
                                                      size_t elem_size,
                                                      const size_t *dimensions,
                                                      size_t num_dimensions)
{
    tide_label_shape(ptr, label, elem_size, dimensions, num_dimensions);
}

static inline void cali_datatracker_untrack(const void *ptr)
{
    tide_unlabel(ptr);
}

/* The label is the pointer as it stands in the source. */
#define CALI_DATATRACKER_TRACK(ptr, size) cali_datatracker_track(ptr, #ptr, size)
#define CALI_DATATRACKER_TRACK_DIMENSIONAL(ptr, elem_size, dimensions, num_dimensions) \
    cali_datatracker_track_dimensional(ptr, #ptr, elem_size, dimensions, num_dimensions)
#define CALI_DATATRACKER_UNTRACK(ptr) cali_datatracker_untrack(ptr)

#endif
