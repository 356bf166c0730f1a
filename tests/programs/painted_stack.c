/* tests/programs/painted_stack.c - how much of its stack a thread uses for one call.
 *
 * Usage: painted_stack CALL.  The stack is the smallest there is and was painted from
 * outside; the thread makes the CALL, its first event ever, and then again many times.
 * What is no longer painted below its own frame was used by the call.  Says so in bytes
 * on stderr.
 */
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "say.h"

enum { AGAIN = 300, PAINT = 0xa5 };

static const char *call;
static unsigned char *stack;
static size_t used;

__attribute__((noinline)) static void one_call(void)
{
    void *volatile block = NULL;
    if (strcmp(call, "malloc") == 0) {
        block = malloc(100);
    } else if (strcmp(call, "calloc") == 0) {
        block = calloc(10, 10);
    } else if (strcmp(call, "realloc") == 0) {
        block = malloc(100);
        block = realloc(block, 3000);
    } else if (strcmp(call, "posix_memalign") == 0) {
        void *aligned = NULL;
        if (posix_memalign(&aligned, 64, 100) == 0)
            block = aligned;
    } else if (strcmp(call, "mmap") == 0) {
        void *map = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        munmap(map, 4096);
    }
    free(block);
}

static void *work(void *unused)
{
    one_call();
    for (int i = 0; i < AGAIN; i++)
        one_call();
    const unsigned char *lowest = stack;
    while (*lowest == PAINT)
        lowest++;
    used = (size_t)((unsigned char *)__builtin_frame_address(0) - lowest);
    return unused;
}

int main(int argc, char **argv)
{
    const size_t size = (size_t)PTHREAD_STACK_MIN;
    pthread_attr_t attributes;
    pthread_t id;
    call = argc > 1 ? argv[1] : "malloc";
    one_call(); /* what is done once per process is done now */
    stack =
        mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (stack == MAP_FAILED)
        return 2;
    memset(stack, PAINT, size);
    pthread_attr_init(&attributes);
    if (pthread_attr_setstack(&attributes, stack, size) != 0 ||
        pthread_create(&id, &attributes, work, NULL) != 0)
        return 3;
    pthread_join(id, NULL);
    char line[64];
    const int length = snprintf(line, sizeof(line), "%zu\n", used);
    say("done\n");
    return write(2, line, (size_t)length) == length ? 0 : 4;
}
