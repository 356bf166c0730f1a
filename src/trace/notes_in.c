/* trace/notes_in.c - what the notes of a trace say, gathered into struct tide_trace.
 *
 * One function per kind of note, found in a table.  A note that is too short for its
 * kind is left out; bytes after the known fields are ignored, as format.h promises.
 * Memory is bounded by the budget: notes may be compressed well, but not so well that a
 * small file fills the memory of its reader.
 */
#include "trace/notes_in.h"

#include <stdlib.h>
#include <string.h>

#include "base/raw/varint.h"
#include "trace/cursor.h"
#include "trace/format.h"
#include "trace/mappings.h"
#include "trace/notes_parts.h"

enum {
    TIDE_NOTE_COST = 32,     /* bytes that even the shortest note may take */
    TIDE_TROUBLES_MAX = 256, /* lines; more help nobody */
};

static const struct tide_process NEW_PROCESS = {.exe = ""};

void tide_notes_init(struct tide_notes *notes, struct tide_trace *trace,
                     struct tide_arena *arena, uint32_t process_limit)
{
    *notes = (struct tide_notes){
        .trace = trace,
        .arena = arena,
        .process_limit = process_limit,
        .budget = tide_add_saturating(16u << 20u, trace->file_bytes * 8),
        .processes.item_bytes = sizeof(struct tide_process),
        .threads.item_bytes = sizeof(struct tide_thread),
        .rss.item_bytes = sizeof(struct tide_rss_sample),
        .windows.item_bytes = sizeof(struct tide_window),
        .names.item_bytes = sizeof(struct tide_name),
        .troubles.item_bytes = sizeof(const char *),
        .unrecorded.item_bytes = sizeof(struct tide_unrecorded_program),
        .mappings.item_bytes = sizeof(struct tide_noted_mapping),
        .ends.item_bytes = sizeof(struct tide_noted_end),
        .symbols.item_bytes = sizeof(struct tide_symbol_note),
        .attributes.item_bytes = sizeof(struct tide_noted_attribute),
        .values.item_bytes = sizeof(struct tide_noted_value),
        .modules.modules.item_bytes = sizeof(struct tide_module),
    };
}

void tide_notes_release(struct tide_notes *notes)
{
    free(notes->processes.items);
    free(notes->threads.items);
    free(notes->rss.items);
    free(notes->windows.items);
    free(notes->names.items);
    free(notes->troubles.items);
    free(notes->mappings.items);
    free(notes->ends.items);
    free(notes->symbols.items);
    free(notes->attributes.items);
    free(notes->values.items);
    free(notes->unrecorded.items);
    free(notes->modules.modules.items);
    free(notes->modules.slots);
    *notes = (struct tide_notes){0};
}

/* --- Helpers of the handlers --- */

void *tide_notes_add(struct tide_notes *notes, struct tide_list *list)
{
    void *item = tide_list_add(list);
    if (!item)
        notes->status = TIDE_ENOMEM;
    return item;
}

static const char *copy(struct tide_notes *notes, struct tide_bytes text)
{
    const char *string = tide_arena_copy(notes->arena, text.start, text.length);
    if (string)
        return string;
    notes->status = TIDE_ENOMEM;
    return "";
}

const char *tide_notes_string(struct tide_notes *notes, struct tide_cursor *cursor)
{
    const struct tide_bytes text = tide_cursor_string(cursor);
    return cursor->failed ? "" : copy(notes, text);
}

static void saw_ticks(struct tide_notes *notes, uint64_t ticks)
{
    if (ticks > notes->last_ticks)
        notes->last_ticks = ticks;
}

/* argc, then argc strings; never NULL. */
static const char **copy_arguments(struct tide_notes *notes, struct tide_cursor *cursor)
{
    const char **none = tide_arena_take(notes->arena, sizeof(*none));
    const uint64_t count = tide_cursor_varint(cursor);
    if (count > tide_cursor_left(cursor)) /* a string has at least one byte */
        tide_cursor_fail(cursor);
    if (cursor->failed || !count || !none)
        return none;
    const char **list =
        tide_arena_take(notes->arena, ((size_t)count + 1) * sizeof(*list));
    if (!list) {
        notes->status = TIDE_ENOMEM;
        return none;
    }
    for (size_t i = 0; i < count; i++)
        list[i] = tide_notes_string(notes, cursor);
    return list;
}

enum tide_status tide_notes_need_process(struct tide_notes *notes, uint32_t index)
{
    if (index >= notes->process_limit)
        return TIDE_ECORRUPT;
    while (notes->processes.count <= index) {
        struct tide_process *process = tide_list_add(&notes->processes);
        if (!process)
            return TIDE_ENOMEM;
        *process = NEW_PROCESS;
    }
    return TIDE_OK;
}

/* Process number INDEX, or NULL when there can be no such process. */
struct tide_process *tide_notes_process(struct tide_notes *notes, uint64_t index)
{
    if (index >= notes->process_limit)
        return NULL;
    const enum tide_status status = tide_notes_need_process(notes, (uint32_t)index);
    if (status) {
        notes->status = status;
        return NULL;
    }
    return &((struct tide_process *)notes->processes.items)[index];
}

/* --- One function per kind --- */

static void note_rings(struct tide_notes *notes, uint32_t index,
                       struct tide_cursor *cursor)
{
    (void)index;
    const uint64_t bytes = tide_cursor_varint(cursor);
    if (!cursor->failed)
        notes->trace->ring_bytes += bytes;
}

static void note_run(struct tide_notes *notes, uint32_t index,
                     struct tide_cursor *cursor)
{
    (void)index;
    struct tide_trace *trace = notes->trace;
    if (trace->argv)
        return; /* said once */
    const char **argv = copy_arguments(notes, cursor);
    const char *cwd = tide_notes_string(notes, cursor);
    const char *host = tide_notes_string(notes, cursor);
    const char *version = tide_notes_string(notes, cursor);
    const char *options = tide_notes_string(notes, cursor);
    if (cursor->failed)
        return;
    trace->argv = argv;
    trace->cwd = cwd;
    trace->host = host;
    trace->version = version;
    trace->options = options;
}

static void note_process_begin(struct tide_notes *notes, uint32_t index,
                               struct tide_cursor *cursor)
{
    (void)index;
    const uint64_t number = tide_cursor_varint(cursor);
    const uint32_t pid = tide_cursor_varint32(cursor);
    const uint64_t birth = tide_cursor_varint(cursor);
    const uint64_t seen = tide_cursor_varint(cursor);
    const char *exe = tide_notes_string(notes, cursor);
    const char **argv = copy_arguments(notes, cursor);
    const uint64_t rank = tide_cursor_left(cursor) ? tide_cursor_varint(cursor) : 0;
    struct tide_process *process =
        cursor->failed ? NULL : tide_notes_process(notes, number);
    if (!process)
        return;
    process->pid = pid;
    process->birth_ticks = birth;
    process->begin_ticks = birth ? birth : seen;
    process->exe = exe;
    process->argv = argv;
    process->ranked = rank > 0;
    process->rank = rank ? rank - 1 : 0;
    saw_ticks(notes, seen);
}

static void note_process_end(struct tide_notes *notes, uint32_t index,
                             struct tide_cursor *cursor)
{
    (void)index;
    const uint64_t number = tide_cursor_varint(cursor);
    const uint64_t ticks = tide_cursor_varint(cursor);
    const uint64_t known = tide_cursor_varint(cursor);
    const uint32_t wait_status = tide_cursor_varint32(cursor);
    const uint64_t dropped = tide_cursor_varint(cursor);
    const uint64_t reason = tide_cursor_varint(cursor);
    struct tide_process *process =
        cursor->failed ? NULL : tide_notes_process(notes, number);
    if (!process)
        return;
    process->ended = reason != TIDE_END_LOST;
    process->execed = reason == TIDE_END_EXECED;
    process->end_ticks = ticks;
    process->status_known = known != 0;
    process->status = (int)(wait_status & INT32_MAX);
    process->dropped = dropped;
    process->silent = tide_cursor_left(cursor) && tide_cursor_varint(cursor) == 1;
    for (size_t i = 0; i < TIDE_DROPS && tide_cursor_left(cursor); i++)
        process->drops[i] = tide_cursor_varint(cursor);
    saw_ticks(notes, ticks);
}

static void note_clock(struct tide_notes *notes, uint32_t index,
                       struct tide_cursor *cursor)
{
    (void)index;
    struct tide_clock_point point;
    point.ticks = tide_cursor_varint(cursor);
    point.unix_ns = tide_cursor_varint(cursor);
    if (cursor->failed || !point.ticks)
        return;
    if (!notes->first_clock.ticks)
        notes->first_clock = point;
    notes->last_clock = point;
    saw_ticks(notes, point.ticks);
}

static void note_rss(struct tide_notes *notes, uint32_t index,
                     struct tide_cursor *cursor)
{
    (void)index;
    struct tide_rss_sample sample;
    const uint64_t number = tide_cursor_varint(cursor);
    sample.ticks = tide_cursor_varint(cursor);
    sample.bytes = tide_cursor_varint(cursor);
    const uint64_t peak = tide_cursor_varint(cursor);
    struct tide_process *process =
        cursor->failed ? NULL : tide_notes_process(notes, number);
    if (!process)
        return;
    sample.process = (uint32_t)number;
    const uint64_t anonymous =
        tide_cursor_left(cursor) ? tide_cursor_varint(cursor) : 0;
    if (anonymous > process->anonymous_peak && !cursor->failed)
        process->anonymous_peak = anonymous;
    const uint64_t highest = peak > sample.bytes ? peak : sample.bytes;
    if (highest > process->rss_peak)
        process->rss_peak = highest;
    saw_ticks(notes, sample.ticks);
    struct tide_rss_sample *added = tide_notes_add(notes, &notes->rss);
    if (added)
        *added = sample;
}

/* Every process of a program may say the same. */
static bool knows_trouble(const struct tide_notes *notes, const char *text)
{
    const char *const *lines = notes->troubles.items;
    for (size_t i = 0; i < notes->troubles.count; i++)
        if (strcmp(lines[i], text) == 0)
            return true;
    return notes->troubles.count >= TIDE_TROUBLES_MAX;
}

static void note_trouble(struct tide_notes *notes, uint32_t index,
                         struct tide_cursor *cursor)
{
    (void)index;
    const char *text = tide_notes_string(notes, cursor);
    if (cursor->failed || !text || knows_trouble(notes, text))
        return;
    const char **line = tide_notes_add(notes, &notes->troubles);
    if (line)
        *line = text;
}

static void note_unrecorded(struct tide_notes *notes, uint32_t index,
                            struct tide_cursor *cursor)
{
    (void)index;
    struct tide_unrecorded_program program;
    program.pid = tide_cursor_varint32(cursor);
    program.begin_ticks = tide_cursor_varint(cursor);
    program.end_ticks = tide_cursor_varint(cursor);
    program.seen_only = tide_cursor_varint(cursor) != 0;
    program.name = tide_notes_string(notes, cursor);
    program.reason = tide_notes_string(notes, cursor);
    struct tide_unrecorded_program *const added =
        cursor->failed ? NULL : tide_notes_add(notes, &notes->unrecorded);
    if (added)
        *added = program;
}

/* Names are looked at when somebody asks for them. */
static void keep_symbols(struct tide_notes *notes, uint64_t kind,
                         struct tide_cursor *cursor)
{
    const struct tide_bytes bytes = {(const char *)cursor->at,
                                     tide_cursor_left(cursor)};
    struct tide_symbol_note *note = tide_notes_add(notes, &notes->symbols);
    if (note)
        *note = (struct tide_symbol_note){kind, (const uint8_t *)copy(notes, bytes),
                                          bytes.length};
}

static void note_naming(struct tide_notes *notes, uint32_t index,
                        struct tide_cursor *cursor)
{
    (void)index;
    struct tide_naming_counts naming;
    naming.frames = tide_cursor_varint(cursor);
    naming.named = tide_cursor_varint(cursor);
    naming.left = tide_cursor_varint(cursor);
    if (!cursor->failed)
        notes->trace->naming = naming;
}

/* Numbers that a later version adds to a list are passed over. */
static void read_list(struct tide_cursor *cursor, uint64_t *numbers, size_t room)
{
    const uint64_t count = tide_cursor_varint(cursor);
    for (uint64_t i = 0; i < count && !cursor->failed; i++) {
        const uint64_t number = tide_cursor_varint(cursor);
        if (i < room)
            numbers[i] = number;
    }
}

static void note_totals(struct tide_notes *notes, uint32_t index,
                        struct tide_cursor *cursor)
{
    (void)index;
    struct tide_totals totals = {0};
    totals.events = tide_cursor_varint(cursor);
    totals.allocated_bytes = tide_cursor_varint(cursor);
    totals.free_calls = tide_cursor_varint(cursor);
    read_list(cursor, totals.kinds, TIDE_KINDS);
    read_list(cursor, totals.maps, TIDE_MAP_CALLS);
    read_list(cursor, totals.extras, TIDE_TOTALS_EXTRAS);
    if (cursor->failed)
        return;
    notes->trace->has_totals = true;
    notes->trace->totals = totals;
}

static void note_file(struct tide_notes *notes, uint32_t index,
                      struct tide_cursor *cursor)
{
    (void)index;
    uint32_t number;
    const struct tide_bytes path = tide_cursor_string(cursor);
    const struct tide_bytes build_id = tide_cursor_string(cursor);
    const uint64_t bytes = tide_cursor_varint(cursor);
    const uint64_t mtime_ns = tide_cursor_varint(cursor);
    if (cursor->failed)
        return;
    const enum tide_status status =
        tide_module_table_find(&notes->modules, notes->arena, path, build_id, &number);
    if (status == TIDE_ENOMEM)
        notes->status = status;
    if (status)
        return;
    struct tide_module *const modules = notes->modules.modules.items;
    modules[number].file_bytes = bytes;
    modules[number].file_mtime_ns = mtime_ns;
}

static void note_end(struct tide_notes *notes, uint32_t index,
                     struct tide_cursor *cursor)
{
    (void)index;
    const uint64_t ticks = tide_cursor_varint(cursor);
    (void)tide_cursor_varint(cursor); /* chunks before this one */
    const uint64_t rss = tide_cursor_varint(cursor);
    if (cursor->failed)
        return;
    notes->trace->end_ticks = ticks;
    notes->trace->collector_rss_peak = rss;
}

/* Which note may stand in which chunk, and who reads it. */
static const struct {
    uint16_t note, chunk;
    void (*read)(struct tide_notes *notes, uint32_t index, struct tide_cursor *cursor);
} READERS[] = {
    {TIDE_NOTE_PROCESS, TIDE_CHUNK_NOTES, tide_note_process},
    {TIDE_NOTE_MODULE, TIDE_CHUNK_NOTES, tide_note_module},
    {TIDE_NOTE_MODULE_GONE, TIDE_CHUNK_NOTES, tide_note_module_gone},
    {TIDE_NOTE_NAME, TIDE_CHUNK_NOTES, tide_note_name},
    {TIDE_NOTE_THREAD, TIDE_CHUNK_NOTES, tide_note_thread},
    {TIDE_NOTE_RECORDER, TIDE_CHUNK_NOTES, tide_note_recorder},
    {TIDE_NOTE_WINDOW, TIDE_CHUNK_NOTES, tide_note_window},
    {TIDE_NOTE_ATTRIBUTE, TIDE_CHUNK_NOTES, tide_note_attribute},
    {TIDE_NOTE_VALUE, TIDE_CHUNK_NOTES, tide_note_value},
    {TIDE_NOTE_RUN, TIDE_CHUNK_RUN, note_run},
    {TIDE_NOTE_PROCESS_BEGIN, TIDE_CHUNK_RUN, note_process_begin},
    {TIDE_NOTE_PROCESS_END, TIDE_CHUNK_RUN, note_process_end},
    {TIDE_NOTE_CLOCK, TIDE_CHUNK_RUN, note_clock},
    {TIDE_NOTE_RSS, TIDE_CHUNK_RUN, note_rss},
    {TIDE_NOTE_TROUBLE, TIDE_CHUNK_NOTES, note_trouble},
    {TIDE_NOTE_TROUBLE, TIDE_CHUNK_RUN, note_trouble},
    {TIDE_NOTE_RINGS, TIDE_CHUNK_RUN, note_rings},
    {TIDE_NOTE_UNRECORDED, TIDE_CHUNK_RUN, note_unrecorded},
    {TIDE_NOTE_NAMING, TIDE_CHUNK_RUN, note_naming},
    {TIDE_NOTE_FILE, TIDE_CHUNK_RUN, note_file},
    {TIDE_NOTE_TOTALS, TIDE_CHUNK_RUN, note_totals},
    {TIDE_NOTE_END, TIDE_CHUNK_END, note_end},
};

static void read_note(struct tide_notes *notes, uint16_t chunk, uint32_t process,
                      uint64_t kind, struct tide_cursor *cursor)
{
    for (size_t i = 0; i < sizeof(READERS) / sizeof(READERS[0]); i++)
        if (READERS[i].note == kind && READERS[i].chunk == chunk)
            READERS[i].read(notes, process, cursor);
    if (chunk == TIDE_CHUNK_RUN &&
        (kind == TIDE_NOTE_TEXTS || kind == TIDE_NOTE_SYMBOLS))
        keep_symbols(notes, kind, cursor);
}

enum tide_status tide_notes_read(struct tide_notes *notes, uint16_t kind,
                                 uint32_t process, struct tide_bytes payload)
{
    struct tide_cursor cursor =
        tide_cursor_over((const uint8_t *)payload.start, payload.length);
    while (tide_cursor_left(&cursor) && !notes->status) {
        const uint64_t note = tide_cursor_varint(&cursor);
        struct tide_cursor fields =
            tide_cursor_part(&cursor, tide_cursor_varint(&cursor));
        const uint64_t cost = tide_cursor_left(&fields) + TIDE_NOTE_COST;
        if (cost > notes->budget)
            return TIDE_ELIMIT;
        notes->budget -= cost;
        if (!cursor.failed)
            read_note(notes, kind, process, note, &fields);
    }
    if (notes->status)
        return notes->status;
    return cursor.failed ? TIDE_ECORRUPT : TIDE_OK;
}
