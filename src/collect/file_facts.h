/* collect/file_facts.h - what files are now, where a file system may not answer.
 *
 * For: collect/, tests/.  A call that looks at a file cannot be interrupted: on a network's file
 * system it may take for ever.  So a thread of its own looks, and is left behind when nobody
 * wants to wait any longer.
 */
#ifndef TIDE_COLLECT_FILE_FACTS_H
#define TIDE_COLLECT_FILE_FACTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum tide_file_look {
    TIDE_FILE_UNKNOWN, /* nobody said */
    TIDE_FILE_NONE,    /* it is not there, or is no plain file */
    TIDE_FILE_THERE,
};

struct tide_file_fact {
    const char *path; /* borrowed for the call; NULL: TIDE_FILE_NONE */
    enum tide_file_look look;
    uint64_t bytes, mtime_ns;
};

/* Who waits; as in struct tide_name_limit. */
struct tide_file_wait {
    uint64_t until_ns; /* of CLOCK_MONOTONIC; 0: as long as it takes */
    bool (*cancelled)(void *context);
    void *context;
};

/* Fill in what the COUNT files of FACTS are. */
void tide_file_facts_find(struct tide_file_fact *facts, size_t count,
                          const struct tide_file_wait *wait);

#endif
