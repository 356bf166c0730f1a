/* trace/notes_process.c - what processes say of themselves in their notes.
 *
 * One function per kind of note; what the collector says is in notes_in.c.
 */
#include <stdlib.h>
#include <string.h>

#include "base/raw/varint.h"
#include "trace/cursor.h"
#include "trace/format.h"
#include "trace/mappings.h"
#include "trace/notes_parts.h"

void tide_note_process(struct tide_notes *notes, uint32_t index,
                       struct tide_cursor *cursor)
{
    const uint32_t pid = tide_cursor_varint32(cursor);
    const uint32_t ppid = tide_cursor_varint32(cursor);
    const uint64_t birth = tide_cursor_varint(cursor);
    const uint64_t parent_birth = tide_cursor_varint(cursor);
    const uint64_t flags = tide_cursor_varint(cursor);
    struct tide_process *process =
        cursor->failed ? NULL : tide_notes_process(notes, index);
    if (!process)
        return;
    process->pid = pid;
    process->ppid = ppid;
    process->birth_ticks = birth;
    process->parent_birth = parent_birth;
    process->forked = flags & TIDE_PROCESS_FORKED;
}

void tide_note_module(struct tide_notes *notes, uint32_t index,
                      struct tide_cursor *cursor)
{
    struct tide_noted_mapping noted = {.process = index};
    struct tide_mapping *mapping = &noted.mapping;
    noted.id = tide_cursor_varint(cursor);
    mapping->first_epoch = tide_cursor_varint(cursor);
    mapping->start = tide_cursor_varint(cursor);
    mapping->end = tide_cursor_varint(cursor);
    mapping->bias = tide_cursor_varint(cursor);
    mapping->last_epoch = UINT64_MAX;
    const struct tide_bytes build_id = tide_cursor_string(cursor);
    const struct tide_bytes path = tide_cursor_string(cursor);
    if (cursor->failed || mapping->end <= mapping->start ||
        !tide_notes_process(notes, index))
        return;
    const enum tide_status status = tide_module_table_find(
        &notes->modules, notes->arena, path, build_id, &mapping->module);
    if (status) {
        notes->status = status;
        return;
    }
    struct tide_noted_mapping *added = tide_notes_add(notes, &notes->mappings);
    if (added)
        *added = noted;
}

void tide_note_module_gone(struct tide_notes *notes, uint32_t index,
                           struct tide_cursor *cursor)
{
    const uint64_t id = tide_cursor_varint(cursor);
    const uint64_t epoch = tide_cursor_varint(cursor);
    struct tide_noted_end *end =
        cursor->failed ? NULL : tide_notes_add(notes, &notes->ends);
    if (end)
        *end = (struct tide_noted_end){.id = id, .last_epoch = epoch, .process = index};
}

void tide_note_name(struct tide_notes *notes, uint32_t index,
                    struct tide_cursor *cursor)
{
    const uint64_t id = tide_cursor_varint(cursor);
    const char *text = tide_notes_string(notes, cursor);
    struct tide_name *name =
        cursor->failed ? NULL : tide_notes_add(notes, &notes->names);
    if (name)
        *name = (struct tide_name){.process = index, .id = id, .text = text};
}

void tide_note_thread(struct tide_notes *notes, uint32_t index,
                      struct tide_cursor *cursor)
{
    struct tide_thread thread = {.process = index};
    thread.lane_number = tide_cursor_varint32(cursor);
    thread.tid = tide_cursor_varint32(cursor);
    thread.ticks = tide_cursor_varint(cursor);
    thread.name = tide_notes_string(notes, cursor);
    if (cursor->failed || !tide_notes_process(notes, index))
        return;
    struct tide_thread *added = tide_notes_add(notes, &notes->threads);
    if (added)
        *added = thread;
}

void tide_note_recorder(struct tide_notes *notes, uint32_t index,
                        struct tide_cursor *cursor)
{
    const uint64_t bytes = tide_cursor_varint(cursor);
    struct tide_process *process =
        cursor->failed ? NULL : tide_notes_process(notes, index);
    if (process && bytes > process->recorder_bytes)
        process->recorder_bytes = bytes;
    const uint64_t order = tide_cursor_left(cursor) ? tide_cursor_varint(cursor) : 0;
    if (process && !cursor->failed && order > process->order_table_bytes)
        process->order_table_bytes = order;
}

void tide_note_window(struct tide_notes *notes, uint32_t index,
                      struct tide_cursor *cursor)
{
    struct tide_window window = {.process = index};
    window.name = tide_cursor_varint(cursor);
    window.of_thread = tide_cursor_varint(cursor) == 1;
    window.tid = tide_cursor_varint32(cursor);
    uint64_t *const fields[] = {
        &window.begin_ticks, &window.end_ticks,    &window.requested_bytes,
        &window.used_bytes,  &window.freed_bytes,  &window.alloc_calls,
        &window.free_calls,  &window.failed_calls,
    };
    for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
        *fields[i] = tide_cursor_varint(cursor);
    window.peak_bytes = tide_unzigzag(tide_cursor_varint(cursor));
    window.smallest_bytes = tide_cursor_varint(cursor);
    window.largest_bytes = tide_cursor_varint(cursor);
    const uint64_t bits = tide_cursor_varint(cursor);
    memcpy(&window.stddev_bytes, &bits, sizeof(bits));
    struct tide_window *const added =
        cursor->failed || !tide_notes_process(notes, index)
            ? NULL
            : tide_notes_add(notes, &notes->windows);
    if (added)
        *added = window;
}

/* The same from each process of a run; what a program cannot have said is left out. */
void tide_note_attribute(struct tide_notes *notes, uint32_t index,
                         struct tide_cursor *cursor)
{
    struct tide_noted_attribute noted = {.process = index};
    noted.name = tide_cursor_varint(cursor);
    noted.type = tide_cursor_varint32(cursor);
    if (cursor->failed || noted.type < TIDE_ATTRIBUTE_INT ||
        noted.type > TIDE_ATTRIBUTE_POINTER)
        return;
    struct tide_noted_attribute *const added =
        tide_notes_add(notes, &notes->attributes);
    if (added)
        *added = noted;
}

static int by_name(const void *one, const void *other)
{
    const struct tide_user_attribute *const a = one;
    const struct tide_user_attribute *const b = other;
    const int names = strcmp(a->name, b->name);
    return names ? names : (a->type > b->type) - (a->type < b->type);
}

static struct tide_name *find_name(const struct tide_notes *notes, uint32_t process,
                                   uint64_t id)
{
    const struct tide_name key = {.process = process, .id = id};
    return notes->names.count ? bsearch(&key, notes->names.items, notes->names.count,
                                        sizeof(key), tide_name_compare)
                              : NULL;
}

static const char *name_of(const struct tide_notes *notes,
                           const struct tide_noted_attribute *noted)
{
    const struct tide_name *const found = find_name(notes, noted->process, noted->name);
    return found ? found->text : NULL;
}

void tide_note_value(struct tide_notes *notes, uint32_t index,
                     struct tide_cursor *cursor)
{
    struct tide_noted_value value = {.process = index};
    value.name = tide_cursor_varint(cursor);
    value.attribute = tide_cursor_varint(cursor);
    struct tide_noted_value *const added =
        cursor->failed ? NULL : tide_notes_add(notes, &notes->values);
    if (added)
        *added = value;
}

void tide_values_settle(struct tide_notes *notes)
{
    const struct tide_noted_value *const values = notes->values.items;
    for (size_t i = 0; i < notes->values.count; i++) {
        struct tide_name *const name =
            find_name(notes, values[i].process, values[i].name);
        const struct tide_name *const attribute =
            find_name(notes, values[i].process, values[i].attribute);
        if (name && attribute)
            name->attribute = attribute->text;
    }
}

enum tide_status tide_attributes_settle(struct tide_notes *notes)
{
    const struct tide_noted_attribute *const noted = notes->attributes.items;
    struct tide_user_attribute *const list =
        calloc(notes->attributes.count + 1, sizeof(*list));
    size_t count = 0, kept = 0;
    if (!list)
        return TIDE_ENOMEM;
    for (size_t i = 0; i < notes->attributes.count; i++) {
        list[count] =
            (struct tide_user_attribute){name_of(notes, &noted[i]), noted[i].type};
        count += list[count].name != NULL;
    }
    qsort(list, count, sizeof(*list), by_name);
    for (size_t i = 0; i < count; i++)
        if (!i || by_name(&list[i], &list[i - 1]))
            list[kept++] = list[i];
    notes->trace->attributes = list;
    notes->trace->attribute_count = kept;
    return TIDE_OK;
}
