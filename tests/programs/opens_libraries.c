/* tests/programs/opens_libraries.c - load, use and unload libraries in unusual ways.
 *
 * Usage: opens_libraries FOLDER HOW ...
 *   alternate N     two libraries in turn, at the same addresses, N times
 *   threads N       the same in one thread while three others allocate
 *   meanwhile N     the same, but another thread opens the second when the first has gone and
 *                   dlclose has not returned yet; with lib_slow_close.so
 *   tls N           a library with thread-local data, used in N threads
 *   deepbind        blocks cross the border to a library that is bound deeply
 *   name            a library that only this program's own RUNPATH leads to
 *   wide FILES...   libraries that want room in the static TLS block: how many fit
 */
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "say.h"

typedef void *maker(size_t size);

static const char *folder;
static _Atomic int over;
static _Atomic long made, in_threads;

static void *open_library(const char *name, int flags)
{
    char path[4096];
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    void *library = dlopen(path, RTLD_NOW | flags);
    if (!library) {
        say("%s\n", dlerror());
        exit(2);
    }
    return library;
}

static void *symbol_of(void *library, const char *name)
{
    void *found = dlsym(library, name);
    if (!found)
        exit(3);
    return found;
}

static maker *maker_of(void *library)
{
    void *symbol = symbol_of(library, "plugin_make");
    maker *make;
    memcpy(&make, &symbol, sizeof(make));
    return make;
}

/* Where the library lay while it made COUNT blocks, which stay. */
static unsigned long visit(const char *name, size_t size, int count)
{
    struct link_map *map = NULL;
    void *library = open_library(name, 0);
    maker *make = maker_of(library);
    for (int i = 0; i < count; i++)
        make(size);
    dlinfo(library, RTLD_DI_LINKMAP, &map);
    const unsigned long place = map->l_addr;
    dlclose(library);
    return place;
}

static void say_plugins(int times)
{
    say("{\"first_plugin_site\": [%d, %d, %d], \"second_plugin_site\": [%d, %d, %d]}\n",
        3 * times, 300 * times, 3 * times, 2 * times, 100 * times, 2 * times);
}

static void alternate(int times)
{
    int same = 0;
    for (int i = 0; i < times; i++)
        same += visit("lib_plugin_one.so", 100, 3) == visit("lib_plugin_two.so", 50, 2);
    say("same place %d\n", same);
    say_plugins(times);
}

__attribute__((noinline)) static void *make_in_thread(size_t size)
{
    void *volatile block = malloc(size);
    return block;
}

/* Through a library of its own, which stays. */
static void *go_on(void *make)
{
    maker *through_library;
    memcpy(&through_library, &make, sizeof(through_library));
    while (!atomic_load(&over)) {
        free(make_in_thread(30));
        atomic_fetch_add(&in_threads, 1);
        through_library(40);
        atomic_fetch_add(&made, 1);
    }
    through_library(0); /* frees the last */
    return NULL;
}

static void alternate_with_threads(int times)
{
    pthread_t ids[3];
    maker *make = maker_of(open_library("lib_tls.so", 0));
    void *symbol;
    memcpy(&symbol, &make, sizeof(symbol));
    for (int i = 0; i < 3; i++)
        if (pthread_create(&ids[i], NULL, go_on, symbol) != 0)
            exit(4);
    for (int i = 0; i < times; i++) {
        visit("lib_plugin_one.so", 100, 3);
        visit("lib_plugin_two.so", 50, 2);
    }
    atomic_store(&over, 1);
    for (int i = 0; i < 3; i++)
        pthread_join(ids[i], NULL);
    say("{\"first_plugin_site\": [%d, %d, %d], \"second_plugin_site\": [%d, %d, %d], "
        "\"make_in_thread\": [%ld, %ld, 0], \"make_with_tls\": [%ld, %ld, 3]}\n",
        3 * times, 300 * times, 3 * times, 2 * times, 100 * times, 2 * times,
        in_threads, in_threads * 30, made + 3, made * 40);
}

static void (**after_close)(void); /* of lib_slow_close.so */
static unsigned long second_place;

static void *visit_second(void *unused)
{
    second_place = visit("lib_plugin_two.so", 50, 2);
    return unused;
}

static void meanwhile(void)
{
    pthread_t id;
    *after_close = NULL;
    if (pthread_create(&id, NULL, visit_second, NULL) != 0)
        exit(4);
    pthread_join(id, NULL);
}

static void alternate_in_dlclose(int times)
{
    int same = 0;
    after_close = symbol_of(RTLD_DEFAULT, "after_close");
    for (int i = 0; i < times; i++) {
        *after_close = meanwhile;
        same += visit("lib_plugin_one.so", 100, 3) == second_place;
    }
    say("same place %d\n", same);
    say_plugins(times);
}

static void *use_tls(void *make)
{
    maker *through_library;
    memcpy(&through_library, &make, sizeof(through_library));
    for (int i = 0; i < 10; i++)
        through_library(200);
    return NULL;
}

static void with_tls(int threads)
{
    void *library = open_library("lib_tls.so", 0);
    maker *make = maker_of(library);
    void *symbol;
    memcpy(&symbol, &make, sizeof(symbol));
    for (int i = 0; i < threads; i++) {
        pthread_t id;
        if (pthread_create(&id, NULL, use_tls, symbol) != 0)
            exit(4);
        pthread_join(id, NULL);
    }
    dlclose(library);
    say("{\"make_with_tls\": [%d, %d, %d]}\n", 10 * threads, 2000 * threads, threads);
}

__attribute__((noinline)) static void *make(size_t size)
{
    void *volatile block = malloc(size);
    return block;
}

static void bound_deeply(void)
{
    void *library = open_library("lib_deepbind.so", RTLD_DEEPBIND);
    void *symbols[] = {symbol_of(library, "deep_make"), symbol_of(library, "deep_free"),
                       symbol_of(library, "deep_copy")};
    maker *deep_make;
    void (*deep_free)(void *);
    char *(*deep_copy)(char *, const char *);
    memcpy(&deep_make, &symbols[0], sizeof(deep_make));
    memcpy(&deep_free, &symbols[1], sizeof(deep_free));
    memcpy(&deep_copy, &symbols[2], sizeof(deep_copy));
    int right = 0;
    for (int i = 0; i < 1000; i++) {
        char *copy = deep_copy(make(10), "over the border and back again");
        right += strcmp(copy, "over the border and back again") == 0;
        free(copy);
        free(deep_make(100));
        deep_free(make(300));
        deep_free(deep_make(400));
        free(realloc(deep_make(20), 2000));
    }
    say("right %d\n", right);
}

/* The loader looks who calls dlopen to find where to search. */
static void open_by_name(void)
{
    void *library = dlopen("lib_plugin_one.so", RTLD_NOW);
    say("%s\n", library ? "found" : dlerror());
}

static void want_room(int count, char **paths)
{
    int loaded = 0, touched = 0;
    while (loaded < count) {
        int (*touch)(void);
        void *library = dlopen(paths[loaded], RTLD_NOW);
        if (!library)
            break;
        void *symbol = symbol_of(library, "wide_tls_touch");
        memcpy(&touch, &symbol, sizeof(touch));
        touched += touch();
        loaded++;
    }
    say("%d fit, %d touched\n", loaded, touched);
}

int main(int argc, char **argv)
{
    if (argc < 3)
        return 2;
    folder = argv[1];
    const int times = argc > 3 ? atoi(argv[3]) : 1;
    if (strcmp(argv[2], "alternate") == 0)
        alternate(times);
    else if (strcmp(argv[2], "threads") == 0)
        alternate_with_threads(times);
    else if (strcmp(argv[2], "meanwhile") == 0)
        alternate_in_dlclose(times);
    else if (strcmp(argv[2], "tls") == 0)
        with_tls(times);
    else if (strcmp(argv[2], "deepbind") == 0)
        bound_deeply();
    else if (strcmp(argv[2], "name") == 0)
        open_by_name();
    else if (strcmp(argv[2], "wide") == 0)
        want_room(argc - 3, argv + 3);
    return 0;
}
