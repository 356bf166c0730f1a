/* view/json.h - write JSON that is always valid.
 *
 * For: view/, cli/, tests/.  The writer keeps track of commas and nesting; what cannot be
 * said in JSON (a number that is none, bytes that are no UTF-8) is said as null or as
 * \xNN text.  Characters that a terminal obeys are written as \uNNNN.
 *
 *     struct tide_json json = {.out = &text};
 *     tide_json_open(&json, NULL, '{');
 *     tide_json_uint(&json, "bytes", 42);
 *     tide_json_open(&json, "rows", '[');
 *     tide_json_close(&json);
 *     tide_json_close(&json);
 */
#ifndef TIDE_VIEW_JSON_H
#define TIDE_VIEW_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"

struct tide_json {
    struct tide_text *out; /* borrowed */
    struct tide_text open; /* owned: what is open, outermost first: '{', '[' or 'r' */
    bool comma;            /* something stands before in this bracket */
};

/* KEY is NULL inside an array and for the outermost value; else it stands before the
 * value.  KIND is '{' or '['. */
void tide_json_open(struct tide_json *json, const char *key, char kind);
/* An object whose values stand on one line, so that a table has a line per row. */
void tide_json_open_row(struct tide_json *json, const char *key);
/* Close the innermost open bracket; after the outermost, a newline ends the text. */
void tide_json_close(struct tide_json *json);
/* NULL is written as null. */
void tide_json_string(struct tide_json *json, const char *key, const char *value);
void tide_json_uint(struct tide_json *json, const char *key, uint64_t value);
void tide_json_int(struct tide_json *json, const char *key, int64_t value);
/* With up to 9 digits after the point; null when it is not a finite number. */
void tide_json_number(struct tide_json *json, const char *key, double value);
void tide_json_bool(struct tide_json *json, const char *key, bool value);
void tide_json_null(struct tide_json *json, const char *key);

#endif
