/* tests/programs/new_delete.cpp - every form of operator new and delete, once each.
 *
 * Also a failing new (std::bad_alloc passes through) and a new_handler that frees its
 * reserve, unless there is an argument: some allocators abort instead.  Prints what it
 * did; the libstdc++ emergency pool comes on top.
 */
#include <cstdint>
#include <cstdlib>
#include <new>

#include "say.h"

static unsigned long calls, frees, bytes;

static void *born(void *block, std::size_t size)
{
    calls++;
    bytes += size;
    return block;
}

static void *reserve;

static void give_reserve_back()
{
    std::free(reserve);
    frees++;
    reserve = nullptr;
    std::set_new_handler(nullptr);
}

static int caught, second;

static void fail_twice()
{
    volatile std::size_t huge = SIZE_MAX / 4;
    try {
        born(::operator new(huge), 0);
    } catch (const std::bad_alloc &) {
        caught = 1;
    }
    reserve = born(std::malloc(1000), 1000);
    std::set_new_handler(give_reserve_back);
    second = ::operator new(huge, std::nothrow) != nullptr;
}

int main(int argc, char **)
{
    using std::align_val_t;
    const auto big = align_val_t{256}; /* no size is a multiple of it */

    void *a = born(::operator new(101), 101);
    void *b = born(::operator new[](102), 102);
    void *c = born(::operator new(103, std::nothrow), 103);
    void *d = born(::operator new[](104, std::nothrow), 104);
    void *e = born(::operator new(257, big), 257);
    void *f = born(::operator new[](513, big), 513);
    void *g = born(::operator new(769, big, std::nothrow), 769);
    void *h = born(::operator new[](1025, big, std::nothrow), 1025);
    void *i = born(::operator new(105), 105);
    void *j = born(::operator new[](106), 106);
    void *k = born(::operator new(1281, big), 1281);
    void *l = born(::operator new[](1537, big), 1537);

    ::operator delete(a);
    ::operator delete[](b);
    ::operator delete(c, std::nothrow);
    ::operator delete[](d, std::nothrow);
    ::operator delete(e, big);
    ::operator delete[](f, big);
    ::operator delete(g, big, std::nothrow);
    ::operator delete[](h, big, std::nothrow);
    ::operator delete(i, 105);
    ::operator delete[](j, 106);
    ::operator delete(k, 1281, big);
    ::operator delete[](l, 1537, big);
    ::operator delete(nullptr);
    frees += 12;

    if (argc == 1)
        fail_twice();
    int *after = new int[10];
    born(after, 40);
    delete[] after;
    frees++;
    say("{\"alloc_calls\": %lu, \"free_calls\": %lu, \"allocated_bytes\": %lu, "
        "\"caught\": %d, \"second\": %d, \"reserve\": %d}\n",
        calls, frees, bytes, caught, second, reserve != nullptr);
    return 0;
}
