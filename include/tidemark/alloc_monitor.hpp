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
#include <malloc.h> /* as CMS's header does: users count on it */
#include <memory>
#include <mutex>
#include <new>
#include <stdlib.h>
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

} // namespace perftools
} // namespace cms

#endif
