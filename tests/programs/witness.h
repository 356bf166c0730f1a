/* tests/programs/witness.h - the file that lib_witness.so writes.
 *
 * Words of 8 bytes.  A word with WITNESS_STACK begins a new stack; its return addresses
 * follow, WITNESS_COUNT of them, innermost first.  Stacks are numbered from 0.  Any other
 * word begins a call: thread << 32 | stack, then the block's address, then its size.
 *
 * Frames of the recorder and the witness that stand innermost are left out.  When more of
 * them follow further out, WITNESS_INNER frames stand up to the last: those of the C++
 * library's operator new between two hooks, or code that a hook called and that allocates
 * for itself, such as an exception that operator new throws.  The recorder leaves out the
 * first and shows the second.
 */
#ifndef TIDE_PROGRAMS_WITNESS_H
#define TIDE_PROGRAMS_WITNESS_H

#include <stdint.h>

#define WITNESS_STACK              (1ull << 63)
#define WITNESS_HEAD(inner, count) (WITNESS_STACK | (inner) << 32 | (count))
#define WITNESS_INNER(head)        (((head) & ~WITNESS_STACK) >> 32)
#define WITNESS_COUNT(head)        ((head)&0xffffffffu)

struct witness_file {
    uint64_t used; /* words */
    uint64_t full; /* not 0: words are missing at the end */
    uint64_t words[];
};

#endif
