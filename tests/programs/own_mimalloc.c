/* tests/programs/own_mimalloc.c - mimalloc's functions beside malloc, in known numbers.
 *
 * Says what each function made: site -> [calls, bytes, blocks left].
 */
#include <mimalloc.h>
#include <stdlib.h>
#include <string.h>

#include "say.h"

enum { TIMES = 50 };

#define SITE __attribute__((noinline)) static

static void *volatile kept;

SITE void *make(size_t size)
{
    void *const block = mi_malloc(size);
    kept = block;
    return block;
}

SITE void *clear(size_t count, size_t size)
{
    void *const block = mi_calloc_aligned(count, size, 128);
    kept = block;
    return block;
}

SITE void *grow(void *block, size_t size)
{
    void *const larger = mi_recalloc(block, 2, size);
    kept = larger;
    return larger;
}

SITE void *stretch(void *block, size_t size)
{
    void *const same = mi_expand(block, size);
    kept = same;
    return same;
}

SITE char *copy(const char *text)
{
    char *const block = mi_strdup(text);
    kept = block;
    return block;
}

SITE void *renew(void *block, size_t count, size_t size)
{
    const int status = mi_reallocarr(&block, count, size);
    kept = block;
    return status == 0 ? block : NULL;
}

SITE void *copy_wide(const unsigned short *text)
{
    void *const block = mi_wcsdup(text);
    kept = block;
    return block;
}

SITE void *copy_variable(const char *name)
{
    char *block = NULL;
    size_t length = 0;
    const int status = mi_dupenv_s(&block, &length, name);
    kept = block;
    return status == 0 ? block : NULL;
}

SITE void *in_heap(mi_heap_t *heap, size_t size)
{
    void *const block = mi_heap_malloc(heap, size);
    kept = block;
    return block;
}

int main(void)
{
    for (int i = 0; i < TIMES; i++) {
        mi_free(grow(make(1000), 15000));
        mi_free_aligned(clear(3, 700), 128);
        mi_free(copy("eleven more"));
        mi_free(mi_realloc(make(1000), 0)); /* a block of no bytes */
        if (stretch(make(2000), 1900) == NULL || mi_expand(kept, 1 << 24) != NULL)
            return 1;
        if (i % 2)
            mi_free_size(kept, 1900);
    }
    static const unsigned short wide[] = {'s', 'i', 'x', 0};
    setenv("TIDE_OWN", "nineteen characters", 1);
    for (int i = 0; i < TIMES; i++) {
        mi_free(renew(renew(NULL, 5, 100), 7, 1000));
        mi_free(copy_wide(wide));
        mi_free(copy_variable("TIDE_OWN"));
        if (copy_variable("TIDE_NOBODYS"))
            return 1;
    }
    mi_heap_t *const gone = mi_heap_new(), *const merged = mi_heap_new();
    for (int i = 0; i < TIMES; i++) {
        in_heap(gone, 400);
        in_heap(merged, 4000);
    }
    mi_heap_destroy(gone);
    mi_heap_delete(merged); /* its blocks live on */
    say("{\"make\": [%d, %d, 0], \"grow\": [%d, %d, 0], \"clear\": [%d, %d, 0], "
        "\"copy\": [%d, %d, 0], \"stretch\": [%d, %d, %d], \"in_heap\": [%d, %d, %d], "
        "\"renew\": [%d, %d, 0], \"copy_wide\": [%d, %d, 0], \"copy_variable\": [%d, %d, "
        "0]}\n",
        3 * TIMES, 4000 * TIMES, TIMES, 30000 * TIMES, TIMES, 2100 * TIMES, TIMES,
        12 * TIMES, TIMES, 1900 * TIMES, TIMES / 2, 2 * TIMES, 4400 * TIMES, TIMES,
        2 * TIMES, 7500 * TIMES, TIMES, 8 * TIMES, TIMES, 20 * TIMES);
    return 0;
}
