/* model/pattern.h - which names are meant.
 *
 * For: model/, tests/.  A pattern is a list of words with "|" between them; a name is
 * meant when one of them is.  A word with *, ? or [ is a glob of the whole name, any
 * other is looked for anywhere in it.
 */
#ifndef TIDE_MODEL_PATTERN_H
#define TIDE_MODEL_PATTERN_H

#include <stdbool.h>

#include "base/text.h"

/* Does PATTERN mean NAME?  NULL means all names. */
bool tide_pattern_means(const char *pattern, const char *name);

/* Is NAME, as rows have it, what people call WANTED?  With or without the namespaces and
 * classes in front of it, the arguments of templates, its own and those of its classes,
 * and the parameters.  "std::string" is what it stands for. */
bool tide_function_is(const char *name, const char *wanted);

/* Add NAME as people would call it: without the type that it returns, the arguments of
 * templates and parameters. */
void tide_function_short(const char *name, struct tide_text *out);

/* Does PATTERN mean the function NAME: as above, or is one of its words what people call
 * it? */
bool tide_pattern_means_function(const char *pattern, const char *name);

/* Is NAME that of a function of the C++ or Rust library, or of an allocator: one that is
 * folded into its caller? */
bool tide_is_library_function(const char *name);

#endif
