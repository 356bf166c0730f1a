/* tests/programs/all_calls.c - every allocating call of C once, with known sizes.
 *
 * Prints what it did.  Sizes are powers of two plus the call's number, so that a wrong
 * total names the culprit.
 */
#include <errno.h>
#include <malloc.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "say.h"

static uint64_t calls, bytes, frees, failed, reallocs;
static void *kept[64];
static int kept_count;

static void *born(void *block, size_t size)
{
    calls++;
    bytes += size;
    kept[kept_count++] = block;
    return block;
}

static void failing_calls(void)
{
    volatile size_t huge = SIZE_MAX / 2;
    void *out = &calls;
    void *small = born(malloc(10), 10);

    errno = 0;
    failed += malloc(huge) == NULL && errno == ENOMEM;
    failed += calloc(huge, 8) == NULL && errno == ENOMEM;
    failed += realloc(small, huge) == NULL; /* small lives on */
    failed += reallocarray(NULL, huge, 8) == NULL;
    failed += posix_memalign(&out, 3, 100) == EINVAL && out == &calls;
    failed += aligned_alloc(64, huge) == NULL;
}

static void moving_calls(void)
{
    void *block = realloc(NULL, 100);
    calls++, bytes += 100;
    block = realloc(block, 5000);
    calls++, bytes += 5000, frees++, reallocs++;
    block = reallocarray(block, 10, 30);
    calls++, bytes += 300, frees++, reallocs++;
    free(realloc(block, 0)); /* frees, gives NULL */
    frees++, reallocs++;
    free(NULL);

    void *aligned = memalign(256, 1000);
    calls++, bytes += 1000;
    aligned = realloc(aligned, 2000);
    calls++, bytes += 2000, frees++, reallocs++;
    kept[kept_count++] = aligned;
}

static void calls_inside_libc(void)
{
    char *text = born(strdup("twelve bytes"), 13);
    born(strndup(text, 6), 7);
    char *printed = NULL;
    if (asprintf(&printed, "%s", "seven..") == 7)
        born(printed, 8); /* 100 bytes, shrunk: counted apart by the test */
}

int main(void)
{
    void *out = NULL;
    born(malloc(1024 + 1), 1024 + 1);
    born(malloc(0), 0);
    born(calloc(16, 128), 2048);
    born(calloc(5, 0), 0);
    if (posix_memalign(&out, 128, 4096 + 3) == 0)
        born(out, 4096 + 3);
    born(aligned_alloc(4096, 8192), 8192);
    born(memalign(64, 16384 + 5), 16384 + 5);
    born(valloc(100), 100);
    born(pvalloc(32768 + 7), 32768 + 7);
    born(malloc(400000), 400000); /* glibc maps this one */
    moving_calls();
    failing_calls();
    calls_inside_libc();
    const size_t usable = malloc_usable_size(kept[0]);
    if (usable < 1025)
        return 1;
    for (int i = 0; i < kept_count; i += 2) {
        free(kept[i]);
        frees++;
    }
    say("{\"alloc_calls\": %lu, \"free_calls\": %lu, \"allocated_bytes\": %lu, "
        "\"failed_calls\": %lu, \"realloc_calls\": %lu}\n",
        calls, frees, bytes, failed, reallocs);
    return 0;
}
