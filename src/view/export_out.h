/* view/export_out.h - where an export's bytes go: buffered, perhaps compressed.
 *
 * For: view/, cli/, tests/.  A failure is remembered and ends the writing; look at it
 * once, in tide_out_end().
 *
 *     struct tide_out out;
 *     tide_out_begin(&out, fd);
 *     tide_text_addf(&out.text, "%d\n", 42);
 *     tide_out_rest(&out);
 *     ...
 *     status = tide_out_end(&out);
 */
#ifndef TIDE_VIEW_EXPORT_OUT_H
#define TIDE_VIEW_EXPORT_OUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tidemark/status.h>

#include "base/text.h"

struct tide_out {
    struct tide_text text; /* what is to be written next: add to it */
    int fd;                /* borrowed */
    int error;             /* errno of the first failure, 0: none */
    void *gzip;            /* owned: state of the compression, NULL: none */
    uint64_t most;         /* bytes to be written; more is an EFBIG.  0: any number */
    uint64_t written;      /* bytes so far */
};

void tide_out_begin(struct tide_out *out, int fd);
/* The same, and all is compressed in gzip's format. */
enum tide_status tide_out_begin_gzip(struct tide_out *out, int fd);

/* A good moment to write if enough has come together; false after a failure: what
 * follows would be in vain. */
bool tide_out_rest(struct tide_out *out);
/* Write what is left and release all but fd; out->error says why it failed. */
enum tide_status tide_out_end(struct tide_out *out);

/* --- Pieces that exports share --- */

/* Add VALUE in decimal; faster than a format, for those who write millions. */
void tide_out_uint(struct tide_text *text, uint64_t value);
/* Add SECONDS with nine digits after the point. */
void tide_out_seconds(struct tide_text *text, double seconds);
/* Add VALUE as a JSON string, or null. */
void tide_out_json(struct tide_text *text, const char *value);
/* Add NAME with nothing in it that is not UTF-8 or that a terminal obeys. */
void tide_out_name(struct tide_text *text, const char *name);

#endif
