/* tests/programs/odd_frees.c - a free that the allocator refuses, after a known count.
 *
 * Usage: odd_frees twice|stack|inside|static|small.  It ends as glibc ends it.
 */
#include <stdlib.h>
#include <string.h>

__attribute__((noinline)) static void *make(size_t size)
{
    void *volatile block = malloc(size);
    return block;
}

int main(int argc, char **argv)
{
    static char fixed[64];
    char local[64];
    const char *const how = argc > 1 ? argv[1] : "";
    char *volatile block = NULL;
    for (int i = 0; i < 1000; i++)
        block = make(500);
    void *volatile other = make(3000);
    if (strcmp(how, "twice") == 0) {
        free(block);
        free(block);
    } else if (strcmp(how, "large") == 0) {
        free(other);
        free(other);
    } else if (strcmp(how, "stack") == 0) {
        char *volatile wrong = local + 8;
        free(wrong);
    } else if (strcmp(how, "static") == 0) {
        char *volatile wrong = fixed + 16;
        free(wrong);
    } else if (strcmp(how, "inside") == 0) {
        char *volatile wrong = block + 8;
        free(wrong);
    } else if (strcmp(how, "realloc") == 0) {
        char *volatile wrong = local + 8;
        wrong = realloc(wrong, 100);
    }
    return 9;
}
