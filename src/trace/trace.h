/* trace/trace.h - internal: an open trace, and the walk through its events.
 *
 * For: trace/, model/, cli/, tests/.  The recorder must not include it: it allocates.
 *
 * Opening scans the chunk headers (not the payloads, except of notes), so that it knows
 * processes, modules, names, threads and where each lane's chunks are.  A replay then
 * walks all events of all lanes in an order that could have happened (see "Order across
 * lanes" in format.h), decompressing one chunk per lane at a time.
 *
 * Nothing in the file is believed before it is checked; memory is bounded by
 * chunks + modules + lanes + distinct stacks, never by events.
 */
#ifndef TIDE_TRACE_TRACE_H
#define TIDE_TRACE_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tidemark/status.h>

#include "base/text.h"
#include "trace/event.h"
#include "trace/format.h"
#include "trace/stacks.h"
#include "trace/totals.h"

/* A loaded ELF file of one process or of several alike: same path and build-id. */
struct tide_module {
    const char *path;     /* owned by the trace */
    const char *build_id; /* hex, "" when it has none; owned by the trace */
    uint64_t file_bytes, file_mtime_ns; /* when the run ended; 0: not known */
    bool other_build; /* who reads names found another file there, and lacks names */
};

/* Where and when a process had a module. */
struct tide_mapping {
    uint32_t module;
    uint64_t start, end, bias;
    uint64_t first_epoch, last_epoch; /* inclusive; UINT64_MAX: never unloaded */
    uint64_t reach; /* the highest end up to here, in their order: see mappings.c */
};

struct tide_process {
    uint32_t pid, ppid;
    bool ranked;          /* it has an MPI rank */
    uint64_t rank;        /* which */
    bool forked;          /* began by fork: unknown frees are inherited */
    bool main;            /* the program that was started */
    bool ended;           /* an end was recorded */
    bool status_known;    /* status holds what wait gave */
    bool execed;          /* it ended by executing another program; status is of that */
    bool silent;          /* that is not known, and it had not said that it would end */
    int status;           /* wait status */
    uint64_t birth_ticks; /* names the process together with pid */
    uint64_t parent_birth; /* of the process that forked it, 0 when none */
    uint64_t begin_ticks, end_ticks;
    uint64_t dropped;              /* events that the process could not record */
    uint64_t drops[TIDE_DROPS];    /* these by enum tide_drop, where that is known */
    uint64_t rss_peak;             /* bytes, the highest seen from outside */
    uint64_t anonymous_peak;       /* of anonymous memory, in any look; 0: not known */
    bool rss_exact;                /* that is the peak: the system told at its end */
    uint64_t recorder_bytes;       /* private memory of the recorder in it */
    uint64_t order_table_bytes;    /* reserved beside that, touched in part */
    const char *exe;               /* "" when unknown */
    const char **argv;             /* NULL-terminated */
    struct tide_mapping *mappings; /* sorted by (start, first_epoch) */
    size_t mapping_count;
};

struct tide_lane {
    uint32_t process;
    uint32_t number;                   /* in its process */
    uint32_t first_chunk, chunk_count; /* in trace->lane_chunks */
};

/* A thread that ran in some lane. */
struct tide_thread {
    uint32_t process, lane_number, tid;
    uint64_t ticks;
    const char *name; /* its last */
};

struct tide_rss_sample {
    uint32_t process;
    uint64_t ticks, bytes;
};

/* A counting window of the program: tide_start() to tide_stop(). */
struct tide_window {
    uint32_t process, tid;
    uint64_t name; /* of the process; 0: none */
    bool of_thread;
    uint64_t begin_ticks, end_ticks;
    uint64_t requested_bytes, used_bytes, freed_bytes;
    uint64_t alloc_calls, free_calls, failed_calls;
    int64_t peak_bytes;
    uint64_t smallest_bytes, largest_bytes;
    double stddev_bytes;
};

/* A value that programs set by name: tide_set_int() and the like. */
struct tide_user_attribute {
    const char *name; /* owned by the trace */
    uint32_t type;    /* enum tide_attribute_type */
};

/* A note of symbols, as it stands in the file: see trace/embedded.h. */
struct tide_symbol_note {
    uint64_t kind;        /* enum tide_note */
    const uint8_t *bytes; /* owned by the trace */
    size_t length;
};

/* What the run did for the names of its frames; zeros: nothing, or that is not known. */
struct tide_naming_counts {
    uint64_t frames; /* stood in stacks */
    uint64_t named;  /* of these the trace brought the names when it was recorded */
    uint64_t left;   /* these nobody looked for, for want of time */
};

/* A program of the run that should have been recorded and was not. */
struct tide_unrecorded_program {
    uint32_t pid;                    /* 0: not known */
    uint64_t begin_ticks, end_ticks; /* end 0: not known */
    bool seen_only; /* nobody told of it, so there may be more like it */
    const char *name, *reason;
};

/* Where one EVENTS chunk is. */
struct tide_chunk_place {
    uint64_t offset; /* of its header in the file */
    uint32_t stored_bytes, raw_bytes;
    uint32_t sequence;
    uint16_t flags;
    uint64_t first_ticks, last_ticks;
};

struct tide_trace {
    int fd; /* owned */
    const char *path;
    uint64_t file_bytes;
    bool complete;       /* an END chunk closes it */
    uint64_t good_bytes; /* what was understood; == file_bytes when all was */
    uint64_t bad_chunks; /* passed over in the middle: damaged, or after a lost one */
    char problem[160];   /* one line: why not complete or what was passed over; "" */

    uint64_t start_unix_ns, start_ticks, end_ticks;
    double ticks_per_second;
    uint8_t id[16];

    const char **argv; /* of the run, NULL-terminated */
    const char *cwd, *host, *version, *options;
    const char **troubles; /* NULL-terminated lines of the collector */
    uint64_t ring_bytes;   /* of all segments that were closed */
    uint64_t collector_rss_peak;

    struct tide_process *processes;
    size_t process_count;
    struct tide_module *modules;
    size_t module_count;
    struct tide_lane *lanes;
    size_t lane_count;
    struct tide_chunk_place *lane_chunks; /* grouped by lane, in sequence */
    size_t chunk_count;
    struct tide_thread *threads;
    size_t thread_count;
    struct tide_rss_sample *rss; /* in file order */
    size_t rss_count;
    struct tide_window *windows; /* in file order: as they were closed */
    size_t window_count;
    struct tide_symbol_note *symbol_notes; /* in file order */
    size_t symbol_note_count;
    bool has_totals; /* they are of all that was written */
    struct tide_totals totals;
    struct tide_naming_counts naming;
    struct tide_unrecorded_program *unrecorded; /* in file order: as they ended */
    size_t unrecorded_count;
    struct tide_user_attribute *attributes; /* each name and type once */
    size_t attribute_count;

    void *private_state; /* arena, names: see reader.c */
};

/* Open the trace at PATH.  On success *OUT belongs to the caller, who gives it back
 * with tide_trace_close().  On failure *OUT is NULL and WHY (of WHY_SIZE bytes) holds
 * one line that names the place.  A trace that only ends early is not a failure. */
enum tide_status tide_trace_open(const char *path, char *why, size_t why_size,
                                 struct tide_trace **out);
/* The same for the open file FD, which belongs to the trace from here on, also after a
 * failure.  NAME is what messages call it. */
enum tide_status tide_trace_open_fd(int fd, const char *name, char *why,
                                    size_t why_size, struct tide_trace **out);
void tide_trace_close(struct tide_trace *trace);
/* Does somebody still write it?  Who does holds a lock on it as long as he lives. */
bool tide_trace_is_written(const struct tide_trace *trace);

/* Seconds since the start of the run. */
double tide_trace_seconds(const struct tide_trace *trace, uint64_t ticks);

/* The name that PROCESS gave to ID, or NULL. */
const char *tide_trace_name(const struct tide_trace *trace, uint32_t process,
                            uint64_t id);

/* The name of the attribute that it is a value of, as Caliper's functions are of
 * "function"; NULL: of none. */
const char *tide_trace_name_attribute(const struct tide_trace *trace, uint32_t process,
                                      uint64_t id);

/* All names of all processes, one by one; NULL: there is no NUMBER. */
const char *tide_trace_name_number(const struct tide_trace *trace, size_t number);
/* The name of the attribute that name NUMBER is a value of; NULL: of none. */
const char *tide_trace_name_number_attribute(const struct tide_trace *trace,
                                             size_t number);

/* Did any process name anything?  If not, there are no regions and no labels. */
bool tide_trace_has_names(const struct tide_trace *trace);

/* --- The walk --- */

struct tide_replay_counts {
    uint64_t events;       /* ALLOC, FREE, MOVE_*, MAP given out */
    uint64_t reordered;    /* taken although their number had not come up */
    uint64_t dropped;      /* said by DROPPED records */
    uint64_t cut_stacks;   /* stacks that begin with the CUT frame, per event */
    uint64_t lost_records; /* lanes that could not be decoded further, up to a reset */
    uint64_t bytes_read;   /* of the file, for progress */
};

struct tide_replay; /* opaque: see replay.c */

/* Walk TRACE (borrowed) from its start.  Stacks go to STACKS (borrowed, initialised). */
enum tide_status tide_replay_open(struct tide_trace *trace, struct tide_stacks *stacks,
                                  struct tide_replay **out);
/* Fill up to MAX events; 0 at the end.  Damage is skipped and counted, not fatal. */
enum tide_status tide_replay_next(struct tide_replay *replay, struct tide_event *events,
                                  size_t max, size_t *count);
/* The same without a copy: the next events, all of one lane and in its order, MAX of them
 * at most.  *EVENTS is borrowed, and good until the next call. */
enum tide_status tide_replay_run(struct tide_replay *replay, size_t max,
                                 const struct tide_event **events, size_t *count);
/* Were the last events no MAP and no EXTRA, and SPAN only the first?  When that is not
 * known it is false. */
bool tide_replay_usual(const struct tide_replay *replay);
const struct tide_replay_counts *tide_replay_counts(const struct tide_replay *replay);
const struct tide_trace *tide_replay_trace(const struct tide_replay *replay);

/* Where REPLAY stands, as bytes added to OUT: enough for a replay of the same trace, with
 * the same stacks, to give exactly the events that this one would give next. */
enum tide_status tide_replay_save(const struct tide_replay *replay,
                                  struct tide_text *out);
/* Bring REPLAY, which has given nothing yet, to where a saved one stood.  ECORRUPT when
 * these bytes are not of this trace; then REPLAY is good for nothing but closing. */
enum tide_status tide_replay_restore(struct tide_replay *replay, const void *bytes,
                                     size_t length);
void tide_replay_close(struct tide_replay *replay);

#endif
