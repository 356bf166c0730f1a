/* view/branches_order.c - the lines of a call tree by name, or by weight. */
#include <stdlib.h>
#include <string.h>

#include "view/branches.h"
#include "view/names.h"

/* Lines are numbers from 1 on here: 0 is the root. */
struct order {
    const struct tide_rows *rows;
    const struct tide_branch *list;
    size_t *first, *next;    /* owned: children of a line, and their next sibling */
    size_t *waiting;         /* owned: lines to be put out, the next one last */
    size_t *places;          /* owned: where a line was put */
    struct tide_branch *out; /* owned */
};

static const char *name_of(const struct order *order, size_t line)
{
    const struct tide_branch *const branch = &order->list[line - 1];
    const uint32_t function = order->rows->tree[branch->first].function;
    const bool known = function < order->rows->function_count;
    return known ? tide_name_start(order->rows->functions[function].name) : "";
}

static uint64_t weight_of(const struct order *order, size_t line)
{
    const struct tide_branch *const branch = &order->list[line - 1];
    return tide_rows_weight(order->rows, branch->bytes, branch->calls);
}

static int by_weight(const struct order *order, size_t a, size_t b)
{
    const bool more = order->list[a - 1].kind == TIDE_BRANCH_MORE;
    const bool other_more = order->list[b - 1].kind == TIDE_BRANCH_MORE;
    const uint64_t weight = weight_of(order, a), other = weight_of(order, b);
    if (more != other_more)
        return more ? 1 : -1;
    if (weight != other)
        return weight > other ? -1 : 1;
    return (a > b) - (a < b);
}

static int by_name(const struct order *order, size_t a, size_t b)
{
    const enum tide_branch_kind kind = order->list[a - 1].kind;
    const enum tide_branch_kind other_kind = order->list[b - 1].kind;
    if (kind != other_kind)
        return kind < other_kind ? -1 : 1;
    const int names =
        kind == TIDE_BRANCH_CALLS ? strcmp(name_of(order, a), name_of(order, b)) : 0;
    return names ? names : (a > b) - (a < b);
}

static int compare(const void *one, const void *other, void *user)
{
    const struct order *const order = user;
    const size_t a = *(const size_t *)one, b = *(const size_t *)other;
    return order->rows->sort == TIDE_SORT_NAME ? by_name(order, a, b)
                                               : by_weight(order, a, b);
}

/* Let the children of LINE wait behind COUNT others, the first of them last. */
static size_t add_children(struct order *order, size_t line, size_t count)
{
    const size_t before = count;
    for (size_t child = order->first[line]; child; child = order->next[child])
        order->waiting[count++] = child;
    qsort_r(order->waiting + before, count - before, sizeof(size_t), compare, order);
    for (size_t i = before, k = count; i + 1 < k; i++) {
        const size_t kept = order->waiting[i];
        order->waiting[i] = order->waiting[--k];
        order->waiting[k] = kept;
    }
    return count;
}

static void put_all(struct order *order)
{
    size_t put = 0;
    size_t count = add_children(order, 0, 0);
    while (count > 0) {
        const size_t line = order->waiting[--count];
        struct tide_branch *const branch = &order->out[put];
        *branch = order->list[line - 1];
        order->places[line] = put++;
        if (branch->parent != TIDE_NO_BRANCH)
            branch->parent = (uint32_t)order->places[branch->parent + 1u];
        count = add_children(order, line, count);
    }
}

enum tide_status tide_branches_sort(const struct tide_rows *rows,
                                    struct tide_branches *branches)
{
    const size_t lines = branches->count + 1;
    struct order order = {
        .rows = rows,
        .list = branches->list,
        .first = calloc(lines, sizeof(size_t)),
        .next = calloc(lines, sizeof(size_t)),
        .waiting = calloc(lines, sizeof(size_t)),
        .places = calloc(lines, sizeof(size_t)),
        .out = calloc(lines, sizeof(*order.out)),
    };
    const bool ready =
        order.first && order.next && order.waiting && order.places && order.out;
    for (size_t line = 1; ready && line < lines; line++) {
        const uint32_t parent = order.list[line - 1].parent;
        const size_t above = parent == TIDE_NO_BRANCH ? 0 : parent + 1u;
        order.next[line] = order.first[above];
        order.first[above] = line;
    }
    if (ready) {
        put_all(&order);
        free(branches->list);
        branches->list = order.out;
    } else {
        free(order.out);
    }
    free(order.first);
    free(order.next);
    free(order.waiting);
    free(order.places);
    return ready ? TIDE_OK : TIDE_ENOMEM;
}
