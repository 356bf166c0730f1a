// tests/programs/deletes_early.cpp - operator delete for a block from before the recorder.
#include <cstdio>
#include <new>

extern "C" void *resolver_block();

int main()
{
    void *block = resolver_block();
    ::operator delete(block);
    std::puts(block ? "deleted" : "none");
    return 0;
}
