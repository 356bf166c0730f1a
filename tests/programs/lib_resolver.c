/* tests/programs/lib_resolver.c - keeps a block from before the recorder was relocated.
 *
 * Bound at once (-z now): the call below has `chosen_early` chosen while this library is
 * relocated, and that is before the libraries in front of it are.
 */
#include <stdlib.h>

int chosen_early(void);
void *resolver_block(void);

static void *block;
static void *(*const volatile make)(size_t) = malloc; /* bound before the call is */

static int one(void)
{
    return 1;
}

__attribute__((used)) static int (*choose_early(void))(void)
{
    if (!block)
        block = make(100);
    return one;
}

int chosen_early(void) __attribute__((ifunc("choose_early")));

void *resolver_block(void)
{
    return chosen_early() ? block : NULL;
}
