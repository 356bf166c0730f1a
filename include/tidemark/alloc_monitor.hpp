/* tidemark/alloc_monitor.hpp - the monitor classes of CMS's AllocMonitor, for tidemark.
 *
 *     struct Counter : cms::perftools::AllocMonitorBase {
 *         void allocCalled(size_t requested, size_t actual, void const *) override;
 *         void deallocCalled(size_t actual, void const *) override;
 *     };
 *     auto &registry = cms::perftools::AllocMonitorRegistry::instance();
 *     auto *counter = registry.createAndRegisterMonitor<Counter>();
 *     ...
 *     registry.deregisterMonitor(counter); // deletes it
 *
 * Nothing to link; the recorder takes the place of libPerfToolsAllocMonitorPreload.so.
 * With LD_PRELOAD=libtidemark.so alone such a program leaves no trace; `tidemark run`, or
 * TIDEMARK_OUTPUT, asks for one.
 * Monitors are called after each allocation and before each free, by the thread that does
 * it, in the order in which they were registered; what they allocate themselves, and what
 * making and deleting them allocates, causes no calls.  Unlike there, monitors may come and
 * go while other threads allocate.  C++11 and up.
 */
#ifndef TIDEMARK_ALLOC_MONITOR_HPP
#define TIDEMARK_ALLOC_MONITOR_HPP

#include <cstddef>
#include <cstdio>
#include <cstring>
#include <malloc.h> /* as CMS's header does: users count on it */
#include <memory>
#include <mutex>
#include <new>
#include <stdlib.h>
#include <string>
#include <unistd.h>
#include <utility>
#include <vector>
#include "tidemark.hpp"

/* A note in the program's file: preloaded alone, the recorder serves its monitors and writes
 * no trace. */
#ifdef __ELF__
__asm__(".pushsection .note.tidemark,\"aG\",%note,tidemark_own_monitors,comdat\n"
        "\t.balign 4\n"
        "\t.long 9, 0, 1\n"
        "\t.asciz \"tidemark\"\n"
        "\t.balign 4\n"
        "\t.popsection\n");
#endif

namespace cms
{
namespace perftools
{

/* Monitors need the recorder. */
class NoAllocMonitorPreload : public ::tidemark::not_recorded
{
};

class AllocMonitorBase
{
  public:
    AllocMonitorBase() = default;
    AllocMonitorBase(const AllocMonitorBase &) = delete;
    AllocMonitorBase &operator=(const AllocMonitorBase &) = delete;
    virtual ~AllocMonitorBase() = default;

    virtual void allocCalled(std::size_t requested, std::size_t actual, void const *)
    {
        allocCalled(requested, actual);
    }
    virtual void deallocCalled(std::size_t actual, void const *)
    {
        deallocCalled(actual);
    }

    /* As they were before they got the address. */
    virtual void allocCalled(std::size_t, std::size_t)
    {
    }
    virtual void deallocCalled(std::size_t)
    {
    }
};

/* The monitors that there are, and owns them: the registry's inside. */
class AllocMonitorList
{
  public:
    AllocMonitorList() = default;
    AllocMonitorList(const AllocMonitorList &) = delete;
    AllocMonitorList &operator=(const AllocMonitorList &) = delete;
    ~AllocMonitorList()
    {
        while (!entries_.empty())
            remove(entries_.back().monitor);
    }

    void add(std::unique_ptr<AllocMonitorBase> monitor)
    {
        const std::lock_guard<std::mutex> guard(lock_);
        entries_.push_back(entry{monitor.get(), TIDE_NOTHING});
        if (tide_monitor_add(alloc_called, free_called, monitor.get(),
                             &entries_.back().handle) != TIDE_DONE) {
            entries_.pop_back();
            throw std::bad_alloc();
        }
        monitor.release();
    }

    /* Waits for calls that are running without the lock: they may be waiting for it. */
    void remove(const AllocMonitorBase *monitor)
    {
        const tide_handle handle = take(monitor);
        if (!handle)
            return;
        tide_monitor_remove(handle);
        delete monitor;
    }

  private:
    struct entry {
        AllocMonitorBase *monitor; /* owned */
        tide_handle handle;
    };

    tide_handle take(const AllocMonitorBase *monitor);
    static void alloc_called(std::size_t requested, std::size_t actual,
                             const void *address, void *monitor) noexcept;
    static void free_called(std::size_t actual, const void *address,
                            void *monitor) noexcept;

    std::mutex lock_;
    std::vector<entry> entries_; /* Guarded by lock_ */
};

/* Out of the list; TIDE_NOTHING when it is not in it. */
inline tide_handle AllocMonitorList::take(const AllocMonitorBase *monitor)
{
    const std::lock_guard<std::mutex> guard(lock_);
    for (auto i = entries_.begin(); i != entries_.end(); ++i) {
        if (i->monitor != monitor)
            continue;
        const tide_handle handle = i->handle;
        entries_.erase(i);
        return handle;
    }
    return TIDE_NOTHING;
}

inline void AllocMonitorList::alloc_called(std::size_t requested, std::size_t actual,
                                           const void *address, void *monitor) noexcept
{
    static_cast<AllocMonitorBase *>(monitor)->allocCalled(requested, actual, address);
}

inline void AllocMonitorList::free_called(std::size_t actual, const void *address,
                                          void *monitor) noexcept
{
    static_cast<AllocMonitorBase *>(monitor)->deallocCalled(actual, address);
}

class AllocMonitorRegistry
{
  public:
    AllocMonitorRegistry(const AllocMonitorRegistry &) = delete;
    AllocMonitorRegistry &operator=(const AllocMonitorRegistry &) = delete;

    static AllocMonitorRegistry &instance()
    {
        static AllocMonitorRegistry registry;
        return registry;
    }

    static bool necessaryLibraryWasPreloaded()
    {
        return tide_present() != 0;
    }

    /* A monitor T(ARGUMENTS...), which belongs to the registry.  Throws
     * NoAllocMonitorPreload when the recorder is not there. */
    template <class T, class... ARGUMENTS>
    T *createAndRegisterMonitor(ARGUMENTS &&...arguments)
    {
        if (!necessaryLibraryWasPreloaded())
            throw NoAllocMonitorPreload();
        const ::tidemark::hush quiet;
        std::unique_ptr<T> monitor(new T(std::forward<ARGUMENTS>(arguments)...));
        T *const made = monitor.get();
        list_.add(std::move(monitor));
        return made;
    }

    /* MONITOR is called no more, and deleted.  One that is not registered is left alone.
     * Not for a monitor to do to itself. */
    template <class T> void deregisterMonitor(T *monitor)
    {
        const ::tidemark::hush quiet;
        list_.remove(monitor);
    }

  private:
    AllocMonitorRegistry() = default;
    ~AllocMonitorRegistry() = default;

    AllocMonitorList list_;
};

/* Says at the end of a scope, on standard error, what the thread did in it; as CMS's service
 * of that name:
 *
 *     cms::perftools::IntrusiveAllocMonitor monitor;
 *     {
 *         auto guard = monitor.startMonitoring("vector fill");
 *         ...
 *     }
 *
 * A guard inside another takes its own part out of that one's.  Each is a window of the trace
 * as well.  Without the recorder nothing is said. */
class IntrusiveAllocMonitor
{
  public:
    class Guard;
    Guard startMonitoring(const char *name) const;
    Guard startMonitoring(const std::string &name) const;
};

class IntrusiveAllocMonitor::Guard
{
  public:
    explicit Guard(const char *name) : outer_(newest())
    {
        std::snprintf(name_, sizeof(name_), "%s", name);
        if (outer_)
            outer_->hold();
        newest() = this;
        go_on();
    }
    Guard(Guard &&other) noexcept
        : outer_(other.outer_), window_(other.window_), sum_(other.sum_)
    {
        std::memcpy(name_, other.name_, sizeof(name_));
        other.moved_ = true;
        if (newest() == &other)
            newest() = this;
    }
    Guard(const Guard &) = delete;
    Guard &operator=(const Guard &) = delete;
    Guard &operator=(Guard &&) = delete;
    ~Guard()
    {
        if (moved_)
            return;
        hold();
        if (tide_present())
            say();
        newest() = outer_;
        if (outer_)
            outer_->go_on();
    }

  private:
    static Guard *&newest()
    {
        static thread_local Guard *guard;
        return guard;
    }
    void go_on()
    {
        window_ = tide_window_start(name_, TIDE_SCOPE_THREAD);
    }
    /* Add what was counted since. */
    void hold()
    {
        tide_stats part;
        tide_stop(window_, &part);
        sum_.requested_bytes += part.requested_bytes;
        sum_.alloc_calls += part.alloc_calls;
        sum_.free_calls += part.free_calls;
        if (sum_.largest_bytes < part.largest_bytes)
            sum_.largest_bytes = part.largest_bytes;
        if (sum_.peak_bytes < sum_.live_bytes + part.peak_bytes)
            sum_.peak_bytes = sum_.live_bytes + part.peak_bytes;
        sum_.live_bytes += part.live_bytes;
    }
    void say() const
    {
        char text[512];
        const int length = std::snprintf(
            text, sizeof(text),
            "%%MSG-s IntrusiveAllocMonitor:\n%s: requested %llu added %lld max alloc %llu"
            " peak %lld nAlloc %llu nDealloc %llu\n%%MSG\n",
            name_, static_cast<unsigned long long>(sum_.requested_bytes),
            static_cast<long long>(sum_.live_bytes),
            static_cast<unsigned long long>(sum_.largest_bytes),
            static_cast<long long>(sum_.peak_bytes),
            static_cast<unsigned long long>(sum_.alloc_calls),
            static_cast<unsigned long long>(sum_.free_calls));
        if (::write(STDERR_FILENO, text, static_cast<std::size_t>(length)) < 0)
            return; /* nobody reads it */
    }

    char name_[128];
    Guard *outer_; /* borrowed */
    tide_handle window_ = TIDE_NOTHING;
    tide_stats sum_{};
    bool moved_ = false;
};

inline IntrusiveAllocMonitor::Guard IntrusiveAllocMonitor::startMonitoring(
    const char *name) const
{
    return Guard(name);
}

inline IntrusiveAllocMonitor::Guard IntrusiveAllocMonitor::startMonitoring(
    const std::string &name) const
{
    return Guard(name.c_str());
}

} // namespace perftools
} // namespace cms

#endif
