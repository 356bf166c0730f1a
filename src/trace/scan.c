/* trace/scan.c - find the chunks of a trace, also of one that is damaged.
 *
 * The scan reads headers only; a payload is checked when somebody wants it.  So a
 * header is believed as long as the next one stands where it says, and checked against
 * its sum as soon as anything looks odd: no header where one should be, a sequence that
 * jumps, a lane that was not there before.  After damage the scan searches for the next
 * magic number whose chunk is whole.
 */
#include "trace/scan.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    TIDE_SEARCH_BYTES = 64 * 1024,
    TIDE_MAGIC_BYTES = 4,
};

/* Where the search for a whole chunk stands. */
struct search {
    struct tide_chunk_reader *reader;
    uint8_t *window; /* owned: TIDE_SEARCH_BYTES */
    uint64_t budget; /* bytes of payload that may still be checked in vain */
};

void tide_scan_release(struct tide_scan *scan)
{
    free(scan->events.items);
    free(scan->notes.items);
    *scan = (struct tide_scan){0};
}

void tide_scan_blame(struct tide_scan *scan, uint64_t offset, uint64_t bytes)
{
    if (scan->bad_chunks == 0 || offset < scan->first_bad)
        scan->first_bad = offset;
    scan->bad_chunks++;
    scan->lost_bytes = scan->lost_bytes + bytes;
}

/* True when a whole chunk stands at OFFSET. */
static bool whole_at(struct search *search, uint64_t offset)
{
    struct tide_format_chunk head;
    if (tide_chunk_head(search->reader, offset, &head) != TIDE_OK)
        return false;
    if (tide_chunk_check(search->reader, offset, &head) == TIDE_OK)
        return true;
    const uint64_t spent = head.stored_bytes;
    search->budget = search->budget > spent ? search->budget - spent : 0;
    return false;
}

/* The offset of a whole chunk among the LENGTH bytes of the window, which stand at
 * OFFSET in the file; UINT64_MAX when there is none. */
static uint64_t search_window(struct search *search, uint64_t offset, size_t length)
{
    const uint32_t magic = TIDE_CHUNK_MAGIC;
    size_t at = 0;
    while (search->budget) {
        const uint8_t *found =
            memmem(search->window + at, length - at, &magic, TIDE_MAGIC_BYTES);
        if (!found)
            break;
        at = (size_t)(found - search->window);
        if (whole_at(search, offset + at))
            return offset + at;
        at++;
    }
    return UINT64_MAX;
}

/* OFFSET, or where the hole that it lies in ends: a file may be all hole and huge. */
static uint64_t after_hole(int fd, uint64_t offset)
{
    const off_t data = lseek(fd, (off_t)offset, SEEK_DATA);
    if (data > (off_t)offset)
        return (uint64_t)data;
    return data < 0 && errno == ENXIO ? UINT64_MAX : offset;
}

/* The first whole chunk at or after OFFSET; UINT64_MAX when there is none. */
static uint64_t search_from(struct search *search, uint64_t offset)
{
    const uint64_t file_bytes = search->reader->file_bytes;
    offset = after_hole(search->reader->fd, offset);
    while (search->budget && offset < file_bytes &&
           file_bytes - offset > sizeof(struct tide_format_chunk)) {
        const uint64_t left = file_bytes - offset;
        const size_t length =
            left < TIDE_SEARCH_BYTES ? (size_t)left : TIDE_SEARCH_BYTES;
        if (tide_read_at(search->reader->fd, offset, search->window, length))
            break;
        const uint64_t found = search_window(search, offset, length);
        if (found != UINT64_MAX)
            return found;
        offset = after_hole(search->reader->fd, offset + length - TIDE_MAGIC_BYTES + 1);
    }
    return UINT64_MAX;
}

static uint64_t bytes_of(const struct tide_chunk_place *place)
{
    return sizeof(struct tide_format_chunk) + place->stored_bytes;
}

static enum tide_status remember(struct tide_scan *scan, uint64_t offset,
                                 const struct tide_format_chunk *head)
{
    struct tide_list *list =
        head->kind == TIDE_CHUNK_EVENTS ? &scan->events : &scan->notes;
    struct tide_found_chunk *found = tide_list_add(list);
    if (!found)
        return TIDE_ENOMEM;
    *found = (struct tide_found_chunk){
        .place = {.offset = offset,
                  .stored_bytes = head->stored_bytes,
                  .raw_bytes = head->raw_bytes,
                  .sequence = head->sequence,
                  .flags = head->flags,
                  .first_ticks = head->first_ticks,
                  .last_ticks = head->last_ticks},
        .process = head->process,
        .lane = head->lane,
        .kind = head->kind,
    };
    scan->end = offset + bytes_of(&found->place);
    return TIDE_OK;
}

/* Forget the chunk at OFFSET, which was the last one remembered. */
static void forget(struct tide_scan *scan, uint64_t offset)
{
    struct tide_list *lists[] = {&scan->events, &scan->notes};
    for (size_t i = 0; i < 2; i++) {
        const struct tide_found_chunk *items = lists[i]->items;
        const size_t count = lists[i]->count;
        if (count && items[count - 1].place.offset == offset)
            lists[i]->count--;
    }
    scan->end = offset;
}

/* A header stands at OFFSET and can be one of ours. */
static enum tide_status head_at(struct tide_chunk_reader *reader, uint64_t offset,
                                struct tide_format_chunk *head)
{
    enum tide_status status = tide_chunk_head(reader, offset, head);
    if (status)
        return status;
    if (head->process != TIDE_NO_PROCESS &&
        head->process >= tide_process_limit(reader->file_bytes))
        return TIDE_ECORRUPT;
    /* Everything ends here: be sure of it. */
    return head->kind == TIDE_CHUNK_END ? tide_chunk_check(reader, offset, head)
                                        : TIDE_OK;
}

/* No header at *AT.  PREVIOUS is the chunk before it, or 0: when that one is damaged, its
 * length cannot be believed either.  Go on at the next whole chunk. */
static void find_next(struct search *search, struct tide_scan *scan, uint64_t previous,
                      uint64_t *at)
{
    struct tide_format_chunk head;
    uint64_t from = *at;
    if (previous && tide_chunk_check(search->reader, previous, &head) != TIDE_OK) {
        forget(scan, previous);
        from = previous;
    }
    const uint64_t next = search_from(search, from + 1);
    if (next != UINT64_MAX)
        tide_scan_blame(scan, from, next - from);
    *at = next;
}

static enum tide_status hop(struct search *search, uint64_t start,
                            struct tide_scan *scan)
{
    uint64_t at = start, previous = 0;
    while (at < search->reader->file_bytes && !scan->complete) {
        struct tide_format_chunk head;
        enum tide_status status = head_at(search->reader, at, &head);
        if (status == TIDE_EVERSION)
            status = tide_chunk_check(search->reader, at, &head);
        if (status == TIDE_EIO || status == TIDE_EVERSION) {
            scan->end = at;
            return status;
        }
        if (status) {
            find_next(search, scan, previous, &at);
            previous = 0;
            continue;
        }
        status = remember(scan, at, &head);
        if (status)
            return status;
        scan->complete = head.kind == TIDE_CHUNK_END;
        previous = at;
        at = scan->end;
    }
    return TIDE_OK;
}

enum tide_status tide_scan_file(struct tide_chunk_reader *reader, uint64_t start,
                                struct tide_scan *scan)
{
    *scan = (struct tide_scan){
        .events = {.item_bytes = sizeof(struct tide_found_chunk)},
        .notes = {.item_bytes = sizeof(struct tide_found_chunk)},
        .end = start,
    };
    struct search search = {
        .reader = reader,
        .window = malloc(TIDE_SEARCH_BYTES),
        .budget = 16 * reader->file_bytes + (64u << 20u),
    };
    if (!search.window)
        return TIDE_ENOMEM;
    const enum tide_status status = hop(&search, start, scan);
    free(search.window);
    return status;
}

static int by_lane(const void *a, const void *b)
{
    const struct tide_found_chunk *x = a, *y = b;
    if (x->process != y->process)
        return x->process < y->process ? -1 : 1;
    if (x->lane != y->lane)
        return x->lane < y->lane ? -1 : 1;
    return x->place.offset < y->place.offset ? -1 : x->place.offset > y->place.offset;
}

static bool same_lane(const struct tide_found_chunk *a,
                      const struct tide_found_chunk *b)
{
    return a->process == b->process && a->lane == b->lane;
}

/* True when CHUNK may follow BEFORE (of the same lane, or NULL). */
static bool fits(struct tide_chunk_reader *reader,
                 const struct tide_found_chunk *before,
                 const struct tide_found_chunk *chunk)
{
    if (before && chunk->place.sequence == before->place.sequence + 1)
        return true;
    struct tide_format_chunk head;
    if (tide_chunk_check(reader, chunk->place.offset, &head) != TIDE_OK)
        return false;
    return !before || chunk->place.sequence > before->place.sequence;
}

void tide_scan_settle(struct tide_chunk_reader *reader, struct tide_scan *scan)
{
    tide_list_sort(&scan->events, by_lane);
    struct tide_found_chunk *chunks = scan->events.items;
    size_t kept = 0;
    for (size_t i = 0; i < scan->events.count; i++) {
        const struct tide_found_chunk *before =
            kept && same_lane(&chunks[kept - 1], &chunks[i]) ? &chunks[kept - 1] : NULL;
        if (fits(reader, before, &chunks[i]))
            chunks[kept++] = chunks[i];
        else
            tide_scan_blame(scan, chunks[i].place.offset, bytes_of(&chunks[i].place));
    }
    scan->events.count = kept;
}
