/* model/symbolize.h - where tide_model_symbolize() gets its names from.
 *
 * For: model/, tests/: which put a source of their own in the place of ELF files.
 */
#ifndef TIDE_MODEL_SYMBOLIZE_H
#define TIDE_MODEL_SYMBOLIZE_H

#include "model/model.h"
#include "symbol/symbolizer.h"

/* The functions of symbol/symbolizer.h, or others alike. */
struct tide_symbol_source {
    enum tide_status (*open)(const char *path, const char *build_id,
                             const struct tide_symbolizer_options *options,
                             struct tide_symbolizer **out);
    enum tide_status (*find)(struct tide_symbolizer *symbolizer, uint64_t address,
                             const struct tide_location **out, size_t *count);
    void (*close)(struct tide_symbolizer *symbolizer);
    enum tide_module_state (*state)(const struct tide_symbolizer *symbolizer); /* or
                                                                                  NULL */
    /* Or NULL: then it is not for a child. */
    enum tide_status (*expect)(struct tide_symbolizer *symbolizer,
                               const uint64_t *addresses, size_t count);
};

/* A native frame, to be named. */
struct tide_asked_frame {
    uint32_t module, frame;
    uint64_t value;
};
/* The native frames that sites use, or ALL, by module and address.  *QUESTIONS belongs to
 * the caller. */
enum tide_status tide_model_ask_frames(const struct tide_model *model, bool all,
                                       struct tide_asked_frame **questions,
                                       size_t *count);

/* Names that the trace brings go first. */
enum tide_status tide_model_symbolize_from(struct tide_model *model,
                                           const struct tide_symbol_source *source);

/* What stands for a synthetic frame: "[stack cut]" and the like. */
const char *tide_synthetic_name(uint64_t synthetic);

#endif
