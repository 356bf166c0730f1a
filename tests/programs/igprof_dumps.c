/* tests/programs/igprof_dumps.c - a program that asks IgProf for profiles, as CMS's service does.
 *
 * igprof_dumps NAME...: of each round there is one, after it: "" is no name.  A round keeps
 * 10 blocks of 1000 bytes and makes 100 of 50 that go.  Prints, as JSON, how many children
 * could be waited for, and LD_PRELOAD.
 */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "say.h"

typedef void dump_now(const char *file);

static void *volatile kept;

__attribute__((noinline)) static void keeps(void)
{
    for (int i = 0; i < 10; i++)
        kept = malloc(1000);
}

__attribute__((noinline)) static void churns(void)
{
    for (int i = 0; i < 100; i++) {
        kept = malloc(50);
        free(kept);
    }
}

int main(int argc, char **argv)
{
    dump_now *dump;
    void *const found = dlsym(NULL, "igprof_dump_now");
    memcpy(&dump, &found, sizeof(dump));
    int children = 0;
    for (int i = 1; i < argc; i++) {
        keeps();
        churns();
        if (dump)
            dump(*argv[i] ? argv[i] : NULL);
        children += waitpid(-1, NULL, WNOHANG) > 0;
    }
    const char *const preload = getenv("LD_PRELOAD");
    say("{\"found\": %d, \"children\": %d, \"preload\": \"%s\"}\n", dump != NULL,
        children, preload ? preload : "");
    return 0;
}
