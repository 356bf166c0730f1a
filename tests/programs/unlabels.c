/* tests/programs/unlabels.c - labels that are taken away, and that move with a mapping.
 *
 * At the peak "kept" still has its name; "lost" had one and has lost it; "other" has
 * another one than it began with; "late" loses its name after the peak.  Says where "lost"
 * is.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include <tidemark/tidemark.h>

enum { MAPPED = 1 << 20 };

static char *volatile blocks[8];

__attribute__((noinline)) static char *make(size_t bytes)
{
    return malloc(bytes);
}

int main(void)
{
    setvbuf(stdout, NULL, _IONBF, 0); /* it would be a block */
    char *const kept = blocks[0] = make(1000);
    char *const lost = blocks[1] = make(2000);
    char *const other = blocks[2] = make(4000);
    char *const late = blocks[3] = make(8000);
    char *const again = blocks[4] = make(16000);
    tide_label(kept, "kept", 1000);
    tide_label_shape(lost, "lost", 4, (const size_t[]){50, 10}, 2);
    tide_label(other, "first", 4000);
    tide_label(late, "late", 8000);
    tide_label(again, "again", 16000);
    tide_snapshot("all named");
    tide_unlabel(lost);
    tide_unlabel(lost);
    tide_unlabel(other);
    tide_label(other, "second", 4000);
    tide_unlabel(again);
    blocks[4] = realloc(again, 32000); /* it has no name that could be kept */
    free(make(64000));                 /* the peak */
    tide_unlabel(late);
    for (int i = 0; i < 3; i++) {
        char *const brief = make(100);
        tide_label(brief, "brief", 100);
        tide_unlabel(brief);
        char *const volatile gone = brief; /* that it is too late is the point */
        free(brief);
        tide_unlabel(gone);
    }
    char *const map =
        mmap(NULL, MAPPED, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    char *const room =
        mmap(NULL, 4 * MAPPED, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    tide_label(map, "mapped", MAPPED);
    mremap(map, MAPPED, 2 * MAPPED, MREMAP_MAYMOVE | MREMAP_FIXED, room + MAPPED);
    tide_snapshot("end");
    printf("%" PRIxPTR "\n", (uintptr_t)lost);
    return 0;
}
