/* trace/embedded.h - names of frames that a trace brings with it.
 *
 * For: model/, tests/.  So a trace can be read where the program is not, or not any more.
 * They are the notes TEXTS and SYMBOLS; see format.h.  Notes are hostile like all else in
 * a file: what they refer to and is not there is unknown, and what would take more memory
 * than a trace of this size can need is left out.
 */
#ifndef TIDE_TRACE_EMBEDDED_H
#define TIDE_TRACE_EMBEDDED_H

#include <stddef.h>
#include <stdint.h>

#include <tidemark/status.h>

#include "base/text.h"
#include "trace/trace.h"

/* A function that a frame is in: an inlined one, or the last: the real one. */
struct tide_embedded_place {
    const char *function, *file; /* NULL when unknown; die with the trace's symbols */
    uint32_t line;               /* 0 when unknown */
};

struct tide_embedded; /* opaque: see embedded.c */

/* All names that TRACE (borrowed) brings; *OUT is NULL when there are none. */
enum tide_status tide_embedded_open(const struct tide_trace *trace,
                                    struct tide_embedded **out);
void tide_embedded_close(struct tide_embedded *embedded);

/* What stands at ADDRESS of the trace's module MODULE; COUNT is 0 when nothing is known.
 * EMBEDDED may be NULL. */
const struct tide_embedded_place *tide_embedded_find(
    const struct tide_embedded *embedded, uint32_t module, uint64_t address,
    size_t *count);
/* Does any frame of MODULE have a name? */
bool tide_embedded_names(const struct tide_embedded *embedded, uint32_t module);
/* Does one of COUNT PLACES say in which file it is? */
bool tide_embedded_has_file(const struct tide_embedded_place *places, size_t count);
/* How many frames have names. */
size_t tide_embedded_frames(const struct tide_embedded *embedded);

/* --- Writing --- */

/* Copy TRACE, which is not damaged, to the empty file FD (borrowed), with NOTES (whole
 * notes of symbols) in place of those that it has.  EBUSY is TIDE_ESYSTEM with errno
 * EWOULDBLOCK: it is still being recorded. */
enum tide_status tide_trace_pack(const struct tide_trace *trace, int fd,
                                 const struct tide_text *notes);

#endif
