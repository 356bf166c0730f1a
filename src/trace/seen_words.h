/* trace/seen_words.h - which addresses stood in the stacks of which process.
 *
 * For: trace/encode.c, collect/, tests/.  The encoder meets each word that it has not in its
 * dictionary, so at the end of a run it is known which frames want a name, without a walk
 * through the trace.
 */
#ifndef TIDE_TRACE_SEEN_WORDS_H
#define TIDE_TRACE_SEEN_WORDS_H

#include <stddef.h>
#include <stdint.h>

/* A set of all zeros is ready for use. */
struct tide_seen_words {
    uint64_t *slots; /* owned: open addressing; 0 is free */
    size_t capacity; /* a power of two, or 0 */
    size_t count;
    size_t
        left_out; /* words for which there was no room; some of them more than once */
};

void tide_seen_words_release(struct tide_seen_words *seen);

/* WORD (format.h) stood in a stack of PROCESS.  Only addresses are remembered. */
void tide_seen_words_add(struct tide_seen_words *seen, uint32_t process, uint64_t word);

/* What a used slot holds. */
static inline uint32_t tide_seen_process(uint64_t slot)
{
    return (uint32_t)(slot >> 48) - 1;
}

static inline uint64_t tide_seen_address(uint64_t slot)
{
    return slot & ((1ull << 48) - 1);
}

#endif
