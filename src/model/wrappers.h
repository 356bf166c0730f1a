/* model/wrappers.h - functions that only hand on what they are asked for.
 *
 * For: model/, query/, tests/.  xmalloc, g_malloc, a class's own operator new: that they
 * called malloc is no news, who called them is.  So rows count what they allocate as their
 * caller's, unless the user asks otherwise (--no-fold).
 *
 * A wrapper is known by its name, or by its shape in the trace: it allocates at one or two
 * places, hardly anything below it allocates anywhere else, and many functions call it, for
 * blocks of sizes of their own.  A function that makes blocks of one size for many callers
 * (make_node) is none, and neither is one that makes blocks larger (push): what they do is
 * decided there.
 */
#ifndef TIDE_MODEL_WRAPPERS_H
#define TIDE_MODEL_WRAPPERS_H

#include <stdbool.h>

#include <tidemark/status.h>

#include "model/model.h"

/* What a name says. */
enum tide_wrapper_name {
    TIDE_NAME_OTHER,
    TIDE_NAME_MAY_WRAP, /* pool_alloc, Mesh::allocate: if several places call it */
    TIDE_NAME_WRAPS,    /* xmalloc */
    TIDE_NAME_COPIES,   /* strdup: the C library's as well */
};
enum tide_wrapper_name tide_wrapper_name(const char *name);

/* Find the wrappers of MODEL, which has symbols. */
enum tide_status tide_wrappers_find(struct tide_model *model);

/* Is the function NAME of MODULE (a path) a wrapper? */
bool tide_wrappers_have(const struct tide_model *model, const char *name,
                        const char *module);
/* Is a function of that name a wrapper in any module?  For the other side of a comparison. */
bool tide_wrappers_have_name(const struct tide_model *model, const char *name);

#endif
