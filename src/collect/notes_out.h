/* collect/notes_out.h - the collector's own notes, as bytes.
 *
 * For: collect/, tests/.  Notes gather in a text until they are written as RUN chunks.
 * The fields of each are listed in trace/format.h.
 */
#ifndef TIDE_COLLECT_NOTES_OUT_H
#define TIDE_COLLECT_NOTES_OUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"
#include "trace/format.h"
#include "trace/totals.h"

/* Words of a command line that a note keeps: the rest becomes "...". */
enum { TIDE_NOTE_WORDS_BYTES = 32 * 1024 };

struct tide_run_facts {
    char **argv; /* NULL-terminated */
    const char *version;
    const char *options; /* what was asked for, in words */
};

struct tide_image {
    char *exe;   /* owned; NULL when unknown */
    char *words; /* owned: the command line, a zero after each word; may be NULL */
    size_t words_bytes;
    uint64_t device, inode; /* of the program's file; 0 when unknown */
    uint64_t rank;          /* MPI rank + 1; 0: none */
};

struct tide_begin_facts {
    uint32_t process, pid;
    uint64_t birth, ticks;
    const struct tide_image *image;
};

struct tide_end_facts {
    uint32_t process;
    uint64_t ticks;
    int status_known, status;
    uint64_t dropped;
    enum tide_end reason;
    bool silent;                /* it had not said that it would end */
    uint64_t drops[TIDE_DROPS]; /* dropped, by enum tide_drop */
};

struct tide_rss_facts {
    uint32_t process;
    uint64_t ticks, bytes, peak;
    uint64_t anonymous; /* of bytes; 0: not known */
};

struct tide_unrecorded_facts {
    uint32_t pid;                    /* 0: not known */
    uint64_t begin_ticks, end_ticks; /* end 0: not known */
    bool seen_only;                  /* nobody told of it */
    const char *name, *reason;
};

struct tide_naming_facts {
    uint64_t frames; /* that stood in stacks */
    uint64_t named;  /* of which the trace brings the names */
    uint64_t left;   /* that nobody looked for, for want of time */
};

struct tide_file_facts {
    const char *path, *build_id;
    uint64_t bytes, mtime_ns;
};

struct tide_finish_facts {
    uint64_t ticks, chunks, peak_rss;
    int status;
    uint32_t processes;
};

void tide_notes_out_run(struct tide_text *notes, const struct tide_run_facts *facts);
void tide_notes_out_begin(struct tide_text *notes,
                          const struct tide_begin_facts *facts);
void tide_notes_out_end(struct tide_text *notes, const struct tide_end_facts *facts);
void tide_notes_out_clock(struct tide_text *notes, uint64_t ticks, uint64_t unix_ns);
void tide_notes_out_rss(struct tide_text *notes, const struct tide_rss_facts *facts);
void tide_notes_out_rings(struct tide_text *notes, uint64_t bytes);
void tide_notes_out_unrecorded(struct tide_text *notes,
                               const struct tide_unrecorded_facts *facts);
void tide_notes_out_trouble(struct tide_text *notes, const char *line);
void tide_notes_out_naming(struct tide_text *notes,
                           const struct tide_naming_facts *facts);
void tide_notes_out_file(struct tide_text *notes, const struct tide_file_facts *facts);
void tide_notes_out_totals(struct tide_text *notes, const struct tide_totals *totals);
void tide_notes_out_finish(struct tide_text *notes,
                           const struct tide_finish_facts *facts);

/* How many of the LENGTH bytes at NOTES are whole notes that fit into one chunk. */
size_t tide_notes_out_chunk(const char *notes, size_t length);

void tide_image_release(struct tide_image *image);

#endif
