/* trace/scan.h - find the chunks of a trace, also of one that is damaged.
 *
 * For: trace/, tests/.
 */
#ifndef TIDE_TRACE_SCAN_H
#define TIDE_TRACE_SCAN_H

#include <stdbool.h>
#include <stdint.h>

#include <tidemark/status.h>

#include "trace/chunk_in.h"
#include "trace/list.h"
#include "trace/trace.h"

/* A chunk by its header. */
struct tide_found_chunk {
    struct tide_chunk_place place;
    uint32_t process, lane;
    uint16_t kind; /* enum tide_chunk_kind */
};

struct tide_scan {
    struct tide_list events; /* of struct tide_found_chunk, in file order: EVENTS */
    struct tide_list notes;  /* the same: NOTES, RUN, END */
    bool complete;           /* an END chunk was found */
    uint64_t end;            /* of the last chunk that was found */
    uint64_t bad_chunks;     /* places where something was passed over */
    uint64_t lost_bytes;     /* in them */
    uint64_t first_bad;      /* offset of the first one */
};

/* Process numbers in a file of FILE_BYTES are smaller than this: each process has at least
 * one chunk, so a higher number is damage, and no table is made for it. */
static inline uint32_t tide_process_limit(uint64_t file_bytes)
{
    const uint64_t limit = 1024 + file_bytes / sizeof(struct tide_format_chunk);
    return limit < TIDE_NO_PROCESS ? (uint32_t)limit : TIDE_NO_PROCESS;
}

/* Hop from header to header, from byte START on.  The caller releases the scan also after
 * a failure. */
enum tide_status tide_scan_file(struct tide_chunk_reader *reader, uint64_t start,
                                struct tide_scan *scan);
void tide_scan_release(struct tide_scan *scan);

/* Something is wrong at OFFSET: count it. */
void tide_scan_blame(struct tide_scan *scan, uint64_t offset, uint64_t bytes);

/* Check what looks odd among the EVENTS chunks, drop what is damaged, and leave them sorted
 * by process, lane and place, with rising sequences. */
void tide_scan_settle(struct tide_chunk_reader *reader, struct tide_scan *scan);

#endif
