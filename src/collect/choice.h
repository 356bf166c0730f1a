/* collect/choice.h - which programs of a run are recorded.
 *
 * For: collect/, tests/.  Told by where a process comes from (--follow) and by the
 * program's name (--target).  Forked children see to themselves: capture/process.c.
 */
#ifndef TIDE_COLLECT_CHOICE_H
#define TIDE_COLLECT_CHOICE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"
#include "collect/notes_out.h"
#include "collect/procfs.h"

enum { TIDE_SEEN_MOST = 8 };

struct tide_choice {
    uint32_t follow;     /* enum tide_follow */
    const char *targets; /* borrowed: names or shell patterns with commas between them;
                            NULL: all */
    uint32_t main_pid;
    uint32_t main_images; /* programs of the main process that have said hello */
    char seen[TIDE_SEEN_MOST][TIDE_COMM_BYTES]; /* names that were not wanted */
    bool seen_more;                             /* there were others */
};

/* PID, now the program IMAGE, has said hello: is it wanted? */
bool tide_choice_wants(struct tide_choice *choice, uint32_t pid,
                       const struct tide_image *image);

/* Does any of the names of IMAGE, or COMM, match one of the patterns in LIST? */
bool tide_choice_matches(const char *list, const struct tide_image *image,
                         const char *comm);

/* One line when nothing was wanted: what was there instead. */
void tide_choice_explain(const struct tide_choice *choice, struct tide_text *out);

#endif
