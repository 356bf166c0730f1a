/* tests/programs/cms_proxies.cpp - every call that CMS's AllocMonitor stands before.
 *
 * Of each: the monitor is told once of the allocation, with what was asked for, what the
 * allocator gave and where; and once of the free, with the same bytes and place.  Prints
 * what differs, else "ok" and the calls.
 */
#include "PerfTools/AllocMonitor/interface/AllocMonitorBase.h"
#include "PerfTools/AllocMonitor/interface/AllocMonitorRegistry.h"

#include <cstdio>

using cms::perftools::AllocMonitorBase;
using cms::perftools::AllocMonitorRegistry;

namespace
{

struct Told {
    int allocs, frees;
    std::size_t requested, used, freed;
    const void *made, *gone;
};

class Listener : public AllocMonitorBase
{
  public:
    explicit Listener(Told &told) : told_(told)
    {
    }
    void allocCalled(size_t requested, size_t actual, void const *address) override
    {
        told_.allocs++;
        told_.requested = requested;
        told_.used += actual;
        told_.made = address;
    }
    void deallocCalled(size_t actual, void const *address) override
    {
        told_.frees++;
        told_.freed += actual;
        told_.gone = address;
    }

  private:
    Told &told_;
};

Told told;
int calls, faults;

/* One call of NAME: MAKE makes a block of SIZE bytes, UNMAKE takes it. */
template <class MAKE, class UNMAKE>
void check(const char *name, std::size_t size, MAKE make, UNMAKE unmake)
{
    told = Told();
    void *volatile block = make();
    void *const kept = block;
    const Told born = told;
    const std::size_t usable = malloc_usable_size(kept);
    unmake(kept);
    const Told died = told;
    calls++;
    if (born.allocs == 1 && born.frees == 0 && born.requested == size &&
        born.used == usable && born.made == kept && died.allocs == 1 &&
        died.frees == 1 && died.freed == usable && died.gone == kept)
        return;
    faults++;
    std::printf("%s(%zu): told of %d and %d calls, %zu bytes for %zu, freed %zu, "
                "usable %zu\n",
                name, size, died.allocs, died.frees, born.requested, born.used,
                died.freed, usable);
}

void c_calls()
{
    check(
        "malloc", 50, [] { return malloc(50); }, free);
    check(
        "calloc", 12, [] { return calloc(12, 1); }, free);
    check(
        "realloc", 70, [] { return realloc(nullptr, 70); }, free);
    check(
        "aligned_alloc", 384, [] { return aligned_alloc(128, 384); }, free);
    check(
        "memalign", 24, [] { return memalign(256, 24); }, free);
    check(
        "posix_memalign", 64,
        [] {
            void *block = nullptr;
            return posix_memalign(&block, 128, 64) == 0 ? block : nullptr;
        },
        free);
}

/* Grown: what was ends, what comes of it begins. */
void moves()
{
    void *volatile block = malloc(50);
    const std::size_t before = malloc_usable_size(block);
    told = Told();
    block = realloc(block, 5000);
    const std::size_t after = malloc_usable_size(block);
    free(block);
    calls++;
    if (told.allocs == 1 && told.frees == 2 && told.requested == 5000 &&
        told.used == after && told.freed == before + after)
        return;
    faults++;
    std::printf("realloc: told of %d and %d calls, %zu bytes, freed %zu of %zu\n",
                told.allocs, told.frees, told.used, told.freed, before + after);
}

constexpr std::align_val_t FAR{512};

void new_calls()
{
    using ::operator new;
    using ::operator delete;
    const auto gone = [](void *block) { operator delete(block); };
    const auto gone_array = [](void *block) { operator delete[](block); };
    const auto far_gone = [](void *block) { operator delete(block, FAR); };
    const auto far_array = [](void *block) { operator delete[](block, FAR); };
    check(
        "new", 4, [] { return operator new(4); }, gone);
    check(
        "new[]", 20, [] { return operator new[](20); }, gone_array);
    check(
        "new aligned", 4, [] { return operator new(4, FAR); }, far_gone);
    check(
        "new[] aligned", 20, [] { return operator new[](20, FAR); }, far_array);
    check(
        "new nothrow", 4, [] { return operator new(4, std::nothrow); }, gone);
    check(
        "new[] nothrow", 20, [] { return operator new[](20, std::nothrow); },
        gone_array);
    check(
        "new aligned nothrow", 4, [] { return operator new(4, FAR, std::nothrow); },
        far_gone);
    check(
        "new[] aligned nothrow", 20,
        [] { return operator new[](20, FAR, std::nothrow); }, far_array);
}

void delete_calls()
{
    using ::operator new;
    using ::operator delete;
    const auto made = [] { return operator new(100); };
    const auto array = [] { return operator new[](100); };
    const auto far = [] { return operator new(100, FAR); };
    const auto far_array = [] { return operator new[](100, FAR); };
    check("delete sized", 100, made, [](void *b) { operator delete(b, 100); });
    check("delete[] sized", 100, array, [](void *b) { operator delete[](b, 100); });
    check("delete sized aligned", 100, far,
          [](void *b) { operator delete(b, 100, FAR); });
    check("delete[] sized aligned", 100, far_array,
          [](void *b) { operator delete[](b, 100, FAR); });
    check("delete nothrow", 100, made,
          [](void *b) { operator delete(b, std::nothrow); });
    check("delete[] nothrow", 100, array,
          [](void *b) { operator delete[](b, std::nothrow); });
    check("delete aligned nothrow", 100, far,
          [](void *b) { operator delete(b, FAR, std::nothrow); });
    check("delete[] aligned nothrow", 100, far_array,
          [](void *b) { operator delete[](b, FAR, std::nothrow); });
}

} // namespace

int main()
{
    static char output[4096];
    std::setvbuf(stdout, output, _IOFBF, sizeof(output));
    AllocMonitorRegistry &registry = AllocMonitorRegistry::instance();
    Listener *const listener = registry.createAndRegisterMonitor<Listener>(told);
    if (told.allocs || told.frees)
        std::printf("told of the monitor's own making\n");
    c_calls();
    moves();
    new_calls();
    delete_calls();
    registry.deregisterMonitor(listener);
    if (faults == 0)
        std::printf("ok, %d calls\n", calls);
    return faults != 0;
}
