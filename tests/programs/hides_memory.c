/* tests/programs/hides_memory.c - memory that malloc knows nothing of: hides_memory HOW [heap].
 *
 * HOW is where 48 MiB come from, every page of which is touched: sbrk (as an allocator
 * inside a program may do), static (an array), shared (mmap, MAP_SHARED), mapped (mmap,
 * private, in pieces of 4 MiB) or heap.  A second word asks for as much of the heap beside
 * it, for a moment.  Then it waits, so that it is seen from outside.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PIECE = 4 << 20, PIECES = 12, BYTES = PIECE * PIECES, SEEN_US = 350000 };

static char array[BYTES];
static char *volatile places[PIECES];
char *volatile small;

static char *map(size_t bytes, int how)
{
    void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, how | MAP_ANONYMOUS, -1, 0);
    return at == MAP_FAILED ? NULL : at;
}

/* Beside each a little of the heap. */
__attribute__((noinline)) static char *map_piece(void)
{
    small = malloc(1000);
    return map(PIECE, MAP_PRIVATE);
}

__attribute__((noinline)) static char *allocate_piece(void)
{
    return malloc(PIECE);
}

/* Piece NUMBER of them all. */
static char *piece(const char *how, size_t number)
{
    static char *whole;
    if (strcmp(how, "mapped") == 0)
        return map_piece();
    if (strcmp(how, "heap") == 0)
        return allocate_piece();
    if (!whole && strcmp(how, "shared") == 0)
        whole = map(BYTES, MAP_SHARED);
    else if (!whole && strcmp(how, "sbrk") == 0)
        whole = sbrk(BYTES);
    else if (!whole)
        whole = array;
    return whole ? whole + number * PIECE : NULL;
}

static void allocate_for_a_moment(void)
{
    small = malloc(BYTES);
    if (small)
        memset(small, 1, BYTES);
    free(small);
}

int main(int argc, char **argv)
{
    for (size_t i = 0; argc > 1 && i < PIECES; i++) {
        places[i] = piece(argv[1], i);
        if (!places[i])
            return 1;
        memset(places[i], 1, PIECE);
    }
    if (argc > 2)
        allocate_for_a_moment();
    (void)usleep(SEEN_US);
    return 0;
}
