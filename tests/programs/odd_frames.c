/* tests/programs/odd_frames.c - functions whose frames are found in every way there is.
 *
 * Usage: odd_frames ROUNDS DEPTH [step|jump].  Each round goes some functions deep, chosen
 * by dice, and allocates there in one of several ways; with "step" and "jump" nothing is
 * allocated there, but after every instruction on the way.  Only "jump" then goes through
 * longjmp, in whose last instructions the return address is in a register.  Built as optimised code without frame pointers,
 * as C, C++ and Rust are: tail calls, calls that never return at the very end of a
 * function, realigned stacks, variable frames, arguments that are pushed, code that was
 * split off as unlikely, rbp as a register like any other.
 */
#include <alloca.h>
#include <setjmp.h>
#include <stdalign.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "say.h"
#include "step.h"

#define APART   __attribute__((noinline))
#define REALIGN __attribute__((noinline, force_align_arg_pointer))
/* A function with a frame pointer among those without: clang knows no such wish. */
#if defined(__clang__)
#    define WITH_POINTER __attribute__((noinline))
#else
#    define WITH_POINTER __attribute__((noinline, optimize("no-omit-frame-pointer")))
#endif

typedef void way(int depth);

static way *const volatile *ways;
static unsigned state = 1;
static int stepping;
static unsigned way_count;
static volatile unsigned long sum;
static volatile int zero, one = 1;
static jmp_buf *back;

static unsigned dice(unsigned sides)
{
    state = state * 1664525u + 1013904223u;
    return (state >> 8) % sides;
}

/* --- Where the blocks are made ------------------------------------------------------------ */

APART static void *make_by_tail_call(size_t size)
{
    return malloc(size);
}

APART static void *make_in_libc(void)
{
    char *text = NULL;
    return asprintf(&text, "%d %s", 12345, "a text") > 0 ? text : NULL;
}

APART static void *make_growing(size_t size)
{
    void *block = calloc(1, size);
    void *more = realloc(block, 20 * size);
    sum++;
    return more;
}

APART static void leaf(void)
{
    void *volatile block = NULL; /* else who makes and frees it is left out */
    switch (stepping ? 99 : dice(5)) {
    case 0:
        block = make_by_tail_call(40);
        break;
    case 1:
        block = make_in_libc();
        break;
    case 2:
        block = make_growing(30);
        break;
    case 3:
        block = strdup("a copy");
        break;
    case 4:
        block = malloc(50);
        break;
    default:
        sum++;
        return;
    }
    free(block);
}

/* --- Ways to get there --------------------------------------------------------- */

/* Deeper by a jump, not a call. */
APART static void tail(int depth)
{
    if (depth <= 0)
        leaf();
    else
        ways[dice(way_count)](depth - 1);
}

APART static void plain(int depth)
{
    tail(depth);
    sum++;
}

REALIGN static void realigned(int depth)
{
    tail(depth);
    sum++;
}

APART static void aligned(int depth)
{
    alignas(64) volatile unsigned char wide[64];
    wide[depth & 63] = 1;
    tail(depth);
    sum += wide[depth & 63];
}

APART static void aligned_variable(int depth)
{
    alignas(128) volatile unsigned char wide[128];
    volatile unsigned char *more = alloca(16u + dice(200));
    wide[1] = more[1] = 1;
    tail(depth);
    sum += wide[1] + more[1];
}

APART static void variable(int depth)
{
    volatile unsigned char *more = alloca(16u + dice(500));
    more[0] = 1;
    tail(depth);
    sum += more[0];
}

APART static void large(int depth)
{
    volatile unsigned char frame[40000];
    frame[0] = 1;
    tail(depth);
    sum += frame[0];
}

/* rbp holds a number, and every other register that a call keeps as well. */
APART static void busy(int depth)
{
    const unsigned long a = sum * 3, b = sum * 5, c = sum * 7, d = sum * 11;
    const unsigned long e = sum * 13, f = sum * 17, g = sum * 19;
    tail(depth);
    sum += (a ^ b) + (c ^ d) + (e ^ f) + g;
}

APART static void by_nine(int a, int b, int c, int d, int e, int f, int g, int h,
                          int depth)
{
    tail(depth);
    sum += (unsigned)(a + b + c + d + e + f + g + h);
}

APART static void pushed(int depth)
{
    const int n = zero;
    by_nine(n, n + 1, n, n + 2, n, n + 3, n, n + 4, depth);
    by_nine(n + 1, n, n + 1, n, n + 2, n, n + 3, n, -1);
    sum++;
}

__attribute__((cold, noinline)) static void unlikely(int depth)
{
    tail(depth);
    sum++;
}

APART static void split(int depth)
{
    const unsigned long before = sum;
    if (__builtin_expect(one, 0)) {
        unlikely(depth);
        sum += before;
    }
    sum++;
}

__attribute__((noreturn, noinline)) static void leave(int depth)
{
    tail(depth);
    longjmp(*back, 1);
}

/* The call is the last instruction: what it would return to is another function. */
__attribute__((noreturn, noinline)) static void never_back(int depth)
{
    leave(depth);
}

APART static void past_the_end(int depth)
{
    jmp_buf here;
    jmp_buf *const before = back;
    if (setjmp(here) == 0) {
        back = &here;
        never_back(depth);
    }
    back = before;
    sum++;
}

static int deeper;

static int compare(const void *first, const void *second)
{
    const int depth = deeper;
    deeper = -1;
    if (depth >= 0)
        tail(depth);
    return *(const int *)first - *(const int *)second;
}

/* Through libc and back. */
APART static void sorting(int depth)
{
    int numbers[4] = {3, 1, 2, 0};
    deeper = depth;
    qsort(numbers, 4, sizeof(numbers[0]), compare);
    sum += (unsigned)numbers[1];
}

WITH_POINTER static void pointed(int depth)
{
    tail(depth);
    sum++;
}

/* The frame is made only where it is needed. */
APART static void wrapped(int depth)
{
    if (depth < 0)
        return;
    const unsigned long kept = sum;
    tail(depth);
    sum += kept ^ (unsigned long)depth;
}

APART static void recursive(int depth)
{
    if (dice(3))
        recursive(depth);
    else
        tail(depth);
    sum++;
}

APART static void chosen(int depth)
{
    way *const one_of[] = {plain, busy, aligned, variable};
    one_of[dice(4)](depth);
    sum++;
}

/* The last is the one that jumps. */
static way *const all_ways[] = {
    tail,    plain,     realigned, aligned,      aligned_variable, variable,
    large,   busy,      pushed,    split,        sorting,          pointed,
    wrapped, recursive, chosen,    past_the_end,
};

int main(int argc, char **argv)
{
    const int rounds = argc > 1 ? atoi(argv[1]) : 100;
    const unsigned depth = argc > 2 ? (unsigned)atoi(argv[2]) : 8;
    const char *const how = argc > 3 ? argv[3] : "";
    stepping = *how != 0;
    way_count = sizeof(all_ways) / sizeof(all_ways[0]) - (strcmp(how, "step") == 0);
    ways = all_ways;
    if (stepping)
        step_begin();
    for (int i = 0; i < rounds; i++)
        tail((int)dice(depth) + 1);
    if (stepping)
        step_end();
    say("%lu steps\n", step_count);
    return 0;
}
