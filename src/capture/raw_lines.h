/* capture/raw_lines.h - text for people, from inside the recorder: no stdio, no heap.
 *
 * For: monitors.  What does not fit is written out when the buffer is full.
 */
#ifndef TIDE_CAPTURE_RAW_LINES_H
#define TIDE_CAPTURE_RAW_LINES_H

#include <stddef.h>
#include <stdint.h>

enum { TIDE_LINES_BYTES = 2048 };

struct tide_lines {
    int file; /* where it goes; below 0: nowhere */
    size_t used;
    char bytes[TIDE_LINES_BYTES];
};

void tide_lines_text(struct tide_lines *lines, const char *text);
/* A name, as text that a terminal only shows: what is no shown character
 * (base/raw/characters.h) stands as \xNN. */
void tide_lines_name(struct tide_lines *lines, const char *name);
void tide_lines_number(struct tide_lines *lines, uint64_t value);
void tide_lines_signed(struct tide_lines *lines, int64_t value);
void tide_lines_hex(struct tide_lines *lines, uint64_t value);
/* VALUE at the right of so many columns. */
void tide_lines_column(struct tide_lines *lines, uint64_t value, unsigned width);
/* TEXT in quotes, as JSON has it; what would not be shown as \uNNNN, what is no character
 * as the text \xNN. */
void tide_lines_quoted(struct tide_lines *lines, const char *text);
/* ,"NAME":VALUE */
void tide_lines_field(struct tide_lines *lines, const char *name, uint64_t value);
void tide_lines_signed_field(struct tide_lines *lines, const char *name, int64_t value);
/* Write out what there is. */
void tide_lines_flush(struct tide_lines *lines);

#endif
