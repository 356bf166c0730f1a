/* tests/programs/by_hand.h - what programs that place memory by hand have in common.
 *
 * A case says what it found, nothing of which depends on where things happen to be, and the
 * program ends by status 7 when all was as it ought to be.
 */
#ifndef TIDE_TESTS_BY_HAND_H
#define TIDE_TESTS_BY_HAND_H

#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "say.h"

#ifndef MAP_FIXED_NOREPLACE
#    define MAP_FIXED_NOREPLACE 0x100000
#endif

enum { PAGE = 4096, GAP = 256 * PAGE, CLONE_STACK = 256 << 10 };

static const int private_memory = MAP_PRIVATE | MAP_ANONYMOUS;

static inline void expect(const char *what, int good)
{
    say("%s: %s\n", what, good ? "as expected" : "NOT as expected");
    if (!good)
        _exit(1);
}

__attribute__((noinline, unused)) static void churn(int rounds)
{
    for (int i = 0; i < rounds; i++) {
        void *volatile block = malloc((size_t)(i % 700));
        free(block);
    }
}

static inline char *map(char *at, size_t bytes, int flags)
{
    char *const got =
        mmap(at, bytes, PROT_READ | PROT_WRITE, private_memory | flags, -1, 0);
    return got == MAP_FAILED ? NULL : got;
}

/* BYTES of address space that nobody has. */
static inline char *free_place(size_t bytes)
{
    char *const place = mmap(NULL, bytes, PROT_NONE, private_memory, -1, 0);
    if (place == MAP_FAILED || munmap(place, bytes) != 0)
        _exit(2);
    return place;
}

static inline int status_of(pid_t child)
{
    int status = -1;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

static void *idle(void *unused)
{
    churn(10);
    return unused;
}

static inline void one_thread(void)
{
    static _Alignas(4096) char stack[128 << 10];
    pthread_attr_t attributes;
    pthread_t thread;
    pthread_attr_init(&attributes);
    pthread_attr_setstack(&attributes, stack, sizeof(stack));
    if (pthread_create(&thread, &attributes, idle, NULL) != 0)
        _exit(3);
    pthread_join(thread, NULL);
}

struct by_hand_case {
    const char *name;
    void (*run)(void);
};

/* Run the case that is named, or name all.  Threads share the heap: none for each is mapped. */
static inline int run_case(const struct by_hand_case *cases, size_t count, int argc,
                           char **argv)
{
    mallopt(M_ARENA_MAX, 1);
    for (size_t i = 0; i < count; i++) {
        if (argc < 2 || strcmp(argv[1], cases[i].name) != 0)
            continue;
        cases[i].run();
        return 7;
    }
    for (size_t i = 0; i < count; i++)
        say("%s\n", cases[i].name);
    return argc < 2 ? 0 : 2;
}

#endif
