/* tests/programs/timemory_example.c - the calls of the example in mallocp's own document.
 *
 * foo() makes one malloc and one calloc, bar() one malloc; both free what they made.
 * Between register and deregister they come twice each, with a start and a stop inside one
 * of them; afterwards bar(1000) alone counts.  So of 8 mallocs, 4 callocs and 12 frees 5, 2
 * and 7 are counted.  With an argument a child of fork does it once more while a window of
 * its parent's is open: there all are counted.
 */
#include <stdlib.h>
#include <sys/wait.h>
#include <tidemark/tidemark.h>
#include <timemory/tools/timemory-mallocp.h>
#include <unistd.h>

static void *volatile kept[2];

static void foo(void)
{
    kept[0] = malloc(1000);
    kept[1] = calloc(10, 200);
    free(kept[0]);
    free(kept[1]);
}

static void bar(int value)
{
    uint64_t idx = UINT64_MAX;
    tide_region_begin("bar");
    if (value > 100)
        idx = timemory_start_mallocp();
    kept[0] = malloc((size_t)value);
    free(kept[0]);
    if (value > 100)
        timemory_stop_mallocp(idx);
    tide_region_end("bar");
}

static void all(void)
{
    foo();
    bar(10);
    bar(1000);
    foo();
}

static void once(void)
{
    timemory_register_mallocp();
    all();
    timemory_deregister_mallocp();
    all();
}

int main(int argc, char **argv)
{
    (void)argv;
    if (argc == 1) {
        once();
        return 0;
    }
    const uint64_t idx = timemory_start_mallocp();
    const pid_t child = fork();
    if (child == 0) {
        once();
        _exit(0);
    }
    waitpid(child, NULL, 0);
    timemory_stop_mallocp(idx);
    return 0;
}
