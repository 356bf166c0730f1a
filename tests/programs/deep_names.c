/* tests/programs/deep_names.c - a block on every level of a deep recursion, by a function
 * with a long name.
 *
 * Usage: deep_names DEPTH.  The stacks take a few bytes each in a trace; written out, they
 * take the square of DEPTH times the length of the name.
 */
#include <stdlib.h>

#define TEN(word)   word##word##word##word##word##word##word##word##word##word
#define AGAIN(word) TEN(word)
#define NAME        AGAIN(AGAIN(goes_deeper_and_))

static void *volatile kept;

__attribute__((noinline)) static int NAME(int depth)
{
    kept = malloc(16);
    return depth > 0 ? NAME(depth - 1) + 1 : 0;
}

int main(int argc, char **argv)
{
    const int depth = argc > 1 ? atoi(argv[1]) : 10;
    return NAME(depth) == depth ? 0 : 1;
}
