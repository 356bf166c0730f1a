/* tests/programs/many_plugins.c - two libraries in turn, loaded and closed many times.
 *
 * Usage: many_plugins FOLDER ROUNDS.  Each visit makes one block.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int visit(const char *path)
{
    void *(*make)(size_t);
    void *library = dlopen(path, RTLD_NOW);
    if (!library)
        return 1;
    void *symbol = dlsym(library, "plugin_make");
    memcpy(&make, &symbol, sizeof(make));
    void *volatile block = make(100);
    free(block);
    return dlclose(library);
}

int main(int argc, char **argv)
{
    char paths[2][4096];
    if (argc < 3)
        return 2;
    snprintf(paths[0], sizeof(paths[0]), "%s/lib_plugin_one.so", argv[1]);
    snprintf(paths[1], sizeof(paths[1]), "%s/lib_plugin_two.so", argv[1]);
    for (int i = 0; i < atoi(argv[2]); i++)
        if (visit(paths[i % 2]) != 0)
            return 1;
    return 0;
}
