/* view/names.h - names from the outside world, made safe and made to fit.
 *
 * For: view/, cli/, tests/.  A name may hold any byte: it comes from the target, from
 * symbol tables, from command lines.  "Safe" text holds no byte that a terminal obeys:
 * what is not a shown character stands as \xNN.  Every name on any output goes through
 * here (or, as JSON, through json.h).
 */
#ifndef TIDE_VIEW_NAMES_H
#define TIDE_VIEW_NAMES_H

#include "base/text.h"
#include "view/style.h"

/* Add NAME (NULL: nothing) made safe.  Without style->utf8 only ASCII is let through. */
void tide_name_safe(struct tide_text *out, const char *name,
                    const struct tide_style *style);

/* Add NAME, a function, made safe and at most COLUMNS wide.  What is too long loses, in
 * this order, what is between ( and ), the parameters, what is between < and >, outer
 * namespaces, the start of its class, and at last its middle. */
void tide_name_function(struct tide_text *out, const char *name, int columns,
                        const struct tide_style *style);

/* The columns below which NAME, a function, says too little: those of a method's own name, of
 * an offset, of the start and the end of a long name. */
int tide_name_least(const char *name, const struct tide_style *style);

/* Add NAME made safe and at most COLUMNS wide; what is too long loses its middle. */
void tide_name_fit(struct tide_text *out, const char *name, int columns,
                   const struct tide_style *style);

/* Add NAME as short as it can be told without loss of its parts: no template arguments,
 * no parameters; for paths of several functions in one line. */
void tide_name_brief(struct tide_text *out, const char *name,
                     const struct tide_style *style);

/* Add what stands for COUNT functions of MODULE, a path, that have no names:
 * "libfoo.so (4 unnamed)". */
void tide_name_unnamed(struct tide_text *out, const char *module, size_t count,
                       const struct tide_style *style);

/* Where the name proper starts: behind the type that a template is said to return, as in
 * "void std::swap<int>(int&, int&)". */
const char *tide_name_start(const char *name);

/* The part of PATH after its last '/'; all of it when there is none. */
const char *tide_name_base(const char *path);

#endif
