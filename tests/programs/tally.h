/* tests/programs/tally.h - a program's own count of what it allocates. */
#ifndef TIDE_TESTS_TALLY_H
#define TIDE_TESTS_TALLY_H

#include <stddef.h>
#include <stdint.h>

#include "say.h"

static struct {
    uint64_t calls, bytes, frees, failed, reallocs;
} tally;

/* BLOCK is what a call for SIZE bytes returned. */
__attribute__((unused)) static void *born(void *block, size_t size)
{
    if (block) {
        tally.calls++;
        tally.bytes += size;
    } else {
        tally.failed++;
    }
    return block;
}

__attribute__((unused)) static void say_tally(void)
{
    say("{\"alloc_calls\": %lu, \"allocated_bytes\": %lu, \"free_calls\": %lu, "
        "\"failed_calls\": %lu, \"realloc_calls\": %lu}\n",
        tally.calls, tally.bytes, tally.frees, tally.failed, tally.reallocs);
}

#endif
