/* view/progress.c - a bar on the terminal while something takes its time. */
#include "view/progress.h"

#include <string.h>
#include <unistd.h>

enum {
    TIDE_PROGRESS_PATIENCE_MS = 300,
    TIDE_PROGRESS_PERIOD_MS = 100,
    TIDE_PROGRESS_COLUMNS = 40,
};

static int64_t milliseconds(const struct timespec *from, const struct timespec *to)
{
    return (to->tv_sec - from->tv_sec) * INT64_C(1000) +
           (to->tv_nsec - from->tv_nsec) / 1000000;
}

/* A bar that cannot be drawn is no reason to stop. */
static void put(const struct tide_progress_bar *bar, const char *text)
{
    if (write(bar->fd, text, strlen(text)) < 0)
        return;
}

void tide_progress_bar_init(struct tide_progress_bar *bar, int fd, const char *label)
{
    *bar = (struct tide_progress_bar){.fd = fd, .label = label};
    bar->style = tide_style_detect(fd, TIDE_COLOR_AUTO, TIDE_UNITS_IEC);
    bar->enabled = isatty(fd) == 1;
    (void)clock_gettime(CLOCK_MONOTONIC, &bar->start);
    bar->last = bar->start;
}

void tide_progress_bar_text(struct tide_text *out, const struct tide_progress_bar *bar,
                            uint64_t done, uint64_t total)
{
    const bool utf8 = bar->style.utf8;
    double share = total ? (double)done / (double)total : 0.0;
    share = share < 1.0 ? share : 1.0;
    const int filled = (int)(share * TIDE_PROGRESS_COLUMNS);
    tide_text_addf(out, "%s  ", bar->label);
    for (int i = 0; i < TIDE_PROGRESS_COLUMNS; i++) {
        if (i < filled)
            tide_text_add(out, utf8 ? "█" : "#");
        else
            tide_text_add(out, utf8 ? "░" : ".");
    }
    tide_text_addf(out, " %3d %%", (int)(share * 100.0));
}

void tide_progress_bar_step(void *user, uint64_t done, uint64_t total)
{
    struct tide_progress_bar *const bar = user;
    struct timespec now;
    if (!bar->enabled)
        return;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    if (milliseconds(&bar->start, &now) < TIDE_PROGRESS_PATIENCE_MS ||
        milliseconds(&bar->last, &now) < TIDE_PROGRESS_PERIOD_MS)
        return;
    struct tide_text line = {0};
    tide_text_add(&line, "\r");
    tide_progress_bar_text(&line, bar, done, total);
    tide_text_add(&line, "\033[K");
    if (line.bytes && !line.failed)
        put(bar, line.bytes);
    tide_text_release(&line);
    bar->last = now;
    bar->drawn = true;
}

void tide_progress_bar_end(struct tide_progress_bar *bar)
{
    if (bar->drawn)
        put(bar, "\r\033[K");
    bar->drawn = false;
}
