// tests/programs/odd_mismatch.cpp - new with free, malloc with delete: wrong, and common.
#include <cstdlib>
#include <new>

__attribute__((noinline)) static void *made_by_new(size_t size)
{
    void *volatile block = ::operator new(size);
    return block;
}

__attribute__((noinline)) static void *made_in_c(size_t size)
{
    void *volatile block = std::malloc(size);
    return block;
}

int main()
{
    for (int i = 0; i < 500; i++) {
        std::free(made_by_new(100));
        ::operator delete(made_in_c(200));
        ::operator delete[](made_by_new(300));
        ::operator delete(std::realloc(made_by_new(400), 4000));
    }
    return 0;
}
