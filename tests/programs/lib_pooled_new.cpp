/* tests/programs/lib_pooled_new.cpp - operator new from a pool, with no malloc inside.
 *
 * What stands before a block is no header of malloc's: whoever asks malloc for the usable
 * size of such a block gets nonsense, or crashes.
 */
#include <cstddef>
#include <cstring>
#include <new>

alignas(64) static unsigned char pool[8u << 20];
static std::size_t used;

void *operator new(std::size_t size)
{
    const std::size_t bytes = 64 + ((size + 63) & ~std::size_t{63});
    if (used + bytes > sizeof(pool))
        throw std::bad_alloc();
    unsigned char *const header = pool + used;
    used += bytes;
    std::memset(header, 0xa5, 64);
    return header + 64;
}

void operator delete(void *) noexcept
{
}

void operator delete(void *, std::size_t) noexcept
{
}
