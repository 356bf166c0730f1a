/* collect/checks.h - what was looked at before a recording, and what it means.
 *
 * For: collect/, cli/, tests/.  `tidemark doctor` shows all of them, `tidemark run` the
 * ones that matter, in the same words.
 */
#ifndef TIDE_COLLECT_CHECKS_H
#define TIDE_COLLECT_CHECKS_H

#include <stdbool.h>
#include <stddef.h>

enum tide_level {
    TIDE_LEVEL_OK,
    TIDE_LEVEL_NOTE,    /* worth knowing; nothing is lost */
    TIDE_LEVEL_WARNING, /* something will be missing in the trace */
    TIDE_LEVEL_REFUSAL, /* nothing would come of it, or the program would suffer */
    TIDE_LEVELS,
};

struct tide_check {
    const char *name; /* static: which check, one word */
    enum tide_level level;
    bool recorder_says; /* in the trace, by itself: once is enough */
    char *text;         /* owned: one sentence, what it is and what it means */
    const char *advice; /* static: what to do; NULL: nothing */
};

/* All zeros is an empty list. */
struct tide_checks {
    struct tide_check *list; /* owned */
    size_t count, capacity;
    bool failed; /* memory ran out: some are missing */
};

/* Add a check; the text is made as printf does. */
void tide_checks_add(struct tide_checks *checks, const struct tide_check *check,
                     const char *format, ...) __attribute__((format(printf, 3, 4)));
void tide_checks_release(struct tide_checks *checks);

/* The worst level in CHECKS. */
enum tide_level tide_checks_verdict(const struct tide_checks *checks);
/* "ok", "note", "warning" or "refusal". */
const char *tide_level_word(enum tide_level level);

#endif
