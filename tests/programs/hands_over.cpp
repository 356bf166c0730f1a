/* tests/programs/hands_over.cpp - a deleted block is another thread's at once.
 *
 * With lib_handing_new.so: the other thread gets it while operator delete still runs.  Prints
 * what tide_find() says then: its answer, and the bytes of the block.
 */
#include <new>
#include <pthread.h>
#include <tidemark/tidemark.h>

#include "say.h"

extern "C" void (*given_back)(void);

static void *taken;

static void *take(void *)
{
    taken = ::operator new(40);
    return nullptr;
}

static void let_another_take_it()
{
    pthread_t other;
    if (pthread_create(&other, nullptr, take, nullptr) == 0)
        pthread_join(other, nullptr);
}

int main()
{
    void *const block = ::operator new(24);
    given_back = let_another_take_it;
    ::operator delete(block);
    tide_found_block found = {};
    const int answer = tide_find(taken, &found);
    say("[%d, %d, %lu]\n", taken == block, answer,
        static_cast<unsigned long>(found.bytes));
    given_back = nullptr;
    ::operator delete(taken);
    say("%d\n", tide_find(taken, &found));
    return 0;
}
