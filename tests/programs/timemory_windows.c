/* tests/programs/timemory_windows.c - a program written for timemory's mallocp, as it is.
 *
 * Everything between register and deregister counts; afterwards only what bar() does
 * between its start and stop.  Prints, as JSON, what the functions returned.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <timemory/tools/timemory-mallocp.h>

static void *volatile kept;

/* One block of N doubles. */
static void foo(size_t n)
{
    kept = malloc(n * sizeof(double));
    free(kept);
}

static uint64_t bar(size_t n)
{
    const uint64_t idx = timemory_start_mallocp();
    foo(n);
    foo(2 * n);
    timemory_stop_mallocp(idx);
    return idx;
}

int main(void)
{
    static char output[1024];
    setvbuf(stdout, output, _IOFBF, sizeof(output));
    timemory_mallocp_library_ctor();
    foo(10); /* before: not counted */
    timemory_register_mallocp();
    foo(100);                        /* counted */
    const uint64_t inner = bar(200); /* counted, and by its own window */
    timemory_deregister_mallocp();
    foo(500);                         /* not counted */
    const uint64_t outer = bar(1000); /* counted by its own window */
    foo(700);                         /* not counted */

    const uint64_t one = timemory_start_mallocp();
    const uint64_t two = timemory_start_mallocp();
    foo(3);
    const uint64_t left_after_one = timemory_stop_mallocp(one);
    foo(4); /* by the second alone */
    const uint64_t left_after_none = timemory_stop_mallocp(UINT64_MAX);
    const uint64_t left_after_again = timemory_stop_mallocp(one);
    const uint64_t left_after_two = timemory_stop_mallocp(two);
    printf("{\"inner\": %" PRIu64 ", \"outer\": %" PRIu64 ", \"one\": %" PRIu64
           ", \"two\": %" PRIu64 ", \"left\": [%" PRIu64 ", %" PRIu64 ", %" PRIu64
           ", %" PRIu64 "]}\n",
           inner, outer, one, two, left_after_one, left_after_none, left_after_again,
           left_after_two);
    return 0;
}
