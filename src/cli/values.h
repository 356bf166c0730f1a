/* cli/values.h - sizes and times as people write them.
 *
 * For: cli/ only.  The units are those of the query language.
 */
#ifndef TIDE_CLI_VALUES_H
#define TIDE_CLI_VALUES_H

#include <stdbool.h>
#include <stdint.h>

/* "4096", "64K", "1.5MiB" (powers of 1024), "2GB" (powers of 1000).  A part of a byte
 * does not count, and needs a unit. */
bool tide_read_bytes(const char *text, uint64_t *out);

/* "12.5", "12.5s", "150ms", "us", "ns", "2min", "1h": in seconds, 0 or more. */
bool tide_read_seconds(const char *text, double *out);

#endif
