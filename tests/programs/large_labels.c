/* tests/programs/large_labels.c - names that say more bytes than their block has, and some
 * that do not: all that the allocator gave is theirs.
 */
#include <malloc.h>
#include <stdlib.h>

#include <tidemark/tidemark.h>

int main(void)
{
    char *const block = malloc(1001);
    const size_t usable = malloc_usable_size(block);
    tide_label(block, "usable", usable);
    tide_label_shape(block, "fits", 1, (const size_t[]){10, 100}, 2);
    tide_label(block, "one more", usable + 1);
    tide_label_shape(block, "too large", 8, (const size_t[]){100, 100}, 2);
    tide_unlabel(block);
    free(block);
    return 0;
}
