/* trace/notes_in.h - what the notes of a trace say, gathered into struct tide_trace.
 *
 * For: trace/, tests/.
 */
#ifndef TIDE_TRACE_NOTES_IN_H
#define TIDE_TRACE_NOTES_IN_H

#include <stddef.h>
#include <stdint.h>

#include <tidemark/status.h>

#include "base/arena.h"
#include "trace/list.h"
#include "trace/module_table.h"
#include "trace/trace.h"

/* A name that a process gave to a number. */
struct tide_name {
    uint32_t process;
    uint64_t id;
    const char *text;      /* in the arena */
    const char *attribute; /* that it is a value of; NULL: none */
};

/* A name that is a value of an attribute. */
struct tide_noted_value {
    uint32_t process;
    uint64_t name, attribute; /* ids */
};

/* An attribute that a process sets. */
struct tide_noted_attribute {
    uint32_t process, type;
    uint64_t name; /* id */
};

/* One point of the clock's line. */
struct tide_clock_point {
    uint64_t ticks, unix_ns;
};

/* Notes being gathered. */
struct tide_notes {
    struct tide_trace *trace; /* borrowed: what is known of the whole run goes here */
    struct tide_arena *arena; /* borrowed: strings and argument lists */
    uint32_t process_limit;   /* numbers from here on are damage */
    uint64_t budget;          /* bytes of notes that may still be read */
    uint64_t last_ticks;      /* the latest that any note mentions */
    struct tide_list processes, threads, rss, names, troubles, windows;
    struct tide_list mappings, ends, symbols, attributes, values, unrecorded;
    struct tide_module_table modules;
    struct tide_clock_point first_clock, last_clock; /* ticks 0: none */
    enum tide_status status;                         /* memory ran out */
};

void tide_notes_init(struct tide_notes *notes, struct tide_trace *trace,
                     struct tide_arena *arena, uint32_t process_limit);
void tide_notes_release(struct tide_notes *notes);

/* Make sure that process number INDEX has an entry. */
enum tide_status tide_notes_need_process(struct tide_notes *notes, uint32_t index);

/* Read the notes of one chunk of KIND (enum tide_chunk_kind) about PROCESS.  ECORRUPT when
 * they are not notes: those before the bad one count. */
enum tide_status tide_notes_read(struct tide_notes *notes, uint16_t kind,
                                 uint32_t process, struct tide_bytes payload);

/* All chunks are read: hand everything over to the trace.  Names stay in notes->names,
 * sorted by process and id. */
enum tide_status tide_notes_finish(struct tide_notes *notes);

/* Order of names: by process, then id. */
int tide_name_compare(const void *a, const void *b);

#endif
