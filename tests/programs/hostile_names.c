/* tests/programs/hostile_names.c - names that a terminal would obey, wherever a program can
 * put one: regions, loops, labels, pools, attributes and their values, threads, windows,
 * snapshots, source files.
 *
 * Each name begins with the place that it stands in.  tests/e2e/test_hostile_names.py puts
 * more of them into the symbols of a copy of this program, at FUNCTION_OF_THE_PROGRAM.
 * Arguments: a library that is loaded, under whatever name it has.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>

#include <tidemark/tidemark.h>

#include "say.h"

/* A title, a cleared screen, C1's own escape, DEL, a new line, the marks that turn text
 * around, invisible blanks, a line separator, a byte order mark, and no UTF-8 at all. */
#define HOSTILE                                                                  \
    "\033]0;owned\007\033[2J\302\233H\177\r\nINJECTED\t\342\200\256\342\201\246" \
    "\342\200\217\342\200\213\342\200\250\357\273\277\377\340\200\200"

static void *volatile kept;

#line 1 "/nowhere/file\033[2J\302\233H\342\200\256\377.c"
__attribute__((noinline)) void *FUNCTION_OF_THE_PROGRAM_0123456789(size_t bytes);

__attribute__((noinline)) void *FUNCTION_OF_THE_PROGRAM_0123456789(size_t bytes)
{
    void *volatile block = malloc(bytes);
    return block;
}
#line 36 "hostile_names.c"

static void *run(void *unused)
{
    pthread_setname_np(pthread_self(), "T\033[2J\177\302\233\342\200\256\r");
    kept = FUNCTION_OF_THE_PROGRAM_0123456789(4321);
    tide_label(kept, "label " HOSTILE, 4321);
    free(FUNCTION_OF_THE_PROGRAM_0123456789(77));
    return unused;
}

static void load(const char *library)
{
    void *const handle = dlopen(library, RTLD_NOW);
    if (!handle)
        return;
    void *(*make)(size_t) = NULL;
    *(void **)&make = dlsym(handle, "plugin_make");
    if (make)
        kept = make(1111);
}

static void tell_pool(char *block)
{
    tide_pool_alloc("pool " HOSTILE, block, 100, "piece " HOSTILE);
    tide_pool_alloc("pool " HOSTILE, block + 200, 100, "other piece " HOSTILE);
    tide_pool_free("pool " HOSTILE, block);
}

static struct tide_stats stats;

static void tell_attributes(void)
{
    tide_set_int("int " HOSTILE, 42);
    tide_set_double("double " HOSTILE, 4.2);
    tide_set_string("string " HOSTILE, "value " HOSTILE);
    tide_set_address("address " HOSTILE, &stats);
}

static void work(void)
{
    tide_loop_begin("loop " HOSTILE);
    for (int i = 0; i < 3; i++) {
        const size_t extents[] = {2, 3};
        tide_iteration(i);
        void *const block = FUNCTION_OF_THE_PROGRAM_0123456789(1000);
        tide_label_shape(block, "shape " HOSTILE, 8, extents, 2);
        tide_event((uint64_t)i);
        tide_iteration_end();
        kept = block;
    }
    tide_loop_end("loop " HOSTILE);
}

int main(int argc, char **argv)
{
    pthread_t thread;
    tide_region_begin("region " HOSTILE);
    const tide_handle window = tide_window_start("window " HOSTILE, TIDE_SCOPE_PROCESS);
    tell_attributes();
    work();
    char *const block = FUNCTION_OF_THE_PROGRAM_0123456789(10000);
    tide_label(block, "holder " HOSTILE, 10000);
    tell_pool(block);
    tide_snapshot("snapshot " HOSTILE);
    if (argc > 1)
        load(argv[1]);
    if (pthread_create(&thread, NULL, run, NULL) || pthread_join(thread, NULL))
        return 1;
    tide_stop(window, &stats);
    tide_region_end("region " HOSTILE);
    tide_region_begin("never ends " HOSTILE);
    say("%p\n", (void *)block);
    return 0;
}
