/* trace/reader.c - open a trace and say what it holds.
 *
 * A trace may come from another machine, from a process that was killed in mid-write, or
 * from somebody who wishes us ill: so nothing in it is believed before it is checked.
 * Opening reads the header, hops over all chunks (scan.c) and reads the notes
 * (notes_in.c); events are left to replay.c.
 */
#include "trace/trace.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#ifndef XXH_INLINE_ALL
#    define XXH_INLINE_ALL
#endif
#include <xxhash.h>

#include "base/arena.h"
#include "base/plain_file.h"
#include "trace/chunk_in.h"
#include "trace/format.h"
#include "trace/notes_in.h"
#include "trace/scan.h"

enum {
    TIDE_HEADER_MAX = 64 * 1024, /* newer headers may be longer than ours */
    TIDE_MAGIC_LENGTH = 8,
};

/* What the trace owns beside its public fields. */
struct state {
    struct tide_arena arena;
    struct tide_name *names; /* owned: sorted by process and id */
    size_t name_count;
};

/* A trace being opened. */
struct opening {
    struct tide_trace *trace;
    struct state *state;
    struct tide_chunk_reader reader;
    struct tide_scan scan;
    struct tide_notes notes;
    uint8_t *raw; /* owned: for one payload */
    uint32_t raw_capacity;
    char *why;
    size_t why_size;
};

static enum tide_status __attribute__((format(printf, 3, 4)))
refuse(const struct opening *opening, enum tide_status status, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    if (opening->why_size)
        vsnprintf(opening->why, opening->why_size, format, arguments);
    va_end(arguments);
    return status;
}

/* --- The header --- */

static enum tide_status check_header(const struct opening *opening,
                                     const struct tide_format_header *header)
{
    const uint64_t sum =
        XXH3_64bits(header, offsetof(struct tide_format_header, checksum));
    if (header->version > TIDE_FILE_VERSION)
        return refuse(opening, TIDE_EVERSION,
                      "version %" PRIu32 " at byte 8, known is %u", header->version,
                      TIDE_FILE_VERSION);
    if (header->version == 0 || sum != header->checksum ||
        header->header_bytes < sizeof(*header) ||
        header->header_bytes > TIDE_HEADER_MAX)
        return refuse(opening, TIDE_ECORRUPT, "the header, bytes 0 to 63, is damaged");
    return TIDE_OK;
}

static enum tide_status read_header(const struct opening *opening,
                                    struct tide_format_header *header)
{
    struct tide_trace *trace = opening->trace;
    const size_t there = trace->file_bytes < sizeof(*header) ? (size_t)trace->file_bytes
                                                             : sizeof(*header);
    enum tide_status status = tide_read_at(trace->fd, 0, header, there);
    if (status)
        return refuse(opening, status, "cannot read the header at byte 0");
    const size_t magic = there < TIDE_MAGIC_LENGTH ? there : TIDE_MAGIC_LENGTH;
    if (memcmp(header->magic, TIDE_FILE_MAGIC, magic) != 0)
        return refuse(opening, TIDE_ENOTTRACE, "byte 0 does not begin a trace");
    if (there < sizeof(*header))
        return refuse(opening, TIDE_ETRUNCATED, "ends early at byte %zu, in its header",
                      there);
    status = check_header(opening, header);
    if (status)
        return status;
    trace->start_unix_ns = header->start_unix_ns;
    trace->start_ticks = header->start_ticks;
    trace->ticks_per_second =
        header->ticks_per_second ? (double)header->ticks_per_second : 1e9;
    memcpy(trace->id, header->id, sizeof(trace->id));
    return TIDE_OK;
}

/* --- Notes --- */

static enum tide_status read_notes_of(struct opening *opening,
                                      const struct tide_found_chunk *chunk)
{
    struct tide_fields fields;
    if (chunk->place.raw_bytes > opening->raw_capacity) {
        free(opening->raw);
        opening->raw = malloc(chunk->place.raw_bytes + (size_t)TIDE_COLUMN_SLACK);
        opening->raw_capacity = opening->raw ? chunk->place.raw_bytes : 0;
    }
    if (!opening->raw)
        return TIDE_ENOMEM;
    const enum tide_status status =
        tide_chunk_load(&opening->reader, chunk->place.offset, opening->raw,
                        chunk->place.raw_bytes, &fields);
    if (status)
        return status;
    if (fields.columns)
        return TIDE_ECORRUPT;
    const struct tide_bytes payload = {.start = (const char *)opening->raw,
                                       .length = chunk->place.raw_bytes};
    return tide_notes_read(&opening->notes, chunk->kind, chunk->process, payload);
}

static enum tide_status read_notes(struct opening *opening)
{
    const struct tide_found_chunk *chunks = opening->scan.notes.items;
    for (size_t i = 0; i < opening->scan.notes.count; i++) {
        const enum tide_status status = read_notes_of(opening, &chunks[i]);
        if (status == TIDE_ENOMEM || status == TIDE_EIO)
            return refuse(opening, status, "cannot read the chunk at byte %" PRIu64,
                          chunks[i].place.offset);
        if (status)
            tide_scan_blame(&opening->scan, chunks[i].place.offset,
                            sizeof(struct tide_format_chunk) +
                                chunks[i].place.stored_bytes);
    }
    return TIDE_OK;
}

/* --- Lanes --- */

/* True when CHUNKS[i] is the first of its lane. */
static bool begins_lane(const struct tide_found_chunk *chunks, size_t i)
{
    return i == 0 || chunks[i].process != chunks[i - 1].process ||
           chunks[i].lane != chunks[i - 1].lane;
}

static size_t count_lanes(const struct tide_scan *scan)
{
    const struct tide_found_chunk *chunks = scan->events.items;
    size_t lanes = 0;
    for (size_t i = 0; i < scan->events.count; i++)
        lanes += begins_lane(chunks, i);
    return lanes;
}

/* The EVENTS chunks, sorted by now, become lanes. */
static enum tide_status make_lanes(struct opening *opening)
{
    struct tide_trace *trace = opening->trace;
    const struct tide_found_chunk *chunks = opening->scan.events.items;
    const size_t count = opening->scan.events.count,
                 lanes = count_lanes(&opening->scan);
    if (count >= UINT32_MAX)
        return TIDE_ELIMIT;
    trace->lane_chunks = calloc(count + 1, sizeof(*trace->lane_chunks));
    trace->lanes = calloc(lanes + 1, sizeof(*trace->lanes));
    if (!trace->lane_chunks || !trace->lanes)
        return TIDE_ENOMEM;
    for (size_t i = 0; i < count; i++) {
        if (begins_lane(chunks, i))
            trace->lanes[trace->lane_count++] =
                (struct tide_lane){.process = chunks[i].process,
                                   .number = chunks[i].lane,
                                   .first_chunk = (uint32_t)i};
        trace->lanes[trace->lane_count - 1].chunk_count++;
        trace->lane_chunks[i] = chunks[i].place;
    }
    trace->chunk_count = count;
    if (count == 0)
        return TIDE_OK;
    return tide_notes_need_process(&opening->notes, chunks[count - 1].process);
}

/* --- What there is to say about the file --- */

bool tide_trace_is_written(const struct tide_trace *trace)
{
    if (flock(trace->fd, LOCK_SH | LOCK_NB) != 0)
        return errno == EWOULDBLOCK;
    (void)flock(trace->fd, LOCK_UN);
    return false;
}

static void say_problem(struct tide_trace *trace, const struct tide_scan *scan)
{
    const size_t size = sizeof(trace->problem);
    const uint64_t unread = trace->file_bytes - scan->end;
    size_t length = 0;
    if (scan->bad_chunks)
        length = (size_t)snprintf(trace->problem, size,
                                  "damaged at byte %" PRIu64 ": %" PRIu64
                                  " chunk%s, %" PRIu64 " bytes passed over",
                                  scan->first_bad, scan->bad_chunks,
                                  scan->bad_chunks == 1 ? "" : "s", scan->lost_bytes);
    const char *join = length ? "; " : "";
    if (!trace->complete && tide_trace_is_written(trace))
        snprintf(trace->problem + length, size - length,
                 "%sis still being recorded: %" PRIu64 " bytes so far", join,
                 scan->end);
    else if (!trace->complete && unread)
        snprintf(trace->problem + length, size - length,
                 "%sends early at byte %" PRIu64 "; %" PRIu64 " byte%s unread", join,
                 scan->end, unread, unread == 1 ? "" : "s");
    else if (!trace->complete)
        snprintf(trace->problem + length, size - length,
                 "%sends early at byte %" PRIu64, join, scan->end);
    else if (unread)
        snprintf(trace->problem + length, size - length,
                 "%s%" PRIu64 " bytes after the end, at byte %" PRIu64, join, unread,
                 scan->end);
}

/* When the run ended, in a trace that does not say it: the time of the last chunk. */
static void guess_end(struct opening *opening)
{
    struct tide_trace *trace = opening->trace;
    uint64_t end = opening->notes.last_ticks;
    for (size_t i = 0; i < trace->lane_count; i++) {
        const struct tide_lane *lane = &trace->lanes[i];
        const uint32_t last = lane->first_chunk + lane->chunk_count - 1;
        const struct tide_chunk_place *place = &trace->lane_chunks[last];
        struct tide_format_chunk head;
        if (place->last_ticks > end &&
            tide_chunk_check(&opening->reader, place->offset, &head) == TIDE_OK)
            end = place->last_ticks;
    }
    trace->end_ticks = end > trace->start_ticks ? end : trace->start_ticks;
}

static enum tide_status finish(struct opening *opening)
{
    struct tide_trace *trace = opening->trace;
    const struct tide_scan *scan = &opening->scan;
    const enum tide_status status = tide_notes_finish(&opening->notes);
    if (status)
        return status;
    opening->state->names = opening->notes.names.items;
    opening->state->name_count = opening->notes.names.count;
    opening->notes.names.items = NULL;
    trace->complete = scan->complete;
    trace->bad_chunks = scan->bad_chunks;
    const uint64_t lost = scan->lost_bytes + (trace->file_bytes - scan->end);
    trace->good_bytes = trace->file_bytes > lost ? trace->file_bytes - lost : 0;
    if (!trace->complete || trace->end_ticks < trace->start_ticks)
        guess_end(opening);
    say_problem(trace, scan);
    return TIDE_OK;
}

/* --- Opening --- */

static enum tide_status look_at_file(const struct opening *opening)
{
    struct stat info;
    if (fstat(opening->trace->fd, &info) != 0)
        return refuse(opening, TIDE_EIO, "%s", "cannot be looked at");
    if (!S_ISREG(info.st_mode))
        return refuse(opening, TIDE_ENOTTRACE, "%s", "is not a plain file");
    opening->trace->file_bytes = (uint64_t)info.st_size;
    return TIDE_OK;
}

static enum tide_status read_all(struct opening *opening)
{
    struct tide_trace *trace = opening->trace;
    struct tide_format_header header;
    enum tide_status status = look_at_file(opening);
    if (!status)
        status = read_header(opening, &header);
    if (status)
        return status;
    tide_notes_init(&opening->notes, trace, &opening->state->arena,
                    tide_process_limit(trace->file_bytes));
    status = tide_chunk_reader_init(&opening->reader, trace->fd, trace->file_bytes);
    if (!status)
        status = tide_scan_file(&opening->reader, header.header_bytes, &opening->scan);
    if (status == TIDE_EVERSION)
        return refuse(opening, status,
                      "the chunk at byte %" PRIu64
                      " is of another version of tidemark: record the program again",
                      opening->scan.end);
    if (!status)
        status = read_notes(opening);
    if (status)
        return status;
    tide_scan_settle(&opening->reader, &opening->scan);
    status = make_lanes(opening);
    return status ? status : finish(opening);
}

static struct tide_trace *new_trace(int fd, const char *name)
{
    struct tide_trace *trace = calloc(1, sizeof(*trace));
    struct state *state = calloc(1, sizeof(*state));
    const char *path =
        state ? tide_arena_copy(&state->arena, name, strlen(name)) : NULL;
    if (!trace || !path) {
        if (state)
            tide_arena_release(&state->arena);
        free(state);
        free(trace);
        return NULL;
    }
    trace->fd = fd;
    trace->path = path;
    trace->private_state = state;
    return trace;
}

enum tide_status tide_trace_open_fd(int fd, const char *name, char *why,
                                    size_t why_size, struct tide_trace **out)
{
    *out = NULL;
    if (why_size)
        *why = '\0';
    struct tide_trace *trace = new_trace(fd, name);
    if (!trace) {
        close(fd);
        return TIDE_ENOMEM;
    }
    struct opening opening = {.trace = trace,
                              .state = trace->private_state,
                              .why = why,
                              .why_size = why_size};
    const enum tide_status status = read_all(&opening);
    free(opening.raw);
    tide_notes_release(&opening.notes);
    tide_scan_release(&opening.scan);
    tide_chunk_reader_release(&opening.reader);
    if (status) {
        if (why_size && !*why)
            refuse(&opening, status, "%s", tide_status_words(status));
        tide_trace_close(trace);
        return status;
    }
    *out = trace;
    return TIDE_OK;
}

enum tide_status tide_trace_open(const char *path, char *why, size_t why_size,
                                 struct tide_trace **out)
{
    struct stat about;
    const int fd = tide_plain_file_open(path, 0, &about);
    if (fd >= 0)
        return tide_trace_open_fd(fd, path, why, why_size, out);
    *out = NULL;
    const int problem = errno;
    const bool other = problem == TIDE_ENOTPLAIN;
    if (why_size)
        snprintf(why, why_size, "%s",
                 other ? "is not a plain file" : strerrordesc_np(problem));
    if (other)
        return TIDE_ENOTTRACE;
    return problem == ENOENT ? TIDE_ENOENT : TIDE_EIO;
}

void tide_trace_close(struct tide_trace *trace)
{
    if (!trace)
        return;
    struct state *state = trace->private_state;
    free(state->names);
    tide_arena_release(&state->arena);
    free(state);
    free(trace->processes);
    free(trace->modules);
    free(trace->lanes);
    free(trace->lane_chunks);
    free(trace->threads);
    free(trace->rss);
    free(trace->windows);
    free(trace->symbol_notes);
    free(trace->attributes);
    free(trace->unrecorded);
    free(trace->troubles);
    close(trace->fd);
    free(trace);
}

double tide_trace_seconds(const struct tide_trace *trace, uint64_t ticks)
{
    const double past = ticks >= trace->start_ticks
                            ? (double)(ticks - trace->start_ticks)
                            : -(double)(trace->start_ticks - ticks);
    return past / trace->ticks_per_second;
}

bool tide_trace_has_names(const struct tide_trace *trace)
{
    const struct state *state = trace->private_state;
    return state->name_count > 0;
}

const char *tide_trace_name_number(const struct tide_trace *trace, size_t number)
{
    const struct state *state = trace->private_state;
    return number < state->name_count ? state->names[number].text : NULL;
}

const char *tide_trace_name_number_attribute(const struct tide_trace *trace,
                                             size_t number)
{
    const struct state *state = trace->private_state;
    return number < state->name_count ? state->names[number].attribute : NULL;
}

static const struct tide_name *find_name(const struct tide_trace *trace,
                                         uint32_t process, uint64_t id)
{
    const struct state *state = trace->private_state;
    const struct tide_name key = {.process = process, .id = id};
    if (!state->name_count)
        return NULL;
    return bsearch(&key, state->names, state->name_count, sizeof(key),
                   tide_name_compare);
}

const char *tide_trace_name(const struct tide_trace *trace, uint32_t process,
                            uint64_t id)
{
    const struct tide_name *const found = find_name(trace, process, id);
    return found ? found->text : NULL;
}

const char *tide_trace_name_attribute(const struct tide_trace *trace, uint32_t process,
                                      uint64_t id)
{
    const struct tide_name *const found = find_name(trace, process, id);
    return found ? found->attribute : NULL;
}
