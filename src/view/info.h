/* view/info.h - `tidemark info`: what a trace holds, as text and as JSON.
 *
 * For: view/, cli/, tests/.  Needs a loaded model, but no symbols.
 */
#ifndef TIDE_VIEW_INFO_H
#define TIDE_VIEW_INFO_H

#include <stdbool.h>

#include "base/text.h"
#include "model/model.h"
#include "view/line.h"

#define TIDE_INFO_SCHEMA "tidemark.info/1"

struct tide_info_options {
    bool modules; /* list them, with build-ids */
    bool all;     /* all processes and programs, not only the first 20 */
};

void tide_view_info(struct tide_page *page, const struct tide_model *model,
                    struct tide_info_options options);
void tide_view_info_json(struct tide_text *out, const struct tide_model *model);

/* --- What both say --- */

/* Bytes of the event chunks, as they stand in the file and unpacked. */
struct tide_chunk_sums {
    uint64_t stored_bytes, raw_bytes;
};
struct tide_chunk_sums tide_info_chunks(const struct tide_trace *trace);

/* How many frames have names in the trace itself (tidemark pack). */
size_t tide_info_embedded(const struct tide_trace *trace);

/* What was recorded, by kind: entry INDEX of a list; NULL at its end, "" for
 * one that need not be shown.  *COUNT may be 0. */
const char *tide_info_kind(const struct tide_model *model, size_t index,
                           uint64_t *count);

#endif
