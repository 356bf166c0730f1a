/* examples/harbour.c - a small service that loses memory.
 *
 * A harbour office: it loads its charts once, then answers ships that ask for a berth,
 * a thousand a second.  What a memory profiler should say about it:
 *
 *   load_charts    five charts that live as long as the service: no leak
 *   answer         a reply for each ship, freed when it was sent: fine
 *   note_refusal   one ship in four is refused, and its note is never freed: the leak
 *
 * Usage: harbour [SECONDS]     (2 unless told otherwise)
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    CHARTS = 5,
    CHART = 64 << 10,
    BERTHS = 4,
    SHIPS_A_TICK = 10,
    TICKS_A_SECOND = 100
};

struct note {
    char ship[32];
    char reason[480];
};

struct office {
    char *charts[CHARTS];
    unsigned long ships, refused;
    const struct note *last; /* the latest refusal, for the log */
};

static void *need(void *memory)
{
    if (!memory) {
        fputs("harbour: out of memory\n", stderr);
        exit(1);
    }
    return memory;
}

static void load_charts(struct office *office)
{
    for (int i = 0; i < CHARTS; i++) {
        office->charts[i] = need(malloc(CHART));
        memset(office->charts[i], '~', CHART);
    }
}

static void note_refusal(struct office *office, const char *ship)
{
    struct note *const note = need(calloc(1, sizeof(*note)));
    snprintf(note->ship, sizeof(note->ship), "%s", ship);
    snprintf(note->reason, sizeof(note->reason), "no berth is free");
    office->last = note; /* the one before is lost */
    office->refused++;
}

static void answer(struct office *office)
{
    char *const reply = need(malloc(128));
    char ship[32];
    snprintf(ship, sizeof(ship), "ship %lu", office->ships);
    if (office->ships % BERTHS == 0)
        note_refusal(office, ship);
    snprintf(reply, 128, "%s: berth %lu", ship, office->ships % BERTHS);
    office->ships++;
    free(reply);
}

int main(int argc, char **argv)
{
    const double seconds = argc > 1 ? atof(argv[1]) : 2;
    const struct timespec tick = {.tv_nsec = 1000000000 / TICKS_A_SECOND};
    struct office office = {0};
    load_charts(&office);
    for (int i = 0; i < seconds * TICKS_A_SECOND; i++) {
        for (int ship = 0; ship < SHIPS_A_TICK; ship++)
            answer(&office);
        nanosleep(&tick, NULL);
    }
    printf("%lu ships, %lu refused; the last: %s\n", office.ships, office.refused,
           office.last ? office.last->ship : "none");
    for (int i = 0; i < CHARTS; i++)
        free(office.charts[i]);
    return 0;
}
