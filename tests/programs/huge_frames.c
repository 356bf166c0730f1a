/* tests/programs/huge_frames.c - allocate in functions with frames of hundreds of MiB:
 * huge_frames [main|most].
 *
 * As numerical programs have, whose arrays stand on the stack.  Built without frame pointers.
 * A hundred blocks each are made over an array of 200 MiB, and over one of a little more than
 * 256 MiB in a function that saves rbp; in threads whose stacks are as large as that, or in
 * the main one, whose limit must allow it; with "most" there over one of a little more than
 * 4 GiB.  Of the arrays nothing but the first bytes is
 * touched, and what lies below the threads' stacks may not be.
 */
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "say.h"

enum { TIMES = 100, MIB = 1024 * 1024 };

static volatile unsigned long sum;

__attribute__((noinline)) static void make(void)
{
    void *volatile block = malloc(100);
    (void)block;
}

__attribute__((noinline)) static void go_plainly(void)
{
    volatile char array[200 * MIB];
    array[0] = 1;
    make();
    sum += (unsigned long)array[0];
}

/* Every register that a call keeps is in use, rbp as well. */
__attribute__((noinline)) static void go_saving(void)
{
    volatile char array[256 * MIB + 4096];
    const unsigned long a = sum * 3, b = sum * 5, c = sum * 7, d = sum * 11;
    const unsigned long e = sum * 13, f = sum * 17, g = sum * 19;
    array[0] = 1;
    make();
    sum += (a ^ b) + (c ^ d) + (e ^ f) + g + (unsigned long)array[0];
}

/* Words that look like return addresses stand where those of a small frame would. */
__attribute__((noinline)) static void go_most(void)
{
    void *volatile array[(4096ul * MIB + 64) / sizeof(void *)];
    for (int i = 0; i < 64; i++)
        array[i] = __builtin_return_address(0);
    make();
    sum += (unsigned long)array[0];
}

static void *go(void *way)
{
    void (*const volatile *const to)(void) = way;
    for (int i = 0; i < TIMES; i++) {
        (*to)();
        sum++;
    }
    return NULL;
}

/* In a thread with a stack of BYTES: how that went. */
static int run(void (*way)(void), size_t bytes)
{
    const size_t all = (size_t)600 * MIB;
    pthread_t thread;
    pthread_attr_t attributes;
    char *const room =
        mmap(NULL, all, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (room == MAP_FAILED ||
        mprotect(room + all - bytes, bytes, PROT_READ | PROT_WRITE) != 0)
        return 1;
    pthread_attr_init(&attributes);
    if (pthread_attr_setstack(&attributes, room + all - bytes, bytes) != 0 ||
        pthread_create(&thread, &attributes, go, &way) != 0)
        return 1;
    return pthread_join(thread, NULL) + munmap(room, all);
}

int main(int argc, char **argv)
{
    if (argc > 1 && argv[1][1] == 'o') {
        go(&(void (*)(void)){go_most});
    } else if (argc > 1) {
        go(&(void (*)(void)){go_plainly});
        go(&(void (*)(void)){go_saving});
    } else if (run(go_plainly, (size_t)201 * MIB) ||
               run(go_saving, (size_t)258 * MIB)) {
        return 1;
    }
    say("done\n");
    return 0;
}
