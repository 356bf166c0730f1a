/* tests/programs/paused.c - what is allocated in a pause appears nowhere.
 *
 * Only the first block, of 100 bytes, is to be in the trace; its realloc in the pause ends
 * it.  Blocks of the pause are freed in it and after it.
 */
#include <stdlib.h>
#include <sys/mman.h>
#include <tidemark/tidemark.h>

int main(void)
{
    enum { MAPPED = 9000000 };
    void *volatile known = malloc(100);
    tide_pause(TIDE_SCOPE_PROCESS);
    void *volatile inside = malloc(10);
    inside = realloc(inside, 7000000);
    free(inside);
    void *volatile later = malloc(20);
    later = realloc(later, 30);
    known = realloc(known, 5000000);
    void *const mapped =
        mmap(NULL, MAPPED, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (realloc(known, SIZE_MAX / 2) != NULL)
        return 1;
    tide_resume(TIDE_SCOPE_PROCESS);
    free(later);
    free(known);
    return munmap(mapped, MAPPED);
}
