/* tests/programs/deletes_amid.cpp - a delete amid another, before the block of that is freed.
 *
 * With lib_nesting_new.so.  Makes three blocks and deletes all of them, and has nothing left.
 */
#include <new>

extern "C" void (*amid_delete)(void);

static void *second, *third;

static void delete_others()
{
    ::operator delete(second);
    ::operator delete(third);
}

int main()
{
    void *const first = ::operator new(100);
    second = ::operator new(200);
    third = ::operator new(300);
    amid_delete = delete_others;
    ::operator delete(first);
    return 0;
}
