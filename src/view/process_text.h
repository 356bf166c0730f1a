/* view/process_text.h - what each process held by itself, as text and JSON.
 *
 * For: cli/, view/.
 */
#ifndef TIDE_VIEW_PROCESS_TEXT_H
#define TIDE_VIEW_PROCESS_TEXT_H

#include "model/process_peaks.h"
#include "view/json.h"
#include "view/line.h"

/* A table of at most LIMIT processes (0: all). */
void tide_view_process_peaks(struct tide_page *page, const struct tide_model *model,
                             const struct tide_process_peaks *peaks, size_t limit);
/* The same as a list; the bytes are those of each process. */
void tide_json_process_peaks(struct tide_json *json, const struct tide_model *model,
                             const struct tide_process_peaks *peaks, size_t limit);

#endif
