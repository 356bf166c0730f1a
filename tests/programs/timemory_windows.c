/* tests/programs/timemory_windows.c - a program written for timemory's mallocp.
 *
 * Everything between register and deregister counts; afterwards only what bar() does
 * between its start and stop.  Prints, as JSON, what the functions returned and, which
 * timemory has no means for, what was counted: calls, bytes and frees of each window.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <timemory/tools/timemory-mallocp.h>

static void *volatile kept;

struct counted {
    uint64_t calls, bytes, frees;
};

/* What the window of number IDX has counted. */
static struct counted look(uint64_t idx)
{
    struct tide_stats stats = {0};
    if (idx)
        tide_peek(tide_mallocp.window[idx - 1], &stats);
    return (struct counted){stats.alloc_calls, stats.requested_bytes, stats.free_calls};
}

/* One block of N doubles. */
static void foo(size_t n)
{
    kept = malloc(n * sizeof(double));
    free(kept);
}

static uint64_t bar(size_t n, struct counted *counted)
{
    const uint64_t idx = timemory_start_mallocp();
    foo(n);
    foo(2 * n);
    *counted = look(idx);
    timemory_stop_mallocp(idx);
    return idx;
}

static void print(const char *name, struct counted counted)
{
    printf("\"%s counted\": [%" PRIu64 ", %" PRIu64 ", %" PRIu64 "], ", name,
           counted.calls, counted.bytes, counted.frees);
}

int main(void)
{
    static char output[1024];
    setvbuf(stdout, output, _IOFBF, sizeof(output));
    struct counted all, inner_counted, outer_counted;
    timemory_mallocp_library_ctor();
    foo(10); /* before: not counted */
    timemory_register_mallocp();
    foo(100);                                        /* counted */
    const uint64_t inner = bar(200, &inner_counted); /* and by a window of its own */
    all = look(tide_mallocp.registered);
    timemory_deregister_mallocp();
    foo(500);                                         /* not counted */
    const uint64_t outer = bar(1000, &outer_counted); /* counted by its own window */
    foo(700);                                         /* not counted */

    const uint64_t one = timemory_start_mallocp();
    const uint64_t two = timemory_start_mallocp();
    foo(3);
    const struct counted by_one = look(one);
    const uint64_t left_after_one = timemory_stop_mallocp(one);
    foo(4); /* by the second alone */
    const uint64_t left_after_none = timemory_stop_mallocp(UINT64_MAX);
    const uint64_t left_after_again = timemory_stop_mallocp(one);
    const struct counted by_two = look(two);
    const uint64_t left_after_two = timemory_stop_mallocp(two);
    printf("{");
    print("all", all);
    print("inner", inner_counted);
    print("outer", outer_counted);
    print("one", by_one);
    print("two", by_two);
    printf("\"inner\": %" PRIu64 ", \"outer\": %" PRIu64 ", \"one\": %" PRIu64
           ", \"two\": %" PRIu64 ", \"left\": [%" PRIu64 ", %" PRIu64 ", %" PRIu64
           ", %" PRIu64 "]}\n",
           inner, outer, one, two, left_after_one, left_after_none, left_after_again,
           left_after_two);
    return 0;
}
