/* tests/programs/lib_handing_new.cpp - operators new and delete with a list of their own.
 *
 * No malloc and no free inside.  As soon as a block is in the list, `given_back` is called:
 * whatever another thread does at that moment, the test can do.
 */
#include <cstddef>
#include <new>

alignas(64) static unsigned char block[64];
static bool is_taken;

extern "C" void (*given_back)(void);
void (*given_back)(void);

void *operator new(std::size_t size)
{
    if (is_taken || size > sizeof(block))
        throw std::bad_alloc();
    is_taken = true;
    return block;
}

void operator delete(void *) noexcept
{
    is_taken = false;
    if (given_back)
        given_back();
}

void operator delete(void *given, std::size_t) noexcept
{
    operator delete(given);
}
