/* tests/unit/json_check.h - is this text JSON, and what does it say at a place?
 *
 * Strict (RFC 8259, one value, no duplicate leniency), and shares nothing with the
 * writer that it checks.
 */
#ifndef TIDE_TESTS_JSON_CHECK_H
#define TIDE_TESTS_JSON_CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

bool json_valid(const char *text);

/* The value at PATH, like "rows[2].stack[0].function"; NULL when there is none.  The
 * result points into TEXT. */
const char *json_at(const char *text, const char *path);

/* The same as a whole number; fails the test when it is none. */
uint64_t json_uint_at(const char *text, const char *path);
double json_number_at(const char *text, const char *path);
/* Does the raw text of the value start with RAW? */
bool json_raw_at(const char *text, const char *path, const char *raw);
/* How many elements the array at PATH has. */
size_t json_count_at(const char *text, const char *path);

#endif
