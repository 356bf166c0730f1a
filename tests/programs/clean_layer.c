/* tests/programs/clean_layer.c - asks for all memory through one function of its own.
 *
 * Four lists grow while it runs and are kept until it ends, on purpose; all else is freed
 * soon.  Without symbols the function in between cannot be told from those that ask it.
 */
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 400 };

struct entry {
    struct entry *next;
    char text[200];
};

static struct entry *lists[4];
static size_t seen;

__attribute__((noinline)) static void *xmalloc(size_t bytes)
{
    void *const block = malloc(bytes);
    if (!block)
        abort();
    memset(block, 1, bytes);
    return block;
}

__attribute__((noinline)) static void keep(struct entry **list, struct entry *entry)
{
    entry->next = *list;
    *list = entry;
}

__attribute__((noinline)) static void note_names(void)
{
    keep(&lists[0], xmalloc(sizeof(struct entry)));
}

__attribute__((noinline)) static void note_places(void)
{
    keep(&lists[1], xmalloc(sizeof(struct entry)));
}

__attribute__((noinline)) static void note_times(void)
{
    keep(&lists[2], xmalloc(sizeof(struct entry)));
}

__attribute__((noinline)) static void note_sizes(void)
{
    keep(&lists[3], xmalloc(sizeof(struct entry)));
}

/* Two at once, so that neither is temporary. */
__attribute__((noinline)) static void think(size_t bytes)
{
    char *const one = xmalloc(bytes);
    char *const other = xmalloc(bytes + 16);
    seen += (size_t)one[0] + (size_t)other[0];
    free(one);
    free(other);
}

int main(void)
{
    for (size_t i = 0; i < ROUNDS; i++) {
        for (size_t k = 0; k < 4; k++)
            think(100 + i + k);
        note_names();
        note_places();
        note_times();
        note_sizes();
    }
    return seen == 0;
}
