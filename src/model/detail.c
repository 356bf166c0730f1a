/* model/detail.c - what is found out of single blocks, when it is asked for.
 */
#include "model/detail.h"

void tide_detail_birth(struct tide_detail *detail, uint64_t number, uint64_t ticks,
                       uint64_t bytes)
{
    const struct tide_moment_of_birth moment = {ticks, detail->allocated};
    detail->allocated += bytes;
    /* There is no number 0, of which coarse pages have the first births. */
    if (number == 1)
        for (unsigned page = 0; page < TIDE_CALENDAR_PAGES; page++)
            detail->calendar[page][0] = moment;
    uint64_t line = number;
    for (unsigned page = 0; page < TIDE_CALENDAR_PAGES; page++, line /= 2) {
        detail->calendar[page][line % TIDE_CALENDAR_LINES] = moment;
        if (line % 2)
            return;
    }
}

struct tide_moment_of_birth tide_detail_born(const struct tide_detail *detail,
                                             uint64_t number, uint64_t newest)
{
    uint64_t line = number;
    uint64_t last = newest;
    unsigned page = 0;
    while (last - line >= TIDE_CALENDAR_LINES && page + 1 < TIDE_CALENDAR_PAGES) {
        line /= 2;
        last /= 2;
        page++;
    }
    return detail->calendar[page][line % TIDE_CALENDAR_LINES];
}
