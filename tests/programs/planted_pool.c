/* tests/programs/planted_pool.c - nodes of one size, made and freed in a queue. */
#include "planted.h"

enum { NODES = 400000, LENGTH = 32 };

struct node {
    struct node *next;
    double values[6];
};

APART static struct node *new_node(unsigned number)
{
    struct node *const node = malloc(sizeof(*node));
    node->values[0] = number;
    return node;
}

int main(void)
{
    static struct node *queue[LENGTH];
    for (unsigned i = 0; i < 10; i++)
        honest_work(i);
    for (unsigned i = 0; i < NODES; i++) {
        free(queue[i % LENGTH]);
        queue[i % LENGTH] = new_node(i);
    }
    for (unsigned i = 0; i < LENGTH; i++)
        free(queue[i]);
    confess("pool", "new_node", (uint64_t)NODES * sizeof(struct node), NODES);
    return 0;
}
