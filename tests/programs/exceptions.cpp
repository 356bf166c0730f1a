/* tests/programs/exceptions.cpp - exceptions and jumps through frames that allocate.
 *
 * Usage: exceptions THREADS ROUNDS.  Each round throws from a depth of twenty frames, each
 * of which owns a block; half way out it is caught and thrown again.  Then a longjmp goes
 * over as many frames, which leave their blocks behind.
 */
#include <atomic>
#include <csetjmp>
#include <cstdlib>
#include <thread>
#include <vector>

#include "say.h"

enum { DEPTH = 20, SIZE = 40 };

static std::atomic<long> in_frames, in_handlers, left_behind, thrown;

__attribute__((noinline)) static void *make_in_frame()
{
    void *volatile block = std::malloc(SIZE);
    in_frames++;
    return block;
}

__attribute__((noinline)) static void *make_in_catch()
{
    void *volatile block = std::malloc(SIZE);
    in_handlers++;
    return block;
}

__attribute__((noinline)) static void *leave_behind()
{
    void *volatile block = std::malloc(SIZE);
    left_behind++;
    return block;
}

struct owner {
    void *block = make_in_frame();
    ~owner()
    {
        std::free(block);
    }
};

static void descend(int depth)
{
    const owner own;
    if (depth == 0) {
        thrown++;
        throw depth;
    }
    if (depth != DEPTH / 2) {
        descend(depth - 1);
        return;
    }
    try {
        descend(depth - 1);
    } catch (int) {
        std::free(make_in_catch());
        throw;
    }
}

static void jump(std::jmp_buf &back, int depth)
{
    void *volatile block = leave_behind();
    if (depth == 0)
        std::longjmp(back, 1);
    if (depth > 0)
        jump(back, depth - 1);
    std::free(block);
}

static void work(int rounds)
{
    for (volatile int i = 0; i < rounds; i++) {
        std::jmp_buf back;
        try {
            descend(DEPTH);
        } catch (int) {
            std::free(make_in_catch());
        }
        if (setjmp(back) == 0)
            jump(back, DEPTH);
    }
}

int main(int argc, char **argv)
{
    const int threads = argc > 1 ? std::atoi(argv[1]) : 0;
    const int rounds = argc > 2 ? std::atoi(argv[2]) : 10;
    {
        std::vector<std::thread> others;
        for (int i = 0; i < threads; i++)
            others.emplace_back(work, rounds);
        work(rounds);
        for (std::thread &other : others)
            other.join();
    }
    say("thrown %ld\n", thrown.load());
    say("{\"make_in_frame\": [%ld, %ld, 0], \"make_in_catch\": [%ld, %ld, 0], "
        "\"leave_behind\": [%ld, %ld, %ld]}\n",
        in_frames.load(), in_frames * SIZE, in_handlers.load(), in_handlers * SIZE,
        left_behind.load(), left_behind * SIZE, left_behind.load());
    return 0;
}
