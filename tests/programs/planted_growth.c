/* tests/programs/planted_growth.c - a list that makes room for one item at a time. */
#include "planted.h"

enum { ITEMS = 40000 };

struct list {
    double *items;
    size_t count;
};

static uint64_t calls, copied;

APART static void append(struct list *list, double item)
{
    double *const wider =
        realloc(list->items, (list->count + 1) * sizeof(*list->items));
    if (!wider)
        abort();
    if (list->items) {
        calls++;
        copied += list->count * sizeof(*list->items);
    }
    list->items = wider;
    list->items[list->count++] = item;
}

int main(void)
{
    struct list list = {0};
    for (unsigned i = 0; i < ITEMS; i++) {
        append(&list, i);
        if (i % 4000 == 0)
            honest_work(i);
    }
    free(list.items);
    confess("growth", "append", copied, calls);
    return 0;
}
