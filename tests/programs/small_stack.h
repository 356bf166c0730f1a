/* tests/programs/small_stack.h - a thread with a small stack, and room for coroutines below. */
#ifndef TIDE_TESTS_SMALL_STACK_H
#define TIDE_TESTS_SMALL_STACK_H

#include <pthread.h>
#include <sys/mman.h>

#include "one_place.h"

enum { ALL = 4 << 20, THREAD = 128 << 10, PLACE = 2 << 20 };

static char *room;

static void protect(char *from, size_t bytes)
{
    mprotect(from, bytes, PROT_NONE);
}

static void *work(void *unused)
{
    make_another();
    use_place(room + PLACE, protect);
    return unused;
}

/* Begin a thread with START; 0, or what went wrong. */
static int begin_thread(pthread_t *thread, void *(*start)(void *))
{
    pthread_attr_t attributes;
    room = mmap(NULL, ALL, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (room == MAP_FAILED ||
        mprotect(room + ALL - THREAD, THREAD, PROT_READ | PROT_WRITE) != 0 ||
        mprotect(room + PLACE, LARGE, PROT_READ | PROT_WRITE) != 0)
        return 1;
    pthread_attr_init(&attributes);
    return pthread_attr_setstack(&attributes, room + ALL - THREAD, THREAD) ||
           pthread_create(thread, &attributes, start, NULL);
}

#endif
