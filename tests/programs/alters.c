/* tests/programs/alters.c - allocates what its arguments say, and nothing else.
 *
 * Each argument is a letter, a number of blocks and their size: a10x100.
 *     a  by shore(), never freed          b  by reef(), through shore(), never freed
 *     p  by spring_tide(), freed when all are there (so they make the peak)
 *     t  by spray(), freed at once        z  sleep for so many milliseconds
 *     s  a snapshot called m and the number
 *     e  an event of that number
 * rebuilt.c is the same program, as a later build of it could be.
 */
#include <stdlib.h>
#include <string.h>
#include <tidemark/tidemark.h>
#include <time.h>

#include "say.h"

#define APART __attribute__((noinline))

static void *volatile kept; /* what is stored here is used */

#ifdef REBUILT
/* More code before the rest, and all lines elsewhere. */
APART static int measure_of_another_time(const char *word)
{
    return (int)strlen(word) * 3;
}
#    line 1000
#endif

APART static void shore(unsigned long count, unsigned long size)
{
    for (unsigned long i = 0; i < count; i++)
        kept = malloc(size);
}

APART static void reef(unsigned long count, unsigned long size)
{
    shore(count, size);
    kept = NULL; /* not a jump: this function stays on the stack */
}

APART static void spring_tide(unsigned long count, unsigned long size)
{
    void *blocks[1000];
    for (unsigned long i = 0; i < count && i < 1000; i++)
        kept = blocks[i] = malloc(size);
    for (unsigned long i = 0; i < count && i < 1000; i++)
        free(blocks[i]);
}

APART static void spray(unsigned long count, unsigned long size)
{
    for (unsigned long i = 0; i < count; i++) {
        kept = malloc(size);
        free(kept);
    }
}

APART static void mark(unsigned long number)
{
    char name[32];
    (void)snprintf(name, sizeof(name), "m%lu", number);
    tide_snapshot(name);
}

APART static void wait_for(unsigned long milliseconds)
{
    const struct timespec pause = {
        .tv_sec = (time_t)(milliseconds / 1000),
        .tv_nsec = (long)(milliseconds % 1000) * 1000000,
    };
    (void)nanosleep(&pause, NULL);
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        char *end;
        const unsigned long count = strtoul(argv[i] + 1, &end, 10);
        const unsigned long size = *end == 'x' ? strtoul(end + 1, NULL, 10) : 0;
        switch (argv[i][0]) {
        case 'a':
            shore(count, size);
            break;
        case 'b':
            reef(count, size);
            break;
        case 'p':
            spring_tide(count, size);
            break;
        case 't':
            spray(count, size);
            break;
        case 's':
            mark(count);
            break;
        case 'e':
            tide_event(count);
            break;
        case 'z':
            wait_for(count);
            break;
        default:
            return 2;
        }
    }
#ifdef REBUILT
    return measure_of_another_time("") > 0;
#else
    return 0;
#endif
}
