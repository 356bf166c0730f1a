/* model/embed.h - the names of all frames of a model, as notes for its trace.
 *
 * For: cli/, tests/.
 */
#ifndef TIDE_MODEL_EMBED_H
#define TIDE_MODEL_EMBED_H

#include <stddef.h>

#include <tidemark/status.h>

#include "base/text.h"
#include "model/model.h"

struct tide_embed_counts {
    size_t frames;   /* native frames of the trace */
    size_t named;    /* of which so many have names */
    size_t modules;  /* that frames are in */
    size_t unknown;  /* of which so many have no frame with a name */
    const char *one; /* path of the one with most nameless frames; NULL: none */
};

/* Add to NOTES the names of MODEL, which tide_model_symbolize_all() named. */
enum tide_status tide_model_embed(const struct tide_model *model,
                                  struct tide_text *notes,
                                  struct tide_embed_counts *counts);

#endif
