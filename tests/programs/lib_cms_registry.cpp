/* tests/programs/lib_cms_registry.cpp - a registry with the names of CMS's own, as in
 * libPerfToolsAllocMonitor.so: it knows nothing of tidemark, and finds the four functions of
 * its preload by dlsym.  It counts what it is told; cms_library.cpp prints that.
 */
#include <atomic>
#include <cstddef>
#include <dlfcn.h>

namespace cms
{
namespace perftools
{

class AllocMonitorRegistry
{
  public:
    static AllocMonitorRegistry &instance();
    bool begin();
    void end();
    long told(int what) const
    {
        return counts_[what];
    }

  private:
    AllocMonitorRegistry() = default;
    ~AllocMonitorRegistry();
    void allocCalled_(std::size_t requested, std::size_t actual, void const *address);
    void deallocCalled_(std::size_t actual, void const *address);

    std::atomic<long> counts_[5]{};
};

namespace
{

template <class FUNCTION> FUNCTION find(const char *name)
{
    return reinterpret_cast<FUNCTION>(dlsym(RTLD_DEFAULT, name));
}

} // namespace

AllocMonitorRegistry &AllocMonitorRegistry::instance()
{
    static AllocMonitorRegistry registry;
    return registry;
}

AllocMonitorRegistry::~AllocMonitorRegistry()
{
    end();
}

/* Nothing that is done while a monitor is made is told; *before* must have been "yes". */
bool AllocMonitorRegistry::begin()
{
    const auto start = find<void (*)()>("alloc_monitor_start");
    const auto hush = find<bool (*)()>("alloc_monitor_stop_thread_reporting");
    const auto tell = find<void (*)()>("alloc_monitor_start_thread_reporting");
    if (!start || !hush || !tell)
        return false;
    const bool before = hush();
    const bool again = hush();
    start();
    start();
    delete new long(1);
    if (before)
        tell();
    return before && !again;
}

void AllocMonitorRegistry::end()
{
    if (const auto stop = find<void (*)()>("alloc_monitor_stop"))
        stop();
}

void AllocMonitorRegistry::allocCalled_(std::size_t requested, std::size_t actual,
                                        void const *address)
{
    counts_[0]++;
    counts_[1] += static_cast<long>(requested);
    counts_[2] += static_cast<long>(actual);
    delete new char; /* a callback may allocate */
    if (!address)
        counts_[2] = -1;
}

void AllocMonitorRegistry::deallocCalled_(std::size_t actual, void const *)
{
    counts_[3]++;
    counts_[4] += static_cast<long>(actual);
}

} // namespace perftools
} // namespace cms

extern "C" bool registry_begin()
{
    return cms::perftools::AllocMonitorRegistry::instance().begin();
}

extern "C" void registry_end()
{
    cms::perftools::AllocMonitorRegistry::instance().end();
}

extern "C" long registry_told(int what)
{
    return cms::perftools::AllocMonitorRegistry::instance().told(what);
}

/* Empty, for a preload to take their place. */
void pauseMaxMemoryPreload();
void pauseMaxMemoryPreload()
{
}

void unpauseMaxMemoryPreload();
void unpauseMaxMemoryPreload()
{
}
