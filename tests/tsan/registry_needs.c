/* tsan/registry_needs.c - what the registry needs of the recorder. */
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "capture/process.h"
#include "capture/self.h"

_Thread_local struct tide_self tide_self;

void tide_lock(_Atomic uint32_t *lock)
{
    uint32_t free_one = 0;
    while (!atomic_compare_exchange_weak(lock, &free_one, 1)) {
        free_one = 0;
        sched_yield();
    }
}

void tide_unlock(_Atomic uint32_t *lock)
{
    atomic_store(lock, 0);
}

void *tide_lasting_memory(uint64_t bytes)
{
    return calloc(1, bytes); /* so that the sanitizer knows when it is given back */
}

void tide_lasting_release(void *memory, uint64_t bytes)
{
    (void)bytes;
    free(memory);
}
