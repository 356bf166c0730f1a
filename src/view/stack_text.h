/* view/stack_text.h - a stack as lines of text, innermost call first.
 *
 * For: view/, tests/.  What is folded: the library's inside, recursion ("f x3"), functions
 * of one module without names ("libfoo.so (4 unnamed)") but for the innermost, and what is
 * far out.  A line of source is named where all turns of a recursion have it.
 */
#ifndef TIDE_VIEW_STACK_TEXT_H
#define TIDE_VIEW_STACK_TEXT_H

#include "view/line.h"

struct tide_stack_call {
    const char *name;       /* of the function */
    uint32_t function;      /* its number: equal ones are the same function */
    const char *file;       /* NULL when unknown */
    uint32_t line;          /* 0 when unknown */
    bool inside;            /* of the library, and called by it */
    const char *unnamed_in; /* the path of its module, if it has no name; else NULL */
    bool
        tells; /* by it the stack differs from another row: a brief page shows it ... */
    bool tells_line; /* ... with its line, which is all that differs */
    size_t
        run; /* for stack_text.c: that it stands for so many, when there are several */
};

/* COUNT calls, which are changed; the first line of the page is begun, the others start at
 * COLUMN.  On a brief page they share one line. */
void tide_page_stack(struct tide_page *page, struct tide_stack_call *calls,
                     size_t count, int column, bool folds);

#endif
