/* tests/programs/going_neighbours.c - call a function on memory of its own, as a stack, beside
 * other memory that goes.
 *
 * As in borrowed_stack.c the frame tables of call_on() lead beyond the end of the stack.  What
 * lies there can be read at first, 100 blocks; then another thread unmaps it, or it was a large
 * block and is freed, or moves, or a library and is closed: 100 more.
 *
 * Usage: going_neighbours thread|free|realloc, or the name of a library.
 */
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "other_stack.h"
#include "say.h"

enum { PAGE = 4096, STACK = 16 * PAGE, LARGE = 64 << 20, FILLS = 64, FILL = 64 * PAGE };

static void work(void)
{
    make();
    sum++;
}

/* A stack that ends where the page of NEIGHBOUR begins; returns its end. */
static char *stack_below(char *neighbour)
{
    char *const top = neighbour - (uintptr_t)neighbour % PAGE;
    const char *const stack =
        mmap(top - STACK, STACK, PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    if (stack != top - STACK)
        _exit(1);
    return top;
}

static pthread_barrier_t turn;

static void *unmap(void *pages)
{
    (void)pthread_barrier_wait(&turn);
    if (munmap(pages, STACK) != 0)
        _exit(1);
    (void)pthread_barrier_wait(&turn);
    return NULL;
}

static void by_another_thread(void)
{
    pthread_t thread;
    char *const both = mmap(NULL, 2 * STACK, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (both == MAP_FAILED || pthread_barrier_init(&turn, NULL, 2) != 0 ||
        pthread_create(&thread, NULL, unmap, both + STACK) != 0)
        _exit(1);
    call_on(both + STACK, work);
    (void)pthread_barrier_wait(&turn);
    (void)pthread_barrier_wait(&turn);
    call_on(both + STACK, work);
    (void)pthread_join(thread, NULL);
}

static void by_free(void)
{
    char *const block = malloc(LARGE);
    char *const top = stack_below(block);
    call_on(top, work);
    free(block);
    call_on(top, work);
}

static void by_realloc(void)
{
    char *const block = malloc(LARGE);
    char *const top = stack_below(block);
    call_on(top, work);
    char *const moved = realloc(block, 2 * (size_t)LARGE);
    if (moved == block)
        _exit(1);
    call_on(top, work);
    free(moved);
}

/* Map whatever holes between libraries the next one would fit in: kernels that align
 * libraries to 2 MiB leave large ones.  What is mapped next has free pages below it. */
static void fill_holes(void)
{
    for (int i = 0; i < FILLS; i++) {
        if (mmap(NULL, FILL, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) ==
            MAP_FAILED)
            _exit(1);
    }
}

static void by_dlclose(const char *path)
{
    fill_holes();
    void *const library = dlopen(path, RTLD_NOW);
    struct link_map *map;
    if (!library || dlinfo(library, RTLD_DI_LINKMAP, &map) != 0)
        _exit(1);
    char *const top = stack_below((char *)map->l_addr);
    call_on(top, work);
    if (dlclose(library) != 0)
        _exit(1);
    call_on(top, work);
}

int main(int argc, char **argv)
{
    const char *const how = argc > 1 ? argv[1] : "";
    if (strcmp(how, "thread") == 0)
        by_another_thread();
    else if (strcmp(how, "free") == 0)
        by_free();
    else if (strcmp(how, "realloc") == 0)
        by_realloc();
    else
        by_dlclose(how);
    say("done\n");
    return 0;
}
