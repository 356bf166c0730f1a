/* tests/programs/lib_nesting_new.cpp - an operator delete that is interrupted before it frees.
 *
 * As by the handler of a signal, which `amid_delete` stands for.
 */
#include <cstdlib>
#include <new>

extern "C" void (*amid_delete)(void);
void (*amid_delete)(void);

void *operator new(std::size_t size)
{
    void *const block = std::malloc(size);
    if (!block)
        throw std::bad_alloc();
    return block;
}

void operator delete(void *block) noexcept
{
    void (*const call)(void) = amid_delete;
    amid_delete = nullptr;
    if (call)
        call();
    std::free(block);
}

void operator delete(void *block, std::size_t) noexcept
{
    operator delete(block);
}
