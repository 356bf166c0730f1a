/* tests/programs/lib_starts_thread.cpp - its constructor waits for a thread that is the first
 * to use some of the operators new and delete, while the loader holds its lock. */
#include <new>
#include <thread>

struct alignas(64) line {
    char bytes[64];
};

static int start()
{
    std::thread worker([] {
        delete[] new int[5];
        delete new line;
        delete[] new (std::nothrow) line[2];
    });
    worker.join();
    return 1;
}

int started = start();
