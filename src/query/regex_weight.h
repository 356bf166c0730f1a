/* query/regex_weight.h - how large a regular expression becomes.
 *
 * For: query/, tests/.
 */
#ifndef TIDE_QUERY_REGEX_WEIGHT_H
#define TIDE_QUERY_REGEX_WEIGHT_H

#include <stdbool.h>

/* The C library writes repetitions out: a{100} is a hundred times a, x+ is xx*, and
 * repetitions of repetitions multiply.  Would PATTERN be too large to try? */
bool tide_regex_is_monstrous(const char *pattern);

#endif
