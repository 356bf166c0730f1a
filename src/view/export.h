/* view/export.h - a run in other tools' formats.
 *
 * For: view/, cli/, tests/.  What each holds: docs/man/tidemark-export.1.
 */
#ifndef TIDE_VIEW_EXPORT_H
#define TIDE_VIEW_EXPORT_H

#include <stdbool.h>

#include <tidemark/status.h>

#include "model/block_stream.h"
#include "model/model.h"
#include "view/export_out.h"

#define TIDE_EXPORTER "tidemark@" TIDE_VERSION

/* What is to be exported; the model is symbolized. */
struct tide_export {
    struct tide_model *model; /* borrowed; a second walk through its trace is made */
    enum tide_space space;    /* formats that hold one */
    enum tide_metric metric;  /* formats that hold one */
    bool all;                 /* blocks: also those that died */
    uint32_t pid;             /* igprof: of this process only; 0: of all */
    struct tide_progress progress;
};

/* Each adds to OUT, which the caller begins and ends.  Failures to write are found in OUT
 * as well. */
enum tide_status tide_export_pprof(struct tide_out *out,
                                   const struct tide_export *what);
enum tide_status tide_export_folded(struct tide_out *out,
                                    const struct tide_export *what);
enum tide_status tide_export_speedscope(struct tide_out *out,
                                        const struct tide_export *what);
enum tide_status tide_export_chrome(struct tide_out *out,
                                    const struct tide_export *what);
enum tide_status tide_export_callgrind(struct tide_out *out,
                                       const struct tide_export *what);
enum tide_status tide_export_igprof(struct tide_out *out,
                                    const struct tide_export *what);
enum tide_status tide_export_csv(struct tide_out *out, const struct tide_export *what);
enum tide_status tide_export_tsv(struct tide_out *out, const struct tide_export *what);
enum tide_status tide_export_ndjson(struct tide_out *out,
                                    const struct tide_export *what);

/* Into the file at PATH, which is empty.  On failure *WHY holds SQLite's words, to be
 * released, or nothing. */
enum tide_status tide_export_sqlite(const char *path, const struct tide_export *what,
                                    struct tide_text *why);

/* --- Pieces that these share: export_frames.c --- */

/* The node at STACK or, if that frame is the recorder's own, the first outside of it;
 * 0: there is none. */
uint32_t tide_frame_outside(const struct tide_model *model, uint32_t stack);
/* Add what the function of SYMBOL in FRAME is called; FRAME names it when it has no
 * name of its own. */
void tide_frame_name(struct tide_text *text, const struct tide_model *model,
                     uint32_t frame, const struct tide_symbol *symbol);
/* The symbols of FRAME: one at least, also of a frame of which nothing is known. */
struct tide_symbols tide_frame_symbols(const struct tide_model *model, uint32_t frame);

#endif
