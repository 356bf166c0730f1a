/* tests/programs/lib_opens_early.c - opens the library that EARLY names, before main, and
 * keeps what is below it free. */
#include <dlfcn.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "opens_early.h"

void *opened_early, *gap_early;

__attribute__((constructor)) static void open_it(void)
{
    const char *const name = getenv("EARLY");
    opened_early = name ? dlopen(name, RTLD_NOW) : NULL;
    gap_early = mmap(NULL, GAP_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}
