/* tests/programs/cms_services.cpp - monitors as CMS's services have them, in one job.
 *
 * MaxMemory registers before main and is paused in a part of it; Simple and Histogramming
 * count from the services' making to their end, EventProcessing in the loop of events,
 * Periodic writes a line in its own thread.  An event makes a block that stays, of 1000
 * bytes, and 10 that go, of 2^5 ... 2^14.  Prints, as JSON, what each was told.
 */
#include "PerfTools/AllocMonitor/interface/AllocMonitorBase.h"
#include "PerfTools/AllocMonitor/interface/AllocMonitorRegistry.h"

#include <atomic>
#include <cstdio>
#include <pthread.h>
#include <unistd.h>

#include "say.h"

using cms::perftools::AllocMonitorBase;
using cms::perftools::AllocMonitorRegistry;

namespace
{

enum { EVENTS = 20, SIZES = 10, BINS = 40 };

struct Totals {
    std::atomic<unsigned long> requested{0}, calls{0}, frees{0};
    std::atomic<long> present{0}, highest{0};
};

/* Simple, EventProcessing and MaxMemory. */
class Adder : public AllocMonitorBase
{
  public:
    explicit Adder(Totals &totals) : totals_(totals)
    {
    }
    void allocCalled(size_t requested, size_t actual, void const *) override
    {
        totals_.calls++;
        totals_.requested += requested;
        const long now = totals_.present += static_cast<long>(actual);
        long seen = totals_.highest;
        while (seen < now && !totals_.highest.compare_exchange_weak(seen, now))
            ;
    }
    void deallocCalled(size_t actual, void const *) override
    {
        totals_.frees++;
        totals_.present -= static_cast<long>(actual);
    }

  private:
    Totals &totals_;
};

struct Histograms {
    std::atomic<unsigned long> requested[BINS]{}, used[BINS]{}, freed[BINS]{};
};

class Histogramming : public AllocMonitorBase
{
  public:
    explicit Histogramming(Histograms &bins) : bins_(bins)
    {
    }
    void allocCalled(size_t requested, size_t actual, void const *) override
    {
        bins_.requested[bin(requested)]++;
        bins_.used[bin(actual)]++;
    }
    void deallocCalled(size_t actual, void const *) override
    {
        bins_.freed[bin(actual)]++;
    }

  private:
    static int bin(std::size_t bytes)
    {
        int place = 0;
        for (; bytes > 0 && place < BINS - 1; bytes >>= 1)
            place++;
        return place;
    }
    Histograms &bins_;
};

/* Counts, and has a thread that looks every 5 ms until it is told to stop.  A std::thread
 * would free its own state, and be told of that. */
class Periodic : public Adder
{
  public:
    Periodic(Totals &totals, std::atomic<int> &lines)
        : Adder(totals), totals_(totals), lines_(lines)
    {
        pthread_create(&thread_, nullptr, look, this);
    }
    ~Periodic() override
    {
        stop_ = true;
        pthread_join(thread_, nullptr);
    }

  private:
    static void *look(void *self)
    {
        Periodic &own = *static_cast<Periodic *>(self);
        unsigned long before = 0;
        while (!own.stop_) {
            own.lines_ += own.totals_.requested >= before;
            before = own.totals_.requested;
            usleep(5000);
        }
        return nullptr;
    }
    Totals &totals_;
    std::atomic<int> &lines_;
    std::atomic<bool> stop_{false};
    pthread_t thread_{};
};

void *stays[EVENTS];
void *volatile kept;

void event(int number)
{
    stays[number] = ::operator new(1000);
    for (int i = 0; i < SIZES; i++) {
        kept = ::operator new (std::size_t{32} << i);
        ::operator delete(kept);
    }
}

Totals job, loop, early, watched;
Histograms bins;
std::atomic<int> lines{0};

/* Before main, as a preloaded library does it. */
Adder *max_memory()
{
    if (!AllocMonitorRegistry::necessaryLibraryWasPreloaded())
        return nullptr;
    return AllocMonitorRegistry::instance().createAndRegisterMonitor<Adder>(early);
}
Adder *const before_main = max_memory();

void print(const char *name, const Totals &totals)
{
    say("\"%s\": {\"requested\": %lu, \"highest\": %ld, \"calls\": %lu, \"frees\": %lu, "
        "\"present\": %ld}, ",
        name, totals.requested.load(), totals.highest.load(), totals.calls.load(),
        totals.frees.load(), totals.present.load());
}

void print(const char *name, const std::atomic<unsigned long> *counts)
{
    say("\"%s\": [", name);
    for (int i = 0; i < BINS; i++)
        say("%lu%s", counts[i].load(), i < BINS - 1 ? ", " : "], ");
}

} // namespace

int main()
{
    AllocMonitorRegistry &registry = AllocMonitorRegistry::instance();
    event(0); /* nobody but MaxMemory */
    auto *const simple = registry.createAndRegisterMonitor<Adder>(job);
    auto *const histogramming = registry.createAndRegisterMonitor<Histogramming>(bins);
    auto *const periodic = registry.createAndRegisterMonitor<Periodic>(watched, lines);
    event(1); /* beginJob */
    auto *const processing = registry.createAndRegisterMonitor<Adder>(loop);
    for (int i = 2; i < EVENTS; i++)
        event(i);
    registry.deregisterMonitor(processing);
    for (void *block : stays) /* endJob */
        ::operator delete(block);
    usleep(60000);
    registry.deregisterMonitor(periodic);
    registry.deregisterMonitor(histogramming);
    registry.deregisterMonitor(simple);
    registry.deregisterMonitor(before_main);
    event(0);
    ::operator delete(stays[0]);
    say("{");
    print("MaxMemory", early);
    print("Simple", job);
    print("EventProcessing", loop);
    print("Periodic", watched);
    print("requested", bins.requested);
    print("used", bins.used);
    print("freed", bins.freed);
    say("\"lines\": %d}\n", lines.load());
    return 0;
}
