/* tests/programs/plugins.c - two libraries, one after the other, at the same addresses.
 *
 * Usage: plugins FOLDER [CLOSES].  Prints whether they were loaded at the same place.  CLOSES:
 * calls of dlclose that close nothing, before each but the first.
 */
#include <dlfcn.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>

#include "say.h"

static unsigned long visit(const char *folder, const char *name, size_t size, int times)
{
    char path[4096];
    void *(*make)(size_t);
    struct link_map *map = NULL;

    snprintf(path, sizeof(path), "%s/%s", folder, name);
    void *library = dlopen(path, RTLD_NOW);
    if (!library)
        exit(2);
    void *symbol = dlsym(library, "plugin_make");
    memcpy(&make, &symbol, sizeof(make));
    for (int i = 0; i < times; i++)
        make(size); /* stays: the report must still name its site */
    dlinfo(library, RTLD_DI_LINKMAP, &map);
    const unsigned long address = map ? map->l_addr : 0;
    dlclose(library);
    return address;
}

static void close_nothing(int argc, char **argv)
{
    for (int i = argc > 2 ? atoi(argv[2]) : 0; i > 0; i--)
        dlclose(dlopen(NULL, RTLD_NOW));
}

int main(int argc, char **argv)
{
    if (argc < 2)
        return 2;
    const unsigned long one = visit(argv[1], "lib_plugin_one.so", 1000, 3);
    close_nothing(argc, argv);
    const unsigned long two = visit(argv[1], "lib_plugin_two.so", 500, 5);
    close_nothing(argc, argv);
    const unsigned long again = visit(argv[1], "lib_plugin_one.so", 100, 7);
    say("{\"same_place\": %d}\n", one == two && two == again);
    return 0;
}
