/* model/rows_alike.h - stacks that nobody can tell apart are one row.
 *
 * For: view/, tests/.  A function that calls another from two places has two stacks; where
 * lines are not known, as in programs without debug information, they read the same.
 */
#ifndef TIDE_MODEL_ROWS_ALIKE_H
#define TIDE_MODEL_ROWS_ALIKE_H

#include "model/model.h"

struct tide_alike {
    struct tide_stack_row row;     /* its sums; the site is the heaviest */
    struct tide_survival survival; /* of all of them, if the model has any */
};

struct tide_alikes {
    struct tide_alike *list; /* owned; sorted as the rows are */
    size_t count;
};

/* Sum up the stacks of ROWS that go through the same functions, files and lines. */
enum tide_status tide_rows_alike(const struct tide_model *model,
                                 const struct tide_rows *rows, struct tide_alikes *out);
void tide_alikes_release(struct tide_alikes *alikes);

#endif
