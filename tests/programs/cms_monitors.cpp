/* tests/programs/cms_monitors.cpp - monitors as CMS's AllocMonitor has them.
 *
 * Prints, as JSON, what monitors were told beside what was done.
 */
#include "PerfTools/AllocMonitor/interface/AllocMonitorBase.h"
#include "PerfTools/AllocMonitor/interface/AllocMonitorRegistry.h"

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <string>
#include <thread>
#include <vector>

using cms::perftools::AllocMonitorBase;
using cms::perftools::AllocMonitorRegistry;

namespace
{

enum { BLOCKS = 100, THREADS = 8, ROUNDS = 500, COMERS = 200 };

void *volatile kept;

struct Counts {
    std::atomic<unsigned long> allocs{0}, frees{0}, requested{0}, small{0}, made{0},
        deleted{0};
};

class Counter : public AllocMonitorBase
{
  public:
    explicit Counter(Counts &counts) : counts_(counts), own_(new std::string(1000, 'x'))
    {
        counts_.made++;
    }
    ~Counter() override
    {
        delete own_;
        counts_.deleted++;
    }
    void allocCalled(size_t requested, size_t actual, void const *address) override
    {
        const std::vector<int> aside(500, 1); // a callback may allocate
        counts_.allocs++;
        counts_.requested += requested;
        if (actual < requested || !address)
            counts_.small++;
    }
    void deallocCalled(size_t, void const *) override
    {
        delete new std::string(2000, 'y');
        counts_.frees++;
    }

  private:
    Counts &counts_;
    std::string *own_;
};

/* As monitors were written before they were told addresses. */
class Older : public AllocMonitorBase
{
  public:
    explicit Older(Counts &counts) : counts_(counts)
    {
    }
    void allocCalled(size_t requested, size_t) override
    {
        counts_.allocs++;
        counts_.requested += requested;
    }
    void deallocCalled(size_t) override
    {
        counts_.frees++;
    }

  private:
    Counts &counts_;
};

/* Stays in its call for a while, in the thread that asks for it. */
class Slow : public AllocMonitorBase
{
  public:
    static thread_local bool wanted;
    static std::atomic<bool> inside;
    static std::atomic<unsigned long> deleted_inside;

    ~Slow() override
    {
        deleted_inside += inside;
    }
    void allocCalled(size_t, size_t, void const *) override
    {
        if (!wanted)
            return;
        inside = true;
        std::this_thread::sleep_for(std::chrono::milliseconds(200));
        inside = false;
    }
};
thread_local bool Slow::wanted;
std::atomic<bool> Slow::inside{false};
std::atomic<unsigned long> Slow::deleted_inside{0};

void print(const char *name, const Counts &counts)
{
    std::printf("\"%s\": [%lu, %lu, %lu, %lu]", name, counts.allocs.load(),
                counts.requested.load(), counts.frees.load(), counts.small.load());
}

void known_blocks()
{
    Counts with_address, without, idle;
    auto &registry = AllocMonitorRegistry::instance();
    auto *first = registry.createAndRegisterMonitor<Counter>(with_address);
    auto *second = registry.createAndRegisterMonitor<Older>(without);
    for (int i = 1; i <= BLOCKS; i++) {
        kept = std::malloc(static_cast<size_t>(i));
        std::free(kept);
    }
    registry.deregisterMonitor(registry.createAndRegisterMonitor<Counter>(idle));
    registry.deregisterMonitor(second);
    registry.deregisterMonitor(first);
    kept = std::malloc(12345);
    std::free(kept);
    print("known", with_address);
    std::printf(", ");
    print("older", without);
    std::printf(", ");
    print("idle", idle);
    std::printf(", \"made\": %lu, \"deleted\": %lu, ",
                with_address.made.load() + idle.made.load(),
                with_address.deleted.load() + idle.deleted.load());
}

void many_threads()
{
    Counts counts, comers;
    std::atomic<int> ready{0};
    std::atomic<bool> counting{false}, finished{false};
    std::vector<std::thread> threads;
    for (int t = 0; t < THREADS; t++)
        threads.emplace_back([&] {
            ready++;
            while (!counting)
                std::this_thread::yield();
            for (int i = 0; i < ROUNDS; i++) {
                void *volatile block = std::malloc(64);
                std::free(block);
            }
            ready--;
            while (!finished)
                std::this_thread::yield();
        });
    while (ready != THREADS)
        std::this_thread::yield();
    auto &registry = AllocMonitorRegistry::instance();
    auto *monitor = registry.createAndRegisterMonitor<Counter>(counts);
    counting = true;
    for (int i = 0; i < COMERS; i++)
        registry.deregisterMonitor(registry.createAndRegisterMonitor<Counter>(comers));
    while (ready != 0)
        std::this_thread::yield();
    registry.deregisterMonitor(monitor);
    finished = true;
    for (auto &thread : threads)
        thread.join();
    print("threads", counts);
    std::printf(", \"comers\": [%lu, %lu]", comers.made.load(), comers.deleted.load());
}

/* Whoever deregisters a monitor waits until it is not being called any more. */
void slow_call()
{
    auto &registry = AllocMonitorRegistry::instance();
    auto *slow = registry.createAndRegisterMonitor<Slow>();
    std::thread caller([] {
        Slow::wanted = true;
        kept = std::malloc(10);
        Slow::wanted = false;
        std::free(kept);
    });
    while (!Slow::inside)
        std::this_thread::yield();
    registry.deregisterMonitor(slow);
    caller.join();
    std::printf(", \"deleted_inside\": %lu", Slow::deleted_inside.load());
}

} // namespace

int main()
{
    static char output[4096];
    std::setvbuf(stdout, output, _IOFBF, sizeof(output));
    try {
        std::printf("{\"preloaded\": %s, ",
                    AllocMonitorRegistry::necessaryLibraryWasPreloaded() ? "true"
                                                                         : "false");
        known_blocks();
        many_threads();
        slow_call();
        std::printf("}\n");
    } catch (const cms::perftools::NoAllocMonitorPreload &error) {
        std::printf("\"message\": \"%s\"}\n", error.what());
    }
    return 0;
}
