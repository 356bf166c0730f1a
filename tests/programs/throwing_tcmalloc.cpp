/* tests/programs/throwing_tcmalloc.cpp - tcmalloc's new throws, and the program goes on. */
#include <cstddef>
#include <new>

#include "say.h"

extern "C" void *tc_new(std::size_t size);
extern "C" void tc_delete(void *block);

int main()
{
    int caught = 0;
    for (int i = 0; i < 10; i++) {
        try {
            tc_delete(tc_new(100));
            tc_delete(tc_new(static_cast<std::size_t>(-1) / 4));
        } catch (const std::bad_alloc &) {
            caught++;
        }
    }
    say("%d\n", caught);
    return 7;
}
