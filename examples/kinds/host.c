/* examples/kinds/host.c - a program that loads work() while it runs: host PLUGIN */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
    void *const plugin = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
    int (*work)(void);
    if (!plugin) {
        (void)fprintf(stderr, "usage: host PLUGIN\n");
        return 2;
    }
    void *const found = dlsym(plugin, "work");
    memcpy(&work, &found, sizeof(work));
    return work();
}
