/* tests/programs/counted_new.cpp - a window around new and delete.
 *
 * Prints what it counted: calls, requested, used and frees, freed; last the usable sizes of
 * the blocks; counted_new pooled, for lib_pooled_new.so, does not ask malloc for them.
 */
#include <cstddef>
#include <malloc.h>
#include <new>
#include <tidemark/tidemark.hpp>

#include "say.h"

int main(int argc, char **)
{
    enum { BLOCKS = 100 };
    static void *blocks[BLOCKS];
    std::size_t usable = 0;
    tidemark::window counted;
    for (std::size_t i = 0; i < BLOCKS; i++)
        blocks[i] = ::operator new(100 + i);
    for (std::size_t i = 0; i < BLOCKS; i++) {
        usable += argc < 2 ? malloc_usable_size(blocks[i]) : 0;
        if (i % 2 == 0)
            ::operator delete(blocks[i], 100 + i);
        else
            ::operator delete(blocks[i]);
    }
    const tide_stats stats = counted.stop();
    say("[%lu, %lu, %lu, %lu, %lu, %zu]\n",
        static_cast<unsigned long>(stats.alloc_calls),
        static_cast<unsigned long>(stats.requested_bytes),
        static_cast<unsigned long>(stats.used_bytes),
        static_cast<unsigned long>(stats.free_calls),
        static_cast<unsigned long>(stats.freed_bytes), usable);
    return 0;
}
