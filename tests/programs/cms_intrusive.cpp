/* tests/programs/cms_intrusive.cpp - guards as code for CMS's IntrusiveAllocMonitor has them.
 *
 * The guards say what they counted.  Prints, as JSON, the usable bytes of blocks of so many
 * ints.
 */
#include "PerfTools/AllocMonitor/interface/AllocMonitorRegistry.h"

#include <memory>
#include <pthread.h>
#include <string>
#include <vector>

#include "say.h"

namespace
{

const cms::perftools::IntrusiveAllocMonitor monitor;
enum { NUMBERS = 5000 };

void fill(std::vector<int> &numbers)
{
    for (int i = 0; i < NUMBERS; i++)
        numbers.push_back(2 * i - 1);
}

std::unique_ptr<int> inside()
{
    const auto guard = monitor.startMonitoring("inner");
    int *volatile number = new int(42); /* not one that the compiler may leave out */
    return std::unique_ptr<int>(number);
}

void *elsewhere(void *block)
{
    const auto guard = monitor.startMonitoring("other thread");
    *static_cast<void **>(block) = malloc(25 * sizeof(int));
    return nullptr;
}

void nested()
{
    std::vector<int> numbers;
    void *block = nullptr;
    pthread_t thread;
    {
        const auto guard = monitor.startMonitoring(std::string("outer"));
        fill(numbers);
        const std::unique_ptr<int> one = inside();
    }
    pthread_create(&thread, nullptr, elsewhere, &block);
    pthread_join(thread, nullptr);
    free(block);
}

std::size_t usable(std::size_t ints)
{
    void *const block = ::operator new(ints * sizeof(int));
    const std::size_t bytes = malloc_usable_size(block);
    ::operator delete(block);
    return bytes;
}

} // namespace

int main()
{
    {
        std::vector<int> numbers;
        {
            const auto guard = monitor.startMonitoring("fill");
            fill(numbers);
        }
        const auto guard = monitor.startMonitoring(std::string("fill again"));
        fill(numbers);
    }
    nested();
    say("{\"1\": %zu, \"25\": %zu, \"4096\": %zu, \"8192\": %zu, \"16384\": %zu}\n",
        usable(1), usable(25), usable(4096), usable(8192), usable(16384));
    return 0;
}
