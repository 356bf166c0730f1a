// tests/programs/event_loop.cpp - the loop of a large physics program, in small.
//
// 100 events.  Each makes 500 hits and 500 temporary strings, leaks one block, puts one
// string into a cache that the job keeps, and lets a thread delete the hits.  Snapshots are
// taken at the end of events 1 and 51, with the vector of hits still alive, and after the
// loop.  Every number is known: see tests/e2e/test_diff.py.
#include <cstdlib>
#include <map>
#include <string>
#include <thread>
#include <tidemark/tidemark.h>
#include <vector>

namespace
{

constexpr int EVENTS = 100;
constexpr int HITS = 500;

struct Hit {
    double values[8];
};

volatile std::size_t sink;
void *volatile kept;

__attribute__((noinline)) Hit *makeHit()
{
    return new Hit();
}

__attribute__((noinline)) void churn()
{
    for (int i = 0; i < HITS; i++) {
        const std::string text(static_cast<std::size_t>(200 + i % 100), 'x');
        sink = sink + text.size();
    }
}

__attribute__((noinline)) void leakOne()
{
    kept = std::malloc(1000);
}

__attribute__((noinline)) void fill(std::vector<Hit *> &hits)
{
    for (int i = 0; i < HITS; i++)
        hits.push_back(makeHit());
}

__attribute__((noinline)) void remember(std::map<int, std::string> &cache, int event)
{
    cache[event] = std::string(static_cast<std::size_t>(100 * event), 'c');
}

} // namespace

int main()
{
    std::map<int, std::string> cache;
    for (int event = 1; event <= EVENTS; event++) {
        std::vector<Hit *> hits;
        fill(hits);
        churn();
        leakOne();
        remember(cache, event);
        std::thread([&hits] {
            for (Hit *hit : hits)
                delete hit;
        }).join();
        if (event % 50 == 1)
            tide_snapshot(("EV." + std::to_string(event)).c_str());
    }
    tide_snapshot("ENDJOB");
    return 0;
}
