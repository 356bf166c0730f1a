/* tests/programs/calls_ifunc.c - calls a function that was chosen by one that allocates.
 *
 * Usage: calls_ifunc LIBRARY, unless the library is preloaded (then it is found without).
 */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "say.h"

int main(int argc, char **argv)
{
    void *library = dlopen(argc > 1 ? argv[1] : NULL, RTLD_NOW);
    void *first = library ? dlsym(library, "chosen") : NULL;
    void *second = library ? dlsym(library, "ifunc_blocks") : NULL;
    int (*chosen)(void), (*blocks)(void);
    if (!first || !second)
        return 2;
    memcpy(&chosen, &first, sizeof(chosen));
    memcpy(&blocks, &second, sizeof(blocks));
    const int result = chosen();
    say("chosen %d, made %d\n", result, blocks());
    return 0;
}
