/* tests/programs/region_clock.c - regions and phases whose time is known, some never ended.
 *
 * Prints, as JSON, the seconds that it spent by its own clock in some, with what is inside.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <tidemark/tidemark.h>
#include <time.h>
#include <unistd.h>

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

/* Time passes, and enough events for it to be stamped. */
static void pass(int milliseconds)
{
    for (int i = 0; i < 200; i++) {
        void *volatile block = malloc(10);
        free(block);
        if (i == 100)
            usleep((useconds_t)milliseconds * 1000);
    }
}

static void *leave_open(void *unused)
{
    tide_region_begin("thread");
    pass(20);
    return unused;
}

int main(void)
{
    pthread_t thread;
    const double start = now();
    tide_phase_begin("setup");
    pass(30);
    tide_region_begin("read");
    pass(40);
    tide_region_end("read");
    tide_phase_end("setup");
    const double set_up = now();
    tide_region_begin("solve");
    pass(30);
    const double outer = now();
    tide_region_begin("inner");
    pass(60);
    tide_region_end("inner");
    const double inner = now() - outer;
    pass(30);
    tide_region_end("solve");
    const double solved = now();
    if (pthread_create(&thread, NULL, leave_open, NULL) != 0)
        return 2;
    pthread_join(thread, NULL);
    tide_phase_begin("rest");
    tide_region_begin("open");
    pass(20);
    printf("{\"setup\": %f, \"solve\": %f, \"solve/inner\": %f}\n", set_up - start,
           solved - set_up, inner);
    return 0;
}
