/* trace/name_notes.h - names of frames, as notes for a trace.
 *
 * For: model/, collect/, tests/.  They are the notes TEXTS and SYMBOLS of format.h;
 * trace/embedded.h reads them.
 */
#ifndef TIDE_TRACE_NAME_NOTES_H
#define TIDE_TRACE_NAME_NOTES_H

#include <stddef.h>
#include <stdint.h>

#include <tidemark/status.h>

#include "base/text.h"
#include "trace/embedded.h"
#include "trace/trace.h"

/* Where notes of names are put together.  All zeros is ready for use. */
struct tide_name_notes {
    struct tide_text notes;  /* whole ones */
    struct tide_text texts;  /* fields of a TEXTS note */
    struct tide_text frames; /* fields of a SYMBOLS note */
    const char **slots;      /* owned: texts by address */
    uint32_t *numbers;       /* owned: theirs */
    size_t mask, count;
    const struct tide_module *module; /* borrowed: of the note's frames */
    uint64_t last;                    /* address of the note's last frame */
    bool failed;                      /* for want of memory */
};

void tide_name_notes_release(struct tide_name_notes *names);

/* At ADDRESS (of the call) of MODULE is what COUNT PLACES say, innermost first.  Addresses
 * of one module come one after the other, in order.  Equal texts have one pointer, and live
 * until the end. */
void tide_name_notes_add(struct tide_name_notes *names,
                         const struct tide_module *module, uint64_t address,
                         const struct tide_embedded_place *places, size_t count);
/* That was all: names->notes is complete.  TIDE_ENOMEM: it is not. */
enum tide_status tide_name_notes_end(struct tide_name_notes *names);

struct tide_writer;
/* Add whole notes to a file, in chunks of their own.  On a full disk it can still be ended. */
enum tide_status tide_name_notes_write(struct tide_writer *writer,
                                       const struct tide_text *notes);

#endif
