/* tests/programs/hands_on.c - asks for memory through functions that only hand on.
 *
 * xgrab hands on what it is asked for, grab_clean does so through it: nothing in their
 * names says so.  make_node, which looks like them, decides by itself how large a node is.
 * All is kept until the end.
 */
#include <stdlib.h>
#include <string.h>

#define OWN __attribute__((noinline, noclone))

enum { ROUNDS = 50 };

struct node {
    struct node *next;
    long values[4];
};

static void *kept[ROUNDS * 16];
static size_t count;
static struct node *nodes;

OWN static void *xgrab(size_t bytes)
{
    void *const block = malloc(bytes);
    if (!block)
        abort();
    return block;
}

OWN static void *grab_clean(size_t bytes)
{
    void *const block = xgrab(bytes);
    memset(block, 0, bytes);
    return block;
}

OWN static void make_node(long value)
{
    struct node *const node = malloc(sizeof(*node));
    if (!node)
        abort();
    node->next = nodes;
    node->values[0] = value;
    nodes = node;
}

static void keep(void *block)
{
    kept[count++] = block;
}

OWN static void read_header(void)
{
    keep(xgrab(24));
    make_node(1);
}
OWN static void read_body(void)
{
    keep(xgrab(4096));
    make_node(2);
}
OWN static void read_names(void)
{
    keep(xgrab(100));
    make_node(3);
}
OWN static void read_places(void)
{
    keep(xgrab(300));
    make_node(4);
}
OWN static void read_times(void)
{
    keep(xgrab(48));
    make_node(5);
}
OWN static void read_sizes(void)
{
    keep(xgrab(1000));
    make_node(6);
}

OWN static void clear_rows(void)
{
    keep(grab_clean(2000));
}
OWN static void clear_columns(void)
{
    keep(grab_clean(700));
}
OWN static void clear_cells(void)
{
    keep(grab_clean(160));
}
OWN static void clear_marks(void)
{
    keep(grab_clean(16));
}

int main(void)
{
    for (int i = 0; i < ROUNDS; i++) {
        read_header();
        read_body();
        read_names();
        read_places();
        read_times();
        read_sizes();
        clear_rows();
        clear_columns();
        clear_cells();
        clear_marks();
    }
    return nodes == NULL;
}
