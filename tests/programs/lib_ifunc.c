/* tests/programs/lib_ifunc.c - a library whose function is chosen while it is being relocated.
 *
 * The one who chooses allocates, before any constructor has run.  (It may: malloc is in a
 * library that is relocated before this one, or is bound eagerly here.)
 */
#include <stdlib.h>

int chosen(void);
int ifunc_blocks(void);

static int made;
static void *kept[3];

static int one(void)
{
    return 1;
}

__attribute__((used)) static int (*choose(void))(void)
{
    for (int i = 0; i < 3; i++) {
        kept[i] = malloc(100);
        made += kept[i] != NULL;
    }
    free(kept[0]);
    return one;
}

int chosen(void) __attribute__((ifunc("choose")));

int ifunc_blocks(void)
{
    free(kept[1]);
    kept[1] = realloc(kept[2], 200);
    free(kept[1]);
    return made;
}
