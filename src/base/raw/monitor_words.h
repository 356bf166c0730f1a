/* base/raw/monitor_words.h - the words that choose built-in monitors, and their mistakes.
 *
 * For: the recorder, which obeys them, and cli/, which refuses mistakes before the program
 * starts.  Nothing here allocates, locks or prints.
 *
 * A list with commas: names of monitors with their options, and for all of them `json` and
 * `file=PATH`, as in
 *
 *     simple,threshold:single=1M:action=abort,json,file=report.%p
 */
#ifndef TIDE_BASE_RAW_MONITOR_WORDS_H
#define TIDE_BASE_RAW_MONITOR_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum tide_monitor_kind {
    TIDE_MONITOR_SIMPLE,
    TIDE_MONITOR_LOOP,
    TIDE_MONITOR_HISTOGRAM,
    TIDE_MONITOR_PERIODIC,
    TIDE_MONITOR_REGIONS,
    TIDE_MONITOR_THRESHOLD,
    TIDE_MONITORS, /* how many there are; what follows is for all of them */
    TIDE_MONITOR_JSON = TIDE_MONITORS,
    TIDE_MONITOR_FILE,
    TIDE_MONITOR_OWN, /* the program's own */
};

/* What follows a name: ":key=value:key=value", up to a comma or the end. */
struct tide_monitor_options {
    const char *text;
};

/* The value of KEY, its length in *LENGTH; NULL: it was not given. */
const char *tide_monitor_option(struct tide_monitor_options options, const char *key,
                                size_t *length);
/* The same as a number, with K, M, G or T: *VALUE, which stays as it is when it was not
 * given.  False: what was given is none, or too large. */
bool tide_monitor_number(struct tide_monitor_options options, const char *key,
                         uint64_t *value);

/* What is wrong, in words; cut where it is too long. */
struct tide_monitor_fault {
    char text[256]; /* "": nothing */
};

/* A way through a list. */
struct tide_monitor_words {
    const char *rest; /* the list, at first */
    uint32_t seen;    /* 1 << enum tide_monitor_kind, of those that were right */
    /* What stands here: */
    enum tide_monitor_kind kind;
    struct tide_monitor_options options;
    const char *path; /* of TIDE_MONITOR_FILE */
    size_t path_length;
};

/* Go to the next word; false: there is none.  FAULT says what is wrong with this one: then
 * its kind and the rest mean nothing.  At the end it says that no monitor was named. */
bool tide_monitor_words_next(struct tide_monitor_words *words,
                             struct tide_monitor_fault *fault);

#endif
