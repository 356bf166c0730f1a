/* tests/programs/tls_objects.cpp - thread_local objects whose destructors allocate.
 *
 * Usage: tls_objects THREADS [exit].  With "exit" the destructor of the last thread's
 * object ends the process with status 41 once it has made its blocks.
 */
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

#include "say.h"

static std::atomic<long> made, in_destructors;
static bool leave, ends_in_destructor;

__attribute__((noinline)) static void *make_in_thread(std::size_t size)
{
    void *volatile block = std::malloc(size);
    made++;
    return block;
}

__attribute__((noinline)) static void *make_in_destructor(std::size_t size)
{
    void *volatile block = std::malloc(size);
    in_destructors++;
    return block;
}

static void say_counts()
{
    say("{\"make_in_thread\": [%ld, %ld, 0], \"make_in_destructor\": [%ld, %ld, %d]}\n",
        made.load(), made.load() * 70, in_destructors.load(),
        in_destructors.load() * 80, ends_in_destructor);
}

struct keeper {
    void *block = make_in_thread(70);
    ~keeper()
    {
        std::free(block);
        for (int i = 0; i < 5; i++)
            std::free(make_in_destructor(80));
        if (leave) {
            leave = false; /* exit calls the other's destructor */
            make_in_destructor(80);
            std::exit(41);
        }
    }
};

static thread_local keeper one, two;

static void work()
{
    if (!one.block || !two.block)
        std::abort();
}

int main(int argc, char **argv)
{
    const int threads = argc > 1 ? std::atoi(argv[1]) : 1;
    ends_in_destructor = argc > 2 && std::strcmp(argv[2], "exit") == 0;
    std::atexit(say_counts);
    for (int i = 0; i < threads; i++) {
        leave = ends_in_destructor && i == threads - 1;
        std::thread(work).join();
    }
    return 0;
}
