/* model/process_peaks.h - what each process of a run held at most, by itself.
 *
 * For: view/, cli/, tests/.  The peak of a run is that of all its processes together; a node
 * or a limit of memory may be shared by some of them only.
 */
#ifndef TIDE_MODEL_PROCESS_PEAKS_H
#define TIDE_MODEL_PROCESS_PEAKS_H

#include <stddef.h>
#include <stdint.h>

#include <tidemark/status.h>

#include "model/model.h"
#include "model/suppress.h"

struct tide_process_peak {
    uint32_t process;    /* index in the trace */
    uint64_t bytes;      /* at most */
    uint64_t ticks;      /* when first */
    uint64_t last_bytes; /* when it ended, or the run; without what is suppressed */
};

struct tide_process_peaks {
    enum tide_space space;
    struct tide_process_peak
        *list; /* owned; highest first, those that held something */
    size_t count;
};

/* Walks through the trace of MODEL.  Release it, whatever is returned. */
enum tide_status tide_process_peaks_find(struct tide_model *model,
                                         enum tide_space space,
                                         const struct tide_suppressions *suppressed,
                                         struct tide_process_peaks *out);
void tide_process_peaks_release(struct tide_process_peaks *peaks);

#endif
