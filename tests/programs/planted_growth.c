/* tests/programs/planted_growth.c - lists that make room for one item at a time.
 *
 * They grow in turn, so that each stands in another one's way, which must move.  What
 * grows by less than a sixteenth and moves is planted.
 */
#include "planted.h"

enum { LISTS = 64, ITEMS = 1000 };

struct item {
    double values[8];
};

struct list {
    struct item *items;
    size_t count;
};

static uint64_t calls, copied;

APART static void append(struct list *list, double value)
{
    const size_t size = list->count * sizeof(*list->items);
    const uintptr_t before = (uintptr_t)list->items;
    struct item *const wider = realloc(list->items, size + sizeof(*list->items));
    if (!wider)
        abort();
    if (sizeof(*list->items) < size / 16 && (uintptr_t)wider != before) {
        calls++;
        copied += size;
    }
    list->items = wider;
    list->items[list->count++] = (struct item){{value}};
}

int main(void)
{
    struct list lists[LISTS] = {0};
    for (unsigned i = 0; i < ITEMS; i++) {
        for (unsigned k = 0; k < LISTS; k++)
            append(&lists[k], i);
        if (i % 400 == 0)
            honest_work(i);
    }
    for (unsigned k = 0; k < LISTS; k++)
        free(lists[k].items);
    confess("growth", "append", copied, calls);
    return 0;
}
