/* caliper/cali_datatracker.h - Caliper's names for arrays, for tidemark.
 *
 * For the include path see cali.h.  What was allocated by malloc and its kin counts once,
 * under its name.
 */
#ifndef TIDEMARK_COMPAT_CALI_DATATRACKER_H
#define TIDEMARK_COMPAT_CALI_DATATRACKER_H

#include <stdlib.h>
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

/* Allocate SIZE bytes and label them; NULL: there is no memory. */
static inline void *cali_datatracker_allocate(const char *label, size_t size)
{
    void *const made = malloc(size);
    if (made)
        cali_datatracker_track(made, label, size);
    return made;
}

static inline void *cali_datatracker_allocate_dimensional(const char *label,
                                                          size_t elem_size,
                                                          const size_t *dimensions,
                                                          size_t num_dimensions)
{
    size_t size = elem_size, i;
    void *made;
    for (i = 0; i < num_dimensions; i++)
        if (__builtin_mul_overflow(size, dimensions[i], &size))
            return NULL;
    made = malloc(size);
    if (made)
        cali_datatracker_track_dimensional(made, label, elem_size, dimensions,
                                           num_dimensions);
    return made;
}

static inline void cali_datatracker_free(void *ptr)
{
    free(ptr);
}

/* The label is the pointer as it stands in the source. */
#define CALI_DATATRACKER_TRACK(ptr, size) cali_datatracker_track(ptr, #ptr, size)
#define CALI_DATATRACKER_TRACK_DIMENSIONAL(ptr, elem_size, dimensions, num_dimensions) \
    cali_datatracker_track_dimensional(ptr, #ptr, elem_size, dimensions, num_dimensions)
#define CALI_DATATRACKER_ALLOCATE(label, elem_size, dimensions, num_dimensions) \
    cali_datatracker_allocate_dimensional(label, elem_size, dimensions, num_dimensions)
#define CALI_DATATRACKER_FREE(ptr)    cali_datatracker_free(ptr)
#define CALI_DATATRACKER_UNTRACK(ptr) cali_datatracker_untrack(ptr)

#endif
