/* view/progress.h - a bar on the terminal while something takes its time.
 *
 * For: cli/, tests/.  Drawn on a terminal only, when the work takes longer than 300 ms,
 * ten times a second at most, and wiped away afterwards.
 *
 *     struct tide_progress_bar bar;
 *     tide_progress_bar_init(&bar, STDERR_FILENO, "reading");
 *     struct tide_progress progress = {tide_progress_bar_step, &bar};
 *     ...
 *     tide_progress_bar_end(&bar);
 */
#ifndef TIDE_VIEW_PROGRESS_H
#define TIDE_VIEW_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "base/text.h"
#include "view/style.h"

struct tide_progress_bar {
    int fd;
    bool enabled; /* fd is a terminal */
    bool drawn;   /* something stands there that must be wiped away */
    const char *label;
    struct tide_style style;
    struct timespec start, last;
};

void tide_progress_bar_init(struct tide_progress_bar *bar, int fd, const char *label);
/* USER is the bar: fits struct tide_progress. */
void tide_progress_bar_step(void *user, uint64_t done, uint64_t total);
void tide_progress_bar_end(struct tide_progress_bar *bar);

/* Add the bar as one line without its end: "reading  ████░░░░  42 %". */
void tide_progress_bar_text(struct tide_text *out, const struct tide_progress_bar *bar,
                            uint64_t done, uint64_t total);

#endif
