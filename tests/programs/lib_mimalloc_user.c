/* tests/programs/lib_mimalloc_user.c - a library that brings mimalloc along. */
#include <mimalloc.h>

int use(int times);
int use(int times)
{
    for (int i = 0; i < times; i++) {
        void *const block = mi_malloc(1000);
        if (mi_usable_size(block) < 1000)
            return 1;
        mi_free(block);
    }
    return 0;
}
