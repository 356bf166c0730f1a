/* tests/programs/pooled_new.cpp - new and delete, to be run on lib_pooled_new.so. */
#include <cstddef>
#include <new>

#include "say.h"

int main()
{
    static void *blocks[1000];
    unsigned long bytes = 0;
    for (std::size_t i = 0; i < 1000; i++) {
        blocks[i] = ::operator new(24 + i % 100);
        bytes += 24 + i % 100;
    }
    for (std::size_t i = 0; i < 1000; i += 2)
        ::operator delete(blocks[i]);
    say("{\"calls\": 1000, \"frees\": 500, \"bytes\": %lu}\n", bytes);
    return 0;
}
