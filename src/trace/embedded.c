/* trace/embedded.c - names of frames that a trace brings with it.
 *
 * Texts first, then frames, which refer to them; both are gone through twice: once to
 * count, so that memory is taken once, and never more than the budget.
 */
#include "trace/embedded.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "trace/cursor.h"
#include "trace/format.h"
#include "trace/list.h"

/* Bytes that all tables together may take, for a file of so many bytes. */
enum { TIDE_EMBEDDED_LEAST = 64 << 20, TIDE_EMBEDDED_FACTOR = 16 };

struct frame {
    uint64_t address;
    uint32_t module; /* of the trace */
    uint32_t count;
    size_t first; /* of places */
};

struct tide_embedded {
    struct tide_arena arena; /* texts */
    const char **texts;      /* owned; number N is texts[N - 1]; NULL: missing */
    size_t text_count;
    struct tide_list frames; /* of struct frame, by module and address */
    struct tide_list places; /* of struct tide_embedded_place */
    uint64_t budget;
};

/* A module of the trace, to be found by name. */
struct known {
    const struct tide_module *module;
    uint32_t number;
};

static bool afford(struct tide_embedded *embedded, uint64_t bytes)
{
    if (bytes > embedded->budget)
        return false;
    embedded->budget -= bytes;
    return true;
}

/* --- Texts ------------------------------------------------------------------------- */

/* The number after the last text of NOTE; 0 when it holds none. */
static uint64_t texts_end(const struct tide_symbol_note *note)
{
    struct tide_cursor cursor = tide_cursor_over(note->bytes, note->length);
    uint64_t number = tide_cursor_varint(&cursor);
    const uint64_t first = number;
    while (tide_cursor_left(&cursor)) {
        (void)tide_cursor_string(&cursor);
        if (!cursor.failed)
            number++;
    }
    return first && number > first ? number : 0;
}

/* How many texts there are; a number higher than the bytes of all notes is nonsense. */
static size_t count_texts(const struct tide_trace *trace)
{
    uint64_t most = 0, bytes = 0;
    for (size_t i = 0; i < trace->symbol_note_count; i++)
        bytes += trace->symbol_notes[i].length;
    for (size_t i = 0; i < trace->symbol_note_count; i++) {
        const struct tide_symbol_note *const note = &trace->symbol_notes[i];
        const uint64_t end = note->kind == TIDE_NOTE_TEXTS ? texts_end(note) : 0;
        if (end > most && end - 1 <= bytes)
            most = end;
    }
    return most ? (size_t)(most - 1) : 0;
}

static enum tide_status read_texts(struct tide_embedded *embedded,
                                   const struct tide_symbol_note *note)
{
    struct tide_cursor cursor = tide_cursor_over(note->bytes, note->length);
    uint64_t number = tide_cursor_varint(&cursor);
    for (; number && tide_cursor_left(&cursor); number++) {
        const struct tide_bytes text = tide_cursor_string(&cursor);
        if (cursor.failed || number > embedded->text_count)
            break;
        if (!afford(embedded, text.length + 1))
            break;
        const char *const copy =
            tide_arena_copy(&embedded->arena, text.start, text.length);
        if (!copy)
            return TIDE_ENOMEM;
        embedded->texts[number - 1] = copy;
    }
    return TIDE_OK;
}

static enum tide_status gather_texts(struct tide_embedded *embedded,
                                     const struct tide_trace *trace)
{
    const size_t count = count_texts(trace);
    if (!afford(embedded, count * sizeof(*embedded->texts)))
        return TIDE_OK;
    embedded->texts = calloc(count + 1, sizeof(*embedded->texts));
    if (!embedded->texts)
        return TIDE_ENOMEM;
    embedded->text_count = count;
    enum tide_status status = TIDE_OK;
    for (size_t i = 0; i < trace->symbol_note_count && !status; i++)
        if (trace->symbol_notes[i].kind == TIDE_NOTE_TEXTS)
            status = read_texts(embedded, &trace->symbol_notes[i]);
    return status;
}

static const char *text_of(const struct tide_embedded *embedded, uint64_t number)
{
    const bool known = number && number <= embedded->text_count;
    return known ? embedded->texts[number - 1] : NULL;
}

/* --- Frames ------------------------------------------------------------------------ */

static int by_name(const void *one, const void *other)
{
    const struct tide_module *const a = ((const struct known *)one)->module;
    const struct tide_module *const b = ((const struct known *)other)->module;
    const int paths = strcmp(a->path, b->path);
    return paths ? paths : strcmp(a->build_id, b->build_id);
}

static int by_place(const void *one, const void *other)
{
    const struct frame *const a = one, *const b = other;
    if (a->module != b->module)
        return a->module > b->module ? 1 : -1;
    return (a->address > b->address) - (a->address < b->address);
}

/* The number of the module that a note begins with; UINT32_MAX: none of the trace's. */
static enum tide_status find_module(struct tide_cursor *cursor,
                                    const struct known *known, size_t count,
                                    uint32_t *out)
{
    struct tide_arena names = {0};
    const struct tide_bytes path = tide_cursor_string(cursor);
    const struct tide_bytes id = tide_cursor_string(cursor);
    *out = UINT32_MAX;
    if (cursor->failed)
        return TIDE_OK;
    const struct tide_module wanted = {
        .path = tide_arena_copy(&names, path.start, path.length),
        .build_id = tide_arena_copy(&names, id.start, id.length),
    };
    const struct known key = {.module = &wanted};
    enum tide_status status = TIDE_ENOMEM;
    if (wanted.path && wanted.build_id) {
        const struct known *const found =
            count ? bsearch(&key, known, count, sizeof(key), by_name) : NULL;
        *out = found ? found->number : UINT32_MAX;
        status = TIDE_OK;
    }
    tide_arena_release(&names);
    return status;
}

/* One frame at CURSOR, COUNT places of it. */
static enum tide_status read_places(struct tide_embedded *embedded,
                                    struct tide_cursor *cursor, uint64_t count)
{
    for (uint64_t i = 0; i < count && !cursor->failed; i++) {
        const uint64_t function = tide_cursor_varint(cursor);
        const uint64_t file = tide_cursor_varint(cursor);
        const uint32_t line = tide_cursor_varint32(cursor);
        if (cursor->failed || !afford(embedded, sizeof(struct tide_embedded_place)))
            return TIDE_OK;
        struct tide_embedded_place *const place = tide_list_add(&embedded->places);
        if (!place)
            return TIDE_ENOMEM;
        *place = (struct tide_embedded_place){text_of(embedded, function),
                                              text_of(embedded, file), line};
    }
    return TIDE_OK;
}

static enum tide_status read_frames(struct tide_embedded *embedded,
                                    struct tide_cursor *cursor, uint32_t module)
{
    uint64_t address = 0;
    enum tide_status status = TIDE_OK;
    while (tide_cursor_left(cursor) && !status) {
        address += tide_cursor_varint(cursor);
        const uint64_t count = tide_cursor_varint(cursor);
        const size_t first = embedded->places.count;
        if (cursor->failed || !count || count > tide_cursor_left(cursor) ||
            !afford(embedded, sizeof(struct frame)))
            break;
        status = read_places(embedded, cursor, count);
        if (status || embedded->places.count - first != count)
            break;
        struct frame *const frame = tide_list_add(&embedded->frames);
        if (!frame)
            return TIDE_ENOMEM;
        *frame = (struct frame){address, module, (uint32_t)count, first};
    }
    return status;
}

static enum tide_status gather_frames(struct tide_embedded *embedded,
                                      const struct tide_trace *trace)
{
    const size_t modules = trace->module_count;
    struct known *const known = calloc(modules + 1, sizeof(*known));
    if (!known)
        return TIDE_ENOMEM;
    for (size_t i = 0; i < modules; i++)
        known[i] = (struct known){&trace->modules[i], (uint32_t)i};
    if (modules > 1)
        qsort(known, modules, sizeof(*known), by_name);
    enum tide_status status = TIDE_OK;
    for (size_t i = 0; i < trace->symbol_note_count && !status; i++) {
        const struct tide_symbol_note *const note = &trace->symbol_notes[i];
        struct tide_cursor cursor = tide_cursor_over(note->bytes, note->length);
        uint32_t module;
        if (note->kind != TIDE_NOTE_SYMBOLS)
            continue;
        status = find_module(&cursor, known, modules, &module);
        if (!status && module != UINT32_MAX)
            status = read_frames(embedded, &cursor, module);
    }
    free(known);
    tide_list_sort(&embedded->frames, by_place);
    return status;
}

/* --- All --------------------------------------------------------------------------- */

enum tide_status tide_embedded_open(const struct tide_trace *trace,
                                    struct tide_embedded **out)
{
    *out = NULL;
    if (!trace->symbol_note_count)
        return TIDE_OK;
    struct tide_embedded *const embedded = calloc(1, sizeof(*embedded));
    if (!embedded)
        return TIDE_ENOMEM;
    embedded->frames.item_bytes = sizeof(struct frame);
    embedded->places.item_bytes = sizeof(struct tide_embedded_place);
    embedded->budget =
        trace->file_bytes < UINT64_MAX / (2 * TIDE_EMBEDDED_FACTOR)
            ? TIDE_EMBEDDED_LEAST + trace->file_bytes * TIDE_EMBEDDED_FACTOR
            : UINT64_MAX;
    enum tide_status status = gather_texts(embedded, trace);
    if (!status)
        status = gather_frames(embedded, trace);
    if (status) {
        tide_embedded_close(embedded);
        return status;
    }
    *out = embedded;
    return TIDE_OK;
}

void tide_embedded_close(struct tide_embedded *embedded)
{
    if (!embedded)
        return;
    free(embedded->texts);
    free(embedded->frames.items);
    free(embedded->places.items);
    tide_arena_release(&embedded->arena);
    free(embedded);
}

const struct tide_embedded_place *tide_embedded_find(
    const struct tide_embedded *embedded, uint32_t module, uint64_t address,
    size_t *count)
{
    const struct frame key = {.module = module, .address = address};
    *count = 0;
    if (!embedded || !embedded->frames.count)
        return NULL;
    const struct frame *const found = bsearch(
        &key, embedded->frames.items, embedded->frames.count, sizeof(key), by_place);
    if (!found)
        return NULL;
    *count = found->count;
    return (const struct tide_embedded_place *)embedded->places.items + found->first;
}

size_t tide_embedded_frames(const struct tide_embedded *embedded)
{
    return embedded ? embedded->frames.count : 0;
}

bool tide_embedded_has_file(const struct tide_embedded_place *places, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (places[i].file)
            return true;
    return false;
}

bool tide_embedded_names(const struct tide_embedded *embedded, uint32_t module)
{
    const struct frame *const frames = embedded ? embedded->frames.items : NULL;
    const size_t count = embedded ? embedded->frames.count : 0;
    size_t low = 0, high = count; /* the first of MODULE or of a later one is there */
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (frames[middle].module < module)
            low = middle + 1;
        else
            high = middle;
    }
    return low < count && frames[low].module == module;
}
