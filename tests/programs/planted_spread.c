/* tests/programs/planted_spread.c - what one function asks of forty others comes and goes.
 *
 * None of the forty makes a twentieth of all calls; nor does any of those that the other half
 * of the work is spread over.
 */
#include "planted.h"

enum { FRAMES = 12000 };

static uint64_t bytes, calls;

/* A block that stays until the next one is made. */
#define MAKE(name, number)                                  \
    static APART void name##number(unsigned frame)          \
    {                                                       \
        static void *last;                                  \
        const size_t size = 40 + (frame + number * 7) % 90; \
        free(last);                                         \
        last = malloc(size);                                \
        if (frame == FRAMES)                                \
            free(last), last = NULL;                        \
        bytes += size;                                      \
        calls++;                                            \
    }
#define TEN(name, tens) \
    MAKE(name, tens##0) \
    MAKE(name, tens##1) \
    MAKE(name, tens##2) \
    MAKE(name, tens##3) \
    MAKE(name, tens##4) \
    MAKE(name, tens##5) \
    MAKE(name, tens##6) MAKE(name, tens##7) MAKE(name, tens##8) MAKE(name, tens##9)
#define CALL(name, tens)                                                  \
    name##tens##0(frame), name##tens##1(frame), name##tens##2(frame),     \
        name##tens##3(frame), name##tens##4(frame), name##tens##5(frame), \
        name##tens##6(frame), name##tens##7(frame), name##tens##8(frame), \
        name##tens##9(frame)

TEN(draw, 1)
TEN(draw, 2)
TEN(draw, 3)
TEN(draw, 4)
TEN(load, 1)
TEN(check, 1)
TEN(store, 1)

static APART void render(unsigned frame)
{
    CALL(draw, 1);
    CALL(draw, 2);
    CALL(draw, 3);
    CALL(draw, 4);
}

static APART void load(unsigned frame)
{
    CALL(load, 1);
}

static APART void check(unsigned frame)
{
    CALL(check, 1);
}

static APART void store(unsigned frame)
{
    CALL(store, 1);
}

int main(void)
{
    uint64_t of_render[2] = {0, 0};
    honest_work(1);
    for (unsigned i = 0; i <= FRAMES; i++) {
        const uint64_t before[2] = {bytes, calls};
        render(i);
        of_render[0] += bytes - before[0];
        of_render[1] += calls - before[1];
        load(i);
        check(i);
        store(i);
    }
    confess("churn", "render", of_render[0], of_render[1]);
    return 0;
}
