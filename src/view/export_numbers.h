/* view/export_numbers.h - strings become numbers: for formats with tables of names.
 *
 * For: view/, tests/.
 */
#ifndef TIDE_VIEW_EXPORT_NUMBERS_H
#define TIDE_VIEW_EXPORT_NUMBERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"

/* All zeros is ready for use. */
struct tide_numbers {
    struct tide_arena arena; /* the strings */
    const char **list;       /* owned: by number */
    size_t count, capacity;
    uint32_t *slots; /* owned: number + 1 */
    size_t mask;
    bool failed; /* memory ran out: numbers are wrong from here on */
};

void tide_numbers_release(struct tide_numbers *numbers);

/* The number of STRING: 0, 1, 2... in the order in which they first came. */
uint32_t tide_number_of(struct tide_numbers *numbers, const char *string);

#endif
