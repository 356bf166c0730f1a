/* tests/programs/aligned_new.cpp - aligned operator new, and aligned_alloc beside it.
 *
 * Each block is kept and has a size of its own, none of those of new a multiple of its
 * alignment.  The first attempt of one fails: the limit of the address space is there until
 * the handler lifts it.  Prints what a window counted: calls, requested, failed.  Then one
 * fails for good, and an aligned_alloc of as much follows.
 */
#include <cstddef>
#include <cstdlib>
#include <new>
#include <sys/resource.h>
#include <tidemark/tidemark.hpp>

#include "say.h"

static void *volatile kept[10];
static rlimit unlimited;

static void lift_limit()
{
    setrlimit(RLIMIT_AS, &unlimited);
}

static void limit()
{
    getrlimit(RLIMIT_AS, &unlimited);
    rlimit limit = unlimited;
    limit.rlim_cur = 1;
    setrlimit(RLIMIT_AS, &limit);
}

static void *after_failing(std::size_t size, std::align_val_t align)
{
    std::set_new_handler(lift_limit);
    limit();
    return ::operator new(size, align);
}

static void *beside_one_that_threw(std::size_t size, std::size_t align)
{
    std::set_new_handler(nullptr);
    limit();
    try {
        kept[9] = ::operator new (size - 1, std::align_val_t{align});
    } catch (const std::bad_alloc &) {
        lift_limit();
    }
    return std::aligned_alloc(align, size);
}

int main()
{
    using std::align_val_t;
    tidemark::window counted;
    kept[0] = ::operator new (100, align_val_t{64});
    kept[1] = ::operator new[](4, align_val_t{32});
    kept[2] = ::operator new (1001, align_val_t{512}, std::nothrow);
    kept[3] = ::operator new[](5000, align_val_t{4096}, std::nothrow);
    kept[4] = ::operator new (0, align_val_t{128});
    kept[5] = after_failing(40000001, align_val_t{64});
    /* Nothing is left of those before. */
    kept[6] = std::aligned_alloc(64, 40000064);
    kept[7] = std::aligned_alloc(64, 128);
    kept[8] = std::aligned_alloc(4096, 8192);
    const tide_stats stats = counted.stop();
    kept[9] = beside_one_that_threw(48 << 20, 1 << 21);
    say("[%lu, %lu, %lu]\n", static_cast<unsigned long>(stats.alloc_calls),
        static_cast<unsigned long>(stats.requested_bytes),
        static_cast<unsigned long>(stats.failed_calls));
    return 0;
}
