/* model/pattern.h - which names are meant.
 *
 * For: model/, tests/.  A pattern is a list of words with "|" between them; a name is
 * meant when one of them is.  A word with *, ? or [ is a glob of the whole name, any
 * other is looked for anywhere in it.
 */
#ifndef TIDE_MODEL_PATTERN_H
#define TIDE_MODEL_PATTERN_H

#include <stdbool.h>

/* Does PATTERN mean NAME?  NULL means all names. */
bool tide_pattern_means(const char *pattern, const char *name);

/* Is NAME that of a function of the C++ or Rust library, or of an allocator: one that is
 * folded into its caller? */
bool tide_is_library_function(const char *name);

#endif
