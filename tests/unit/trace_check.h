/* unit/trace_check.h - look at every byte of a trace file that collect/ wrote.
 *
 * Checks the invariants of trace/format.h, with code of its own, and the counters of
 * unit/fake_producer.h.  What is wrong fails the test.
 */
#ifndef TIDE_UNIT_TRACE_CHECK_H
#define TIDE_UNIT_TRACE_CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/format.h"

enum { TIDE_CHECK_PROCESSES = 64, TIDE_CHECK_LANES = 64 };

struct tide_check_lane {
    uint32_t chunks, resets; /* chunks, and those of them that are RESET */
    uint64_t records;        /* of the fake; their counters went 0, 1, 2... */
    uint64_t bytes;
};

/* What the notes say of a process. */
struct tide_check_process {
    bool begun, ended;
    uint64_t pid, birth;
    uint64_t reason, status_known, status, dropped;
    uint64_t rss_notes, rss_peak;
    uint64_t note_bytes; /* in its NOTES chunks */
};

struct tide_check {
    size_t chunks;
    bool complete;
    uint64_t end_processes, end_status;
    uint32_t troubles;
    char trouble[200]; /* the last */
    uint32_t process_count;
    struct tide_check_process processes[TIDE_CHECK_PROCESSES];
    struct tide_check_lane lanes[TIDE_CHECK_PROCESSES][TIDE_CHECK_LANES];
};

/* Read the file PATH; a torn chunk at its end is no failure when TORN. */
void tide_check_file(const char *path, bool torn, struct tide_check *out);

#endif
