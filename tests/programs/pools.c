/* tests/programs/pools.c - a program with an allocator of its own.
 *
 * Gives out parts of a labelled block, of one without a label, and of static memory; a
 * thread gives back what another was given.
 */
#include <pthread.h>
#include <stdlib.h>
#include <tidemark/tidemark.h>

enum { NODES = 100, BACK = 40, HANDED = 1000 };

static char fixed[1000];
static char *arena;
static char *nameless;

static void *give_back(void *unused)
{
    for (int i = 0; i < HANDED; i++) {
        tide_pool_free("handed", nameless + i);
        tide_pool_alloc("handed", nameless + i, 1, NULL); /* used again at once */
        tide_pool_free("handed", nameless + i);
    }
    tide_pool_free("handed", nameless); /* twice */
    return unused;
}

__attribute__((noinline)) static char *make_nameless(void)
{
    return malloc(5000);
}

int main(void)
{
    pthread_t thread;
    arena = malloc(10000);
    tide_label(arena, "arena", 10000);
    nameless = make_nameless();
    for (int i = 0; i < NODES; i++)
        tide_pool_alloc("nodes", arena + (size_t)i * 50, 50, "node");
    for (int i = 0; i < BACK; i++)
        tide_pool_free("nodes", arena + (size_t)i * 50);
    tide_pool_alloc("nodes", arena, 60, "wide");
    tide_pool_alloc("nodes", fixed, 500, NULL);
    for (int i = 0; i < HANDED; i++)
        tide_pool_alloc("handed", nameless + i, 1, NULL);
    if (pthread_create(&thread, NULL, give_back, NULL) == 0)
        pthread_join(thread, NULL);
    tide_pool_alloc("nodes", fixed + 500, 10, "late"); /* after another pool */
    free(arena);
    return 0;
}
