/* tests/programs/keeps_errno.cpp - what every call leaves in errno.
 *
 * Prints one line per call: result and errno, which was set to a canary before.  Each
 * call is made in a new thread first (its first event), then often enough that the
 * recorder has to make room in between.
 */
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <dlfcn.h>
#include <malloc.h>
#include <new>
#include <pthread.h>
#include <sys/mman.h>

#include "say.h"

enum { CANARY = 4242, AGAIN = 300 };

static volatile std::size_t huge = PTRDIFF_MAX, odd = 3;

static bool freed(void *block)
{
    free(block);
    return block != nullptr;
}

static bool unmapped(void *map)
{
    return map != MAP_FAILED && munmap(map, 8192) == 0;
}

static void *map(std::size_t bytes)
{
    return mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
                0);
}

static bool aligned(std::size_t align, std::size_t size)
{
    void *block = nullptr;
    const bool made = posix_memalign(&block, align, size) == 0;
    free(block);
    return made;
}

static bool resized(std::size_t size)
{
    void *block = malloc(10);
    void *moved = realloc(block, size);
    if (moved || size != 0) /* size 0 has freed it */
        free(moved ? moved : block);
    return moved != nullptr;
}

static bool replaced(std::size_t count)
{
    void *block = malloc(10);
    void *moved = reallocarray(block, count, 16);
    free(moved ? moved : block);
    return moved != nullptr;
}

static bool renewed(std::size_t size)
{
    char *block = new (std::nothrow) char[size];
    delete[] block;
    return block != nullptr;
}

static bool thrown()
{
    try {
        void *volatile block = operator new(huge);
        operator delete(block);
        return true;
    } catch (const std::bad_alloc &) {
        return false;
    }
}

static bool overaligned()
{
    void *block = operator new(100, std::align_val_t(256));
    operator delete(block, std::align_val_t(256));
    return block != nullptr;
}

static bool remapped()
{
    void *old = map(4096);
    void *larger = mremap(old, 4096, 8192, MREMAP_MAYMOVE);
    return unmapped(larger);
}

static bool advised()
{
    void *pages = map(8192);
    const bool done = mprotect(pages, 4096, PROT_NONE) == 0 &&
                      madvise(pages, 8192, MADV_DONTNEED) == 0;
    return unmapped(pages) && done;
}

static bool opened()
{
    void *library = dlopen("libm.so.6", RTLD_NOW);
    return library && dlclose(library) == 0;
}

static void *nothing(void *argument)
{
    return argument;
}

static bool threaded()
{
    pthread_t id;
    return pthread_create(&id, nullptr, nothing, nullptr) == 0 &&
           pthread_join(id, nullptr) == 0;
}

struct call {
    const char *name;
    bool (*make)();
};

static const call calls[] = {
    {"free", [] { return (free(nullptr), true); }},
    {"malloc", [] { return freed(malloc(100)); }},
    {"malloc large", [] { return freed(malloc(1 << 20)); }},
    {"malloc huge", [] { return freed(malloc(huge)); }},
    {"calloc", [] { return freed(calloc(10, 10)); }},
    {"calloc overflow", [] { return freed(calloc(huge, 10)); }},
    {"realloc", [] { return resized(5000); }},
    {"realloc zero", [] { return resized(0); }},
    {"realloc huge", [] { return resized(huge); }},
    {"realloc null", [] { return freed(realloc(nullptr, 10)); }},
    {"reallocarray", [] { return replaced(100); }},
    {"reallocarray overflow", [] { return replaced(huge); }},
    {"posix_memalign", [] { return aligned(64, 100); }},
    {"posix_memalign odd", [] { return aligned(odd, 100); }},
    {"posix_memalign huge", [] { return aligned(64, huge); }},
    {"aligned_alloc", [] { return freed(aligned_alloc(64, 128)); }},
    {"aligned_alloc huge", [] { return freed(aligned_alloc(64, huge)); }},
    {"memalign", [] { return freed(memalign(64, 128)); }},
    {"valloc", [] { return freed(valloc(128)); }},
    {"pvalloc", [] { return freed(pvalloc(128)); }},
    {"usable size", [] { return malloc_usable_size(nullptr) == 0; }},
    {"new", [] { return renewed(100); }},
    {"new huge nothrow", [] { return renewed(huge); }},
    {"new huge", thrown},
    {"new aligned", overaligned},
    {"mmap", [] { return unmapped(map(8192)); }},
    {"mmap nothing", [] { return unmapped(map(0)); }},
    {"mmap huge", [] { return unmapped(map(huge)); }},
    {"munmap odd", [] { return munmap(reinterpret_cast<void *>(odd), 1) == 0; }},
    {"mremap", remapped},
    {"mprotect madvise", advised},
    {"dlopen dlclose", opened},
    {"pthread_create", threaded},
};

static void *first(void *argument)
{
    const call *const one = static_cast<const call *>(argument);
    errno = CANARY;
    const bool result = one->make();
    const int left = errno;
    say("%s: %d, errno %d", one->name, result, left);
    int others = 0;
    for (int i = 0; i < AGAIN; i++) {
        errno = CANARY;
        others += one->make() != result || errno != left;
    }
    say(", %d others\n", others);
    return nullptr;
}

int main()
{
    for (const call &one : calls) {
        pthread_t id;
        if (pthread_create(&id, nullptr, first, const_cast<call *>(&one)) != 0)
            return 3;
        pthread_join(id, nullptr);
    }
    return 0;
}
