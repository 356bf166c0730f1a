/* collect/write_names.h - at the end of a run, the names of its frames go into the trace.
 *
 * For: collect/, tests/.  So the trace can be read where the program is not, and when the
 * program has been built anew.  Somebody waits meanwhile, so there is a limit of time; the
 * names of what is left are read by the report, as far as the files are still there.
 */
#ifndef TIDE_COLLECT_WRITE_NAMES_H
#define TIDE_COLLECT_WRITE_NAMES_H

#include <stdbool.h>
#include <stdint.h>

enum {
    TIDE_NAMING_NONE = 0,
    TIDE_NAMING_MS = 2000,
};
#define TIDE_NAMING_UNLIMITED UINT32_MAX

struct tide_naming {
    uint32_t limit_ms; /* for all of it; TIDE_NAMING_NONE: no names are written */
    bool (*cancelled)(void *context); /* or NULL: shall we end?  Asked now and then */
    void *context;
};

struct tide_collector;

/* Write what the files of the modules are now, the names of all frames that stood in a stack, and
 * how many are left.  All chunks of COLLECTOR but END are in the file.  What cannot be named is
 * left out. */
void tide_collector_write_names(struct tide_collector *collector,
                                const struct tide_naming *naming);

#endif
