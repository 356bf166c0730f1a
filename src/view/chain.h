/* view/chain.h - the functions of a chain of calls, as one line of a tree names them.
 *
 * For: view/, tests/.  Dots stand for the library's inside, and for what is too much.
 * Recursion is said once: "f x3", "(f > g) x4".  Functions without a name that call each
 * other are one step: "libfoo.so (4 unnamed)"; the last function is shown by itself.
 */
#ifndef TIDE_VIEW_CHAIN_H
#define TIDE_VIEW_CHAIN_H

#include "base/text.h"
#include "model/model.h"
#include "view/style.h"
#include "view/units.h"

enum { TIDE_CHAIN_NAMES = 64 }; /* that are considered; the rest is dots */

struct tide_chain {
    struct tide_text names[TIDE_CHAIN_NAMES]; /* owned; brief, callers first */
    bool hidden[TIDE_CHAIN_NAMES];            /* which of them are dots */
    bool named[TIDE_CHAIN_NAMES];             /* which are one function with a name */
    /* Of names inside brackets, but for the first: the name behind these; else 0. */
    size_t behind[TIDE_CHAIN_NAMES];
    size_t count;
    struct tide_number again; /* to be said behind the last name: " x3", or "" */
};

/* Which rows, and how. */
struct tide_chain_request {
    const struct tide_rows *rows;
    uint32_t first, last; /* of the tree, from first down first children */
    bool inside;          /* the library calls the first */
    bool folds;           /* leave out what can be left out */
    bool tells; /* the first tells it from another line: it has its own name */
};

/* NULL without memory. */
struct tide_chain *tide_chain_new(const struct tide_chain_request *request,
                                  const struct tide_style *style);
void tide_chain_free(struct tide_chain *chain);

/* Name I of CHAIN. */
const char *tide_chain_name(const struct tide_chain *chain, size_t i);

#endif
